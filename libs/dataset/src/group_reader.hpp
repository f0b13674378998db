#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "number_reader.hpp"
#include "rampart/base/result.hpp"
#include "rampart/dataset/table_schema.hpp"

namespace rampart::dataset {

/// Names the group of a row, "sex=2,age=25-45", as the rules of the protected columns say. Pools
/// must be decided (pooled_values.hpp).
class GroupReader {
  public:
    explicit GroupReader(const TableSchema& schema);

    /// Takes the cells of the protected columns in the schema's order. Errors: "empty_group",
    /// those of NumberReader for a banded column.
    base::Result<std::string> name(std::span<const std::string_view> cells);
    /// Returns how many numbers were outside a range.
    size_t outside() const;
    /// Returns how many numbers of each column were outside its range, in words.
    std::vector<std::string> notes() const;

  private:
    struct Column {
        std::string name;
        ColumnRule rule;
        std::optional<NumberReader> number = {};       // for bands
        std::set<std::string, std::less<>> keep = {};  // for a pool
    };
    /// Returns the value in the group's name; empty: missing.
    base::Result<std::string> value(Column& column, std::string_view cell) const;

    std::vector<Column> columns_;
    std::set<std::string, std::less<>> missing_;
};

}  // namespace rampart::dataset
