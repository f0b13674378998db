#include "reference/ramp_sgd.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "rampart/base/limits.hpp"
#include "rampart/base/random.hpp"

namespace rampart::reference {
namespace {

using ramp::RampProblem;
using ramp::Regulariser;
using ramp::solve_ramp;

struct Rows {
    std::vector<double> score;
    std::vector<int32_t> group;
    std::vector<float> weight;
    size_t groups = 3;
    RampProblem view() const { return {score, group, groups, weight}; }
};

/// Three groups of different sizes that lean further and further towards approval.
Rows leaning(size_t n, uint64_t seed) {
    base::Random random(seed);
    Rows rows;
    for (size_t i = 0; i < n; ++i) {
        rows.group.push_back(static_cast<int32_t>(i % 10 < 6 ? 0 : i % 10 < 9 ? 1 : 2));
        rows.score.push_back(std::tanh(0.8 * random.normal() + 0.5 * rows.group.back() - 0.6));
    }
    return rows;
}

/// Rows that never end: drawn anew for every batch, none kept.
class EndlessRows : public RampBatches {
  public:
    explicit EndlessRows(uint64_t seed) : random_(seed) {}
    base::Status restart() override { return base::ok(); }
    base::Result<RampBatch> next() override {
        score_.clear();
        group_.clear();
        for (int i = 0; i < 256; ++i) {
            group_.push_back(random_.bernoulli(0.3) ? 1 : 0);
            score_.push_back(random_.uniform(-1, 1) * (group_.back() ? 1 : 0.5));
        }
        return RampBatch{score_, group_, {}};
    }

