// Conditional statistical parity on persons that the rule was not fitted on.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "rampart/base/random.hpp"
#include "rampart/model/ensemble.hpp"
#include "rampart/postprocessing/postprocessor.hpp"

namespace rampart::postprocessing {
namespace {

constexpr size_t kFitted = 20'000, kFresh = 60'000, kSeeds = 40;
constexpr double kTolerance = 0.02;

/// Applicants of two groups. Income, in three bands, follows the group and, in each band, the
/// score: so far a difference may be legitimate. Besides, the score is too low for group b in every
/// band, which is not.
struct Sample {
    Rows rows;
    dataset::Dataset features;
};

Sample sample(size_t n, uint64_t seed) {
    constexpr double kBands[2][3] = {{0.2, 0.3, 0.5}, {0.5, 0.3, 0.2}};
    Sample out;
    out.rows.group_names = {"a", "b"};
    base::Random random(seed);
    std::vector<float> income;
    for (size_t i = 0; i < n; ++i) {
        const int32_t group = random.bernoulli(0.4) ? 1 : 0;
        const double u = random.uniform();
        const auto& bands = kBands[group];
        const int band = u < bands[0] ? 0 : u < bands[0] + bands[1] ? 1 : 2;
        income.push_back(static_cast<float>(10'000 + 20'000 * band + 15'000 * random.uniform()));
        const double raw = 1.2 * (band - 1) - 0.6 * group + random.normal();
        out.rows.p.push_back(model::sigmoid(raw));
        out.rows.group.push_back(group);
    }
    out.features = out.rows.table();
    out.features.schema =
        dataset::FeatureSchema::create({{"income", dataset::FeatureKind::kNumeric, {}}}).value();
    out.features.columns = {std::move(income)};
    return out;
}

learning::OptionValues options(bool within) {
    const auto& parity = *find_postprocessor("statistical_parity").value();
    learning::OptionValues values(parity.options());
    EXPECT_TRUE(values.set("tolerance", kTolerance));
    if (!within) return values;
    EXPECT_TRUE(values.set("within_feature", std::string("income")));
    EXPECT_TRUE(values.set("within_cuts", std::vector<double>{27'500, 47'500}));
    EXPECT_TRUE(values.set("within_missing", std::string("0")));
    return values;
}

/// Largest difference of the groups' approval rates: in any stratum, and over all rows; and by how
/// much the former may differ from the fitted one by chance, at four standard errors.
struct Gaps {
    double within = 0, overall = 0, chance = 0;
};

Gaps gaps_of(const Sample& fresh, const std::vector<double>& approve) {
    double n[4][2] = {}, approved[4][2] = {};  // strata, and all; by group
    for (size_t i = 0; i < approve.size(); ++i) {
        const float income = fresh.features.columns[0][i];
        const int s = income < 27'500 ? 0 : income < 47'500 ? 1 : 2;
        for (const int at : {s, 3}) {
            ++n[at][fresh.rows.group[i]];
            approved[at][fresh.rows.group[i]] += approve[i];
        }
    }
    Gaps out;
    constexpr double kShare = static_cast<double>(kFitted) / kFresh;
    for (int s = 0; s < 4; ++s) {
        const double gap = std::abs(approved[s][0] / n[s][0] - approved[s][1] / n[s][1]);
        if (s == 3) {
            out.overall = gap;
            break;
        }
        out.within = std::max(out.within, gap);
        double variance =
            0;  // a rate of a fitted rule is as uncertain as a mean of the fitted rows
        for (int g = 0; g < 2; ++g) variance += 0.25 / n[s][g] + 0.25 / (kShare * n[s][g]);
        out.chance = std::max(out.chance, 4 * std::sqrt(variance));
    }
    return out;
}

Gaps gaps_on_fresh_rows(bool within, uint64_t seed) {
    const auto& parity = *find_postprocessor("statistical_parity").value();
    const auto values = options(within);
    auto fitted_on = sample(kFitted, 2 * seed), fresh = sample(kFresh, 2 * seed + 1);
    EXPECT_TRUE(add_strata(values, fitted_on.features, fitted_on.rows));
    EXPECT_TRUE(add_strata(values, fresh.features, fresh.rows));
    Setting setting;
    setting.operate_at = fairness::parse_operating_point("approve=0.5").value();
    const auto fitted = fit(parity, fitted_on.rows, values, setting).value();
    return gaps_of(fresh, fitted.rule.approve(fresh.rows, {}));
}

/// Over the seeds the gap inside each stratum is the tolerance, up to chance, and no single one is
/// beyond it by more than chance explains; the groups' rates over all still differ, as their
/// incomes do.
TEST(ConditionalParity, HoldsInEachStratumOfFreshPersons) {
    double sum = 0;
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
        const auto gaps = gaps_on_fresh_rows(true, seed);
        EXPECT_LE(gaps.within, kTolerance + gaps.chance) << seed;
        EXPECT_GT(gaps.overall, 0.1) << seed;
        sum += gaps.within;
    }
    // the largest of three gaps, each uncertain by about 0.01
    EXPECT_LE(sum / kSeeds, kTolerance + 0.015);
    EXPECT_GT(sum / kSeeds, kTolerance - 0.01) << "no more is changed than is asked";
}

/// The wrong variant: parity over all rows has equal rates over all, and moves the groups apart in
/// the strata.
TEST(ConditionalParity, IsNotHeldByParityOverAllRows) {
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
        const auto gaps = gaps_on_fresh_rows(false, seed);
        EXPECT_GT(gaps.within, kTolerance + gaps.chance + 0.05) << seed;
        EXPECT_LE(gaps.overall, kTolerance + gaps.chance) << seed;
    }
}

}  // namespace
}  // namespace rampart::postprocessing
