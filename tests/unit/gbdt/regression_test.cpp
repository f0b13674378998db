#include "rampart/gbdt/regression.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <numeric>

#include "rampart/gbdt/learner.hpp"
#include "rampart/gbdt/log_loss.hpp"
#include "rampart/gbdt/soft_cross_entropy.hpp"
#include "rampart/gbdt/squared.hpp"
#include "toy_data.hpp"

namespace rampart::gbdt {
namespace {

template <class T>
std::unique_ptr<Objective> boxed(base::Result<T> objective) {
    return std::make_unique<T>(std::move(objective).value());
}

/// An objective with the loss of one target at one score, for comparison.
struct Case {
    const char* name;
    std::function<std::unique_ptr<Objective>(std::vector<double>, std::vector<float>)> make;
    std::function<double(double f, double t)> loss;
    bool newton;  // h is the second derivative
    std::function<double(double x, base::Random&)> draw;
};

std::vector<Case> cases() {
    const auto noise = [](double x, base::Random& random) { return 2 * x + random.normal(); };
    const auto share = [](double x, base::Random&) { return 1 / (1 + std::exp(-x)); };
    const auto count = [](double x, base::Random& random) {
        return std::floor(std::exp(x) + random.uniform());
    };
    const auto amount = [](double x, base::Random& random) {  // often 0
        return random.uniform() < 0.6 ? 0 : std::exp(x) * (0.5 + 2 * random.uniform());
    };
    const auto tweedie = [](double power) {
        return [power](auto t, auto w) {
            return boxed(TweedieLoss::create(std::move(t), std::move(w), power));
        };
    };
    const auto tweedie_loss = [](double p) {
        return [p](double f, double t) {
            return t * std::exp((1 - p) * f) / (p - 1) + std::exp((2 - p) * f) / (2 - p);
        };
    };
    return {
        {"tweedie 1.5", tweedie(1.5), tweedie_loss(1.5), true, amount},
        {"tweedie 1.1", tweedie(1.1), tweedie_loss(1.1), true, amount},
        {"tweedie 1.9", tweedie(1.9), tweedie_loss(1.9), true, amount},
        {"squared",
         [](auto t, auto w) { return boxed(SquaredError::create(std::move(t), std::move(w))); },
         [](double f, double t) { return (f - t) * (f - t) / 2; }, true, noise},
        {"absolute",
         [](auto t, auto w) { return boxed(AbsoluteError::create(std::move(t), std::move(w))); },
         [](double f, double t) { return std::abs(f - t) / 2; }, false, noise},
        {"quantile",
         [](auto t, auto w) {
             return boxed(QuantileLoss::create(std::move(t), std::move(w), 0.9));
         },
         [](double f, double t) { return t > f ? 0.9 * (t - f) : 0.1 * (f - t); }, false, noise},
        {"huber",
         [](auto t, auto w) { return boxed(HuberLoss::create(std::move(t), std::move(w), 0.7)); },
         [](double f, double t) {
             const double r = std::abs(f - t);
             return r <= 0.7 ? r * r / 2 : 0.7 * (r - 0.35);
         },
         false, noise},
        {"poisson",
         [](auto t, auto w) { return boxed(PoissonLoss::create(std::move(t), std::move(w))); },
         [](double f, double t) { return std::exp(f) - t * f; }, false, count},
        {"cross entropy",
         [](auto t, auto w) { return boxed(SoftCrossEntropy::create(std::move(t), std::move(w))); },
         [](double f, double t) { return std::log1p(std::exp(f)) - t * f; }, true, share},
    };
}

TEST(Regression, GradientsAreTheDerivativesOfTheirLoss) {
    base::Random random(1);
    for (const auto& c : cases()) {
        for (int i = 0; i < 200; ++i) {
            const double x = random.uniform(-2, 2), w = random.uniform(0.5, 2);
            const double t = c.draw(x, random), f = random.uniform(-2, 2);
            const auto objective = c.make({t}, {static_cast<float>(w)});
            float g = 0, h = 0;
            objective->gradients(std::span(&f, 1), std::span(&g, 1), std::span(&h, 1));
            const double e = 1e-5, w32 = static_cast<double>(static_cast<float>(w));
            const double slope = (c.loss(f + e, t) - c.loss(f - e, t)) / (2 * e);
            if (std::abs(f - t) <= 2 * e) continue;  // the kink
            EXPECT_NEAR(g, w32 * slope, 1e-4) << c.name;
            EXPECT_GT(h, 0) << c.name;
            const double bend = (c.loss(f + e, t) - 2 * c.loss(f, t) + c.loss(f - e, t)) / (e * e);
            if (!c.newton) continue;
            EXPECT_NEAR(h, w32 * bend, 1e-3) << c.name;
        }
    }
}

/// One harness for every objective: its own loss has to fall, and far, below that of a constant.
TEST(Regression, EveryObjectiveLearnsItsTask) {
    for (const auto& c : cases()) {
        base::Random random(2);
        std::vector<float> x, weights;
        std::vector<double> targets;
        for (int i = 0; i < 3'000; ++i) {
            x.push_back(static_cast<float>(random.uniform(-2, 2)));
            targets.push_back(c.draw(static_cast<double>(x.back()), random));
            weights.push_back(static_cast<float>(random.uniform(0.5, 2)));
        }
        const auto data = numeric_data({x}, std::vector<uint8_t>(x.size()));
        const auto objective = c.make(targets, weights);
        LearnerParams params;
        params.trees = 100;
        const auto ensemble = train(data, *objective, params, nullptr).value();
        const auto loss = [&](const std::function<double(size_t)>& score) {
            double sum = 0, best = 0;
            for (size_t i = 0; i < x.size(); ++i) {
                sum += static_cast<double>(weights[i]) * c.loss(score(i), targets[i]);
                best += static_cast<double>(weights[i]);
            }
            return sum / best;
        };
        const auto fitted = predict(ensemble, data);
        const double constant = loss([&](size_t) { return ensemble.base_score; });
        const double learnt = loss([&](size_t i) { return fitted[i]; });
        // what no model can take away: the noise, or the entropy of the targets
        const bool cross_entropy = c.name[0] == 'c', tweedie = c.name[0] == 't';
        EXPECT_LT(learnt, constant - (cross_entropy ? 0.05 : (tweedie ? 0.03 : 0.15) * constant))
            << c.name << " " << constant << " -> " << learnt;
    }
}

/// Amounts that are 0 or not, by x in {0, 1}, with weights and exposures.
struct Amounts {
    std::vector<float> x, weight;
    std::vector<double> amount, exposure;
};

Amounts amounts(size_t n) {
    base::Random random(7);
    Amounts out;
    for (size_t i = 0; i < n; ++i) {
        out.x.push_back(static_cast<float>(i % 2));
        out.weight.push_back(static_cast<float>(random.uniform(0.5, 2)));
        out.exposure.push_back(random.uniform(0.1, 3));
        const double mean = out.exposure.back() * (i % 2 == 0 ? 0.4 : 1.6);
        out.amount.push_back(random.uniform() < 0.5 ? 0 : mean * (1 + 2 * random.uniform()));
    }
    return out;
}

/// The leaves of one split end at the logarithms of the weighted means, step by step downhill.
TEST(Regression, TweedieComesToTheMeansOfItsLeavesAndItsLossFallsInEachTree) {
    const auto rows = amounts(600);
    auto objective = TweedieLoss::create(rows.amount, rows.weight, 1.5).value();
    LearnerParams params;
    params.trees = 80;
    params.leaves = 2;
    params.learning_rate = 0.3;
    std::vector<double> losses;
    const auto loss = [&](std::span<const double> f) {
        double sum = 0;
        for (size_t i = 0; i < f.size(); ++i)
            sum += static_cast<double>(rows.weight[i]) *
                   (rows.amount[i] * std::exp(-f[i] / 2) * 2 + std::exp(f[i] / 2) * 2);
        losses.push_back(sum);
        return true;
    };
    const auto data = numeric_data({rows.x}, std::vector<uint8_t>(600));
    const auto scores =
        predict(train(data, objective, params, nullptr, nullptr,
                      [&](const Progress& progress) { return loss(progress.scores); })
                    .value(),
                data);
    double sum[2] = {0, 0}, weight[2] = {0, 0};
    for (size_t i = 0; i < 600; ++i) {
        const auto w = static_cast<double>(rows.weight[i]);
        sum[i % 2] += w * rows.amount[i];
        weight[i % 2] += w;
    }
    for (const size_t i : {0, 1}) EXPECT_NEAR(scores[i], std::log(sum[i] / weight[i]), 1e-6);
    for (size_t i = 1; i < losses.size(); ++i) EXPECT_LE(losses[i], losses[i - 1] * (1 + 1e-12));
    EXPECT_LT(losses.back(), 0.98 * losses.front());
}

/// Totals whose mean is exposure · exp(f): the offset log(exposure) stands in the score.
class WithOffset : public Objective {
  public:
    WithOffset(std::unique_ptr<Objective> of_totals, std::vector<double> exposure, double start)
        : of_totals_(std::move(of_totals)), exposure_(std::move(exposure)), start_(start) {}
    std::string_view name() const override { return "with offset"; }
    double initial_score() const override { return start_; }
    void gradients_of_rows(std::span<const double> scores, size_t first, std::span<float> g,
                           std::span<float> h) const override {
        std::vector<double> moved(scores.begin(), scores.end());
        for (size_t i = 0; i < moved.size(); ++i) moved[i] += std::log(exposure_[i]);
        of_totals_->gradients_of_rows(moved, first, g, h);
    }

