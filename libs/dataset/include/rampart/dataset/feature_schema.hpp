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
        categories;  // values of a categorical feature; code = position; unseen = missing
    bool operator==(const FeatureSpec&) const = default;
};

/// The features that a model reads, in order, and the encoding of raw values as a row.
///
/// A row is `float[features().size()]`: a number unchanged, a category as its code, missing
/// as NaN. Training and serving use the same encoding function, so that a served score
/// equals the trained one.
class FeatureSchema {
  public:
    /// Requires unique names, 1 to limits::kMaxFeatures features, limits on categories, UTF-8;
    /// categories are unique as texts and as numbers ("2" and "2.0" are equal).
    static base::Result<FeatureSchema> create(std::vector<FeatureSpec> features);
    FeatureSchema() = default;

    const std::vector<FeatureSpec>& features() const { return features_; }
    size_t size() const { return features_.size(); }
    std::optional<size_t> find(std::string_view name) const;

    /// Encodes one text cell (as in a CSV). Empty and unseen categories are missing. A categorical
    /// cell is looked up as it is, then as a number: "2.0" finds the category "2". Fails on text,
    /// or a number beyond the range of a float, in a numeric feature.
    base::Result<float> encode_text(size_t feature, std::string_view cell) const;
    /// Encodes a number; for a categorical feature as the category with this number ("2"). Fails if
    /// it is not finite or beyond the range of a float.
    base::Result<float> encode_number(size_t feature, double value) const;

    /// Returns the SHA-256 over names, kinds and categories in order.
    base::Digest digest() const;
    bool operator==(const FeatureSchema& other) const { return features_ == other.features_; }

  private:
    std::vector<FeatureSpec> features_;
    std::map<std::string, size_t, std::less<>> by_name_;
    std::vector<std::map<std::string, size_t, std::less<>>> codes_;
    std::vector<std::map<double, size_t>>
        number_codes_;  // codes of the categories that are numbers
};

/// Range of a numeric label.
struct NumericRange {
    double lo = 0, hi = 1;  // finite, lo < hi
    bool operator==(const NumericRange&) const = default;
};

}  // namespace rampart::dataset
