#include "rampart/constraints/evaluation.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "evaluated_cases.hpp"

namespace rampart::constraints {
namespace {

using namespace evaluated_cases;

base::Error refusal(const std::string& constraint, const Settings& s, CaseLog selection,
                    CaseLog vault) {
    const auto program = compile(constraint, kImpact);
    EXPECT_TRUE(program) << (program ? "" : program.error().message);
    const auto planned =
        plan(*program, s, selection.log(*program), selection.outcomes(), vault.log(*program));
    EXPECT_FALSE(planned);
    return planned ? base::Error{} : planned.error();
}

TEST(Evaluation, AParityGapTakesHalfOfDeltaForEachGroup) {
    // approval rates 0.6 of a and 0.5 of b; Hoeffding's margin by hand
    const auto log =
        repeated({{.candidate = 0.6, .group = "a"}, {.candidate = 0.5, .group = "b"}}, 2000);
    const auto out =
        tested("abs(mean(decision | group = \"a\") - mean(decision | group = \"b\")) <= 0.2",
               settings(stats::BoundMethod::kHoeffding), log);
    ASSERT_EQ(out.result.statements.size(), 2u);
    const double margin = std::sqrt(std::log(1 / 0.05) / (2 * 2000.0));
    const auto& first = out.result.statements[0];  // 0.2 - (a - b)
    EXPECT_DOUBLE_EQ(out.plan.statements[0][0].delta, 0.05);
    EXPECT_NEAR(first.ends[0].estimate, 0.6, 1e-12);
    EXPECT_NEAR(first.ends[0].bound, 0.6 + margin, 1e-6);
    EXPECT_NEAR(first.ends[1].bound, 0.5 - margin, 1e-6);
    EXPECT_NEAR(first.lower, 0.1 - 2 * margin, 1e-6);
    EXPECT_NEAR(out.result.statements[1].lower, 0.3 - 2 * margin, 1e-6);
    EXPECT_TRUE(out.result.passed);
}

TEST(Evaluation, AViolatedGapDoesNotPassByAnyBound) {
    const auto log = repeated({{.candidate = 0.85, .group = "a"},
                               {.candidate = 0.95, .group = "a"},
                               {.candidate = 0.45, .group = "b"},
                               {.candidate = 0.55, .group = "b"}},
                              1000);
    for (const stats::BoundMethod bound :
         {stats::BoundMethod::kBetting, stats::BoundMethod::kStudentT,
          stats::BoundMethod::kHoeffding, stats::BoundMethod::kMaurerPontil}) {
        const auto out =
            tested("abs(mean(decision | group = \"a\") - mean(decision | group = \"b\")) <= 0.3",
                   settings(bound), log);
        EXPECT_FALSE(out.result.passed) << to_string(bound);
        EXPECT_TRUE(out.result.statements[1].passed) << to_string(bound);
    }
}

TEST(Evaluation, LabelsOfTheGrantedStandForAllByTheirPropensities) {
    // 1 in 2 of the good is approved, 1 in 4 of the bad: 40 good and 60 bad applicants.
    CaseLog log;
    uint32_t person = 0;
    const auto add = [&](int count, double p, bool approved, double label, double candidate) {
        for (int i = 0; i < count; ++i) {
            log.add({.person = person++,
                     .p = p,
                     .approved = approved,
                     .candidate = candidate,
                     .label = approved ? std::optional(label) : std::nullopt});
        }
    };
    for (int r = 0; r < 20; ++r) {
        add(20, 0.5, true, 1, 0.75);
        add(20, 0.5, false, 1, 0.75);
        add(15, 0.25, true, 0, 0.25);
        add(45, 0.25, false, 0, 0.25);
    }
    const auto one = [&](const char* constraint) {
        const auto out = tested(constraint, settings(), log);
        return out.result.statements.at(0).ends.at(0).estimate;
    };
    EXPECT_NEAR(one("mean(label) >= 0"), 0.4, 1e-12);
    EXPECT_NEAR(one("mean(decision | label = 0) >= 0"), 0.25, 1e-12);
    EXPECT_NEAR(one("mean(decision | label = 1) >= 0"), 0.75, 1e-12);
    EXPECT_NEAR(one("mean(loss) >= 0"), 0.25, 1e-12);
    EXPECT_NEAR(one("mean(decision * label) >= 0"), 0.3, 1e-12);
    // 800 good and 1,200 bad, all of whom count when all labels are known
    const auto out = tested("mean(decision | label = 0) >= 0", settings(), log);
    EXPECT_EQ(out.plan.leaves[0].units, 700u);
    EXPECT_EQ(out.plan.leaves[0].records, 2000u);
    EXPECT_EQ(out.plan.leaves[0].max_weight, 4);
    EXPECT_EQ(out.plan.leaves[0].selection_units, 300u);
}

TEST(Evaluation, LabelsOfAllApplicantsNeedNoWeights) {
    Settings s = settings();
    s.labels = LabelsOf::kAllApplicants;
    const auto log = repeated({{.approved = false, .candidate = 0.2, .label = 0.0},
                               {.approved = true, .candidate = 0.6, .label = 0.0},
                               {.approved = false, .candidate = 0.9, .label = 1.0}},
                              50);
    const auto out = tested("mean(decision | label = 0) <= 0.9", s, log);
    EXPECT_NEAR(out.result.statements[0].ends[0].estimate, 0.4, 1e-12);
    EXPECT_EQ(out.plan.leaves[0].units, 150u);
    EXPECT_EQ(out.plan.leaves[0].max_weight, 1);
}

TEST(Evaluation, APairedMeanOfImpactsVariesLessThanTwoMeans) {
    const auto log = repeated({{.approved = true, .candidate = 0.55, .impact = 6},
                               {.approved = true, .candidate = 0.55, .impact = 2},
                               {.approved = false, .candidate = 0.55, .impact = std::nullopt},
                               {.approved = false, .candidate = 0.55, .impact = std::nullopt}},
                              300);
    const auto paired = tested("mean(impact) >= mean(impact, reference)", settings(), log);
    ASSERT_EQ(paired.plan.leaves.size(), 1u);
    // (pi - s) (I - c0) on average: 0.05 * 4
    EXPECT_NEAR(paired.result.statements[0].ends[0].estimate, 0.2, 1e-9);
    EXPECT_TRUE(paired.result.passed);
    const auto apart =
        tested("mean(impact) >= 1.000001 * mean(impact, reference)", settings(), log);
    ASSERT_EQ(apart.plan.leaves.size(), 2u);
    EXPECT_NEAR(apart.result.statements[0].ends[0].estimate, 2.2, 1e-9);
    EXPECT_FALSE(apart.result.passed);
}

TEST(Evaluation, AnImpactAmongPeopleWithALabelUsesTheKnownImpactOfADecline) {
    // 0.55 of the bad are granted a loan that costs them 4; all others have 0
    const auto log = repeated(
        {{.approved = true, .candidate = 0.55, .label = 0, .impact = -4},
         {.approved = true, .candidate = 0.55, .label = 1, .impact = 6},
         {.approved = false, .candidate = 0.55, .label = std::nullopt, .impact = std::nullopt},
         {.approved = false, .candidate = 0.55, .label = std::nullopt, .impact = std::nullopt}},
        200);
    const auto out = tested("mean(impact | label = 0) >= -9", settings(), log);
    EXPECT_NEAR(out.result.statements[0].ends[0].estimate, -2.2, 1e-12);
    EXPECT_TRUE(out.result.passed);
    const auto paired = tested(
        "mean(impact | label = 0) - mean(impact, reference | label = 0) >= -1", settings(), log);
    EXPECT_NEAR(paired.result.statements[0].ends[0].estimate, -0.2, 1e-12);
    EXPECT_TRUE(paired.result.passed);
}

TEST(Evaluation, APersonWithManyRecordsIsOneUnit) {
    std::vector<Case> cases;
    for (uint32_t i = 0; i < 400; ++i) cases.push_back({.person = i / 4, .candidate = 0.5});
    const auto out =
        tested("mean(decision) >= 0.1", settings(stats::BoundMethod::kHoeffding), CaseLog(cases));
    EXPECT_EQ(out.plan.leaves[0].units, 100u);
    EXPECT_EQ(out.plan.leaves[0].records, 400u);
    EXPECT_EQ(out.plan.leaves[0].max_weight, 4);
    EXPECT_NEAR(out.result.statements[0].ends[0].bound,
                0.5 - std::sqrt(std::log(10.0) / (2 * 100.0)), 1e-6);
}

TEST(Evaluation, AMissingLabelCountsAsTheWorstForEachEnd) {
    Settings s = settings();
    s.max_missing_rate = 0.5;
    s.labels = LabelsOf::kAllApplicants;
    const auto log =
        repeated({{.label = 1}, {.label = 0}, {.label = 0}, {.label = std::nullopt}}, 50);
    EXPECT_NEAR(tested("mean(label) >= 0", s, log).result.statements[0].ends[0].estimate, 0.25,
                1e-12);
    EXPECT_NEAR(tested("mean(label) <= 1", s, log).result.statements[0].ends[0].estimate, 0.5,
                1e-12);
    s.max_missing_rate = 0.1;
    EXPECT_EQ(refusal("mean(label) >= 0", s, log, log).reason, "too_many_missing");
}

TEST(Evaluation, AnImpactOutOfItsRangeOrALabelThatIsNoneGivesNoBound) {
    auto log = repeated({{.candidate = 0.6, .impact = 5}, {.candidate = 0.6, .impact = 1}}, 50);
    const auto program = *compile("mean(impact) >= -10", kImpact);
    const auto logged = log.log(program);
    const auto planned = plan(program, settings(), logged, log.outcomes(), logged);
    ASSERT_TRUE(planned);
    EXPECT_TRUE(evaluate(program, settings(), *planned, logged, log.outcomes()).passed);
    log.impact[3] = 11;
    const auto bad = evaluate(program, settings(), *planned, log.log(program), log.outcomes());
    EXPECT_FALSE(bad.passed);
    EXPECT_EQ(bad.statements[0].lower, -std::numeric_limits<double>::infinity());

    auto labels = repeated({{.label = 1}, {.label = 0}}, 50);
    const auto rate = *compile("mean(label) >= 0", kImpact);
    const auto labels_log = labels.log(rate);
    const auto rate_plan = plan(rate, settings(), labels_log, labels.outcomes(), labels_log);
    ASSERT_TRUE(rate_plan);
    labels.label[5] = 0.5;
    EXPECT_FALSE(
        evaluate(rate, settings(), *rate_plan, labels.log(rate), labels.outcomes()).passed);
}

TEST(Evaluation, ARatioWithADivisorThatMayBeZeroDoesNotPass) {
    const auto rates = [](double a) {
        return repeated({{.candidate = 0.6, .group = "a"}, {.candidate = a, .group = "b"}}, 100);
    };
    const char* ratio = "mean(decision | group = \"a\") / mean(decision | group = \"b\") >= 0.5";
    EXPECT_TRUE(tested(ratio, settings(), rates(0.6)).result.passed);
    const auto out = tested(ratio, settings(), rates(0.0));
    EXPECT_FALSE(out.result.passed);
    EXPECT_EQ(out.result.statements[0].lower, -std::numeric_limits<double>::infinity());
}

TEST(Evaluation, ACandidateThatChangesNothingStagnatesForCertain) {
    const auto log = repeated({{.impact = 5}, {.approved = false}}, 100);
    const auto out = tested("abs(mean(impact) - mean(impact, reference)) <= 0", settings(), log);
    EXPECT_TRUE(out.result.passed);
    EXPECT_EQ(out.result.statements[0].lower, 0);
}

TEST(Evaluation, RefusesGroupsThatAreTooSmall) {
    auto log = repeated({{.group = "a"}}, 100);
    for (uint32_t i = 0; i < 9; ++i) log.add({.person = 100 + i, .group = "b"});
    const auto error = refusal("mean(decision | group = \"b\") >= 0", settings(), log, log);
    EXPECT_EQ(error.reason, "too_few_units");
    EXPECT_NE(error.message.find("group = \"b\""), std::string::npos) << error.message;
    EXPECT_EQ(refusal("mean(decision) >= 0", settings(), repeated({{}}, 1), log).reason,
              "too_few_selection_outcomes");
    EXPECT_EQ(refusal("mean(decision) >= 0", settings(), log, CaseLog()).reason, "too_few_units");
    // 100 labels are there, but 5 of them are likely to be 0
    const auto good = repeated({{.label = 1}}, 95), bad = repeated({{.label = 0}}, 5);
    CaseLog mixed = good;
    for (uint32_t i = 0; i < 5; ++i) mixed.add({.person = 95 + i, .label = 0});
    EXPECT_EQ(refusal("mean(decision | label = 0) >= 0", settings(), mixed, mixed).reason,
              "too_few_units");
}

TEST(Evaluation, RefusesLabelsOfPeopleWhoAreNeverApprovedAndSaysWhy) {
    const auto log =
        repeated({{.p = 0.5}, {.p = 0, .approved = false, .label = std::nullopt}}, 100);
    const auto error = refusal("mean(loss) <= 1", settings(), log, log);
    EXPECT_EQ(error.reason, "no_support");
    EXPECT_NE(error.message.find("explore among them"), std::string::npos) << error.message;
    EXPECT_EQ(refusal("mean(impact) >= 0", settings(),
                      repeated({{.p = 0, .approved = false, .candidate = 0.1}}, 100), log)
                  .reason,
              "no_support");
}

TEST(Evaluation, RefusesImpactsByLabelWhereTheImpactOfADeclineIsNotKnown) {
    const auto log = repeated({{}, {.label = 0}}, 100);
    Settings s = settings();
    s.declined_impact.reset();
    EXPECT_EQ(refusal("mean(impact | label = 0) >= -10", s, log, log).reason, "impact_by_label");
    s = settings();
    s.declines_overridden = true;
    EXPECT_EQ(refusal("mean(impact | label = 0) >= -10", s, log, log).reason, "impact_by_label");
}

TEST(Evaluation, NeedsAnAnchorOnlyWhereItIsNamed) {
    const auto program = *compile("mean(decision, anchor) >= 0", kImpact);
    auto log = repeated({{.anchor = 0.7}}, 100);
    Log view = log.log(program);
    EXPECT_TRUE(plan(program, settings(), view, log.outcomes(), view));
    view.anchor = {};
    EXPECT_EQ(plan(program, settings(), view, log.outcomes(), view).error().reason, "no_anchor");
}

TEST(Evaluation, RefusesSettingsAndShapesThatMakeNoSense) {
    const auto program = *compile("mean(decision) >= 0", kImpact);
    auto log = repeated({{}}, 100);
    const Log view = log.log(program);
    const auto reason = [&](const Settings& s, const Log& l) {
        const auto planned = plan(program, s, l, log.outcomes(), l);
        return planned ? "" : planned.error().reason;
    };
    Settings s = settings();
    s.delta = 1;
    EXPECT_EQ(reason(s, view), "bad_delta");
    s = settings();
    s.bet_cap = std::nan("");
    EXPECT_EQ(reason(s, view), "bad_bet_cap");
    s = settings();
    s.min_units = 1;
    EXPECT_EQ(reason(s, view), "bad_minimum");
    s = settings();
    s.max_missing_rate = -1;
    EXPECT_EQ(reason(s, view), "bad_missing_rate");
    Log other = view;
    other.members.clear();
    EXPECT_EQ(reason(settings(), other), "bad_shape");
    other = view;
    other.persons = 3;
    EXPECT_EQ(reason(settings(), other), "bad_shape");
    other = view;
    other.candidate = other.candidate.subspan(1);
    EXPECT_EQ(reason(settings(), other), "bad_shape");
}

TEST(Evaluation, RangesThatAreFixedBeforehandDoNotDependOnTheVault) {
    const auto program =
        *compile("mean(label) - mean(impact) + mean(impact, reference) >= -40", kImpact);
    const std::vector<Case> usual{{.p = 0.4, .label = 1, .impact = 5},
                                  {.p = 0.4, .label = 0, .impact = -5},
                                  {.p = 0.4, .approved = false, .label = {}, .impact = {}}};
    CaseLog selection = repeated(usual, 200), vault = repeated(usual, 200);
    Settings s = settings();
    s.records_per_person = 1;
    s.max_change = 0.25;
    const auto before =
        *plan(program, s, selection.log(program), selection.outcomes(), vault.log(program));
    // hardly ever approved, or never, and a candidate that changes more
    vault.add(
        {.person = 600, .p = 0.01, .approved = false, .candidate = 0.7, .label = {}, .impact = {}});
    vault.add(
        {.person = 601, .p = 0, .approved = false, .candidate = 0.7, .label = {}, .impact = {}});
    const auto after =
        plan(program, s, selection.log(program), selection.outcomes(), vault.log(program));
    ASSERT_TRUE(after) << after.error().message;
    ASSERT_EQ(after->leaves.size(), 2u);
    for (size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(after->leaves[i].lo, before.leaves[i].lo);
        EXPECT_EQ(after->leaves[i].hi, before.leaves[i].hi);
        EXPECT_EQ(after->leaves[i].max_weight, before.leaves[i].max_weight);
        EXPECT_EQ(before.leaves[i].beyond_range, 0u);
        EXPECT_EQ(after->leaves[i].beyond_range, 2u);
        EXPECT_EQ(after->leaves[i].persons, 602u);
    }
    const auto weighted = after->leaves[0].max_weight > 1 ? 0 : 1;
    EXPECT_DOUBLE_EQ(after->leaves[weighted].max_weight, 1.25 / 0.4);
    EXPECT_LE(after->leaves[1 - weighted].lo, -0.25 * 10);
    const auto same = evaluate(program, s, before, selection.log(program), selection.outcomes());
    const auto with = evaluate(program, s, *after, vault.log(program), vault.outcomes());
    EXPECT_LT(with.statements[0].lower, same.statements[0].lower) << "both count their worst";
    for (const auto& end : with.statements[0].ends) EXPECT_TRUE(std::isfinite(end.bound));
    s.records_per_person = 0;
    EXPECT_EQ(plan(program, s, selection.log(program), selection.outcomes(), vault.log(program))
                  .error()
                  .reason,
              "no_support");
    Plan forged = *after;
    s.records_per_person = 1;
    forged.leaves[1 - weighted].lo = -1;
    EXPECT_EQ(complete(program, s, vault.log(program), forged).error().reason, "bad_range");
}

TEST(Evaluation, TheBetsDoNotDependOnHowManyWereApproved) {
    const auto program = *compile("mean(label) >= 0.1", kImpact);
    const std::vector<Case> usual{{.p = 0.5, .label = 1},
                                  {.p = 0.5, .label = 0},
                                  {.p = 0.5, .approved = false, .label = {}, .impact = {}},
                                  {.p = 0.5, .approved = false, .label = {}, .impact = {}}};
    CaseLog selection = repeated(usual, 200), lucky = repeated(usual, 200);
    for (size_t i = 3; i < 400; i += 4)
        lucky.approved[i] = lucky.has_label[i] = 1, lucky.label[i] = 1;
    Settings s = settings();
    const auto bets = [&](CaseLog& vault) {
        return plan(program, s, selection.log(program), selection.outcomes(), vault.log(program))
            ->statements[0][0]
            .bets.bets;
    };
    CaseLog same = selection;
    EXPECT_NE(bets(lucky), bets(same)) << "where ranges are the vault's";
    s.records_per_person = 1;
    EXPECT_EQ(bets(lucky), bets(same));
}

TEST(Evaluation, APlanCanBeCompletedAgainFromTheFiguresOfDc) {
    const auto program =
        *compile("abs(mean(loss | group = \"a\") - mean(loss | group = \"b\")) <= 0.5", kImpact);
    auto log = repeated({{.candidate = 0.6, .label = 0},
                         {.candidate = 0.3, .group = "b"},
                         {.label = 1},
                         {.label = 0, .group = "b"}},
                        100);
    const auto logged = log.log(program);
    const auto planned = plan(program, settings(), logged, log.outcomes(), logged);
    ASSERT_TRUE(planned);
    Plan again = *planned;
    for (LeafPlan& leaf : again.leaves) leaf.units = leaf.records = leaf.missing = 77, leaf.hi = 9;
    again.statements.clear();
    ASSERT_TRUE(complete(program, settings(), log.log(program), again));
    EXPECT_EQ(again.leaves, planned->leaves);
    ASSERT_EQ(again.statements.size(), planned->statements.size());
    EXPECT_EQ(again.statements[1][0].bets.bets, planned->statements[1][0].bets.bets);
}

TEST(Evaluation, APlanWithCentresOfItsOwnIsRefusedWhereTheyAreKnown) {
    for (const char* constraint : {"mean(impact) >= -9", "mean(decision) >= 0.1"}) {
        CaseLog vault = repeated({{.impact = 1.0}, {.candidate = 0.6, .impact = -1.0}}, 50);
        const auto program = compile(constraint, kImpact);
        const auto log = vault.log(*program);
        auto plan = constraints::plan(*program, settings(), log, vault.outcomes(), log).value();
        EXPECT_TRUE(complete(*program, settings(), log, plan));
        plan.leaves[0].q_decline = 1;
        EXPECT_FALSE(complete(*program, settings(), log, plan)) << constraint;
    }
}

TEST(Evaluation, ARangeAsNarrowAsRoundingEnds) {
    // no impact is above 10: the share is 1, but for the rounding of the sum of three probabilities
    std::vector<Case> cases;
    std::vector<double> candidate_refer;
    for (int i = 1; i < 50; ++i) {
        cases.push_back(
            {.person = static_cast<uint32_t>(i - 1), .candidate = i / 50.0, .impact = 1.0});
        candidate_refer.push_back((1 - i / 50.0) / 3);
    }
    CaseLog vault(cases);
    const std::vector<double> refer(cases.size(), 0.1);
    const std::vector<uint8_t> referred(cases.size(), 0);
    const auto program = compile("mean(impact <= 10) >= 0.9", kImpact);
    for (const auto bound : {stats::BoundMethod::kBetting, stats::BoundMethod::kHoeffding}) {
        Settings s = settings(bound);
        s.referrals = true;
        Log log = vault.log(*program);
        log.p_refer = log.reference_refer = log.anchor_refer = refer;
        log.candidate_refer = candidate_refer;
        log.referred = referred;
        const auto planned = plan(*program, s, log, vault.outcomes(), log);
        ASSERT_TRUE(planned) << planned.error().message;
        const auto& leaf = planned->leaves[0];
        ASSERT_GT(leaf.hi, leaf.lo);
        EXPECT_LT(leaf.hi - leaf.lo, 1e-15);
        const auto result = evaluate(*program, s, *planned, log, vault.outcomes());
        EXPECT_NEAR(result.statements[0].lower, 0.1, 1e-12);
        EXPECT_TRUE(result.passed);
    }
}

}  // namespace
}  // namespace rampart::constraints
