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
    bool halves = false;  // records name their half, by what has matured

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
        d.second_half.clear();
        for (size_t i = 0; halves && i < n; ++i) d.second_half.push_back(i >= n / 2 ? 1 : 0);
        for (ope::Group& group : d.groups) {
            std::erase_if(group.records, [n](uint32_t i) { return i >= n; });
        }
        gate.identity.vault_rule = fmt::format("the first {}", n);
    }
    base::Result<PrecheckResult> check(const EarlierLook* earlier) const {
        return precheck(
            {gate.config, gate.identity, gate.ledger, test::kPseudonymKey, gate.selection, earlier},
            gate.vault.decisions);
    }
    struct Look {
        Certificate certificate;
        EarlierLook earlier;  // for the next
    };
    /// A look, registered, run and closed with its certificate; returns that.
    Look look(const EarlierLook* earlier) {
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
        return {*read, *earlier_look(*read, sealed.evidence)};
    }
};

TEST(Looks, ARecordMayBeInAnotherHalfWhenThePeriodHasGrown) {
    Looks looks;
    looks.halves = true;
    looks.mature(0.1);
    const auto first = looks.look(nullptr);
    EXPECT_EQ(first.certificate.figures->parts.size(), 4u);
    looks.mature(0.4);
    const auto second = looks.look(&first.earlier);
    EXPECT_EQ(second.certificate.plan.look, 1u);
    EXPECT_EQ(second.certificate.figures->parts[2].part, "second half");
}

TEST(Looks, TheSameCandidateKeepsItsWealthAndIsChargedOnce) {
    Looks looks;
    looks.mature(0.1);
    const auto first = looks.look(nullptr);
    ASSERT_EQ(first.certificate.verdict, Verdict::kNoSolutionFound);
    const double spent = looks.gate.ledger.spent();
    looks.mature(0.4);
    const auto second = looks.look(&first.earlier);
    looks.mature(1);
    const auto third = looks.look(&second.earlier);
    EXPECT_EQ(looks.gate.ledger.runs_used(), 1u);
    EXPECT_EQ(looks.gate.ledger.spent(), spent);
    EXPECT_EQ(third.certificate.plan.look, 2u);
    EXPECT_EQ(third.certificate.verdict, Verdict::kCertified);
    for (size_t g = 0; g < 2; ++g) {
        EXPECT_EQ(third.certificate.plan.groups[g].bets.bets,
                  first.certificate.plan.groups[g].bets.bets);
        EXPECT_EQ(third.certificate.plan.groups[g].q_approve,
                  first.certificate.plan.groups[g].q_approve);
        EXPECT_GT(third.certificate.plan.groups[g].units, first.certificate.plan.groups[g].units);
    }
    EXPECT_NE(third.certificate.claim.find("look 3"), std::string::npos);
    // what passed is not looked at again
    looks.gate.config.min_power = 0;
    EXPECT_EQ(looks.gate.ledger.closed_run("candidate-1", "bootstrap"), nullptr);
}

TEST(Looks, NeedTheSettingsOfTheFirstAndAllOfItsRecords) {
    Looks looks;
    looks.mature(0.2);
    const auto first = looks.look(nullptr);
    ASSERT_EQ(first.certificate.verdict, Verdict::kNoSolutionFound);
    const auto reason = [&] { return looks.check(&first.earlier)->result.reason; };
    looks.mature(0.1);
    EXPECT_EQ(reason(), "earlier_records_changed");
    looks.mature(0.5);
    looks.gate.config.margin = 1;
    EXPECT_EQ(reason(), "other_settings");
    looks.gate.config = first.certificate.plan.config;
    looks.gate.identity.candidate_id = "candidate-2";
    EXPECT_EQ(reason(), "other_settings");
    looks.gate.identity.candidate_id = "candidate-1";
    EXPECT_EQ(reason(), "");
}

TEST(Looks, MayHaveCertificatesThatLastLongerThanThatOfTheFirst) {
    Looks looks;
    looks.mature(0.2);
    const auto first = looks.look(nullptr);
    ASSERT_EQ(first.certificate.verdict, Verdict::kNoSolutionFound);
    looks.mature(1);
    looks.gate.config.valid_months = 3;
    const auto second = looks.look(&first.earlier);
    ASSERT_EQ(second.certificate.verdict, Verdict::kCertified);
    EXPECT_EQ(second.certificate.valid_until, base::add_months(base::TimePoint::from_micros(1), 3));
}

TEST(Looks, NeedEachOfTheEarlierRecordsAsItWas) {
    Looks looks;
    looks.mature(0.2);
    const auto first = looks.look(nullptr);
    looks.mature(0.5);
    const auto whole = looks.gate.vault;
    auto& d = looks.gate.vault.decisions;
    const auto reason = [&] {
        const auto checked = *looks.check(&first.earlier);
        looks.gate.vault = whole;
        return checked.result.reason;
    };
    EXPECT_EQ(reason(), "");
    d.p_approve[0] += 1e-6;
    EXPECT_EQ(reason(), "earlier_records_changed") << "another propensity";
    d.candidate[1] = d.reference[1];
    EXPECT_EQ(reason(), "earlier_records_changed") << "another policy";
    d.record_id[3] = "another record of the same person";
    EXPECT_EQ(reason(), "earlier_records_changed") << "as many records, but not the same";
    d.unit_id[3] = "another person";
    EXPECT_EQ(reason(), "earlier_records_changed");
    std::erase(d.groups[0].records, d.groups[0].records[0]);
    EXPECT_EQ(reason(), "earlier_records_changed") << "another group";
}

