#include "group_reader.hpp"

#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"

namespace rampart::dataset {

GroupReader::GroupReader(const TableSchema& schema)
    : missing_(schema.missing_tokens.begin(), schema.missing_tokens.end()) {
    for (const auto& name : schema.protected_columns) {
        Column& column = columns_.emplace_back(Column{name, {}});
        const auto* rule = schema.rule_of(name);
        if (rule == nullptr) continue;
        column.rule = *rule;
        column.keep.insert(rule->keep.begin(), rule->keep.end());
        if (!rule->bands.empty()) column.number.emplace(schema, name);
    }
}

base::Result<std::string> GroupReader::value(Column& column, std::string_view cell) const {
    if (cell.empty() || missing_.contains(cell)) return column.rule.empty;
    if (column.number) {
        RAMPART_TRY(const auto number, column.number->read(cell));
        return number ? band_name(column.rule.bands, *number) : column.rule.empty;
    }
    const auto shown = cell.substr(0, base::limits::kMaxTextBytes);
    const bool pooled = column.rule.pool_below > 0 && !column.keep.contains(shown);
    return pooled ? column.rule.pool : std::string(shown);
}

base::Result<std::string> GroupReader::name(std::span<const std::string_view> cells) {
    std::string name;
    for (size_t i = 0; i < columns_.size(); ++i) {
        RAMPART_TRY(const auto value, this->value(columns_[i], cells[i]));
        if (value.empty())
            return base::make_error(base::Reason::kEmptyGroup,
                                    "protected column '{}' is {}, so the row is in "
                                    "no group; give it a value of its own (\"not stated\"), name "
                                    "one as `empty` in its [[column]], or leave the row out",
                                    columns_[i].name,
                                    cells[i].empty() ? "empty" : "missing or outside its range");
        fmt::format_to(std::back_inserter(name), "{}{}={}", i == 0 ? "" : ",", columns_[i].name,
                       value);
    }
    return name;
}

size_t GroupReader::outside() const {
    size_t sum = 0;
    for (const auto& column : columns_) sum += column.number ? column.number->outside() : 0;
    return sum;
}

std::vector<std::string> GroupReader::notes() const {
    std::vector<std::string> out;
    for (const auto& column : columns_)
        if (column.number && column.number->outside() > 0) out.push_back(column.number->note());
    return out;
}

}  // namespace rampart::dataset
