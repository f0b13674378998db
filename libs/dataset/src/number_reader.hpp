#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "rampart/base/result.hpp"
#include "rampart/dataset/table_schema.hpp"

namespace rampart::dataset {

/// Reads the cells of one column as numbers, as its rule says. Copies what it needs.
class NumberReader {
  public:
    NumberReader(const TableSchema& schema, const std::string& column);

    /// Returns nullopt for a missing cell and for a number outside a range that makes it missing.
    /// Errors name column and cell: "not_a_number", "bad_date", "number_outside_range".
    base::Result<std::optional<double>> read(std::string_view cell);
    /// Returns how many numbers were outside a range that makes them missing.
    size_t outside() const { return outside_; }
    /// Returns the same in words; empty: none.
    std::string note() const;

  private:
    std::string column_;
    std::set<std::string, std::less<>> missing_;
    std::optional<DateForm> date_;
    std::optional<NumericRange> range_;
    bool outside_is_error_ = false;
    size_t outside_ = 0;
};

/// Reads a date as days since 1970-01-01; nullopt: it is none of this form.
std::optional<double> parse_days(std::string_view text, DateForm form);

/// Returns the word of a form in a schema file: "DD.MM.YYYY".
std::string_view word_of(DateForm form);

}  // namespace rampart::dataset
