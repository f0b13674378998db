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
    return {
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
        EXPECT_LT(learnt, constant - (c.newton && c.name[0] == 'c' ? 0.05 : 0.15 * constant))
            << c.name << " " << constant << " -> " << learnt;
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
    EXPECT_EQ(reason(HuberLoss::create({1}, {0}, 1)), "bad_weight");
    EXPECT_EQ(reason(PoissonLoss::create({-1}, {})), "bad_target");
}

}  // namespace
}  // namespace rampart::gbdt
