#pragma once

#include <string>

#include "rampart/base/result.hpp"
#include "rampart/dataset/dataset.hpp"

namespace rampart::peer_gbdt {

/// A table as tools/peers/gbdt hands it to every library, so that all read the same numbers. Little
/// endian: uint64 rows n; uint64 features d; uint32[d] number of categories of each feature, 0 for
/// a number; uint8[n] labels; float32[d][n] columns, a category as its code, missing as NaN.
/// Features are named x0, x1, …; categories by their codes.
///
/// Errors: not_found "no_table"; invalid_argument "bad_table" when sizes do not fit each other.
base::Result<dataset::Dataset> read_table_file(const std::string& path);

}  // namespace rampart::peer_gbdt
