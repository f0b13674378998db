#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "rampart/base/random.hpp"
#include "rampart/fairgbm/train.hpp"
#include "rampart/model/batch_engine.hpp"

/// Guarantees of FairGBM for people outside its training rows, over repeated samples.
namespace rampart::fairgbm {
namespace {

constexpr size_t kRepetitions = 20, kRows = 4000, kFreshRows = 20'000;

/// Three groups; in group 0 good customers look worse, so that a learner that maximises accuracy
/// declines more of them. x2 correlates with the group, and is the only feature that does.
dataset::Dataset people(size_t n, uint64_t seed) {
    base::Random random(seed);
    dataset::Dataset data;
    data.schema = *dataset::FeatureSchema::create({{"x1", {}, {}}, {"x2", {}, {}}});
    data.columns.resize(2);
    data.group_names = {"g=0", "g=1", "g=2"};
    for (size_t i = 0; i < n; ++i) {
        const auto k = static_cast<int32_t>(random.below(3));
        const bool repays = random.bernoulli(k == 0 ? 0.4 : 0.6);
        data.group.push_back(k);
        data.label.push_back(repays);
        data.columns[0].push_back(
            static_cast<float>(random.normal() + (repays ? (k == 0 ? 0.5 : 1.1) : -0.6)));
        data.columns[1].push_back(static_cast<float>(random.normal() + (k == 0 ? -1.5 : 1.0)));
    }
    return data;
}

struct Outcome {
    double gap = 0, error = 0;  // among fresh people, means over the repetitions
};

Outcome among_fresh_people(const LagrangianParams& lagrangian) {
    const auto fresh = people(kFreshRows, 999);
    const fairness::RateConstraints constraints{{{fairness::Rate::kFalseNegative, 0.02}}, {}};
    const auto system = fairness::RateSystem::create(fresh, constraints);
    EXPECT_TRUE(system);
    Outcome mean;
    for (uint64_t seed = 0; seed < kRepetitions; ++seed) {
        FairGbmParams params;
        params.learner.trees = 100;
        params.learner.leaves = 8;
        params.constraints = constraints;
        params.lagrangian = lagrangian;
        params.output = Output::kLast;
        const auto fit = train_fairgbm(people(kRows, seed), params, nullptr);
        EXPECT_TRUE(fit);
        std::vector<double> scores(fresh.rows());
        model::BatchEngine(fit->ensemble).predict_raw(model::TableView::of(fresh), scores);
        const auto values = system->values(system->approved_from(fresh, scores, fit->threshold));
        mean.gap += values.gaps[0] / kRepetitions;
        mean.error += values.error / kRepetitions;
    }
    std::printf("    step %g, cap %g: gap %.4f, error %.4f among fresh people\n",
                lagrangian.ascent.step, lagrangian.ascent.cap, mean.gap, mean.error);
    return mean;
}

// the standard error of one gap of three rates: about 0.5 / sqrt(4,000 · 0.5 / 3) = 0.02 on
// training rows and 0.009 on fresh ones; of the mean over 20 about 0.005
TEST(FairGbmOverSamples, TheGapClosesForPeopleWhomItHasNotSeen) {
    LagrangianParams never_pushed;
    never_pushed.ascent.step = 1e-9;
    const auto plain = among_fresh_people(never_pushed);
    const auto fair = among_fresh_people({});
    EXPECT_GT(plain.gap, 0.2);
    EXPECT_LT(fair.gap, 0.06);
    EXPECT_LT(fair.error, plain.error + 0.03);
}

TEST(FairGbmOverSamples, AMultiplierThatIsHardlyAllowedToGrowLeavesTheGap) {
    LagrangianParams capped;
    capped.ascent.cap = 0.02;
    EXPECT_GT(among_fresh_people(capped).gap, 0.12);
}

}  // namespace
}  // namespace rampart::fairgbm
