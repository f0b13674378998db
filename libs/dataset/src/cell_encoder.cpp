#include "cell_encoder.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/dataset/reasons.hpp"
#include "rampart/dataset/text.hpp"

namespace rampart::dataset {

CellEncoder::CellEncoder(const TableSchema& schema)
    : schema_(schema), missing_(schema.missing_tokens.begin(), schema.missing_tokens.end()) {
    for (const auto& token : missing_)
        missing_numbers_ = missing_numbers_ || parse_number(token).has_value();
    for (const auto& spec : schema.features.features()) {
        codes_.emplace_back(spec.categories.size());
        Columns& columns = columns_.emplace_back();
        columns.names = {spec.name};
        const auto derived = schema.derived.find(spec.name);
        if (derived != schema.derived.end()) {
            columns.derivation = &derived->second;
            columns.names = derived->second.columns;
        }
        const auto* rule = schema.rule_of(spec.name);
        if (columns.derivation != nullptr || (rule != nullptr && rule->reads_numbers()))
            for (const auto& name : columns.names) columns.numbers.emplace_back(schema, name);
    }
}

base::Result<float> CellEncoder::encode(size_t feature, std::span<const size_t> places,
                                        std::span<const std::string_view> cells) {
    Columns& columns = columns_[feature];
    if (columns.numbers.empty()) return encode_plain(feature, cells[places[0]]);
    std::array<std::optional<double>, 2> values;
    for (size_t i = 0; i < columns.numbers.size(); ++i) {
        RAMPART_TRY(values[i], columns.numbers[i].read(cells[places[i]]));
    }
    if (columns.derivation == nullptr) return encode_number(feature, values[0]);
    auto value = apply(*columns.derivation, values[0], values[1]);
    // what a float cannot hold is missing, as what a double cannot hold
    if (value && !std::isfinite(static_cast<float>(*value))) value.reset();
    return encode_number(feature, value);
}

base::Result<float> CellEncoder::encode_number(size_t feature, std::optional<double> value) const {
    if (!value) return std::numeric_limits<float>::quiet_NaN();
    return schema_.features.encode_number(feature, *value);
}

std::vector<std::string> CellEncoder::notes() const {
    std::set<std::string> out;  // a column may be read for several features
    for (const auto& columns : columns_)
        for (const auto& number : columns.numbers)
            if (auto note = number.note(); !note.empty()) out.insert(std::move(note));
    return {out.begin(), out.end()};
}

base::Result<float> CellEncoder::encode_plain(size_t feature, std::string_view cell) {
    const bool numeric = schema_.features.features()[feature].kind == FeatureKind::kNumeric;
    if (numeric && !missing_numbers_) {
        // so that a number cannot be a word for missing
        if (const auto number = parse_number(cell))
            return schema_.features.encode_number(feature, *number);
    }
    if (numeric) return encode_slowly(feature, cell);
    if (const float* known = codes_[feature].find(cell)) return *known;
    auto code = encode_slowly(feature, cell);
    if (code) codes_[feature].keep(cell, *code);
    return code;
}

base::Result<float> CellEncoder::encode_slowly(size_t feature, std::string_view cell) const {
    auto value = schema_.features.encode_text(feature, is_missing(cell) ? "" : cell);
    if (value || !value.error().is(Reason::kNotANumber)) return value;
    const auto& error = value.error();
    return base::Error{error.code, error.reason,
                       error.message +
                           "; list the text under `missing`, make the feature categorical, or "
                           "correct the file"};
}

std::string name_some(const std::vector<std::string>& names) {
    constexpr size_t kShown = 10;
    std::string out;
    for (size_t i = 0; i < std::min(names.size(), kShown); ++i) {
        out += fmt::format("{}'{}'", i == 0 ? "" : ", ", names[i]);
    }
    if (names.size() > kShown) out += fmt::format(" and {} more", names.size() - kShown);
    return out;
}

}  // namespace rampart::dataset
