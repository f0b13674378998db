#include "rampart/decision/encode.hpp"

#include <cmath>
#include <limits>

#include "rampart/base/reasons.hpp"
#include "rampart/base/utf8.hpp"
#include "rampart/decision/encode_value.hpp"
#include "rampart/decision/reasons.hpp"

namespace rampart::decision {
namespace {

using base::Result;

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

std::variant<std::monostate, double, std::string_view> viewed(const domain::FeatureValue& value) {
    if (const auto* number = std::get_if<double>(&value)) return *number;
    if (const auto* text = std::get_if<std::string>(&value)) return std::string_view(*text);
    return std::monostate();
}

Result<float> encode(const domain::Feature& feature, const dataset::FeatureSchema& schema,
                     size_t index) {
    return encode_value(viewed(feature.value), schema, index);
}

}  // namespace

Result<float> encode_value(const std::variant<std::monostate, double, std::string_view>& value,
                           const dataset::FeatureSchema& schema, size_t index) {
    if (const auto* number = std::get_if<double>(&value))
        return schema.encode_number(index, *number);
    const auto* text = std::get_if<std::string_view>(&value);
    if (text == nullptr) return kMissing;
    const auto& feature = schema.features()[index];
    if (feature.kind == dataset::FeatureKind::kNumeric) {
        return base::make_error(base::Reason::kWrongType,
                                "feature '{}' is a number; text was given (give a number, or "
                                "null if it is not known)",
                                feature.name);
    }
    // the log contains UTF-8 texts only
    if (!base::is_utf8(*text)) {
        return base::make_error(base::Reason::kBadFeatureValue, "feature '{}' is not UTF-8",
                                feature.name);
    }
    return schema.encode_text(index, *text);
}

Result<std::vector<float>> encode_row(const domain::Application& application,
                                      const dataset::FeatureSchema& schema) {
    std::vector<float> row(schema.size(), kMissing);
    std::vector<bool> given(schema.size(), false);
    for (const auto& feature : application.features) {
        const auto index = schema.find(feature.name);
        if (!index) {
            return base::make_error(base::Reason::kUnknownFeature,
                                    "feature '{}' is not in the schema; leave it out",
                                    feature.name);
        }
        RAMPART_TRY(row[*index], encode(feature, schema, *index));
        given[*index] = true;
    }
    for (size_t i = 0; i < given.size(); ++i) {
        if (!given[i]) {
            return base::make_error(Reason::kMissingFeature,
                                    "feature '{}' is not given; give null if it is not known",
                                    schema.features()[i].name);
        }
    }
    return row;
}

namespace {

using dataset::FeatureSchema;
using dataset::ServedSchema;

/// Returns by feature of `served` what the application gives, or counts as giving.
Result<std::vector<const domain::FeatureValue*>> values_of(const domain::Application& application,
                                                           const ServedSchema& served) {
    const auto& specs = served.features().features();
    std::vector<const domain::Feature*> given(specs.size(), nullptr);
    for (const auto& feature : application.features) {
        const auto index = served.find(feature.name);
        if (!index) {
            return base::make_error(base::Reason::kUnknownFeature,
                                    "feature '{}' is not in the schema; leave it out",
                                    feature.name);
        }
        const auto* const before = given[*index];
        if (before != nullptr) {
            return base::make_error(base::Reason::kDuplicateFeature,
                                    "'{}' and '{}' are names of one feature; give '{}' alone",
                                    before->name, feature.name, specs[*index].name);
        }
        given[*index] = &feature;
    }
    std::vector<const domain::FeatureValue*> values;
    for (size_t i = 0; i < given.size(); ++i) {
        const auto& absent = served.terms(i).absent;
        if (given[i] == nullptr && !absent) {
            return base::make_error(Reason::kMissingFeature,
                                    "feature '{}' is not given; give null if it is not known",
                                    specs[i].name);
        }
        values.push_back(given[i] != nullptr ? &given[i]->value : &*absent);
    }
    return values;
}

/// Checks, quickly, that the policy's features are the first ones of `served`.
base::Status check_first(const FeatureSchema& schema, const ServedSchema& served) {
    const auto& now = served.features().features();
    for (size_t i = 0; i < schema.size(); ++i) {
        const auto& one = schema.features()[i];
        const bool same = i < now.size() && served.has_name(i, one.name) &&
                          one.kind == now[i].kind &&
                          one.categories.size() == now[i].categories.size();
        if (!same) return served.check_grown_from(schema);
    }
    return base::ok();
}

}  // namespace

Result<domain::Application> in_terms_of(const domain::Application& application,
                                        const FeatureSchema& schema, const ServedSchema& served) {
    if (served.plain()) return application;
    RAMPART_RETURN_IF_ERROR(check_first(schema, served));
    RAMPART_TRY(const auto values, values_of(application, served));
    domain::Application out = application;
    out.features.clear();
    for (size_t i = 0; i < schema.size(); ++i)
        out.features.push_back({schema.features()[i].name, *values[i]});
    return out;
}

Result<std::vector<float>> encode_row(const domain::Application& application,
                                      const FeatureSchema& schema, const ServedSchema& served) {
    if (served.plain()) return encode_row(application, schema);
    RAMPART_RETURN_IF_ERROR(check_first(schema, served));
    RAMPART_TRY(const auto values, values_of(application, served));
    std::vector<float> row;
    row.reserve(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
        RAMPART_TRY(const float encoded, encode_value(viewed(*values[i]), served.features(), i));
        row.push_back(encoded);
    }
    row.resize(schema.size());
    return row;
}

std::vector<size_t> unseen_categories(const domain::Application& application,
                                      const dataset::FeatureSchema& schema) {
    std::vector<size_t> unseen;
    for (const auto& feature : application.features) {
        if (std::holds_alternative<std::monostate>(feature.value)) continue;
        const auto index = schema.find(feature.name);
        if (!index) continue;
        if (schema.features()[*index].kind != dataset::FeatureKind::kCategorical) continue;
        const auto code = encode(feature, schema, *index);
        if (code && std::isnan(*code)) unseen.push_back(*index);
    }
    return unseen;
}

}  // namespace rampart::decision
