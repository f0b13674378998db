#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cell_memo.hpp"
#include "number_reader.hpp"
#include "rampart/base/result.hpp"
#include "rampart/dataset/table_schema.hpp"

namespace rampart::dataset {

/// Makes numbers of the cells of a table's features, as its schema says. Keeps a reference to the
/// schema.
class CellEncoder {
  public:
    explicit CellEncoder(const TableSchema& schema);

    /// Returns the columns of the file that a feature is read from: its own, or those that it is
    /// derived from.
    const std::vector<std::string>& columns_of(size_t feature) const {
        return columns_[feature].names;
    }
    /// Encodes a feature from the record's cells at `places`, those of columns_of(). Errors say
    /// what to do about the schema or the file.
    base::Result<float> encode(size_t feature, std::span<const size_t> places,
                               std::span<const std::string_view> cells);
    /// Returns what was read as missing because of a range, in words.
    std::vector<std::string> notes() const;

  private:
    struct Columns {
        std::vector<std::string> names;
        std::vector<NumberReader> numbers;  // if it has a rule or is derived
        const Derivation* derivation = nullptr;
    };
    bool is_missing(std::string_view cell) const { return missing_.contains(cell); }
    base::Result<float> encode_plain(size_t feature, std::string_view cell);
    base::Result<float> encode_slowly(size_t feature, std::string_view cell) const;
    base::Result<float> encode_number(size_t feature, std::optional<double> value) const;

    const TableSchema& schema_;
    std::set<std::string, std::less<>> missing_;
    bool missing_numbers_ = false;        // some word for missing is a number ("-1")
    std::vector<CellMemo<float>> codes_;  // per feature
    std::vector<Columns> columns_;        // per feature
};

/// Returns a list for a message: "'a', 'b' and 3 more".
std::string name_some(const std::vector<std::string>& names);

}  // namespace rampart::dataset
