#include "label_reader.hpp"

#include "rampart/base/limits.hpp"
#include "rampart/dataset/reasons.hpp"
#include "rampart/dataset/text.hpp"

namespace rampart::dataset {
namespace {

/// Normalises numbers, so that equal numbers are one value.
std::string canonical(std::string_view cell) {
    const auto number = parse_number(cell);
    return number ? number_text(*number) : std::string(cell);
}

}  // namespace

LabelReader::LabelReader(const TableSchema& schema)
    : label_{schema.label_column, schema.condition},
      missing_(schema.missing_tokens.begin(), schema.missing_tokens.end()),
      favourable_(schema.condition ? schema.favourable : canonical(schema.favourable)) {}

base::Result<std::string> LabelReader::value(std::string_view cell) const {
    if (!label_.condition) return canonical(cell.substr(0, base::limits::kMaxTextBytes));
    const auto held = holds(*label_.condition, cell);
    if (held) return std::string(*held ? "true" : "false");
    constexpr size_t kShown = 60;
    return base::make_error(Reason::kLabelNotANumber,
                            "label '{}' compares numbers, and the column is '{}'; list the text "
                            "under `missing`, or correct the file",
                            to_text(label_), cell.substr(0, kShown));
}

std::string_view hint(std::string_view label) {
    return label.find_first_of("<>=!") == std::string_view::npos
               ? ""
               : "; a condition has one of > >= < <= == != with blanks around it, such as "
                 "'days_late > 90'";
}

}  // namespace rampart::dataset
