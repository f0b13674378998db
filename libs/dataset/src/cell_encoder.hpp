#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cell_memo.hpp"
#include "rampart/base/result.hpp"
#include "rampart/dataset/feature_schema.hpp"

namespace rampart::dataset {

/// Makes numbers of the cells of a table's features, as its schema says. Keeps a reference to the
/// schema.
class CellEncoder {
  public:
    explicit CellEncoder(const TableSchema& schema);

    bool is_missing(std::string_view cell) const { return missing_.contains(cell); }
    /// Encodes a cell. Errors say what to do about the schema or the file.
    base::Result<float> encode(size_t feature, std::string_view cell);

  private:
    base::Result<float> encode_slowly(size_t feature, std::string_view cell) const;

    const TableSchema& schema_;
    std::set<std::string, std::less<>> missing_;
    bool missing_numbers_ = false;        // some word for missing is a number ("-1")
    std::vector<CellMemo<float>> codes_;  // per feature
};

/// Returns the name of a row's group, "sex=2,race=White", from the cells of the protected columns
/// in the schema's order. Error: "empty_group".
base::Result<std::string> group_name(const TableSchema& schema, const CellEncoder& encoder,
                                     std::span<const std::string_view> cells);

/// Returns a list for a message: "'a', 'b' and 3 more".
std::string name_some(const std::vector<std::string>& names);

}  // namespace rampart::dataset
