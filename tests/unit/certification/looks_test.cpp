// Further looks at one candidate, for one charge.
#include <gtest/gtest.h>

#include "rampart/certification/certificate_file.hpp"
#include "unit/certification/gate.hpp"

namespace rampart::certification {
namespace {

/// A run that does not pass on the first records, and looks at more of them.
struct Looks {
    Gate gate{0.3, 6000};
    ope::LoggedFeedback whole = gate.vault;
    base::SigningKey key = base::SigningKey::generate();

    /// The vault as it is when `share` of its records have matured.
    void mature(double share) {
        gate.vault = whole;
        auto& d = gate.vault.decisions;
        const auto n = static_cast<size_t>(share * static_cast<double>(whole.decisions.size()));
        for (auto* column : {&d.p_approve, &d.candidate, &d.reference, &gate.vault.impact}) {
            column->resize(n);
        }
        for (auto* column : {&d.approved, &d.has_impact}) column->resize(n);
        d.record_id.resize(n), d.unit_id.resize(n), d.logger.resize(n);
        if (!d.control_variates.empty()) d.control_variates.resize(n);
        for (ope::Group& group : d.groups) {
            std::erase_if(group.records, [n](uint32_t i) { return i >= n; });
        }
        gate.identity.vault_rule = fmt::format("the first {}", n);
    }
    base::Result<PrecheckResult> check(const RunPlan* earlier) const {
        return precheck(
            {gate.config, gate.identity, gate.ledger, test::kPseudonymKey, gate.selection, earlier},
            gate.vault.decisions);
    }
    /// A look, registered, run and closed with its certificate; returns that.
    Certificate look(const RunPlan* earlier) {
        const auto checked = *check(earlier);
        EXPECT_TRUE(checked.prepared) << checked.result.message;
        const auto request = checked.prepared->request();
        EXPECT_TRUE(gate.ledger.append(
            *gate.ledger.next_registration(request, base::TimePoint::from_micros(1))));
        const auto ticket = *gate.ledger.ticket(request);
        const auto result = *run(*checked.prepared, ticket, gate.vault.impact);
        const auto at = base::TimePoint::from_micros(1);
        const auto sealed =
            *seal(*checked.prepared, {ticket, result, at, at, key}, gate.vault.impact);
        EXPECT_TRUE(gate.ledger.append(*gate.ledger.next_closing(
            result.verdict, base::sha256(sealed.certificate).hex(), "", at)));
        const auto read = verify(sealed.certificate, sealed.evidence, key.public_key());
        EXPECT_TRUE(read) << read.error().message;
        return *read;
    }
};

TEST(Looks, TheSameCandidateKeepsItsWealthAndIsChargedOnce) {
    Looks looks;
    looks.mature(0.1);
    const Certificate first = looks.look(nullptr);
    ASSERT_EQ(first.verdict, Verdict::kNoSolutionFound);
    const double spent = looks.gate.ledger.spent();
    looks.mature(0.4);
    const Certificate second = looks.look(&first.plan);
    looks.mature(1);
    const Certificate third = looks.look(&second.plan);
    EXPECT_EQ(looks.gate.ledger.runs_used(), 1u);
    EXPECT_EQ(looks.gate.ledger.spent(), spent);
    EXPECT_EQ(third.plan.look, 2u);
    EXPECT_EQ(third.verdict, Verdict::kCertified);
    for (size_t g = 0; g < 2; ++g) {
        EXPECT_EQ(third.plan.groups[g].bets.bets, first.plan.groups[g].bets.bets);
        EXPECT_EQ(third.plan.groups[g].q_approve, first.plan.groups[g].q_approve);
        EXPECT_GT(third.plan.groups[g].units, first.plan.groups[g].units);
    }
    EXPECT_NE(third.claim.find("look 3"), std::string::npos);
    // what passed is not looked at again
    looks.gate.config.min_power = 0;
    EXPECT_EQ(looks.gate.ledger.closed_run("candidate-1", "bootstrap"), nullptr);
}

TEST(Looks, NeedTheSettingsOfTheFirstAndAllOfItsRecords) {
    Looks looks;
    looks.mature(0.2);
    const Certificate first = looks.look(nullptr);
    ASSERT_EQ(first.verdict, Verdict::kNoSolutionFound);
    const auto reason = [&] { return looks.check(&first.plan)->result.reason; };
    looks.mature(0.1);
    EXPECT_EQ(reason(), "fewer_records");
    looks.mature(0.5);
    looks.gate.config.margin = 1;
    EXPECT_EQ(reason(), "other_settings");
    looks.gate.config = first.plan.config;
    looks.gate.identity.candidate_id = "candidate-2";
    EXPECT_EQ(reason(), "other_settings");
    looks.gate.identity.candidate_id = "candidate-1";
    EXPECT_EQ(reason(), "");
}

TEST(Looks, ARegressionHasNone) {
    Looks looks;
    looks.gate.config.control_variates = ControlVariateKind::kRegression;
    add_control_variates(looks.gate.selection), add_control_variates(looks.whole);
    looks.mature(0.2);
    const auto first = looks.check(nullptr);
    ASSERT_TRUE(first->prepared) << first->result.message;
    looks.mature(0.5);
    EXPECT_EQ(looks.check(&first->prepared->plan())->result.reason, "other_settings");
}

TEST(Looks, TheLedgerTakesNoneForAnotherPlanNorAfterACertificate) {
    Looks looks;
    looks.mature(0.2);
    const Certificate first = looks.look(nullptr);
    looks.mature(0.5);
    auto request = looks.check(&first.plan)->prepared->request();
    EXPECT_TRUE(looks.gate.ledger.next_registration(request, base::TimePoint()));
    request.frozen.bytes[0] ^= 1;
    EXPECT_EQ(looks.gate.ledger.next_registration(request, base::TimePoint()).error().reason,
              "no_earlier_look");
    request.frozen.bytes[0] ^= 1;
    request.look = 2;
    EXPECT_EQ(looks.gate.ledger.next_registration(request, base::TimePoint()).error().reason,
              "no_earlier_look");
    request.look = 1;
    request.candidate_id = "candidate-2";
    EXPECT_EQ(looks.gate.ledger.next_registration(request, base::TimePoint()).error().reason,
              "no_earlier_look");
}

TEST(Looks, OfAValueThatCouldNowCostEverythingAreRefused) {
    Looks looks;
    looks.mature(0.2);
    const Certificate first = looks.look(nullptr);
    looks.mature(1);
    auto& d = looks.gate.vault.decisions;
    for (size_t i = 5000; i < 5040; ++i) d.unit_id[i] = "one-person-with-forty-loans";
    EXPECT_EQ(looks.check(&first.plan)->result.reason, "range_grew");
}

}  // namespace
}  // namespace rampart::certification
