#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rampart/base/digest.hpp"

/// What a policy carries beside the links that decide, because a program reads it: each is a field
/// of the model file. What is only printed is text (Policy::provenance).
namespace rampart::model {

/// How the effect of a feature on the score is measured, for the reasons of a decline.
enum class ReasonMethod {
    kReplacement,  // the gain of the score if this feature alone is replaced by its reference value
    kShapley,      // the feature's Shapley value, against the reference row
};

/// The row with which reasons of a decline compare an applicant.
struct ReasonReference {
    ReasonMethod method = ReasonMethod::kShapley;
    std::vector<float> row = {};  // [features] encoded; finite, or NaN: missing
};

/// Losses of fair regression (rampart/fair_regression/loss.hpp).
enum class RegressionLossKind {
    kSquared,
    kLogistic,
    kAbsolute,
    kQuantile,
    kHuber,
    kPoisson,
    kTweedie,
    kUser,  // a function of the caller's, which cannot be stored
};

/// The loss that a model of fair regression was trained for.
struct StoredLoss {
    RegressionLossKind kind = RegressionLossKind::kSquared;
    double parameter = 0;  // finite; 0 where the loss has none
    bool operator==(const StoredLoss&) const = default;
};

/// What a trained model remembers of its training: enough to read the same table again, split it
/// the same way, and know that it is the same.
struct TrainingRecord {
    std::string table_schema;  // the schema file's text, not empty
    std::string split;         // dataset::SplitPlan as text: "60/20/20; by person"
    uint64_t seed = 0;
    base::Digest data;  // evaluation::digest_of(the table)
    bool operator==(const TrainingRecord&) const = default;
};

/// Policy::create checks it.
struct PolicyState {
    std::optional<ReasonReference> reasons = {};
    /// Bytes of a fair metric, at most 128 MiB; budro::FairMetric::decode checks them. Empty: none.
    std::string fair_metric = {};
    std::optional<std::vector<double>> fairgbm_multipliers = {};  // finite, signed
    std::optional<StoredLoss> regression_loss = {};
    std::optional<TrainingRecord> training = {};
    std::string constraints_missed = {};  // in words: those of its training; empty: none

    bool empty() const;
};

}  // namespace rampart::model
