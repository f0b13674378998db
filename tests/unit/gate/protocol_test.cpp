#include "rampart/gate/protocol.hpp"

#include "gate_scene.hpp"

namespace rampart::gate {
namespace {

using certification::Verdict;

/// The protocol on data that are laid out, without a gate around it.
class ProtocolTest : public GateScene {
  protected:
    TestInputs inputs_for(const std::string& candidate) {
        const auto& policy = store.models.at(candidate).policy;
        const auto& reference = store.models.at("reference").policy;
        vault_ = records.vault_rows(at(4000)).value();
        TestInputs inputs;
        inputs.config = settings.config;
        inputs.config.records_per_person = 1;
        inputs.identity.candidate_id = candidate;
        inputs.identity.reference_id = "reference";
        inputs.identity.vault_rule = "all";
        inputs.selection = training::selection_feedback(development, policy, reference).value();
        inputs.decisions = training::vault_decisions(vault_, policy, reference).value();
        return inputs;
    }
    base::Result<Answer> run(const std::string& candidate, bool asked_for_epoch = false) {
        const auto inputs = inputs_for(candidate);
        const Protocol protocol(store, key, "a secret of 16 bytes");
        auto ledger = protocol.read_ledger().value();
        if (ledger.epoch() == 0) {
            const auto& config = settings.config;
            EXPECT_TRUE(ledger.append(ledger
                                          .next_epoch(config.delta_epoch, config.runs_per_epoch,
                                                      config.spending, "test", at(0), {},
                                                      config.calibration_level)
                                          .value()));
        }
        const auto outcomes = [&](const certification::RunTicket& ticket) {
            charged_when_read_ = store.ledger.size();
            return training::vault_outcomes(ticket, vault_, store.models.at(candidate).policy,
                                            store.models.at("reference").policy);
        };
        return protocol.test(inputs, outcomes, ledger, at(4000), asked_for_epoch);
    }
    training_set::VaultSet vault_;
    size_t charged_when_read_ = 0;
};

TEST_F(ProtocolTest, ReadsOutcomesWithTheChargeInTheStore) {
    const auto answer = run("better").value();
    EXPECT_EQ(answer.result.verdict, Verdict::kCertified) << answer.result.message;
    EXPECT_EQ(charged_when_read_, 2u) << "the epoch and the charge";
    EXPECT_EQ(store.ledger.size(), 3u);
    EXPECT_TRUE(store.certificates.contains(answer.certificate));
}

TEST_F(ProtocolTest, ARefusalReadsNothingAndSaysThatNoEpochWasOpened) {
    const auto answer = run("far", true).value();
    EXPECT_EQ(answer.result.verdict, Verdict::kRefused);
    EXPECT_NE(answer.result.message.find("no new epoch was opened"), std::string::npos);
    EXPECT_EQ(charged_when_read_, 0u);
    EXPECT_TRUE(store.ledger.empty());
}

}  // namespace
}  // namespace rampart::gate
