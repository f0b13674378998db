#include "rampart/dataset/pooled_values.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "cell_encoder.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/dataset/csv.hpp"
#include "rampart/dataset/reasons.hpp"

namespace rampart::dataset {
namespace {

using base::Result;

constexpr size_t kMostValues = 100'000;

/// The values of one column that are counted.
struct Counted {
    ColumnRule* rule;
    size_t place;
    std::map<std::string, size_t, std::less<>> rows = {};
};

base::Status add(Counted& column, std::string_view cell) {
    cell = cell.substr(0, base::limits::kMaxTextBytes);
    const auto found = column.rows.find(cell);
    if (found != column.rows.end()) {
        ++found->second;
        return base::ok();
    }
    if (column.rows.size() == kMostValues)
        return base::make_error(base::Reason::kTooManyGroups,
                                "protected column '{}' has more than {} values; band its numbers, "
                                "or protect another column",
                                column.rule->column, kMostValues);
    column.rows.emplace(cell, 1);
    return base::ok();
}

/// Sets what is kept; returns a note, empty if nothing is pooled.
Result<std::string> decide(Counted& column) {
    ColumnRule& rule = *column.rule;
    std::vector<std::string> pooled;
    size_t rows = 0;
    for (const auto& [value, count] : column.rows) {
        if (count >= rule.pool_below) {
            rule.keep.push_back(value);
        } else {
            pooled.push_back(value);
            rows += count;
        }
    }
    if (rule.keep.empty())
        return base::make_error(Reason::kBadColumnRule,
                                "[[column]] '{}': no value has {} rows; lower `pool_below`",
                                rule.column, rule.pool_below);
    if (pooled.empty()) return std::string();
    return fmt::format(
        "'{}': {} of {} values have fewer than {} rows, and their {} rows are "
        "pooled as '{}': {}",
        rule.column, pooled.size(), column.rows.size(), rule.pool_below, rows, rule.pool,
        name_some(pooled));
}

}  // namespace

Result<PooledSchema> decide_pools(const std::filesystem::path& path, const TableSchema& schema) {
    PooledSchema out{schema, {}, false};
    std::vector<Counted> columns;
    for (auto& rule : out.schema.rules)
        if (rule.pool_below > 0 && rule.keep.empty()) columns.push_back({&rule, 0});
    if (columns.empty()) return out;
    RAMPART_TRY(auto csv, CsvReader::open(path));
    const std::string file = fmt::format("'{}'", path.string());
    for (auto& column : columns) {
        const auto& names = csv.columns();
        const auto found = std::find(names.begin(), names.end(), column.rule->column);
        if (found == names.end())
            return base::make_error(Reason::kMissingColumn, "{}: the file has no column '{}'", file,
                                    column.rule->column);
        column.place = static_cast<size_t>(found - names.begin());
    }
    const std::set<std::string, std::less<>> missing(schema.missing_tokens.begin(),
                                                     schema.missing_tokens.end());
    for (size_t rows = 0;; ++rows) {
        RAMPART_TRY(const bool more, csv.next());
        if (!more && rows == 0)
            return base::make_error(base::Reason::kNoRows, "{}: there are no rows below the header",
                                    file);
        if (!more) break;
        for (auto& column : columns) {
            const auto cell = csv.cells()[column.place];
            if (cell.empty() || missing.contains(cell)) continue;
            if (const auto added = add(column, cell); !added)
                return added.error().with_context(file);
        }
    }
    for (auto& column : columns) {
        auto note = decide(column);
        if (!note) return note.error().with_context(file);
        if (!note->empty()) out.notes.push_back(*std::move(note));
    }
    out.counted = true;
    return out;
}

}  // namespace rampart::dataset
