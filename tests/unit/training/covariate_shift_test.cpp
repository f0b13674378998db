#include "rampart/training/covariate_shift.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "development_set.hpp"

namespace rampart::training {
namespace {

using test::development_set;

TEST(CovariateShift, IsMeasuredFromFeaturesAlone) {
    const auto development = development_set();
    const size_t half = development.rows.size() / 2;
    training_set::VaultSet vault;
    vault.schema = development.schema;
    training_set::ApplicantSet latest{development.schema, {}, {}};
    for (size_t i = 0; i < 2 * half; ++i) {
        auto& side = i < half ? vault.features : latest.features;
        for (const float x : development.features_of(i)) side.push_back(x);
        if (i < half) vault.rows.push_back(development.rows[i]);
        if (i >= half) latest.persons.push_back(development.rows[i].person);
    }
    for (auto& row : vault.rows) row.impact = std::nan("");  // must not be read
    const auto alike = covariate_shift(vault, latest, nullptr).value();
    EXPECT_NEAR(alike.auc, 0.5, 0.06);
    for (size_t i = 0; i < latest.features.size(); i += 2) latest.features[i] += 1;
    const auto shifted = covariate_shift(vault, latest, nullptr).value();
    EXPECT_GT(shifted.auc_lo, 0.6);
    EXPECT_EQ(shifted.features.at(0).first, "x0");
    vault.retired = std::vector<bool>(vault.schema.size(), false);
    EXPECT_EQ(covariate_shift(vault, latest, nullptr).value().auc, shifted.auc);
    vault.retired[0] = true;
    const auto without = covariate_shift(vault, latest, nullptr).value();
    EXPECT_NEAR(without.auc, 0.5, 0.06) << "the feature that differs is retired";
    for (const auto& [name, share] : without.features) EXPECT_NE(name, "x0");
    latest.unexplained.decisions = latest.persons.size();
    const auto aside = covariate_shift(vault, latest, nullptr).value();
    EXPECT_DOUBLE_EQ(aside.auc, (without.auc + 1) / 2) << "half of them are separated";
    latest.schema = dataset::FeatureSchema();
    EXPECT_EQ(covariate_shift(vault, latest, nullptr).error().reason, "other_schema");
}

}  // namespace
}  // namespace rampart::training
