#include "rampart/gate/protocol.hpp"

#include "gate_scene.hpp"
#include "rampart/certification/ledger_view.hpp"

namespace rampart::gate {
namespace {

using certification::Verdict;

/// The protocol on data that are laid out, without a gate around it.
class ProtocolTest : public GateScene {
  protected:
    TestInputs inputs_for(const std::string& candidate) {
        const auto& policy = store.models.at(candidate).policy;
        const auto& reference = store.models.at("reference").policy;
        vault_ = records.vault_rows(at(4000), std::nullopt).value();
        TestInputs inputs;
        inputs.config = settings.config;
        inputs.config.records_per_person = 1;
        inputs.identity.candidate_id = candidate;
        inputs.identity.reference_id = "reference";
        inputs.identity.vault_rule = "all";
        inputs.identity.software = software;
        inputs.selection = training::selection_feedback(development, policy, reference).value();
        inputs.decisions = training::vault_decisions(vault_, policy, reference).value();
        return inputs;
    }
    base::Result<Answer> run(const std::string& candidate, bool asked_for_epoch = false) {
        const auto inputs = inputs_for(candidate);
        const Protocol protocol(store, key, "a secret of 16 bytes", nullptr, log_ends);
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
    /// A log of one partition that is longer at each reading, and what the readings went on from.
    ReadLogEnds growing_log() {
        return [this](const std::vector<certification::LogEnd>& known) {
            read_from.push_back(known.empty() ? 0 : known.front().next);
            const uint64_t end = 10 * read_from.size();
            return std::vector{certification::LogEnd{0, end, base::sha256(std::to_string(end))}};
        };
    }
    std::string software = "rampart 1";
    ReadLogEnds log_ends;
    std::vector<uint64_t> read_from;
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

TEST_F(ProtocolTest, AChargeHasTheEndsOfTheLogAndTheNextReadsOnFromThem) {
    log_ends = growing_log();
    const auto first = certificate(run("better").value()).ledger->registration;
    ASSERT_EQ(first.log.size(), 1u);
    EXPECT_EQ(first.log[0].next, 10u);
    const auto second = certificate(run("worse").value()).ledger->registration;
    ASSERT_EQ(second.log.size(), 1u);
    EXPECT_EQ(second.log[0].next, 20u);
    EXPECT_EQ(read_from, (std::vector<uint64_t>{0, 10}));
    EXPECT_EQ(ledger().log(), second.log);
}

TEST_F(ProtocolTest, ARunThatCrashedGoesOnWithTheEndsThatItWasChargedWith) {
    for (const bool charged : {false, true}) {
        store = {};
        GateScene::add("reference", 0.5, 0.5);
        GateScene::add("better", 0.26, 0.74);
        log_ends = growing_log();
        read_from.clear();
        store.writes_left = 0;
        store.ends_after_writing = charged;
        EXPECT_FALSE(run("better"));
        store.writes_left = 1'000;
        const auto found = certificate(run("better").value()).ledger->registration.log;
        ASSERT_EQ(found.size(), 1u);
        EXPECT_EQ(found[0].next, charged ? 10u : 20u) << "not read again once it is charged";
        EXPECT_EQ(read_from.size(), charged ? 1u : 2u);
        EXPECT_EQ(store.ledger.size(), 3u);
    }
}

TEST_F(ProtocolTest, ARunIsFinishedByTheSoftwareThatIsThereThen) {
    store.writes_left = 0;
    store.ends_after_writing = true;  // charged, and the process ends
    EXPECT_FALSE(run("better"));
    store.writes_left = 1'000;
    software = "rampart 2";
    const auto read = certificate(run("better").value());
    EXPECT_EQ(read.verdict, Verdict::kCertified);
    EXPECT_EQ(read.plan.identity.software, "rampart 1");
    EXPECT_EQ(read.ledger->registration.software, "rampart 1");
    EXPECT_EQ(read.finished_by, "rampart 2");
    EXPECT_EQ(store.ledger.size(), 3u) << "one charge, and nothing was abandoned";
    EXPECT_EQ(certificate(run("worse").value()).finished_by, "");
}

TEST_F(ProtocolTest, ARunWhosePlanOtherSoftwareDoesNotComeToIsAbandoned) {
    store.writes_left = 0;
    store.ends_after_writing = true;
    EXPECT_FALSE(run("better"));
    store.writes_left = 1'000;
    software = "rampart 2";
    settings.config.min_units += 1;  // as if it laid the run out in another way
    const auto read = certificate(run("better").value());
    EXPECT_EQ(read.plan.identity.software, "rampart 2");
    EXPECT_EQ(read.finished_by, "");
    EXPECT_EQ(read.ledger->registration.run, 2u);
    EXPECT_EQ(store.ledger.size(), 5u) << "epoch, charge, abandoned, charge, verdict";
}

TEST_F(ProtocolTest, AVerdictThatIsSignedIsTheRunsWhateverFinishesIt) {
    for (const std::string next : {"better", "worse"}) {
        store = {};
        GateScene::add("reference", 0.5, 0.5);
        GateScene::add("better", 0.26, 0.74);
        GateScene::add("worse", 0.74, 0.26);
        software = "rampart 1";
        store.writes_left = 2;  // charged and certified; the process ends before it is closed
        EXPECT_FALSE(run("better"));
        ASSERT_EQ(store.certificates.size(), 1u);
        ASSERT_EQ(store.ledger.size(), 2u);
        store.writes_left = 1'000;
        software = "rampart 2";
        settings.config.min_units += 1;  // it comes to another plan
        const auto answer = run(next).value();
        const auto view = certification::LedgerView::of(ledger()).value();
        const auto first = view.certificate_named("e1r1");
        ASSERT_TRUE(first);
        EXPECT_TRUE(store.certificates.contains(std::string(*first)));
        if (next == "better") {
            EXPECT_EQ(answer.result.verdict, Verdict::kCertified);
            EXPECT_EQ(answer.name, "e1r1");
            EXPECT_EQ(store.ledger.size(), 3u) << "no second charge";
        } else {
            EXPECT_EQ(answer.name, "e1r2") << "another candidate is another run";
            EXPECT_EQ(store.ledger.size(), 5u);
        }
        const auto closed = certification::decode_ledger_entry(store.ledger[2]).value();
        EXPECT_EQ(std::get<certification::Closing>(closed.body).verdict, Verdict::kCertified)
            << "the history has the answer that was signed";
    }
}

TEST_F(ProtocolTest, ALogThatCannotBeReadCostsNothing) {
    log_ends = [](const auto&) -> base::Result<std::vector<certification::LogEnd>> {
        return base::Error{base::ErrorCode::kUnavailable, "no_broker", "try again"};
    };
    EXPECT_FALSE(run("better"));
    EXPECT_TRUE(store.ledger.empty());
}

}  // namespace
}  // namespace rampart::gate
