#include "rampart/fairness/group_thresholds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "unit/model/model_pieces.hpp"

namespace rampart::fairness {
namespace {

using testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Row {
    double score;
    int label;
    int group = 0;
    float weight = 1;
};

struct Table {
    dataset::Dataset data;
    std::vector<double> scores;
};

/// Groups are "sex=f", "sex=m", "sex=g2", …; none: data without groups.
Table table(const std::vector<Row>& rows, size_t groups = 2) {
    Table out;
    out.data.schema =
        dataset::FeatureSchema::create({{"x", dataset::FeatureKind::kNumeric, {}}}).value();
    out.data.columns.resize(1);
    const char* const names[] = {"sex=f", "sex=m", "sex=g2", "sex=g3"};
    out.data.group_names.assign(names, names + groups);
    for (const Row& row : rows) {
        out.data.columns[0].push_back(static_cast<float>(row.score));
        out.data.label.push_back(static_cast<uint8_t>(row.label));
        out.data.weight.push_back(row.weight);
        if (groups > 0) out.data.group.push_back(row.group);
        out.scores.push_back(row.score);
    }
    return out;
}

GroupThresholdParams params_of(const std::string& parity, double tolerance,
                               const std::string& targets = "") {
    GroupThresholdParams params;
    params.constraints.parity.clear();
    if (!parity.empty()) params.constraints.parity = parse_parity(parity, tolerance).value();
    if (!targets.empty()) params.constraints.targets = parse_targets(targets).value();
    return params;
}

base::Result<GroupThresholds> fit(const Table& t, const GroupThresholdParams& params) {
    return fit_group_thresholds(t.data, t.scores, params);
}

/// Returns P(approve): the weight of the thresholds that the score reaches.
double approval(const GroupThresholds& thresholds, double score, size_t group) {
    double sum = 0;
    for (const auto& [threshold, weight] : thresholds.groups[group])
        if (score >= threshold) sum += weight;
    return sum;
}

/// Rates on the rows of what the thresholds approve, row after row.
RateValues measured(const Table& t, const GroupThresholds& thresholds,
                    const RateConstraints& constraints) {
    std::vector<double> approve;
    for (size_t i = 0; i < t.scores.size(); ++i) {
        const size_t group = t.data.group.empty() ? 0 : static_cast<size_t>(t.data.group[i]);
        approve.push_back(approval(thresholds, t.scores[i], group));
    }
    const auto system = RateSystem::create(t.data, constraints).value();
    return system.values(system.approved(t.data, approve));
}

// ---- worked by hand

/// f: 1 0 | 1 0 from the top; m: 1 1 0 0.
Table two_groups() {
    return table({{0.9, 1, 0},
                  {0.7, 0, 0},
                  {0.6, 1, 0},
                  {0.2, 0, 0},
                  {0.8, 1, 1},
                  {0.5, 1, 1},
                  {0.4, 0, 1},
                  {0.1, 0, 1}});
}

TEST(GroupThresholds, WithoutConstraintsEachGroupHasItsBestThreshold) {
    const auto out = fit(two_groups(), params_of("", 0)).value();
    ASSERT_EQ(out.groups.size(), 2u);
    // m: every label 1 and no label 0 is approved, halfway between 0.5 and 0.4
    ASSERT_EQ(out.groups[1].size(), 1u);
    EXPECT_DOUBLE_EQ(out.groups[1][0].threshold, 0.45);
    EXPECT_EQ(out.groups[1][0].weight, 1);
    // f: one mistake is the least
    EXPECT_DOUBLE_EQ(out.cost, 0.125);
    EXPECT_DOUBLE_EQ(out.values.error, 0.125);
    EXPECT_EQ(out.values.violation, -1);
}

TEST(GroupThresholds, EqualFalseNegativesAreMetByMixingWhereNoThresholdMeetsThem) {
    // f reaches (a0, a1) = (0, 0), (0, 1/2), (1/2, 1), (1, 1); m reaches (0, 1). With fnr and fpr
    // equal, m gives up to f's hull: cost a0 + (1 - a1) for each is least anywhere on its edge
    // from (0, 1/2) to (1/2, 1), where it is 1/2.
    const auto t = two_groups();
    const auto out = fit(t, params_of("fpr,fnr", 0)).value();
    EXPECT_NEAR(out.cost, 0.25, 1e-9);
    EXPECT_LE(out.values.violation, 1e-9);
    // a tolerance of 1/2 lets m be perfect again
    const auto loose = fit(t, params_of("fpr,fnr", 0.5)).value();
    EXPECT_NEAR(loose.cost, 0.125, 1e-9);
}

TEST(GroupThresholds, AnApprovalBudgetIsSpentOnTheBest) {
    // a quarter of all: two of eight rows; the best two have label 1
    auto params = params_of("", 0, "statistical_parity<=0.25");
    const auto out = fit(two_groups(), params).value();
    EXPECT_NEAR(out.values.targets[0], 0.25, 1e-9);
    EXPECT_NEAR(out.cost, 0.25, 1e-9);  // two of the four with label 1 are declined
    // 5/16 are two and a half rows: the half is a coin
    params = params_of("", 0, "statistical_parity<=0.3125");
    const auto half = fit(two_groups(), params).value();
    EXPECT_NEAR(half.values.targets[0], 0.3125, 1e-9);
    EXPECT_NEAR(half.cost, 0.1875, 1e-9);
    EXPECT_EQ(half.groups[0].size() + half.groups[1].size(), 3u);
}

TEST(GroupThresholds, CostsMoveTheThreshold) {
    const auto t = two_groups();
    auto params = params_of("", 0);
    params.false_positive_cost = 0;
    const auto all = fit(t, params).value();
    EXPECT_EQ(all.cost, 0);
    for (size_t i = 0; i < t.scores.size(); ++i) {
        const double approve = approval(all, t.scores[i], static_cast<size_t>(t.data.group[i]));
        EXPECT_TRUE(t.data.label[i] == 0 || approve == 1) << "row " << i;
    }
    params = params_of("", 0);
    params.false_positive_cost = 10;
    const auto strict = fit(t, params).value();
    EXPECT_EQ(approval(strict, 0.7, 0), 0);
    EXPECT_EQ(approval(strict, 0.9, 0), 1);
    EXPECT_NEAR(strict.cost, 0.125, 1e-12);  // one label 1 of f declined
}

TEST(GroupThresholds, WithoutGroupsThereIsOneMixture) {
    const auto t = table({{0.9, 1}, {0.5, 0}, {0.3, 1}, {0.1, 0}}, 0);
    const auto out = fit(t, params_of("", 0, "fpr<=0.25")).value();
    ASSERT_EQ(out.groups.size(), 1u);
    EXPECT_LE(out.values.targets[0], 0.25 + 1e-9);
    EXPECT_FALSE(threshold_link(out, {})->group_aware());
}

TEST(GroupThresholds, EqualScoresAreDecidedAlike) {
    const auto t = table({{0.5, 1, 0}, {0.5, 0, 0}, {0.5, 1, 1}, {0.5, 0, 1}, {0.5, 0, 1}});
    const auto out = fit(t, params_of("", 0)).value();
    for (size_t g = 0; g < 2; ++g) {
        ASSERT_EQ(out.groups[g].size(), 1u);
        EXPECT_TRUE(std::isinf(out.groups[g][0].threshold));
    }
    EXPECT_GT(out.groups[1][0].threshold, 0);  // none approved: two of three have label 0
}

TEST(GroupThresholds, ANeighbouringScoreIsToldApart) {
    const double low = 0.5, high = std::nextafter(low, 1.0);
    const auto out = fit(table({{high, 1}, {low, 0}}, 0), params_of("", 0)).value();
    EXPECT_EQ(out.cost, 0);
    EXPECT_EQ(approval(out, high, 0), 1);
    EXPECT_EQ(approval(out, low, 0), 0);
}

// ---- by brute force

Table random_table(base::Random& random, size_t groups, size_t rows_of_group) {
    std::vector<Row> rows;
    for (size_t g = 0; g < groups; ++g) {
        for (size_t i = 0; i < rows_of_group; ++i) {
            const int label = i < 2 ? static_cast<int>(i) : random.bernoulli(0.4) ? 1 : 0;
            const auto score = static_cast<double>(random.below(9)) / 8 + 0.2 * label;
            rows.push_back(
                {score, label, static_cast<int>(g), static_cast<float>(1 + random.below(3))});
        }
    }
    return table(rows, groups);
}

/// Mixtures of two thresholds with weights in steps of 1/8, as approval shares of label 0 and 1.
std::vector<std::pair<double, double>> grid_of(const Table& t, int group) {
    std::vector<double> thresholds{kInfinity, -kInfinity};
    for (size_t i = 0; i < t.scores.size(); ++i)
        if (t.data.group[i] == group) thresholds.push_back(t.scores[i]);
    std::vector<std::pair<double, double>> points, grid;
    for (const double threshold : thresholds) {
        double approved[2]{}, all[2]{};
        for (size_t i = 0; i < t.scores.size(); ++i) {
            if (t.data.group[i] != group) continue;
            all[t.data.label[i]] += t.data.weight[i];
            if (t.scores[i] >= threshold) approved[t.data.label[i]] += t.data.weight[i];
        }
        points.emplace_back(approved[0] / all[0], approved[1] / all[1]);
    }
    for (const auto& a : points)
        for (const auto& b : points)
            for (int w = 0; w <= 8; ++w)
                grid.emplace_back((a.first * w + b.first * (8 - w)) / 8,
                                  (a.second * w + b.second * (8 - w)) / 8);
    std::sort(grid.begin(), grid.end());
    grid.erase(std::unique(grid.begin(), grid.end()), grid.end());
    return grid;
}

RC_GTEST_PROP(GroupThresholds, NoMixtureOnAGridIsBetter, (uint64_t seed)) {
    base::Random random(seed);
    const Table t = random_table(random, 2, 5);
    const char* const parities[] = {
        "fnr", "fpr", "statistical_parity", "error", "fpr,fnr", "statistical_parity@sex", ""};
    const double tolerances[] = {0, 0.05, 0.25, 1};
    const char* const targets[] = {"", "fpr<=0.25", "statistical_parity<=0.5", "error<=0.4",
                                   "fnr<=0.5"};
    auto params =
        params_of(parities[random.below(7)], tolerances[random.below(4)], targets[random.below(5)]);
    params.false_positive_cost = 0.25 * static_cast<double>(random.below(8));
    params.false_negative_cost = 1;
    const auto found = fit(t, params);
    const auto system = RateSystem::create(t.data, params.constraints).value();
    const auto& weight = system.cell_weight();
    double best = kInfinity;
    const auto second = grid_of(t, 1);
    for (const auto& [a0, a1] : grid_of(t, 0)) {
        for (const auto& [b0, b1] : second) {
            const double cost = (params.false_positive_cost * (weight[0] * a0 + weight[1] * b0) +
                                 weight[2] * (1 - a1) + weight[3] * (1 - b1)) /
                                system.total_weight();
            if (cost >= best) continue;
            const double approved[] = {a0, b0, a1, b1};
            if (system.values(approved).violation <= 0) best = cost;
        }
    }
    if (!found) {
        RC_ASSERT(found.error().reason == "infeasible");
        RC_ASSERT(best == kInfinity);
        return;
    }
    RC_ASSERT(found->cost <= best + 1e-9);
    const auto values = measured(t, *found, params.constraints);
    RC_ASSERT(values.violation <= 1e-8);
    RC_ASSERT(std::abs(values.error - found->values.error) < 1e-9);
    RC_ASSERT(std::abs(values.approval - found->values.approval) < 1e-9);
    for (size_t c = 0; c < values.gaps.size(); ++c)
        RC_ASSERT(std::abs(values.gaps[c] - found->values.gaps[c]) < 1e-9);
}

RC_GTEST_PROP(GroupThresholds, ARisingScaleChangesNothingAndFewThresholdsDo, (uint64_t seed)) {
    base::Random random(seed);
    const Table t = random_table(random, 4, 200);
    const auto params = params_of("fpr,fnr", 0.02, "statistical_parity<=0.6");
    const auto out = fit(t, params).value();
    auto stretched = t;
    for (double& score : stretched.scores) score = 1000 * std::exp(score) - 7;
    const auto same = fit(stretched, params).value();
    RC_ASSERT(std::abs(out.cost - same.cost) < 1e-12);
    size_t mixed = 0;
    for (size_t g = 0; g < 4; ++g) {
        RC_ASSERT(out.groups[g].size() == same.groups[g].size());
        mixed += out.groups[g].size();
        double sum = 0;
        for (size_t k = 0; k < out.groups[g].size(); ++k) {
            sum += out.groups[g][k].weight;
            if (k > 0) RC_ASSERT(out.groups[g][k].threshold < out.groups[g][k - 1].threshold);
        }
        RC_ASSERT(std::abs(sum - 1) < 1e-12);
    }
    // a vertex of the program: one for each group and each row of the constraints that holds it
    RC_ASSERT(mixed <= 4u + 2 * 4 + 1);
}

TEST(GroupThresholds, AWeightIsWorthAsManyRows) {
    std::vector<Row> rows, repeated;
    base::Random random(5);
    for (int i = 0; i < 60; ++i) {
        const Row row{random.uniform(), random.bernoulli(0.5) ? 1 : 0, i % 2, 2};
        rows.push_back(row);
        for (int k = 0; k < 2; ++k) repeated.push_back({row.score, row.label, row.group, 1});
    }
    const auto params = params_of("fnr", 0.01);
    EXPECT_NEAR(fit(table(rows), params)->cost, fit(table(repeated), params)->cost, 1e-12);
}

// ---- tolerances and what cannot be

TEST(GroupThresholds, AToleranceOfOneConstrainsNothingAndZeroIsKept) {
    base::Random random(6);
    const Table t = random_table(random, 3, 300);
    const double free = fit(t, params_of("", 0))->cost;
    double before = 2;
    for (const double tolerance : {0.0, 0.05, 0.2, 1.0}) {
        const auto out = fit(t, params_of("fpr,fnr,statistical_parity", tolerance)).value();
        EXPECT_LE(out.values.violation, 1e-8);
        EXPECT_LE(out.cost, before + 1e-12);  // the looser, the cheaper
        before = out.cost;
    }
    EXPECT_NEAR(before, free, 1e-12);
}

TEST(GroupThresholds, WhatCannotBeKeptIsRefusedWithTheLeastThatCan) {
    // the label 0 has the higher score: fpr >= 1 - fnr, whatever the mixture
    const auto t = table({{0.9, 0}, {0.1, 1}}, 0);
    const auto refused = fit(t, params_of("", 0, "fpr<=0.1,fnr<=0.1"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "infeasible");
    EXPECT_EQ(refused.error().code, base::ErrorCode::kFailedPrecondition);
    EXPECT_THAT(refused.error().message, HasSubstr("larger by 0.400000"));
    EXPECT_THAT(refused.error().message, HasSubstr("fpr <= 0.1"));
    EXPECT_TRUE(fit(t, params_of("", 0, "fpr<=0.5,fnr<=0.5")));
    EXPECT_TRUE(fit(t, params_of("", 0, "fpr<=0.500001,fnr<=0.500001")));
}

TEST(GroupThresholds, AGroupWithoutALabelIsRefusedOnlyWhereItsRateIsNeeded) {
    const auto t = table({{0.9, 1, 0}, {0.7, 0, 0}, {0.8, 0, 1}, {0.3, 0, 1}, {0.2, 0, 1}});
    const auto refused = fit(t, params_of("fnr", 0.1));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "group_without_label");
    EXPECT_THAT(refused.error().message, HasSubstr("sex=m"));
    for (const char* rate : {"fpr", "statistical_parity", "error"}) {
        const auto out = fit(t, params_of(rate, 0));
        ASSERT_TRUE(out) << rate;
        EXPECT_LE(measured(t, *out, params_of(rate, 0).constraints).violation, 1e-9) << rate;
    }
}

TEST(GroupThresholds, BadInputIsNamed) {
    const auto t = two_groups();
    const auto refused = [&](const GroupThresholdParams& params, std::vector<double> scores) {
        const auto out = fit_group_thresholds(t.data, scores, params);
        return out ? "" : out.error().message;
    };
    EXPECT_THAT(refused(params_of("fnr", 0), {1, 2}), HasSubstr("2 scores for 8 rows"));
    auto scores = t.scores;
    scores[3] = NAN;
    EXPECT_THAT(refused(params_of("fnr", 0), scores), HasSubstr("row 3: score nan"));
    auto params = params_of("fnr", 0);
    params.false_positive_cost = -1;
    EXPECT_THAT(refused(params, t.scores), HasSubstr("cost -1"));
    params.false_positive_cost = params.false_negative_cost = 0;
    EXPECT_THAT(refused(params, t.scores), HasSubstr("has to cost something"));
    params = params_of("fnr", 0);
    params.constraints.parity[0].tolerance = 2;
    EXPECT_NE(refused(params, t.scores), "");
    EXPECT_NE(refused(params_of("fnr@age", 0), t.scores), "");
}

// ---- as a policy

Table scored_by(const model::Ensemble& ensemble, base::Random& random, size_t groups, size_t n) {
    Table t;
    t.data.schema = model::example_schema();
    t.data.columns.resize(t.data.schema.size());
    for (size_t g = 0; g < groups; ++g) t.data.group_names.push_back(fmt::format("sex=g{}", g));
    for (size_t i = 0; i < n; ++i) {
        const auto row = model::random_row(random);
        for (size_t f = 0; f < row.size(); ++f) t.data.columns[f].push_back(row[f]);
        const size_t group = i % groups;
        const double raw = ensemble.predict_raw(row) + static_cast<double>(group) - 1;
        t.data.label.push_back(random.bernoulli(model::sigmoid(raw)) ? 1 : 0);
        t.data.weight.push_back(static_cast<float>(1 + random.below(2)));
        t.data.group.push_back(static_cast<int32_t>(group));
    }
    t.scores = link_scores(t.data, ensemble);
    return t;
}

TEST(GroupThresholds, ThePolicyHasTheRatesThatWereFitted) {
    base::Random random(8);
    const auto ensemble = model::random_ensemble(random, 12);
    const Table t = scored_by(ensemble, random, 3, 900);
    const auto params = params_of("fpr,fnr", 0.01, "statistical_parity<=0.45");
    const auto thresholds = fit(t, params).value();
    const auto link = threshold_link(thresholds, ensemble).value();
    const auto policy =
        model::Policy::create(t.data.schema, {link}, t.data.group_names, {}).value();
    EXPECT_TRUE(policy.group_aware());
    EXPECT_GT(link.members.size(), 1u);
    std::vector<double> approve;
    std::vector<float> row(t.data.schema.size());
    for (size_t i = 0; i < t.data.rows(); ++i) {
        t.data.copy_row(i, row);
        const auto group = static_cast<size_t>(t.data.group[i]);
        approve.push_back(policy.evaluate(row, group).approve);
        EXPECT_NEAR(approve.back(), approval(thresholds, t.scores[i], group), 1e-9);
    }
    const auto system = RateSystem::create(t.data, params.constraints).value();
    const auto values = system.values(system.approved(t.data, approve));
    EXPECT_LE(values.violation, 1e-8);
    EXPECT_NEAR(values.error, thresholds.values.error, 1e-9);
    EXPECT_NEAR(values.targets[0], thresholds.values.targets[0], 1e-9);
    for (size_t c = 0; c < 2; ++c)
        for (size_t g = 0; g < 3; ++g)
            EXPECT_NEAR(values.rates[c][g], thresholds.values.rates[c][g], 1e-9);
}

TEST(GroupThresholds, OneThresholdForEachGroupNeedsNoMembers) {
    GroupThresholds thresholds;
    thresholds.groups = {{{0.25, 1}}, {{kInfinity, 1}}, {{-kInfinity, 1}}};
    const auto link = threshold_link(thresholds, {}).value();
    EXPECT_TRUE(link.members.empty());
    EXPECT_THAT(link.ramp.thresholds, testing::ElementsAre(0.25, 2, -2));
    EXPECT_EQ(link.ramp.apply(0.25, 0), 1);
    EXPECT_EQ(link.ramp.apply(1, 1), 0);
    EXPECT_EQ(link.ramp.apply(-1, 2), 1);
}

TEST(GroupThresholds, MembersShareOutTheWeightsOfAllGroups) {
    GroupThresholds thresholds;
    thresholds.groups = {{{0.5, 0.25}, {0.25, 0.75}}, {{0.75, 0.5}, {0.125, 0.5}}};
    const auto link = threshold_link(thresholds, {}).value();
    ASSERT_EQ(link.members.size(), 3u);
    EXPECT_THAT(link.ramp.thresholds, testing::ElementsAre(0.5, 0.75));
    EXPECT_EQ(link.members[0].weight, 0.25);
    EXPECT_THAT(link.members[1].ramp->thresholds, testing::ElementsAre(0.25, 0.75));
    EXPECT_EQ(link.members[1].weight, 0.25);
    EXPECT_THAT(link.members[2].ramp->thresholds, testing::ElementsAre(0.25, 0.125));
    EXPECT_EQ(link.members[2].weight, 0.5);
}

TEST(GroupThresholds, ALinkIsRefusedThresholdsOfAnotherScale) {
    GroupThresholds thresholds;
    thresholds.groups = {{{3.5, 1}}};
    EXPECT_THAT(threshold_link(thresholds, {}).error().message, HasSubstr("threshold 3.5"));
    thresholds.groups = {{{0.5, 0.5}}};
    EXPECT_THAT(threshold_link(thresholds, {}).error().message, HasSubstr("add up to 1"));
    thresholds.groups.clear();
    EXPECT_FALSE(threshold_link(thresholds, {}));
}

}  // namespace
}  // namespace rampart::fairness