  private:
    base::Random random_;
    std::vector<double> score_;
    std::vector<int32_t> group_;
};

TEST(RampSgd, AgreesWithTheExactSolverForAFixedCentre) {
    const Rows rows = leaning(20'000, 1);
    for (const auto regulariser : {Regulariser::kPaper, Regulariser::kCentred})
        for (double gamma : {0.05, 0.5})
            for (double epsilon : {0.0, 0.05}) {
                ShuffledBatches source(rows.view(), 256, 2);
                const auto sgd = fit_ramp_sgd(
                    source, 3,
                    {.gamma = gamma, .epsilon = epsilon, .rho = 0.35, .regulariser = regulariser});
                const auto exact = solve_ramp(
                    rows.view(),
                    {.gamma = gamma, .epsilon = epsilon, .rho = 0.35, .regulariser = regulariser});
                ASSERT_TRUE(sgd && exact);
                EXPECT_EQ(sgd->outcome, SgdOutcome::kConverged);
                EXPECT_LE(sgd->check.residual, 0.002);
                EXPECT_EQ(sgd->check.standard_error, 0);  // it saw the whole pass
                for (size_t k = 0; k < 3; ++k) {
                    EXPECT_NEAR(sgd->check.rates[k], exact->rates[k], 0.0021);
                    EXPECT_NEAR(sgd->rule.thresholds[k], exact->rule.thresholds[k], 0.01);
                }
            }
}

TEST(RampSgd, ATighterToleranceIsMet) {
    const Rows rows = leaning(5000, 3);
    ShuffledBatches source(rows.view(), 100, 4);
    const auto sgd =
        fit_ramp_sgd(source, 3, {.gamma = 0.2, .epsilon = 0.02, .rho = 0.4, .tolerance = 2e-4});
    ASSERT_TRUE(sgd);
    EXPECT_EQ(sgd->outcome, SgdOutcome::kConverged);
    EXPECT_LE(sgd->check.residual, 2e-4);
    EXPECT_GT(sgd->phases, 1u);
}

/// Gradient steps on whole groups, as the reference makes them for a small epsilon: mu is dropped,
/// epsilon / 2 stays in the gradient.
std::vector<double> steps_without_mu(const Rows& rows, double gamma, double epsilon, double rho) {
    std::vector<double> t(rows.groups);
    for (int step = 0; step < 2000; ++step) {
        std::vector<double> hits(rows.groups), count(rows.groups);
        for (size_t i = 0; i < rows.score.size(); ++i) {
            const auto k = static_cast<size_t>(rows.group[i]);
            hits[k] += std::clamp((rows.score[i] - t[k]) / gamma, 0.0, 1.0);
            count[k] += 1;
        }
        for (size_t k = 0; k < rows.groups; ++k)
            t[k] -= gamma / 2 * (epsilon / 2 + rho - hits[k] / count[k]);
    }
    return t;
}

TEST(RampSgd, AVariantWithoutMuIsSeenToFail) {
    const Rows rows = leaning(2000, 5);
    const double epsilon = 0.002;  // where the reference drops it
    const RampSgdParams params{.gamma = 0.2, .epsilon = epsilon, .rho = 0.3, .tolerance = 2e-4};
    ShuffledBatches source(rows.view(), 256, 6);
    const auto sgd = fit_ramp_sgd(source, 3, params);
    ASSERT_TRUE(sgd);
    EXPECT_EQ(sgd->outcome, SgdOutcome::kConverged);

    const auto t = steps_without_mu(rows, 0.2, epsilon, 0.3);
    std::vector<double> lambda, mu;
    for (const double one : t) {
        lambda.push_back(std::max(one, 0.0));
        mu.push_back(std::max(-one, 0.0));
    }
    const auto check = check_ramp(source, lambda, mu, params);
    ASSERT_TRUE(check);
    EXPECT_GT(check->residual, 5 * params.tolerance);
    for (const double rate : check->rates) EXPECT_NEAR(rate, 0.3 + epsilon / 2, 1e-6);
    // the exact rates differ: groups that would have less are at the lower end of the band
    const auto exact = solve_ramp(
        rows.view(),
        {.gamma = 0.2, .epsilon = epsilon, .rho = 0.3, .regulariser = Regulariser::kPaper});
    ASSERT_TRUE(exact);
    const auto [least, most] = std::minmax_element(exact->rates.begin(), exact->rates.end());
    EXPECT_NEAR(*most - *least, epsilon, 1e-9);
    for (size_t k = 0; k < 3; ++k) EXPECT_NEAR(sgd->check.rates[k], exact->rates[k], 2.1e-4);
}

TEST(RampSgd, RowsThatNeverEndAreCheckedToTheirSamplingError) {
    EndlessRows source(7);
    const auto sgd = fit_ramp_sgd(
        source, 2, {.gamma = 0.1, .rho = 0.25, .tolerance = 0.005, .check_rows = 300'000});
    ASSERT_TRUE(sgd);
    EXPECT_EQ(sgd->outcome, SgdOutcome::kConverged);
    EXPECT_GT(sgd->check.standard_error, 0);
    EXPECT_LE(sgd->check.standard_error, 0.005);
    // uniform scores on [-h, h], h = .5 and 1: the rate is (h - t - gamma / 2) / 2h
    EXPECT_NEAR(sgd->rule.thresholds[0], 0.5 - 0.05 - 0.25, 0.01);
    EXPECT_NEAR(sgd->rule.thresholds[1], 1 - 0.05 - 0.5, 0.02);
}

TEST(RampSgd, TooFewRowsDoNotConvergeAndSaySo) {
    const Rows rows = leaning(5000, 8);
    ShuffledBatches source(rows.view(), 50, 9);
    const auto sgd =
        fit_ramp_sgd(source, 3, {.gamma = 0.01, .rho = 0.9, .tolerance = 1e-4, .max_rows = 400});
    ASSERT_TRUE(sgd);
    EXPECT_EQ(sgd->outcome, SgdOutcome::kNotConverged);
    EXPECT_EQ(to_string(sgd->outcome), "not_converged");
    EXPECT_GT(sgd->check.residual, 1e-4);
    EXPECT_EQ(sgd->rows, 400u);
}

TEST(RampSgd, AsPrintedItIsOneRowAnUpdateWithOneStep) {
    // by hand: one group, scores 1 and -1 in turn, rho = 1/4, gamma = 1: T = 4, step .1·sqrt(1/4)
    const Rows rows{{1, -1}, {0, 0}, {}, 1};
    struct InOrder : RampBatches {
        const Rows& rows;
        bool given = false;
        explicit InOrder(const Rows& r) : rows(r) {}
        base::Status restart() override {
            given = false;
            return base::ok();
        }
        base::Result<RampBatch> next() override {
            if (std::exchange(given, true)) return RampBatch{};
            return RampBatch{rows.score, {}, {}};
        }
    } source(rows);
    const auto sgd =
        fit_ramp_sgd(source, 1, {.gamma = 1, .rho = 0.25, .max_rows = 4, .paper_compat = true});
    ASSERT_TRUE(sgd);
    // q = 1, 0, 1 - .0125, 0; one multiplier falls by what the other rises, unless it stands at 0
    const double lambda[] = {.0375, .025, .061875, .049375}, mu[] = {0, .0125, 0, .0125};
    double t = 0;
    for (int i = 0; i < 4; ++i) t += (lambda[i] - mu[i]) / 4;
    EXPECT_NEAR(sgd->lambda[0] - sgd->mu[0], t, 1e-15);
    EXPECT_EQ(sgd->updates, 4u);
}

TEST(RampSgd, AsPrintedItConvergesWithEnoughRowsAndSaysWhenNot) {
    const Rows rows = leaning(20'000, 10);
    RampSgdParams params{
        .gamma = 0.2, .rho = 0.3, .tolerance = 0.03, .max_rows = 4'000'000, .paper_compat = true};
    ShuffledBatches source(rows.view(), 256, 11);
    const auto much = fit_ramp_sgd(source, 3, params);
    params.max_rows = 2000;
    const auto little = fit_ramp_sgd(source, 3, params);
    ASSERT_TRUE(much && little);
    EXPECT_EQ(much->outcome, SgdOutcome::kConverged) << much->check.residual;
    EXPECT_EQ(little->outcome, SgdOutcome::kNotConverged);
}

TEST(RampSgd, WeightsCountAsRows) {
    Rows rows = leaning(3000, 12);
    base::Random random(13);
    for (size_t i = 0; i < 3000; ++i)
        rows.weight.push_back(rows.score[i] > 0 ? 5.0f : static_cast<float>(random.uniform(1, 2)));
    ShuffledBatches source(rows.view(), 32, 14);  // some three rows of the smallest group in each
    const auto sgd = fit_ramp_sgd(source, 3, {.gamma = 0.3, .epsilon = 0.02, .rho = 0.5});
    const auto exact =
        solve_ramp(rows.view(),
                   {.gamma = 0.3, .epsilon = 0.02, .rho = 0.5, .regulariser = Regulariser::kPaper});
    ASSERT_TRUE(sgd && exact);
    EXPECT_EQ(sgd->outcome, SgdOutcome::kConverged);
    for (size_t k = 0; k < 3; ++k) EXPECT_NEAR(sgd->check.rates[k], exact->rates[k], 0.0021);
}

TEST(RampSgd, TheSameSourceGivesTheSameRule) {
    const Rows rows = leaning(2000, 15);
    ShuffledBatches first(rows.view(), 64, 1), again(rows.view(), 64, 1), other(rows.view(), 64, 2);
    const RampSgdParams params{.rho = 0.4};
    const auto a = fit_ramp_sgd(first, 3, params), b = fit_ramp_sgd(again, 3, params),
               c = fit_ramp_sgd(other, 3, params);
    ASSERT_TRUE(a && b && c);
    EXPECT_EQ(a->rule.thresholds, b->rule.thresholds);
    EXPECT_NE(a->rule.thresholds, c->rule.thresholds);
}

TEST(RampSgd, BadInputIsNamed) {
    const auto reason = [](Rows rows, RampSgdParams params) {
        ShuffledBatches source(rows.view(), 16, 1);
        const auto sgd = fit_ramp_sgd(source, rows.groups, params);
        return sgd ? std::string("none") : sgd.error().reason;
    };
    const Rows good = leaning(50, 1);
    EXPECT_EQ(reason(good, {.gamma = 0}), "bad_sgd_setting");
    EXPECT_EQ(reason(good, {.epsilon = 1.5}), "bad_sgd_setting");
    EXPECT_EQ(reason(good, {.rho = -0.1}), "bad_sgd_setting");
    EXPECT_EQ(reason(good, {.tolerance = 0}), "bad_sgd_setting");
    EXPECT_EQ(reason(good, {.max_rows = 0}), "bad_sgd_setting");
    EXPECT_EQ(reason(good, {.check_rows = 1'000'000'000'001}), "bad_sgd_setting");
    Rows bad = good;
    bad.score[7] = 2;
    EXPECT_EQ(reason(bad, {}), "bad_score");
    bad = good;
    bad.group[7] = 3;
    EXPECT_EQ(reason(bad, {}), "bad_group");
    bad = good;
    bad.weight.assign(50, 0);
    EXPECT_EQ(reason(bad, {}), "bad_weight");
    bad.weight.assign(50, 1);
    EXPECT_EQ(reason(bad, {.paper_compat = true}), "paper_compat_weights");
    bad = good;
    bad.groups = 4;
    EXPECT_EQ(reason(bad, {}), "empty_group");
    bad.groups = base::limits::kMaxGroups + 1;
    EXPECT_EQ(reason(bad, {}), "bad_group_count");
    EXPECT_EQ(reason(Rows{}, {}), "no_rows");

    ShuffledBatches source(good.view(), 16, 1);
    const std::vector<double> three(3), two(2), below{0, 0, -1};
    EXPECT_EQ(check_ramp(source, three, two, {}).error().reason, "size_mismatch");
    EXPECT_EQ(check_ramp(source, three, below, {}).error().reason, "bad_multiplier");
}

}  // namespace
}  // namespace rampart::reference