TEST(Looks, EndWithACorrectedOutcomeAndGoOnWithOneThatArrives) {
    Looks looks;
    looks.gate.config.max_missing_rate = 0.5;
    auto& d = looks.whole.decisions;
    const auto granted = static_cast<size_t>(
        std::find(d.has_impact.begin(), d.has_impact.end(), 1) - d.has_impact.begin());
    const double impact = looks.whole.impact[granted];
    d.has_impact[granted] = 0;
    looks.whole.impact[granted] = std::nan("");
    looks.mature(0.2);
    const auto first = looks.look(nullptr);
    const auto run_now = [&](const EarlierLook& earlier) {
        looks.mature(0.5);
        const auto checked = *looks.check(&earlier);
        EXPECT_TRUE(checked.prepared) << checked.result.message;
        auto ledger = looks.gate.ledger;
        EXPECT_TRUE(ledger.append(*ledger.next_registration(checked.prepared->request(),
                                                            base::TimePoint::from_micros(1))));
        return run(*checked.prepared, *ledger.ticket(checked.prepared->request()),
                   looks.gate.vault.impact);
    };
    EXPECT_TRUE(run_now(first.earlier));
    d.has_impact[granted] = 1;
    looks.whole.impact[granted] = impact;
    EXPECT_TRUE(run_now(first.earlier)) << "it counted the worst before";
    const auto other = static_cast<size_t>(
        std::find(d.has_impact.begin() + static_cast<long>(granted) + 1, d.has_impact.end(), 1) -
        d.has_impact.begin());
    looks.whole.impact[other] = looks.whole.impact[other] == 75 ? -150 : 75;
    const auto whole = looks.whole;
    const auto reason = [&] {
        const auto result = run_now(first.earlier);
        looks.whole = whole;
        return result ? "" : result.error().reason;
    };
    EXPECT_EQ(reason(), "earlier_records_changed") << "a correction";
    looks.whole.impact[other] = looks.whole.impact[other] == 75 ? -150 : 75;
    EXPECT_EQ(reason(), "");
    looks.whole.impact[other] = std::nan(""), d.has_impact[other] = 0;
    EXPECT_EQ(reason(), "earlier_records_changed") << "an outcome that is gone";
    looks.whole.impact[other] = std::nan(""), d.has_impact[other] = d.approved[other] = 0;
    EXPECT_EQ(reason(), "earlier_records_changed") << "another draw";
}

TEST(Looks, TheRangeIsThatOfTheFirstWhateverComes) {
    Looks looks;
    looks.gate.config.records_per_person = 1;
    looks.mature(0.2);
    const auto first = looks.look(nullptr);
    ASSERT_EQ(first.certificate.verdict, Verdict::kNoSolutionFound);
    auto& d = looks.whole.decisions;
    for (size_t i = 2000; i < 2040; ++i) {
        d.p_approve[i] = 0.01;
        d.approved[i] = 0, d.has_impact[i] = 0;
        looks.whole.impact[i] = std::nan("");
    }
    looks.mature(1);
    const auto second = looks.look(&first.earlier);
    for (size_t g = 0; g < 2; ++g) {
        EXPECT_EQ(second.certificate.plan.groups[g].lo, first.certificate.plan.groups[g].lo);
        EXPECT_EQ(second.certificate.plan.groups[g].beyond_range, 20u);
    }
}

TEST(Looks, ARegressionHasNone) {
    Looks looks;
    looks.gate.config.control_variates = ControlVariateKind::kRegression;
    add_control_variates(looks.gate.selection), add_control_variates(looks.whole);
    looks.mature(0.2);
    const auto first = looks.check(nullptr);
    ASSERT_TRUE(first->prepared) << first->result.message;
    looks.mature(0.5);
    const EarlierLook earlier{first->prepared->plan(), {}};
    EXPECT_EQ(looks.check(&earlier)->result.reason, "other_settings");
}

TEST(Looks, TheLedgerTakesNoneForAnotherPlanNorAfterACertificate) {
    Looks looks;
    looks.mature(0.2);
    const auto first = looks.look(nullptr);
    looks.mature(0.5);
    auto request = looks.check(&first.earlier)->prepared->request();
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
    const auto first = looks.look(nullptr);
    looks.mature(1);
    auto& d = looks.gate.vault.decisions;
    for (size_t i = 5000; i < 5040; ++i) d.unit_id[i] = "one-person-with-forty-loans";
    EXPECT_EQ(looks.check(&first.earlier)->result.reason, "range_grew");
}

}  // namespace
}  // namespace rampart::certification