  private:
    std::unique_ptr<Objective> of_totals_;
    std::vector<double> exposure_;
    double start_;
};

/// The loss of rates, weighted by exposure^(2 - p), is that of totals with an offset.
TEST(Regression, AnExposureIsAWeightAndNeedsNoOffset) {
    auto rows = amounts(2'000);
    base::Random random(8);
    for (float& x : rows.x) x += static_cast<float>(random.uniform());
    const auto data = numeric_data({rows.x}, std::vector<uint8_t>(rows.x.size()));
    for (const double power : {1.0, 1.2, 1.5, 1.8}) {
        const auto make = [&](std::vector<double> t, std::vector<float> w) {
            return power == 1 ? boxed(PoissonLoss::create(std::move(t), std::move(w)))
                              : boxed(TweedieLoss::create(std::move(t), std::move(w), power));
        };
        const auto fitted_with = [&](double exponent) {
            std::vector<double> rates;
            std::vector<float> weights;
            for (size_t i = 0; i < rows.x.size(); ++i) {
                rates.push_back(rows.amount[i] / rows.exposure[i]);
                weights.push_back(static_cast<float>(std::pow(rows.exposure[i], exponent)));
            }
            return make(std::move(rates), std::move(weights));
        };
        const auto by_weight = fitted_with(2 - power);
        WithOffset by_offset(make(rows.amount, {}), rows.exposure, by_weight->initial_score());
        const auto gradients = [&](const Objective& of) {
            std::vector<double> scores(rows.x.size());
            for (size_t i = 0; i < scores.size(); ++i) scores[i] = std::sin(static_cast<double>(i));
            std::vector<float> g(scores.size()), h(scores.size());
            of.gradients_of_rows(scores, 0, g, h);
            g.insert(g.end(), h.begin(), h.end());
            return g;
        };
        const auto expected = gradients(by_offset), got = gradients(*by_weight);
        for (size_t i = 0; i < got.size(); ++i)
            ASSERT_NEAR(got[i], expected[i], 1e-5 * (1 + std::abs(expected[i]))) << power;
        LearnerParams params;
        params.trees = 30;
        params.leaves = 4;
        const auto scores = [&](Objective& of) {
            return predict(train(data, of, params, nullptr).value(), data);
        };
        const auto wanted = scores(by_offset), learnt = scores(*by_weight);
        const auto wrong = scores(*fitted_with(power == 1 ? 0 : 1));
        double error = 0, of_wrong = 0;
        for (size_t i = 0; i < wanted.size(); ++i) {
            error += std::abs(learnt[i] - wanted[i]) / 2'000;
            of_wrong += std::abs(wrong[i] - wanted[i]) / 2'000;
        }
        EXPECT_LT(error, 1e-3) << power;
        EXPECT_GT(of_wrong, 10 * error + 1e-3) << power << ": another weight is another model";
    }
}

TEST(Regression, TheQuantileIsMetOnEitherSide) {
    base::Random random(3);
    std::vector<float> x;
    std::vector<double> targets;
    for (int i = 0; i < 4'000; ++i) {
        x.push_back(static_cast<float>(random.uniform(-2, 2)));
        targets.push_back(static_cast<double>(x.back()) + random.normal());
    }
    const auto data = numeric_data({x}, std::vector<uint8_t>(x.size()));
    for (const double alpha : {0.1, 0.5, 0.9}) {
        auto objective = QuantileLoss::create(targets, {}, alpha).value();
        LearnerParams params;
        params.trees = 100;
        params.leaves = 8;
        params.min_rows_in_leaf = 100;
        const auto scores = predict(train(data, objective, params, nullptr).value(), data);
        double below = 0;
        for (size_t i = 0; i < x.size(); ++i) below += targets[i] <= scores[i] ? 1 : 0;
        EXPECT_NEAR(below / 4'000, alpha, 0.02);
    }
}

TEST(Regression, LeavesOfTheAbsoluteErrorAreWeightedMedians) {
    // residuals 0, 1, 10 with weights 1, 1, 3: half of the weight is reached at 10
    const auto objective = AbsoluteError::create({0, 1, 10}, {1, 1, 3}).value();
    const std::vector<double> scores{0, 0, 0};
    const std::vector<uint32_t> all{0, 1, 2}, two{0, 1};
    EXPECT_EQ(objective.leaf_value(scores, all), 10);
    EXPECT_EQ(objective.leaf_value(scores, two), 0);
    EXPECT_EQ(objective.initial_score(), 10);
}

TEST(Regression, BadTargetsAndParametersAreNamed) {
    const auto reason = [](const auto& result) { return result ? "" : result.error().reason; };
    EXPECT_EQ(reason(QuantileLoss::create({}, {}, 0.5)), "no_rows");
    EXPECT_EQ(reason(QuantileLoss::create({1}, {}, 1)), "bad_alpha");
    EXPECT_EQ(reason(QuantileLoss::create({1}, {}, NAN)), "bad_alpha");
    EXPECT_EQ(reason(AbsoluteError::create({NAN}, {})), "bad_target");
    EXPECT_EQ(reason(AbsoluteError::create({1, 2}, {1})), "bad_size");
    EXPECT_EQ(reason(HuberLoss::create({1}, {}, 0)), "bad_delta");
    EXPECT_EQ(reason(TweedieLoss::create({1}, {}, 2)), "bad_variance_power");
    EXPECT_EQ(reason(TweedieLoss::create({1}, {}, 1)), "bad_variance_power");
    EXPECT_EQ(reason(TweedieLoss::create({-1}, {}, 1.5)), "bad_target");
    EXPECT_EQ(reason(HuberLoss::create({1}, {0}, 1)), "bad_weight");
    EXPECT_EQ(reason(PoissonLoss::create({-1}, {})), "bad_target");
}

}  // namespace
}  // namespace rampart::gbdt
