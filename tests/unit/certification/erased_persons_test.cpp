// Records of erased persons: each counts the least that a person's value can be.
#include <gtest/gtest.h>

#include <cmath>

#include "rampart/certification/certificate_file.hpp"
#include "support/constrained_scenario.hpp"
#include "unit/certification/gate.hpp"

namespace rampart::certification {
namespace {

/// A gate whose range is fixed beforehand, with erased persons in the vault.
Gate gate_with(size_t women, size_t men, double skill = 0.9) {
    Gate gate(skill);
    gate.config.records_per_person = 1;
    gate.config.max_missing_rate = 0.1;
    gate.ledger = test::ledger_for(gate.config);
    gate.vault.decisions.erased = {women + men, {women, men}};
    if (women + men == 0) gate.vault.decisions.erased = {};
    return gate;
}

struct Issued {
    SealedResult result;
    SealedCertificate files;
    Certificate certificate;
};
const base::SigningKey& key() {
    static const auto one = base::SigningKey::generate();
    return one;
}
Issued issue(Gate& gate) {
    const auto checked = *gate.check();
    EXPECT_TRUE(checked.prepared) << checked.result.message;
    const auto& prepared = *checked.prepared;
    EXPECT_TRUE(
        gate.ledger.append(*gate.ledger.next_registration(prepared.request(), base::TimePoint())));
    const auto ticket = *gate.ledger.ticket(prepared.request());
    Issued out;
    out.result = *run(prepared, ticket, gate.vault.impact, gate.vault.label);
    out.files = *seal(prepared, {ticket, out.result, base::TimePoint(), base::TimePoint(), key()},
                      gate.vault.impact, gate.vault.label);
    auto verified = verify(out.files.certificate, out.files.evidence, key().public_key());
    EXPECT_TRUE(verified) << verified.error().message;
    if (verified) out.certificate = std::move(*verified);
    return out;
}

TEST(ErasedPersons, CountTheLeastOfTheRangeInTheirGroups) {
    Gate none = gate_with(0, 0), some = gate_with(3, 8);
    const auto before = issue(none), after = issue(some);
    EXPECT_EQ(before.result.verdict, Verdict::kCertified);
    EXPECT_EQ(after.certificate.plan.erased, 11u);
    const size_t erased[] = {3, 8};
    for (size_t g = 0; g < 2; ++g) {
        const GroupPlan& plan = after.certificate.plan.groups[g];
        const auto &a = before.result.groups[g].bound, &b = after.result.groups[g].bound;
        EXPECT_EQ(plan.erased, erased[g]);
        EXPECT_EQ(plan.units, before.certificate.plan.groups[g].units);
        EXPECT_EQ(b.sample.n, a.sample.n + erased[g]);
        const double n = static_cast<double>(a.sample.n), m = static_cast<double>(erased[g]);
        EXPECT_NEAR(b.sample.mean, (n * a.sample.mean + m * plan.lo) / (n + m), 1e-9);
        EXPECT_LT(b.log_wealth, a.log_wealth + m * std::log1p(plan.bets.bets[0] * plan.lo) + 1);
    }
    EXPECT_NE(after.certificate.claim.find(
                  "vault decisions and 11 of erased persons, counted at the worst,"),
              std::string::npos)
        << after.certificate.claim;
    EXPECT_EQ(before.certificate.claim.find("erased"), std::string::npos);
    EXPECT_EQ(before.certificate.recipe.find("erased"), std::string::npos);
    EXPECT_EQ(before.certificate.plan.erased, 0u);
    EXPECT_EQ(before.files.evidence, after.files.evidence) << "they have no line";
}

TEST(ErasedPersons, OfAGroupDoNotChangeItsBetsSoThatWhoIsErasedMayFollowFromOutcomes) {
    Gate whole = gate_with(0, 0);
    const auto before = whole.check()->prepared->plan();
    Gate less = gate_with(5, 0);
    auto& d = less.vault.decisions;
    auto& women = d.groups[0].records;
    women.erase(women.begin() + 3, women.begin() + 8);
    const auto after = less.check()->prepared->plan();
    EXPECT_EQ(after.groups[0].units + 5, before.groups[0].units);
    EXPECT_EQ(after.groups[0].bets.bets, before.groups[0].bets.bets);
    less.config.min_units = static_cast<unsigned>(before.groups[0].units);
    EXPECT_TRUE(less.check()->prepared) << "nor do they refuse a run";
}

TEST(ErasedPersons, BeyondTheShareThatMayBeMissingNothingIsCertified) {
    Gate gate = gate_with(4, 4);
    gate.config.max_missing_rate = 0.01;
    gate.ledger = test::ledger_for(gate.config);
    EXPECT_EQ(issue(gate).result.verdict, Verdict::kCertified) << "4 of about 500";
    Gate more = gate_with(12, 0);
    more.config.max_missing_rate = 0.01;
    more.ledger = test::ledger_for(more.config);
    const auto result = issue(more).result;
    EXPECT_EQ(result.verdict, Verdict::kNoSolutionFound);
    EXPECT_FALSE(result.groups[0].passed);
    EXPECT_TRUE(result.groups[1].passed);
}

TEST(ErasedPersons, OfTheDevelopmentSetAreAForecastAndRefuseWithTheirOwnWords) {
    Gate gate = gate_with(0, 0);
    const double before = forecast(*gate.check()->prepared).groups[0].predicted_lower;
    gate.selection.decisions.erased = {20, {20, 20}};
    const auto prepared = *gate.check()->prepared;
    EXPECT_LT(forecast(prepared).groups[0].predicted_lower, before);
    EXPECT_NE(prepared.plan().selection_digest,
              gate_with(0, 0).check()->prepared->plan().selection_digest);
    gate.selection.decisions.erased = {200, {200, 10}};
    const auto refusal = gate.refusal();
    EXPECT_EQ(refusal.reason, "too_many_erased");
    EXPECT_NE(refusal.message.find("group women: 200 records"), std::string::npos)
        << refusal.message;
}

TEST(ErasedPersons, AreAsInOlderCertificatesWhereTheRangeIsTheVaultsOwn) {
    Gate gate(0.9), same(0.9);
    gate.vault.decisions.erased = {11, {3, 8}};
    const auto with = gate.check()->prepared->plan(), without = same.check()->prepared->plan();
    EXPECT_EQ(digest_of(with), digest_of(without));
}

TEST(ErasedPersons, AFurtherLookMustCountThoseOfTheLookBefore) {
    Gate gate = gate_with(2, 2, 0.0);
    auto first = issue(gate);
    ASSERT_EQ(first.result.verdict, Verdict::kNoSolutionFound);
    ASSERT_TRUE(gate.ledger.append(*gate.ledger.next_closing(
        first.result.verdict, base::sha256(first.files.certificate).hex(), "", base::TimePoint())));
    const auto earlier = *earlier_look(first.certificate, first.files.evidence);
    const auto look = [&](size_t women, size_t men) {
        gate.vault.decisions.erased = {women + men, {women, men}};
        return *precheck({gate.config, gate.identity, gate.ledger, test::kPseudonymKey,
                          gate.selection, &earlier},
                         gate.vault.decisions);
    };
    EXPECT_TRUE(look(2, 3).prepared);
    EXPECT_EQ(look(1, 3).result.reason, "earlier_records_changed");
}

/// The causes of those that are counted at the worst: of erased persons, unexplained, unreadable.
ope::ErasedCounts counts(size_t erased, size_t unexplained, size_t unreadable) {
    const size_t all = erased + unexplained + unreadable;
    return {all, {all, unreadable}, unexplained, unreadable};
}

TEST(ErasedPersons, RecordsThatAreSetAsideHaveTheirOwnWordsAndCountTheSame) {
    Gate erased = gate_with(0, 0), mixed = gate_with(0, 0), unreadable = gate_with(0, 0);
    erased.vault.decisions.erased = {6, {6, 1}};
    mixed.vault.decisions.erased = counts(3, 2, 1);
    unreadable.vault.decisions.erased = counts(0, 0, 6);
    const auto one = issue(erased), three = issue(mixed), last = issue(unreadable);
    EXPECT_NE(three.certificate.claim.find(
                  "vault decisions and 3 of erased persons and 2 of another schema file and 1 that "
                  "cannot be read, counted at the worst, from"),
              std::string::npos)
        << three.certificate.claim;
    EXPECT_NE(last.certificate.claim.find(
                  "vault decisions and 6 that cannot be read, counted at the worst, from"),
              std::string::npos)
        << last.certificate.claim;
    const auto text_of = [](const Certificate& c) {
        std::string text = c.recipe;
        for (const auto& assumption : c.assumptions) text += assumption.text + '\n';
        return text;
    };
    EXPECT_EQ(text_of(last.certificate).find("records of erased persons"), std::string::npos);
    for (const char* words :
         {"3 records of erased persons count", "2 records that the schema file of the node does",
          "1 records of decisions that cannot be read count", "(unreadable) with one"})
        EXPECT_NE(text_of(three.certificate).find(words), std::string::npos) << words;
    EXPECT_EQ(text_of(one.certificate).find("cannot be read"), std::string::npos);
    EXPECT_EQ(three.certificate.plan.erased, 6u);
    EXPECT_EQ(three.certificate.plan.unexplained, 2u);
    EXPECT_EQ(three.certificate.plan.unreadable, 1u);
    for (size_t g = 0; g < 2; ++g)
        EXPECT_EQ(three.result.groups[g].bound.log_wealth, one.result.groups[g].bound.log_wealth);
}

TEST(ErasedPersons, MoreOfAnotherCauseThanOfAllAreRefused) {
    Gate gate = gate_with(2, 2);
    gate.vault.decisions.erased.unexplained = 3;
    gate.vault.decisions.erased.unreadable = 2;
    const auto checked = gate.check();
    EXPECT_TRUE(!checked || !checked->prepared);
}

/// Else who puts a schema file right, or drops what cannot be read, would choose the records of the
/// next look.
TEST(ErasedPersons, AFurtherLookMustCountThoseOfEachCause) {
    Gate gate = gate_with(0, 0, 0.0);
    gate.vault.decisions.erased = counts(2, 2, 2);
    auto first = issue(gate);
    ASSERT_TRUE(gate.ledger.append(*gate.ledger.next_closing(
        first.result.verdict, base::sha256(first.files.certificate).hex(), "", base::TimePoint())));
    const auto earlier = *earlier_look(first.certificate, first.files.evidence);
    const auto look = [&](const ope::ErasedCounts& now) {
        gate.vault.decisions.erased = now;
        return precheck({gate.config, gate.identity, gate.ledger, test::kPseudonymKey,
                         gate.selection, &earlier},
                        gate.vault.decisions)
            ->result.reason;
    };
    EXPECT_EQ(look(counts(2, 3, 2)), "");
    EXPECT_EQ(look(counts(3, 1, 3)), "earlier_records_changed") << "a schema file was put right";
    EXPECT_EQ(look(counts(3, 3, 1)), "earlier_records_changed") << "one was dropped";
    EXPECT_EQ(look(counts(1, 3, 3)), "earlier_records_changed");
}

TEST(ErasedPersons, CountTheWorstEndOfEachMeanOfAConstraint) {
    const auto with = [](size_t erased) {
        Gate gate = gate_with(erased, 0);
        gate.config.named_constraints = {
            {"gap", fmt::format("{} <= 0.6", test::kApprovalGap)},
            {"impact", "mean(impact) - mean(impact, reference) >= -20"},
            {"label", "mean(label) >= 0.1"}};
        for (auto* f : {&gate.selection, &gate.vault}) test::constrain(*f, gate.config);
        return issue(gate);
    };
    const auto none = with(0), some = with(10);
    EXPECT_EQ(none.result.verdict, Verdict::kCertified);
    EXPECT_EQ(some.result.verdict, Verdict::kCertified);
    for (size_t k = 0; k < 3; ++k) {
        const auto &before = none.result.constraints[k], &after = some.result.constraints[k];
        for (const auto& leaf : some.certificate.plan.constraint_plans[k].tests.leaves)
            EXPECT_EQ(leaf.erased, 10u);
        const auto found = [](const ConstraintResult& c) {
            const auto& statement = c.statements[0];
            return statement.log_wealth ? *statement.log_wealth : *statement.lower;
        };
        EXPECT_LT(found(after), found(before)) << before.name;
    }
    // the mean over n persons and 10 more at the lower end, each of weight 1
    const auto& leaf = none.certificate.plan.constraint_plans[1].tests.leaves[0];
    const double n = static_cast<double>(leaf.persons),
                 was = *none.result.constraints[1].statements[0].ends[0].estimate;
    EXPECT_NEAR(*some.result.constraints[1].statements[0].ends[0].estimate,
                (n * was + 10 * leaf.lo) / (n + 10), 1e-9);
}

}  // namespace
}  // namespace rampart::certification
