#include "rampart/dataset/table_schema.hpp"

#include <algorithm>

#include "rampart/base/check.hpp"
#include "rampart/dataset/text.hpp"

namespace rampart::dataset {

const ColumnRule* TableSchema::rule_of(std::string_view column) const {
    const auto found = std::find_if(rules.begin(), rules.end(),
                                    [&](const auto& rule) { return rule.column == column; });
    return found == rules.end() ? nullptr : &*found;
}

std::string band_name(const std::vector<double>& bounds, double number) {
    RAMPART_CHECK(!bounds.empty(), "a band of no bounds");
    const auto above = std::upper_bound(bounds.begin(), bounds.end(), number);
    if (above == bounds.begin()) return "<" + number_text(bounds.front());
    if (above == bounds.end()) return ">=" + number_text(bounds.back());
    return number_text(*(above - 1)) + "-" + number_text(*above);
}

}  // namespace rampart::dataset
