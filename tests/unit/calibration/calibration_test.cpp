#include "rampart/calibration/calibration.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "rampart/base/limits.hpp"
#include "rampart/base/random.hpp"

namespace rampart::calibration {
namespace {

/// Returns what the group's map, or the only one, makes of a score.
double applied(const CalibrationFit& fit, double score, size_t group) {
    return model::apply(fit.maps[fit.maps.size() == 1 ? 0 : group], score);
}

struct People {
    std::vector<double> score;
    std::vector<uint8_t> label;
    std::vector<int32_t> group;
    std::vector<float> weight;
    size_t groups = 1;
    CalibrationRows view() const { return {score, label, group, groups, weight}; }
    void add(double p, uint8_t y, int32_t k, float w = 1) {
        score.push_back(p);
        label.push_back(y);
        group.push_back(k);
        weight.push_back(w);
        groups = std::max(groups, static_cast<size_t>(k) + 1);
    }
};

double sigmoid(double z) { return 1 / (1 + std::exp(-z)); }

/// Labels that happen with log odds a·ln p - b·ln(1 - p) + c of the score p; c by group.
People drawn(size_t n, uint64_t seed, double a, double b, const std::vector<double>& c) {
    base::Random random(seed);
    People people;
    for (size_t i = 0; i < n; ++i) {
        const auto k = static_cast<int32_t>(i % c.size());
        const double p = sigmoid(1.5 * random.normal());
        const double odds = a * std::log(p) - b * std::log1p(-p) + c[static_cast<size_t>(k)];
        people.add(p, random.bernoulli(sigmoid(odds)) ? 1 : 0, k);
    }
    return people;
}

CalibrationParams with(CalibrationMethod method) {
    CalibrationParams params;
    params.method = method;
    return params;
}

constexpr CalibrationMethod kAll[] = {CalibrationMethod::kIsotonic, CalibrationMethod::kPlatt,
                                      CalibrationMethod::kBeta};

TEST(Calibration, IsotonicPoolsAdjacentViolators) {
    // by hand: .1:0  .2:1 .3:0 -> pool 1/2  .4:1 .5:0 .6:1 -> .4,.5 pool 1/2, joins the pool before
    People people;
    const double scores[] = {.1, .2, .3, .4, .5, .6, .7, .8};
    const uint8_t labels[] = {0, 1, 0, 1, 0, 1, 1, 0};
    for (size_t i = 0; i < 8; ++i) people.add(scores[i], labels[i], 0);
    auto params = with(CalibrationMethod::kIsotonic);
    params.folds = 0;
    const auto fit = fit_calibration(people.view(), params);
    ASSERT_TRUE(fit);
    // 4 rows of either label: nothing says less than 1/6 or more than 5/6
    EXPECT_NEAR(applied(*fit, .1, 0), 1.0 / 6, 1e-15);
    for (double p : {.2, .25, .3, .4, .5}) EXPECT_NEAR(applied(*fit, p, 0), .5, 1e-15) << p;
    for (double p : {.6, .7, .8, .9}) EXPECT_NEAR(applied(*fit, p, 0), 2.0 / 3, 1e-15) << p;
    EXPECT_NEAR(applied(*fit, .55, 0), (.5 + 2.0 / 3) / 2, 1e-12);  // a line where no row was
    EXPECT_NEAR(applied(*fit, 0, 0), 1.0 / 6, 1e-15);               // flat outside
    EXPECT_FALSE(fit->overall.out_of_fold);
}

TEST(Calibration, IsotonicMeetsTheMinimaxFormulaOnRandomRows) {
    // the regression's value at row i is max over l <= i of min over u >= i of the mean of l … u
    base::Random random(7);
    for (int trial = 0; trial < 20; ++trial) {
        People people;
        for (int i = 0; i < 40; ++i)
            people.add((i + 0.5) / 40, random.bernoulli(0.2 + 0.015 * i) ? 1 : 0, 0,
                       static_cast<float>(1 + random.below(4)));
        auto params = with(CalibrationMethod::kIsotonic);
        params.folds = 0;
        const auto fit = fit_calibration(people.view(), params);
        ASSERT_TRUE(fit);
        const auto mean = [&](size_t l, size_t u) {
            double hits = 0, all = 0;
            for (size_t i = l; i <= u; ++i) {
                hits += people.label[i] * people.weight[i];
                all += people.weight[i];
            }
            return hits / all;
        };
        for (size_t i = 0; i < 40; ++i) {
            double best = 0;
            for (size_t l = 0; l <= i; ++l) {
                double least = 1;
                for (size_t u = i; u < 40; ++u) least = std::min(least, mean(l, u));
                best = std::max(best, least);
            }
            if (best > 0.15 && best < 0.85) {  // within Platt's targets
                EXPECT_NEAR(applied(*fit, people.score[i], 0), best, 1e-12);
            }
        }
    }
}

TEST(Calibration, FewPointsAreAskedForAndGiven) {
    const auto people = drawn(20'000, 3, 1, 1, {0});
    auto params = with(CalibrationMethod::kIsotonic);
    params.folds = 0;
    const auto whole = fit_calibration(people.view(), params);
    params.max_points = 8;
    const auto thin = fit_calibration(people.view(), params);
    params.max_points = 2;
    const auto flat = fit_calibration(people.view(), params);
    ASSERT_TRUE(whole && thin && flat);
    const auto points = [](const auto& fit) {
        return std::get<model::PolylineMap>(fit->maps[0]).x.size();
    };
    EXPECT_GT(points(whole), 20u);
    EXPECT_LE(points(thin), 8u);
    EXPECT_GE(points(thin), 6u);
    EXPECT_EQ(points(flat), 2u);
    EXPECT_FALSE(model::fault_of(thin->maps[0]));
    // eight points make for little more error; two say the base rate
    EXPECT_LT(thin->overall.after->brier, whole->overall.after->brier + 0.006);
    EXPECT_GT(flat->overall.after->brier, thin->overall.after->brier + 0.01);
}

TEST(Calibration, BetaFindsTheMapThatTheLabelsWereDrawnWith) {
    const auto people = drawn(60'000, 11, 0.6, 1.7, {0.5});
    const auto fit = fit_calibration(people.view(), with(CalibrationMethod::kBeta));
    ASSERT_TRUE(fit);
    const auto& map = std::get<model::BetaMap>(fit->maps[0]);
    EXPECT_NEAR(map.a, 0.6, 0.07);
    EXPECT_NEAR(map.b, 1.7, 0.07);
    EXPECT_NEAR(map.c, 0.5, 0.08);
}

TEST(Calibration, PlattIsABetaMapWithOneSlope) {
    const auto people = drawn(50'000, 12, 0.5, 0.5, {-1});
    const auto fit = fit_calibration(people.view(), with(CalibrationMethod::kPlatt));
    ASSERT_TRUE(fit);
    const auto& map = std::get<model::BetaMap>(fit->maps[0]);
    EXPECT_EQ(map.a, map.b);
    EXPECT_NEAR(map.a, 0.5, 0.03);
    EXPECT_NEAR(map.c, -1, 0.05);
}

TEST(Calibration, AtTheOptimumPlattsMeanIsThatOfTheTargets) {
    // a stationary point in c: no optimiser of ours is asked
    const auto people = drawn(3000, 13, 2, 0.3, {0.2});
    for (const auto method : {CalibrationMethod::kPlatt, CalibrationMethod::kBeta}) {
        const auto fit = fit_calibration(people.view(), with(method));
        ASSERT_TRUE(fit);
        const double ones = std::accumulate(people.label.begin(), people.label.end(), 0.0);
        const double zeros = 3000 - ones;
        const double target = (ones * (1 - 1 / (ones + 2)) + zeros / (zeros + 2)) / 3000;
        double said = 0;
        for (double p : people.score) said += applied(*fit, p, 0) / 3000;
        EXPECT_NEAR(said, target, 1e-9);
    }
}

TEST(Calibration, ASlopeThatWouldFallIsHeldAtZero) {
    // scores that say the opposite: no map may turn them round; the base rate is what is left
    const auto people = drawn(5000, 14, -1, -1, {0});
    for (const auto method : kAll) {
        const auto fit = fit_calibration(people.view(), with(method));
        ASSERT_TRUE(fit);
        for (double p = 0.05; p < 0.9; p += 0.05)
            EXPECT_LE(applied(*fit, p, 0), applied(*fit, p + 0.05, 0) + 1e-15);
        EXPECT_NEAR(applied(*fit, 0.5, 0), 0.5, 0.05);
    }
    // one of beta's two slopes only
    const auto half = drawn(50'000, 15, -0.5, 1.5, {0});
    const auto fit = fit_calibration(half.view(), with(CalibrationMethod::kBeta));
    ASSERT_TRUE(fit);
    EXPECT_EQ(std::get<model::BetaMap>(fit->maps[0]).a, 0);
    EXPECT_GT(std::get<model::BetaMap>(fit->maps[0]).b, 0.5);
}

TEST(Calibration, TheErrorIsToldBeforeAfterAndOutOfFold) {
    const auto people = drawn(20'000, 16, 0.4, 0.4, {0.8, -0.8});
    for (const auto method : kAll) {
        auto params = with(method);
        params.by_group = true;
        const auto fit = fit_calibration(people.view(), params);
        ASSERT_TRUE(fit);
        ASSERT_EQ(fit->maps.size(), 2u);
        EXPECT_EQ(fit->pooled, (std::vector<bool>{false, false}));
        ASSERT_EQ(fit->groups.size(), 2u);
        EXPECT_EQ(fit->overall.rows, 20'000u);
        for (const auto& told : {fit->overall, fit->groups[0], fit->groups[1]}) {
            ASSERT_TRUE(told.before && told.after && told.out_of_fold);
            EXPECT_LT(told.out_of_fold->brier, told.before->brier - 0.01);
            EXPECT_LT(told.out_of_fold->log_loss, told.before->log_loss - 0.03);
            EXPECT_LT(told.out_of_fold->expected, 0.03);
            EXPECT_GE(told.out_of_fold->largest, told.out_of_fold->expected);
        }
        for (const auto& told : fit->groups) EXPECT_GT(told.before->expected, 0.1);
        // rows of their own look better than they are
        EXPECT_LE(fit->overall.after->brier, fit->overall.out_of_fold->brier);
    }
}

TEST(Calibration, OneMapForAllLeavesTheGroupsErrorsStanding) {
    const auto people = drawn(20'000, 17, 1, 1, {1, -1});
    auto params = with(CalibrationMethod::kBeta);
    const auto one = fit_calibration(people.view(), params);
    params.by_group = true;
    const auto each = fit_calibration(people.view(), params);
    ASSERT_TRUE(one && each);
    EXPECT_EQ(one->maps.size(), 1u);
    for (size_t k : {0u, 1u}) {
        EXPECT_GT(one->groups[k].out_of_fold->expected, 0.1);
        EXPECT_LT(each->groups[k].out_of_fold->expected, 0.03);
    }
}

TEST(Calibration, ASmallGroupGetsTheMapOfAllOrARefusal) {
    auto people = drawn(2000, 18, 1, 1, {1});
    for (int i = 0; i < 30; ++i) people.add(0.5, i % 2 == 0, 1);
    for (int i = 0; i < 300; ++i) people.add(0.5, 1, 2);  // rows of one label
    people.groups = 4;                                    // the last has no rows
    auto params = with(CalibrationMethod::kIsotonic);
    params.by_group = true;
    const auto fit = fit_calibration(people.view(), params);
    ASSERT_TRUE(fit);
    EXPECT_EQ(fit->pooled, (std::vector<bool>{false, true, true, true}));
    params.by_group = false;
    const auto all = fit_calibration(people.view(), params);
    ASSERT_TRUE(all);
    for (size_t k : {1u, 2u, 3u}) EXPECT_EQ(applied(*fit, 0.3, k), applied(*all, 0.3, 0));
    EXPECT_EQ(fit->groups[3].rows, 0u);
    EXPECT_FALSE(fit->groups[3].before);

    params.by_group = true;
    params.small = SmallGroup::kRefuse;
    const auto refused = fit_calibration(people.view(), params);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "small_group");
    EXPECT_NE(refused.error().message.find("group 1 has 15 rows of label 0 and 15 of label 1"),
              std::string::npos);
}

TEST(Calibration, SeparableRowsGetAFiniteMap) {
    People people;
    for (int i = 0; i < 50; ++i) people.add(0.2 + 0.001 * i, 0, 0);
    for (int i = 0; i < 50; ++i) people.add(0.7 + 0.001 * i, 1, 0);
    for (const auto method : kAll) {
        const auto fit = fit_calibration(people.view(), with(method));
        ASSERT_TRUE(fit);
        EXPECT_FALSE(model::fault_of(fit->maps[0]));
        EXPECT_NEAR(applied(*fit, 0.21, 0), 1.0 / 52, 0.01);  // Platt's targets
        EXPECT_NEAR(applied(*fit, 0.74, 0), 51.0 / 52, 0.01);
    }
}

TEST(Calibration, SaturatedAndDiscreteScoresAreMapped) {
    People people;  // as of a nearest-neighbours vote, 0 and 1 among them
    base::Random random(19);
    for (int i = 0; i < 4000; ++i) {
        const double vote = static_cast<double>(random.below(5)) / 4;
        people.add(vote, random.bernoulli(0.3 + 0.4 * vote) ? 1 : 0, 0);
    }
    for (const auto method : kAll) {
        const auto fit = fit_calibration(people.view(), with(method));
        ASSERT_TRUE(fit);
        EXPECT_TRUE(std::isfinite(fit->overall.before->log_loss));
        EXPECT_GT(fit->overall.before->log_loss, 1);  // sure and wrong
        EXPECT_LT(fit->overall.out_of_fold->log_loss, 0.68);
        EXPECT_GT(applied(*fit, 0, 0), 0.2);
        EXPECT_LT(applied(*fit, 1, 0), 0.8);
    }
    const auto isotonic = fit_calibration(people.view(), with(CalibrationMethod::kIsotonic));
    EXPECT_LT(isotonic->overall.after->largest, 1e-9);  // five values, each its own mean

    People one;  // a single score: the base rate
    for (int i = 0; i < 400; ++i) one.add(1, i % 4 == 0, 0);
    for (const auto method : kAll) {
        const auto fit = fit_calibration(one.view(), with(method));
        ASSERT_TRUE(fit);
        EXPECT_NEAR(applied(*fit, 1, 0), 0.25, 0.002);
    }
}

TEST(Calibration, VotesOfNeighboursAreMappedByAllMethods) {
    // 0 and 1 among the votes do not drag the curve: 1/20 and 19/20 stand for them
    People people;
    base::Random random(22);
    for (int i = 0; i < 20'000; ++i) {
        const double vote = static_cast<double>(std::min(random.below(11), random.below(11))) / 10;
        people.add(vote, random.bernoulli(0.03 + 0.9 * vote * vote) ? 1 : 0, 0);
    }
    for (const auto method : kAll) {
        const auto fit = fit_calibration(people.view(), with(method));
        ASSERT_TRUE(fit);
        EXPECT_LT(fit->overall.out_of_fold->expected, 0.04) << to_string(method);
        for (double vote : {0.0, 0.2, 0.5, 0.8, 1.0})
            EXPECT_NEAR(applied(*fit, vote, 0), 0.03 + 0.9 * vote * vote, 0.09)
                << to_string(method) << ' ' << vote;
        EXPECT_FALSE(model::fault_of(fit->maps[0]));
    }
}

TEST(Calibration, WeightsCountAsRows) {
    const auto people = drawn(500, 20, 0.7, 0.9, {0});
    People weighted = people, repeated;
    for (size_t i = 0; i < 500; ++i) {
        weighted.weight[i] = static_cast<float>(1 + i % 3);
        for (size_t j = 0; j <= i % 3; ++j) repeated.add(people.score[i], people.label[i], 0);
    }
    for (const auto method : kAll) {
        const auto a = fit_calibration(weighted.view(), with(method));
        const auto b = fit_calibration(repeated.view(), with(method));
        ASSERT_TRUE(a && b);
        // but for the targets, which know that repeated rows are more
        for (double p : {0.2, 0.4, 0.6, 0.8})
            EXPECT_NEAR(applied(*a, p, 0), applied(*b, p, 0), 0.003);
        EXPECT_NEAR(a->overall.before->brier, b->overall.before->brier, 1e-9);
        EXPECT_NEAR(a->overall.before->expected, b->overall.before->expected, 1e-9);
    }
}

TEST(Calibration, ErrorsOfHandMadeBins) {
    // two bins of two rows: means .2 and .7, labels' 1/2 and 1
    const std::vector<double> score{.1, .3, .6, .8};
    const std::vector<uint8_t> label{0, 1, 1, 1};
    const auto error = calibration_error(score, label, {}, 2);
    EXPECT_NEAR(error.expected, (0.3 + 0.3) / 2, 1e-15);
    EXPECT_NEAR(error.largest, 0.3, 1e-15);
    EXPECT_NEAR(error.brier, (.01 + .49 + .16 + .04) / 4, 1e-15);
    EXPECT_NEAR(calibration_error(score, label, {}, 1).expected, 0.3, 1e-15);
    // rows with one score are in one bin, however many bins there are
    const std::vector<double> same(4, .5);
    EXPECT_NEAR(calibration_error(same, label, {}, 4).expected, 0.25, 1e-15);
}

TEST(Calibration, TheSameSeedGivesTheSameFolds) {
    const auto people = drawn(1000, 21, 1, 1, {0, 1});
    auto params = with(CalibrationMethod::kPlatt);
    const auto first = fit_calibration(people.view(), params);
    const auto again = fit_calibration(people.view(), params);
    params.seed = 1;
    const auto other = fit_calibration(people.view(), params);
    ASSERT_TRUE(first && again && other);
    EXPECT_EQ(first->overall.out_of_fold->brier, again->overall.out_of_fold->brier);
    EXPECT_NE(first->overall.out_of_fold->brier, other->overall.out_of_fold->brier);
    EXPECT_EQ(first->overall.after->brier, other->overall.after->brier);
}

TEST(Calibration, BadInputIsNamed) {
    const auto reason = [](const People& people, CalibrationParams params = {}) {
        const auto fit = fit_calibration(people.view(), params);
        return fit ? std::string("none") : fit.error().reason;
    };
    const auto good = drawn(10, 1, 1, 1, {0});
    auto bad = good;
    bad.score[3] = 1.5;
    EXPECT_EQ(reason(bad), "bad_score");
    bad.score[3] = std::nan("");
    EXPECT_EQ(reason(bad), "bad_score");
    bad = good;
    bad.label[3] = 2;
    EXPECT_EQ(reason(bad), "bad_label");
    bad = good;
    bad.weight[3] = 0;
    EXPECT_EQ(reason(bad), "bad_weight");
    bad = good;
    bad.group[3] = 1;
    bad.groups = 1;
    EXPECT_EQ(reason(bad), "bad_group");
    bad = good;
    bad.label.pop_back();
    EXPECT_EQ(reason(bad), "size_mismatch");
    bad = good;
    bad.groups = base::limits::kMaxGroups + 1;
    EXPECT_EQ(reason(bad), "bad_group_count");
    bad = good;
    std::fill(bad.label.begin(), bad.label.end(), uint8_t{1});
    EXPECT_EQ(reason(bad), "one_label");
    EXPECT_EQ(reason(People{}), "bad_row_count");
    EXPECT_EQ(reason(good, {.max_points = 1}), "bad_calibration_setting");
    EXPECT_EQ(reason(good, {.max_points = 10'001}), "bad_calibration_setting");
    EXPECT_EQ(reason(good, {.bins = 0}), "bad_calibration_setting");
    EXPECT_EQ(reason(good, {.folds = 1}), "bad_calibration_setting");
    EXPECT_EQ(reason(good, {.min_rows = 1}), "bad_calibration_setting");
}

TEST(Calibration, MethodsHaveNames) {
    for (const auto method : kAll) EXPECT_EQ(*parse_calibration(to_string(method)), method);
    const auto unknown = parse_calibration("temperature");
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().reason, "unknown_calibration");
}

}  // namespace
}  // namespace rampart::calibration
