#include "rampart/monitoring/drift.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "rampart/base/random.hpp"

namespace rampart::monitoring {
namespace {

struct Applicants {
    dataset::Dataset data;
    std::vector<std::string> person;
};

/// n rows, half of them later; `income` of later ones is larger by `shift`, `age` never changes.
Applicants applicants(size_t n, double shift, uint64_t seed) {
    Applicants out;
    out.data.schema = dataset::FeatureSchema::create(
                          {{"age", dataset::FeatureKind::kNumeric, {}},
                           {"income", dataset::FeatureKind::kNumeric, {}},
                           {"job", dataset::FeatureKind::kCategorical, {"a", "b", "c"}}})
                          .value();
    out.data.columns.resize(3);
    base::Random random(seed);
    for (size_t i = 0; i < n; ++i) {
        const bool later = i % 2 == 1;
        out.data.columns[0].push_back(static_cast<float>(random.normal()));
        out.data.columns[1].push_back(
            static_cast<float>(std::round(4 * (random.normal() + (later ? shift : 0))) / 4));
        out.data.columns[2].push_back(static_cast<float>(random.below(3)));
        out.data.label.push_back(later ? 1 : 0);
        out.person.push_back("p" + std::to_string(i));
    }
    return out;
}

Drift drift_of(const Applicants& who, const DriftOptions& options = {}) {
    auto drift = measure_drift(who.data, who.person, options, nullptr);
    EXPECT_TRUE(drift) << drift.error().message;
    return *drift;
}

TEST(Drift, AShiftIsFoundWithItsSizeAndItsFeature) {
    const auto drift = drift_of(applicants(4000, 0.7, 1));
    EXPECT_GT(drift.z, 5);
    EXPECT_LT(drift.p_value, 1e-6);
    // for two normals a distance d apart the best AUC is Phi(d / sqrt 2) = 0.69
    EXPECT_NEAR(drift.auc, 0.69, 0.04);
    EXPECT_LT(drift.auc_lo, drift.auc);
    EXPECT_GT(drift.auc_hi, drift.auc);
    ASSERT_FALSE(drift.features.empty());
    EXPECT_EQ(drift.features[0].first, "income");
    EXPECT_GT(drift.features[0].second, 0.5);
    EXPECT_EQ(drift.earlier + drift.later, 2000u);
}

TEST(Drift, NoDriftHasAnAucOfAHalf) {
    const auto drift = drift_of(applicants(4000, 0, 2));
    EXPECT_LT(std::abs(drift.z), 4);
    EXPECT_NEAR(drift.auc, 0.5, 0.06);
}

TEST(Drift, TheSameArgumentsGiveTheSameFigures) {
    const auto who = applicants(1000, 0.3, 3);
    base::ThreadPool pool(2);
    const auto a = drift_of(who);
    const auto b = measure_drift(who.data, who.person, {}, &pool).value();
    EXPECT_EQ(a.auc, b.auc);
    EXPECT_EQ(a.z, b.z);
    EXPECT_EQ(a.features, b.features);
    EXPECT_NE(a.auc, drift_of(who, {.seed = 2}).auc);
}

TEST(Drift, APersonCountsOnceAndManyAreThinnedOut) {
    auto who = applicants(2000, 0, 4);
    for (size_t i = 0; i < who.person.size(); ++i) who.person[i] = "p" + std::to_string(i / 4);
    const auto once = drift_of(who);
    EXPECT_EQ(once.earlier + once.later, 250u);
    const auto thinned = drift_of(applicants(4000, 0, 4), {.max_persons = 1000});
    EXPECT_EQ(thinned.earlier + thinned.later, 500u);
}

TEST(Drift, WhatIsTooLittleOrBrokenIsNamed) {
    const auto few = applicants(60, 0, 5);
    EXPECT_EQ(measure_drift(few.data, few.person, {}, nullptr).error().reason, "too_few_rows");
    auto wrong = applicants(400, 0, 5);
    wrong.person.pop_back();
    EXPECT_EQ(measure_drift(wrong.data, wrong.person, {}, nullptr).error().reason, "bad_shape");
    auto one_period = applicants(400, 0, 5);
    std::fill(one_period.data.label.begin(), one_period.data.label.end(), uint8_t{1});
    EXPECT_EQ(measure_drift(one_period.data, one_period.person, {}, nullptr).error().reason,
              "too_few_rows");
}

TEST(Drift, AFeatureThatIsAlwaysTheSameTellsNothing) {
    auto who = applicants(400, 0, 6);
    for (auto& column : who.data.columns) std::fill(column.begin(), column.end(), 1.0f);
    const auto drift = drift_of(who);
    EXPECT_EQ(drift.auc, 0.5);
    EXPECT_EQ(drift.z, 0);
    EXPECT_TRUE(drift.features.empty());
}

}  // namespace
}  // namespace rampart::monitoring
