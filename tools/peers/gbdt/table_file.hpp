#pragma once

#include <string>

#include "rampart/base/result.hpp"
#include "rampart/dataset/dataset.hpp"

namespace rampart::peer_gbdt {

/// Reads the table format of tools/peers/gbdt, so that all libraries read the same numbers. Little
/// endian: uint64 rows n; uint64 features d; uint32[d] number of categories per feature, 0 for a
/// number; uint8[n] labels; float32[d][n] columns, a category as its code, missing as NaN. Features
/// are named x0, x1, …; categories by their codes.
///
/// Fails with not_found "no_table"; invalid_argument "bad_table" if sizes are inconsistent.
base::Result<dataset::Dataset> read_table_file(const std::string& path);

}  // namespace rampart::peer_gbdt
