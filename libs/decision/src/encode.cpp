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

Result<float> encode(const domain::Feature& feature, const dataset::FeatureSchema& schema,
                     size_t index) {
    if (const auto* number = std::get_if<double>(&feature.value))
        return encode_value(*number, schema, index);
    const auto* text = std::get_if<std::string>(&feature.value);
    if (text == nullptr) return kMissing;
    return encode_value(std::string_view(*text), schema, index);
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
