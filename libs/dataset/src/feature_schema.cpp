#include "rampart/dataset/feature_schema.hpp"

#include <cmath>
#include <limits>

#include "rampart/base/check.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/base/utf8.hpp"
#include "rampart/dataset/category_limit.hpp"
#include "rampart/dataset/reasons.hpp"
#include "rampart/dataset/text.hpp"

namespace rampart::dataset {
namespace {

using base::Error;
using base::Result;
namespace limits = base::limits;

base::Status check_name(std::string_view name, size_t position) {
    if (name.empty() || name.size() > limits::kMaxNameBytes) {
        return base::make_error(base::Reason::kBadFeatureName,
                                "feature {} has a name of {} bytes; allowed are 1 to {}",
                                position + 1, name.size(), limits::kMaxNameBytes);
    }
    if (!base::is_utf8(name)) {
        return base::make_error(Reason::kNotUtf8, "the name of feature {} is not UTF-8",
                                position + 1);
    }
    return base::ok();
}

base::Status check_kind(const FeatureSpec& spec) {
    const bool numeric = spec.kind == FeatureKind::kNumeric;
    if (numeric && !spec.categories.empty()) {
        return base::make_error(Reason::kNumericWithCategories,
                                "feature '{}' is numeric but lists categories; make it categorical "
                                "or drop the list",
                                spec.name);
    }
    if (!numeric && (spec.categories.empty() || spec.categories.size() > kMostCategories)) {
        return base::make_error(Reason::kBadCategoryCount,
                                "feature '{}' has {} categories; allowed are 1 to {}", spec.name,
                                spec.categories.size(), kMostCategories);
    }
    return base::ok();
}

base::Status check_category(const FeatureSpec& spec, std::string_view category) {
    if (category.empty() || category.size() > limits::kMaxTextBytes) {
        return base::make_error(
            Reason::kBadCategory,
            "feature '{}' has a category of {} bytes; allowed are 1 to {} (empty "
            "is missing, not a category)",
            spec.name, category.size(), limits::kMaxTextBytes);
    }
    if (!base::is_utf8(category)) {
        return base::make_error(Reason::kNotUtf8, "feature '{}' has a category that is not UTF-8",
                                spec.name);
    }
    return base::ok();
}

Result<float> to_float(const FeatureSpec& spec, double value) {
    const auto narrowed = static_cast<float>(value);
    if (!std::isfinite(narrowed)) {
        return base::make_error(
            Reason::kNumberTooLarge,
            "feature '{}' is {}; allowed are finite numbers of magnitude up to {:.4g}", spec.name,
            value, std::numeric_limits<float>::max());
    }
    return narrowed;
}

}  // namespace

Result<FeatureSchema> FeatureSchema::create(std::vector<FeatureSpec> features) {
    if (features.empty() || features.size() > limits::kMaxFeatures) {
        return base::make_error(Reason::kBadFeatureCount,
                                "a schema has {} features; allowed are 1 to {}", features.size(),
                                limits::kMaxFeatures);
    }
    FeatureSchema schema;
    schema.codes_.resize(features.size());
    schema.number_codes_.resize(features.size());
    for (size_t i = 0; i < features.size(); ++i) {
        const FeatureSpec& spec = features[i];
        RAMPART_RETURN_IF_ERROR(check_name(spec.name, i));
        RAMPART_RETURN_IF_ERROR(check_kind(spec));
        if (!schema.by_name_.emplace(spec.name, i).second) {
            return base::make_error(base::Reason::kDuplicateFeature, "feature '{}' is listed twice",
                                    spec.name);
        }
        for (size_t code = 0; code < spec.categories.size(); ++code) {
            const std::string& category = spec.categories[code];
            RAMPART_RETURN_IF_ERROR(check_category(spec, category));
            bool fresh = schema.codes_[i].emplace(category, code).second;
            if (const auto number = parse_number(category)) {
                fresh = schema.number_codes_[i].emplace(*number, code).second && fresh;
            }
            if (!fresh) {
                return base::make_error(Reason::kDuplicateCategory,
                                        "feature '{}' lists category '{}' twice (numbers that are "
                                        "equal are one category)",
                                        spec.name, category);
            }
        }
    }
    schema.features_ = std::move(features);
    return schema;
}

std::optional<size_t> FeatureSchema::find(std::string_view name) const {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return std::nullopt;
    return found->second;
}

Result<float> FeatureSchema::encode_text(size_t feature, std::string_view cell) const {
    RAMPART_CHECK(feature < size(), "feature {} of {}", feature, size());
    constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
    if (cell.empty()) return kMissing;
    const FeatureSpec& spec = features_[feature];
    if (spec.kind == FeatureKind::kCategorical) {
        const auto found = codes_[feature].find(cell);
        if (found != codes_[feature].end()) return static_cast<float>(found->second);
        const auto number = number_codes_[feature].empty() ? std::nullopt : parse_number(cell);
        return number ? encode_number(feature, *number) : Result<float>(kMissing);
    }
    const auto number = parse_number(cell);
    if (!number) {
        constexpr size_t kShown = 40;
        return base::make_error(Reason::kNotANumber, "feature '{}' is numeric but holds '{}'",
                                spec.name, cell.substr(0, kShown));
    }
    return to_float(spec, *number);
}

Result<float> FeatureSchema::encode_number(size_t feature, double value) const {
    RAMPART_CHECK(feature < size(), "feature {} of {}", feature, size());
    const FeatureSpec& spec = features_[feature];
    if (!std::isfinite(value)) {
        return base::make_error(base::Reason::kNotFinite,
                                "feature '{}' is {}; a number has to be finite (leave "
                                "it out for missing)",
                                spec.name, value);
    }
    if (spec.kind == FeatureKind::kNumeric) return to_float(spec, value);
    const auto found = number_codes_[feature].find(value);
    return found != number_codes_[feature].end() ? static_cast<float>(found->second)
                                                 : std::numeric_limits<float>::quiet_NaN();
}

base::Digest FeatureSchema::digest() const {
    base::Sha256 sha;
    sha.update_field("rampart feature schema 1");
    for (const auto& spec : features_) {
        sha.update_field(spec.name);
        sha.update_field(spec.kind == FeatureKind::kNumeric ? "numeric" : "categorical");
        sha.update_field(std::to_string(spec.categories.size()));
        for (const auto& category : spec.categories) sha.update_field(category);
    }
    return sha.finish();
}

}  // namespace rampart::dataset
