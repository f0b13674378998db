// The estimate with three actions: exact by enumeration of what may be drawn.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "rampart/base/random.hpp"
#include "rampart/ope/importance_weights.hpp"
#include "rampart/ope/value_bound.hpp"

namespace rampart::ope {
namespace {

/// A record's probabilities and the mean impacts of its actions: decline, approve, refer.
struct World {
    std::array<double, 3> p{}, candidate{}, reference{}, impact{};
};

std::array<double, 3> probabilities(base::Random& random) {
    const double a = random.uniform(0.05, 0.6), r = random.uniform(0.05, 0.35);
    return {1 - a - r, a, r};
}

World draw(base::Random& random) {
    World w{probabilities(random), probabilities(random), probabilities(random), {}};
    for (double& x : w.impact) x = random.uniform(-100, 70);
    return w;
}

Record record_of(const World& w, int action) {
    Record r{.p = w.p[1],
             .approved = action == 1,
             .candidate = w.candidate[1],
             .reference = w.reference[1],
             .impact = w.impact[static_cast<size_t>(action)]};
    r.p_refer = w.p[2];
    r.candidate_refer = w.candidate[2];
    r.reference_refer = w.reference[2];
    if (action == 2) r.referral = Referral::kApproved;
    return r;
}

/// Z is linear in the impact, so that its expectation is a sum over actions.
double expectation(const World& w, const ImpactModel& model) {
    double sum = 0;
    for (int a = 0; a < 3; ++a)
        sum += w.p[static_cast<size_t>(a)] * impact_change(record_of(w, a), model);
    return sum;
}

double effect(const World& w, bool against_reference = true) {
    double sum = 0;
    for (size_t a = 0; a < 3; ++a)
        sum += (w.candidate[a] - (against_reference ? w.reference[a] : 0)) * w.impact[a];
    return sum;
}

const ImpactModel kModel{.lo = -150, .hi = 75, .q_approve = 20, .q_decline = -5, .q_refer = 33};

TEST(Referrals, TheEstimateIsUnbiasedForAnyControlVariates) {
    base::Random random(1);
    for (int i = 0; i < 200; ++i) {
        World w = draw(random);
        EXPECT_NEAR(expectation(w, kModel), effect(w), 1e-9);
        ImpactModel constant = kModel;
        constant.absolute = 7;
        EXPECT_NEAR(expectation(w, constant), effect(w, false) - 7, 1e-9);
        ImpactModel known = kModel;
        w.impact[0] = 3;
        known.declined = 3;
        EXPECT_NEAR(expectation(w, known), effect(w), 1e-9);
        known.declines_overridden = true;
        EXPECT_NEAR(expectation(w, known), effect(w), 1e-9);
        known.declines_overridden = false;
        known.absolute = -2;
        EXPECT_NEAR(expectation(w, known), effect(w, false) + 2, 1e-9);
    }
}

TEST(Referrals, WeightsThatAreCutCountTheWorstForTheRest) {
    base::Random random(2);
    int cut = 0;
    for (int i = 0; i < 200; ++i) {
        const World w = draw(random);
        ImpactModel model = kModel;
        model.max_weight = 1.2;
        EXPECT_LE(expectation(w, model), effect(w) + 1e-9);
        cut += expectation(w, model) < effect(w) - 1e-6;
        model.max_weight = 1000;
        EXPECT_NEAR(expectation(w, model), effect(w), 1e-9);
    }
    EXPECT_GT(cut, 100);
}

TEST(Referrals, RangeAndLeastChangeHoldWhateverIsDrawn) {
    base::Random random(3);
    for (int i = 0; i < 200; ++i) {
        const World w = draw(random);
        ImpactModel model = kModel;
        if (i % 2 == 0) model.declined = 0;
        const Interval range = change_range(record_of(w, 1), model);
        for (int a = 0; a < 3; ++a) {
            for (const double impact : {-150.0, -12.0, 75.0}) {
                Record r = record_of(w, a);
                r.impact = impact;
                EXPECT_GE(impact_change(r, model), range.lo);
                EXPECT_LE(impact_change(r, model), range.hi);
            }
        }
        World known = w;
        if (model.declined) known.impact[0] = *model.declined;
        EXPECT_LE(least_change(record_of(w, 1), model), effect(known) + 1e-9);
    }
}

TEST(Referrals, ANegativeAnswerHasTheKnownImpactOfADecline) {
    base::Random random(4);
    const World w = draw(random);
    ImpactModel model = kModel;
    model.declined = 2;
    Record no = record_of(w, 2), two = record_of(w, 2);
    no.referral = Referral::kDeclined;
    no.impact = std::nullopt;
    two.impact = 2;
    EXPECT_EQ(impact_change(no, model), impact_change(two, model));
}

TEST(Referrals, WithoutAnAnswerTheImpactIsTheWorst) {
    base::Random random(5);
    for (int i = 0; i < 50; ++i) {
        Record r = record_of(draw(random), 2);
        ImpactModel model = kModel;
        model.declined = 2;
        r.referral = Referral::kUnanswered;
        r.impact = std::nullopt;
        Record worst = r;
        worst.referral = Referral::kApproved;
        const bool more = r.candidate_refer > r.reference_refer;
        worst.impact = more ? -150 : 75;
        EXPECT_EQ(impact_change(r, model), impact_change(worst, model));
        model.missing_gamma = 10;
        worst.impact = more ? 23 : 43;
        EXPECT_NEAR(impact_change(r, model), impact_change(worst, model), 1e-12);
    }
}

TEST(Referrals, ByRuleHaveNoWeightAndNeedNoOtherAction) {
    Record rule;
    rule.p_refer = rule.candidate_refer = rule.reference_refer = 1;
    rule.referral = Referral::kUnanswered;
    EXPECT_EQ(impact_change(rule, kModel), 0);
    EXPECT_TRUE(has_support(rule, kModel));
    EXPECT_EQ(change_range(rule, kModel).lo, 0);
    ImpactModel constant = kModel;
    constant.absolute = 7;
    rule.referral = Referral::kApproved;
    rule.impact = 40;
    EXPECT_DOUBLE_EQ(impact_change(rule, constant), 33);
    WeightSums sums;
    sums.add(0, 0, false, {1, 1, true});
    EXPECT_EQ(sums.diagnostics().records, 0u);
}

TEST(Referrals, AnActionThatMattersNeedsAProbability) {
    World w{{0.5, 0.5, 0}, {0.4, 0.5, 0.1}, {0.5, 0.5, 0}, {}};
    EXPECT_FALSE(has_support(record_of(w, 1), kModel)) << "the log never refers";
    w.candidate = {0.4, 0.6, 0};
    EXPECT_TRUE(has_support(record_of(w, 1), kModel));
    w.p = {0, 0.7, 0.3};
    EXPECT_FALSE(has_support(record_of(w, 1), kModel)) << "1 - 0.7 - 0.3 is not 0 in doubles";
    EXPECT_EQ(decline_probability(0.7, 0.3), 0);
    EXPECT_EQ(decline_probability(0.7, 0), 1 - 0.7);
}

TEST(Referrals, WeightIsTheRatioForTheActionDrawn) {
    EXPECT_DOUBLE_EQ(importance_weight(0.3, 0.4, false, {0.2, 0.25, true}), 0.8);
    EXPECT_DOUBLE_EQ(importance_weight(0.3, 0.4, true, {0.2, 0.25, false}), 0.75);
    EXPECT_DOUBLE_EQ(importance_weight(0.3, 0.4, false, {0.2, 0.25, false}), 0.5 / 0.35);
}

LoggedDecisions two_records() {
    LoggedDecisions d;
    d.record_id = {"a", "b"};
    d.unit_id = {"p", "q"};
    d.p_approve = {0.5, 0};
    d.approved = {0, 0};
    d.has_impact = {1, 0};
    d.candidate = {0.4, 0};
    d.reference = {0.5, 0};
    d.logger = {0, 0};
    d.logger_ids = {"l"};
    d.p_refer = {0.3, 1};
    d.candidate_refer = {0.4, 1};
    d.reference_refer = {0.3, 1};
    d.referred = {3, 1};
    return d;
}

TEST(Referrals, ColumnsAreAllThereAndFit) {
    EXPECT_TRUE(validate(two_records()));
    EXPECT_TRUE(two_records().granted(0));
    EXPECT_FALSE(two_records().granted(1));
    const auto reason = [](const auto& change) {
        auto d = two_records();
        change(d);
        const auto status = validate(d);
        return status ? std::string("ok") : status.error().reason;
    };
    EXPECT_EQ(reason([](auto& d) { d.p_refer.clear(); }), "bad_shape");
    EXPECT_EQ(reason([](auto& d) { d.referred.clear(); }), "bad_shape");
    EXPECT_EQ(reason([](auto& d) { d.anchor = {0.5, 0}; }), "bad_shape");
    EXPECT_EQ(reason([](auto& d) { d.anchor_refer = {0.5, 0}; }), "bad_shape");
    EXPECT_EQ(reason([](auto& d) { d.p_refer[0] = 0.6; }), "bad_probability");
    EXPECT_EQ(reason([](auto& d) { d.candidate_refer[0] = std::nan(""); }), "bad_probability");
    EXPECT_EQ(reason([](auto& d) { d.reference_refer[1] = 1.5; }), "bad_probability");
    EXPECT_EQ(reason([](auto& d) { d.p_refer[0] = 0; }), "bad_propensity");
    EXPECT_EQ(reason([](auto& d) { d.referred[1] = 0; }), "bad_propensity");
    EXPECT_EQ(reason([](auto& d) { d.approved[0] = 1; }), "bad_flag");
    EXPECT_EQ(reason([](auto& d) { d.referred[0] = 4; }), "bad_flag");
    EXPECT_EQ(reason([](auto& d) { d.has_impact[1] = 1; }), "bad_flag");
    EXPECT_EQ(reason([](auto& d) { d.overridden = {0}; }), "bad_overridden");
}

}  // namespace
}  // namespace rampart::ope
