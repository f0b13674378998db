#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/digest.hpp"
#include "rampart/base/result.hpp"
#include "rampart/budro/points.hpp"
#include "rampart/dataset/dataset.hpp"

/// The fair distance: which individuals are similar, whatever their sex, race or age (Vargo et al.
/// 2021, appendix C.2).
///
/// A row becomes columns: numbers standardised on the training rows, a category its own column of 0
/// and 1 (over sqrt 2 where there are two: a flag counts once). Directions that
/// predict a protected attribute span the subspace A; d_x(a, b) = |(I - proj A)(a - b)| (C.1):
/// differences along A count nothing.
///
/// A missing number is encoded as the mean, with an indicator column if the training rows have
/// missing ones; a missing category is encoded as the mean of all categories.
namespace rampart::budro {

/// Protected attribute that is known for the training rows and is not a feature.
struct ProtectedAttribute {
    std::string name;
    std::vector<int32_t> group = {};  // [n] below `groups`, -1: unknown; empty: `number` says it
    size_t groups = 0;                // 2 … limits::kMaxGroups
    std::vector<double> number = {};  // [n] finite, NaN: unknown
    std::vector<std::string> without = {};      // features that may not help to predict it
    std::vector<std::string> group_names = {};  // [groups], or empty: numbered; for reports
};

/// Coefficients by column: "age", or "relationship=Husband" of a categorical feature.
struct ProtectedDirection {
    std::string name;
    std::map<std::string, double> coefficients;
};

/// A judgement by a person: these two rows are comparable, or are not.
struct ComparedPair {
    uint32_t first = 0, second = 0;  // rows
    bool comparable = true;
};

struct FairMetricSpec {
    /// Attributes whose predicting directions are learnt from all features but those in `without`:
    /// for groups, a logistic regression of each group but the largest against the rest; for a
    /// number, one ridge regression.
    std::vector<ProtectedAttribute> attributes = {};
    /// Features that are protected themselves: their columns, and the
    /// directions that predict them from the other features.
    std::vector<std::string> protected_features = {};
    /// Features whose columns are in the subspace, nothing more.
    std::vector<std::string> indicators = {};
    std::vector<ProtectedDirection> directions = {};
    /// Pairs of both kinds, or none. With pairs, distances in what the subspace leaves are weighed
    /// by the most likely positive semidefinite S of P(comparable) = 2 / (1 + exp(v'Sv)), v =
    /// difference of the two (EXPLORE, Mukherjee et al. 2020).
    std::vector<ComparedPair> pairs = {};
    /// Penalty of the regressions, in units of mean loss + l2/2·|w|^2 (intercept free): 1e-9 … 1e6.
    /// Stronger keeps the direction nearer to the plain difference of the groups' means.
    double l2 = 0.1;
    /// Penalties to choose from for numbers, by the least leave-one-out error. Empty: l2.
    std::vector<double> l2_of_numbers = {};
    double l2_of_pairs = 1e-3;  // mean loss + l2/2·|S|^2
    /// Multiplier of a feature's columns, by feature, 0 … 1e6; 0 leaves the feature out.
    std::map<std::string, double> weights = {};
    /// How the units of numbers are found. Robust: means, standard deviations and regressions see a
    /// number no further out than its 1 % and 99 % quantiles, so that a few far out, or codes like
    /// 98, do not make all others alike; distances are those of the numbers as they are. A feature
    /// that does not vary between its quantiles is scaled by all its values.
    enum class Scale : uint8_t { kStandard, kRobust } scale = Scale::kStandard;
};

/// The fair metric of a schema. Immutable, safe to use from many threads. Holds directions, means
/// and scales, nothing about any one row.
class FairMetric {
  public:
    enum class Kind : uint8_t { kNumber, kMissing, kCategory };
    struct Column {
        uint32_t feature = 0;
        Kind kind = Kind::kNumber;
        uint32_t code = 0;           // code of a category
        double mean = 0, scale = 1;  // scaling of a number: (x - mean)·scale
        double weight = 1;
        bool operator==(const Column&) const = default;
    };
    struct Direction {
        std::string name;
        std::vector<double> coefficients;  // [columns], of length 1
        bool operator==(const Direction&) const = default;
    };

    static constexpr size_t kMaxColumns = 1024;
    static constexpr size_t kMaxPairs = 1'000'000;

    /// Learns a metric; the same rows and spec give the same metric. Errors: columns of the data;
    /// unknown features; sizes that differ; "one_group", "nothing_known", "unpredictable" (a
    /// direction of length 0), "too_many_columns"; pairs of one kind alone, or an incomparable pair
    /// without a difference.
    static base::Result<FairMetric> learn(const dataset::Dataset& data, const FairMetricSpec& spec);

    /// Returns rows as points, whose distances are those of the rows. dimensions() coordinates
    /// each; refuses other schemas ("other_schema").
    base::Result<Points> embed(const dataset::Dataset& data) const;
    /// d_x^2 of two rows, encoded by schema().
    double squared_distance(std::span<const float> a, std::span<const float> b) const;
    /// Returns by [features] how much two rows differ, before anything is taken off: squared
    /// differences of their columns.
    std::vector<double> feature_differences(std::span<const float> a,
                                            std::span<const float> b) const;
    /// Returns the baseline "project": columns less their part in the subspace, as numeric features
    /// "fair:<column>", so that no model takes them for raw ones. Labels, weights and groups stay.
    base::Result<dataset::Dataset> project(const dataset::Dataset& data) const;
    std::vector<float> project_row(std::span<const float> row) const;  // [columns], the same

    const dataset::FeatureSchema& schema() const { return schema_; }
    const std::vector<Column>& columns() const { return columns_; }
    /// Returns "age", "relationship=Husband" or "income is missing".
    std::string column_name(size_t column) const;
    /// Returns the directions that span the subspace, as found: not orthogonal, maybe dependent.
    const std::vector<Direction>& directions() const { return directions_; }
    size_t subspace_dimensions() const {
        return basis_.size() / std::max<size_t>(1, columns_.size());
    }
    /// Returns the number of dimensions, at least 1, even without a remaining difference.
    size_t dimensions() const { return embedding_.size() / std::max<size_t>(1, columns_.size()); }

    /// Returns the metric as bytes: magic "RAMPARTF", version (u32), payload length (u64), payload,
    /// SHA-256 of all before it.
    std::string encode() const;
    /// Reads such bytes and checks all of them; no input crashes it. Errors: data_loss
    /// "bad_metric_file".
    static base::Result<FairMetric> decode(std::string_view bytes);
    base::Digest digest() const;  // digest of encode()
    bool operator==(const FairMetric&) const = default;

  private:
    FairMetric() = default;
    friend class MetricLearner;
    base::Status check() const;

    dataset::FeatureSchema schema_;
    std::vector<Column> columns_;
    std::vector<Direction> directions_;
    std::vector<double> basis_;      // [subspace x columns] orthonormal rows
    std::vector<double> embedding_;  // [dimensions x columns]
};

base::Result<FairMetric> load_fair_metric(const std::filesystem::path& path);
/// Writes the file whole or not at all.
base::Status save_fair_metric(const FairMetric& metric, const std::filesystem::path& path);

}  // namespace rampart::budro
