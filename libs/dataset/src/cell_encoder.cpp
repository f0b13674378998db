#include "cell_encoder.hpp"

#include <algorithm>

#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/dataset/reasons.hpp"
#include "rampart/dataset/text.hpp"

namespace rampart::dataset {

CellEncoder::CellEncoder(const TableSchema& schema)
    : schema_(schema), missing_(schema.missing_tokens.begin(), schema.missing_tokens.end()) {
    for (const auto& spec : schema.features.features()) codes_.emplace_back(spec.categories.size());
    for (const auto& token : missing_)
        missing_numbers_ = missing_numbers_ || parse_number(token).has_value();
}

base::Result<float> CellEncoder::encode(size_t feature, std::string_view cell) {
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

base::Result<std::string> group_name(const TableSchema& schema, const CellEncoder& encoder,
                                     std::span<const std::string_view> cells) {
    std::string name;
    for (size_t i = 0; i < cells.size(); ++i) {
        const std::string& column = schema.protected_columns[i];
        if (cells[i].empty() || encoder.is_missing(cells[i])) {
            return base::make_error(base::Reason::kEmptyGroup,
                                    "protected column '{}' is empty, so the row is in "
                                    "no group; give it a value of its own (\"not stated\") or "
                                    "leave the row out",
                                    column);
        }
        fmt::format_to(std::back_inserter(name), "{}{}={}", i == 0 ? "" : ",", column,
                       cells[i].substr(0, base::limits::kMaxTextBytes));
    }
    return name;
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
