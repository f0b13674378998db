#pragma once

#include "rampart/dataset/row_keys.hpp"

namespace rampart::dataset {

/// Fails where a gap is asked for and the times are numbers that all look like dates without
/// hyphens: 200601 or 20060131, of the years 1900 to 2199. A gap would be taken off digits: 200601
/// less 3 is 200598, which leaves out nothing. Errors: "bad_split_time".
base::Status check_gap_on(const RowKeys& keys, const Gap& gap);

}  // namespace rampart::dataset
