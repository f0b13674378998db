#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rampart/base/digest.hpp"
#include "rampart/base/result.hpp"

namespace rampart::dataset {

enum class FeatureKind { kNumeric, kCategorical };

struct FeatureSpec {
    std::string name;
    FeatureKind kind = FeatureKind::kNumeric;
    std::vector<std::string>
        categories;  // of a categorical feature; code = position; unseen = missing
    bool operator==(const FeatureSpec&) const = default;
};

/// The features that a model reads, in order, and how raw values become a row.
///
/// A row is `float[features().size()]`: a number as it is, a category as its code, missing as NaN.
/// The same function encodes for training and for serving, so a served score equals the trained
/// one.
class FeatureSchema {
  public:
    /// Unique names, 1 to limits::kMaxFeatures features, limits on categories, UTF-8; categories
    /// are unique as texts and as numbers ("2" and "2.0" are one).
    static base::Result<FeatureSchema> create(std::vector<FeatureSpec> features);
    FeatureSchema() = default;

    const std::vector<FeatureSpec>& features() const { return features_; }
    size_t size() const { return features_.size(); }
    std::optional<size_t> find(std::string_view name) const;

    /// Encodes one text cell (as in a CSV). Empty is missing, and so is an unseen category. A
    /// categorical cell is looked up as it stands, then as a number: "2.0" finds the category "2".
    /// Error: text, or a number past the range of a float, in a numeric feature.
    base::Result<float> encode_text(size_t feature, std::string_view cell) const;
    /// A number; for a categorical feature the category that reads as this number ("2"). Error: not
    /// finite, or past the range of a float.
    base::Result<float> encode_number(size_t feature, double value) const;

    /// SHA-256 over names, kinds and categories in order.
    base::Digest digest() const;
    bool operator==(const FeatureSchema& other) const { return features_ == other.features_; }

  private:
    std::vector<FeatureSpec> features_;
    std::map<std::string, size_t, std::less<>> by_name_;
    std::vector<std::map<std::string, size_t, std::less<>>> codes_;
    std::vector<std::map<double, size_t>> number_codes_;  // of the categories that read as numbers
};

/// Where the numbers of a label can lie.
struct NumericRange {
    double lo = 0, hi = 1;  // finite, lo < hi
    bool operator==(const NumericRange&) const = default;
};

/// What a table's columns are for: the schema file of `rampart train`. The label is one of two
/// values (`favourable` is there) or a number (`label_range` is).
struct TableSchema {
    FeatureSchema features;
    std::string label_column;
    std::string favourable;  // label value that becomes y = 1; the other becomes 0
    std::vector<std::string> protected_columns;  // group = their combination; never features
    std::optional<std::string> weight_column;
    std::vector<std::string> ignored_columns;
    std::vector<std::string> missing_tokens;  // besides the empty cell, e.g. "?"
    std::optional<NumericRange> label_range = {};
    bool operator==(const TableSchema&) const = default;
};

}  // namespace rampart::dataset
