#pragma once

#include <set>
#include <string>
#include <string_view>

#include "rampart/base/result.hpp"
#include "rampart/dataset/table_schema.hpp"

namespace rampart::dataset {

/// Reads the cells of a label of two values.
class LabelReader {
  public:
    explicit LabelReader(const TableSchema& schema);

    bool is_missing(std::string_view cell) const { return cell.empty() || missing_.contains(cell); }
    /// Returns the label's value: the text of a cell, numbers written in one way, or "true" and
    /// "false" of the condition. Error: "label_not_a_number". Requires !is_missing(cell).
    base::Result<std::string> value(std::string_view cell) const;
    /// Returns the schema's favourable value, written like value().
    const std::string& favourable() const { return favourable_; }

  private:
    LabelText label_;
    std::set<std::string, std::less<>> missing_;
    std::string favourable_;
};

/// Returns what to add where a file lacks the label's column and its name looks like a condition
/// without blanks ("days_late>90"); empty: it does not.
std::string_view hint(std::string_view label);

}  // namespace rampart::dataset
