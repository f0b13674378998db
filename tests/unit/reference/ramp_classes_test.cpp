#include "reference/ramp_classes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "rampart/base/limits.hpp"
#include "rampart/base/random.hpp"
#include "rampart/ramp/solver.hpp"

namespace rampart::reference {
namespace {

using ramp::solve_ramp;

struct Rows {
    std::vector<double> score;
    std::vector<int32_t> group;
    std::vector<float> weight;
    size_t classes = 3, groups = 3;
    MultiClassProblem view() const { return {score, classes, group, groups, weight}; }
};

/// Groups that lean towards classes of their own. coarse: scores of few values.
Rows leaning(size_t n, size_t classes, size_t groups, uint64_t seed, bool coarse = false) {
    base::Random random(seed);
    Rows rows{{}, {}, {}, classes, groups};
    for (size_t i = 0; i < n; ++i) {
        const size_t k = i < groups ? i : random.below(groups);
        rows.group.push_back(static_cast<int32_t>(k));
        for (size_t c = 0; c < classes; ++c) {
            double f = std::tanh(0.5 * random.normal() + (c == k ? 0.4 : -0.2));
            if (coarse) f = std::round(4 * f) / 4;
            rows.score.push_back(f);
        }
    }
    return rows;
}

TEST(MultiClassRamp, TwoClassesAreTheBinaryRamp) {
    // f1 - f2 = f, |q|^2 = 2 (q1 - 1/2)^2 + 1/2: twice the width, the centred regulariser
    base::Random random(1);
    Rows rows{{}, {}, {}, 2, 3};
    std::vector<double> binary;
    for (int i = 0; i < 900; ++i) {
        rows.group.push_back(i % 3);
        binary.push_back(std::tanh(0.7 * random.normal() + 0.4 * (i % 3) - 0.5));
        rows.score.push_back(binary.back() / 2);
        rows.score.push_back(-binary.back() / 2);
        rows.weight.push_back(static_cast<float>(random.uniform(0.5, 2)));
    }
    double mean = 0, total = 0;
    for (size_t i = 0; i < 900; ++i) {
        mean += binary[i] * rows.weight[i];
        total += rows.weight[i];
    }
    mean /= total;
    for (double epsilon : {0.0, 0.03, 0.2}) {
        const auto both = solve_multi_class_ramp(rows.view(), {.gamma = 0.1, .epsilon = epsilon});
        const auto one =
            solve_ramp({binary, rows.group, 3, rows.weight}, {.gamma = 0.2, .epsilon = epsilon});
        ASSERT_TRUE(both && one) << both.error().message;
        EXPECT_TRUE(both->converged) << both->gap << ' ' << both->residual;
        for (size_t k = 0; k < 3; ++k) EXPECT_NEAR(both->rates[2 * k], one->rates[k], 1e-5);
        // what does not depend on q: gamma / 4, and the mean of f / 2
        EXPECT_NEAR(both->objective, one->objective + 0.025 + mean / 2, 1e-9);
    }
}

TEST(MultiClassRamp, TheGapProvesTheSolutionAndParityHolds) {
    for (size_t classes : {3u, 5u})
        for (double gamma : {0.02, 0.3, 3.0})
            for (double epsilon : {0.0, 0.01, 0.15})
                for (bool coarse : {false, true}) {
                    const auto rows = leaning(1500, classes, 3, classes, coarse);
                    const auto s =
                        solve_multi_class_ramp(rows.view(), {.gamma = gamma, .epsilon = epsilon});
                    ASSERT_TRUE(s);
                    EXPECT_TRUE(s->converged)
                        << classes << " classes, gamma " << gamma << ", epsilon " << epsilon
                        << ", coarse " << coarse << ": gap " << s->gap << ", residual "
                        << s->residual << ", steps " << s->steps;
                    EXPECT_LE(std::abs(s->gap), 1e-9);
                    EXPECT_LE(s->residual, 1e-9);
                    for (size_t c = 0; c < classes; ++c) {
                        double lo = 1, hi = 0;
                        for (size_t k = 0; k < 3; ++k) {
                            lo = std::min(lo, s->rates[k * classes + c]);
                            hi = std::max(hi, s->rates[k * classes + c]);
                        }
                        EXPECT_LE(hi - lo, epsilon + 1e-9);
                    }
                }
}

TEST(MultiClassRamp, SmallRandomProblemsAreSolvedToo) {
    base::Random random(20);
    for (int trial = 0; trial < 300; ++trial) {
        const size_t groups = 1 + random.below(4), classes = 2 + random.below(4);
        auto rows = leaning(groups + random.below(200), classes, groups, random.next(),
                            random.bernoulli(0.4));
        if (random.bernoulli(0.5))
            for (size_t i = 0; i < rows.group.size(); ++i)
                rows.weight.push_back(static_cast<float>(random.uniform(0.1, 5)));
        const double gammas[] = {0.001, 0.01, 0.1, 1, 20};
        const MultiClassParams params{
            .gamma = gammas[random.below(5)],
            .epsilon = random.bernoulli(0.4) ? 0 : random.uniform(0.001, 0.5)};
        const auto s = solve_multi_class_ramp(rows.view(), params);
        ASSERT_TRUE(s);
        EXPECT_TRUE(s->converged) << "trial " << trial << ", " << rows.group.size() << " rows, "
                                  << groups << " groups, " << classes << " classes, gamma "
                                  << params.gamma << ", epsilon " << params.epsilon << ": gap "
                                  << s->gap << ", residual " << s->residual << ", steps "
                                  << s->steps;
    }
}

TEST(MultiClassRamp, ARuleIsTheProjectionOntoTheSimplex) {
    MultiClassSolution s;
    s.gamma = 0.5;
    s.classes = 3;
    s.groups = 2;
    s.thresholds = {0, 0, 0, 0.2, 0, -0.2};
    std::vector<double> q(3);
    s.apply(std::vector<double>{0.1, 0, -0.1}, 0, q);  // .2, 0, -.2: plus 1/3
    EXPECT_NEAR(q[0], 1.0 / 3 + .2, 1e-15);
    EXPECT_NEAR(q[1], 1.0 / 3, 1e-15);
    EXPECT_NEAR(q[2], 1.0 / 3 - .2, 1e-15);
    s.apply(std::vector<double>{1, 0, -1}, 0, q);  // far: a corner
    EXPECT_EQ(q, (std::vector<double>{1, 0, 0}));
    s.apply(std::vector<double>{0.2, 0, -0.2}, 1, q);  // the thresholds take it all off
    for (double one : q) EXPECT_NEAR(one, 1.0 / 3, 1e-15);
}

TEST(MultiClassRamp, ASlackBandChangesNothing) {
    const auto rows = leaning(300, 4, 2, 9);
    const auto s = solve_multi_class_ramp(rows.view(), {.gamma = 0.2, .epsilon = 1});
    ASSERT_TRUE(s);
    EXPECT_TRUE(s->converged);
    for (double t : s->thresholds) EXPECT_NEAR(t, 0, 1e-8);
}

TEST(MultiClassRamp, OneGroupChangesNothing) {
    const auto rows = leaning(100, 3, 1, 10);
    const auto s = solve_multi_class_ramp(rows.view(), {.gamma = 0.2});
    ASSERT_TRUE(s);
    EXPECT_TRUE(s->converged);
    for (double t : s->thresholds) EXPECT_NEAR(t, 0, 1e-9);
}

TEST(MultiClassRamp, CentresMoveWhereTheyCostLeast) {
    // the large group stays nearly where it was, the small one comes to it
    Rows rows = leaning(2000, 3, 2, 11);
    for (size_t i = 0; i < 2000; ++i) rows.weight.push_back(rows.group[i] == 0 ? 1.0f : 0.02f);
    const auto free = solve_multi_class_ramp(rows.view(), {.gamma = 0.2, .epsilon = 1});
    const auto fair = solve_multi_class_ramp(rows.view(), {.gamma = 0.2, .epsilon = 0});
    ASSERT_TRUE(free && fair);
    for (size_t c = 0; c < 3; ++c) {
        EXPECT_NEAR(fair->centres[c], free->rates[c], 0.02);
        EXPECT_NEAR(fair->rates[c], fair->rates[3 + c], 1e-9);
    }
    EXPECT_GT(std::abs(free->rates[0] - free->rates[3]), 0.1);
}

TEST(MultiClassRamp, ReportedRatesAreTheRules) {
    const auto rows = leaning(400, 3, 3, 12);
    const auto s = solve_multi_class_ramp(rows.view(), {.gamma = 0.1, .epsilon = 0.02});
    ASSERT_TRUE(s);
    std::vector<double> rates(9), count(3), q(3);
    for (size_t i = 0; i < 400; ++i) {
        const auto k = static_cast<size_t>(rows.group[i]);
        s->apply(std::span(rows.score).subspan(3 * i, 3), k, q);
        EXPECT_NEAR(std::accumulate(q.begin(), q.end(), 0.0), 1, 1e-12);
        count[k] += 1;
        for (size_t c = 0; c < 3; ++c) rates[3 * k + c] += q[c];
    }
    for (size_t i = 0; i < 9; ++i) EXPECT_NEAR(rates[i] / count[i / 3], s->rates[i], 1e-12);
}

TEST(MultiClassRamp, TooFewStepsAreSaid) {
    const auto rows = leaning(400, 3, 3, 13);
    const auto s =
        solve_multi_class_ramp(rows.view(), {.gamma = 0.05, .epsilon = 0.01, .max_steps = 2});
    ASSERT_TRUE(s);
    EXPECT_FALSE(s->converged);
    EXPECT_EQ(s->steps, 2u);
    EXPECT_GT(s->residual, 1e-9);
}

TEST(MultiClassRamp, BadInputIsNamed) {
    const auto reason = [](const Rows& rows, MultiClassParams params = {}) {
        const auto s = solve_multi_class_ramp(rows.view(), params);
        return s ? std::string("none") : s.error().reason;
    };
    const Rows good = leaning(30, 3, 3, 1);
    EXPECT_EQ(reason(good, {.gamma = 1e-4}), "bad_multi_class_setting");
    EXPECT_EQ(reason(good, {.epsilon = 1e-7}), "bad_multi_class_setting");
    EXPECT_EQ(reason(good, {.epsilon = 1.1}), "bad_multi_class_setting");
    EXPECT_EQ(reason(good, {.tolerance = 0}), "bad_multi_class_setting");
    EXPECT_EQ(reason(good, {.max_steps = 0}), "bad_multi_class_setting");
    Rows bad = good;
    bad.classes = 1;
    EXPECT_EQ(reason(bad), "bad_class_count");
    bad.classes = kMaxRampClasses + 1;
    EXPECT_EQ(reason(bad), "bad_class_count");
    bad = good;
    bad.groups = base::limits::kMaxGroups + 1;
    EXPECT_EQ(reason(bad), "bad_group_count");
    bad.groups = 4;
    EXPECT_EQ(reason(bad), "empty_group");
    bad = good;
    bad.score.pop_back();
    EXPECT_EQ(reason(bad), "size_mismatch");
    bad = good;
    bad.score[5] = -1.5;
    EXPECT_EQ(reason(bad), "bad_score");
    bad = good;
    bad.group[5] = -1;
    EXPECT_EQ(reason(bad), "bad_group");
    bad = good;
    bad.weight.assign(30, 1);
    bad.weight[5] = -1;
    EXPECT_EQ(reason(bad), "bad_weight");
}

}  // namespace
}  // namespace rampart::reference
