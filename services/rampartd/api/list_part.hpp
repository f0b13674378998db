#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "rampart/base/result.hpp"
#include "services/rampartd/api/json.hpp"

namespace rampart::rampartd {

inline constexpr size_t kMostListed = 1000;  // elements of a part

/// A part of a list that only grows: elements [begin, end), in its order.
struct ListPart {
    size_t begin = 0, end = 0;

    /// Returns the cursor of the part before this one; null: this one begins the list.
    Json next_cursor() const { return begin == 0 ? Json(nullptr) : Json(begin); }
};

/// Reads from a query which part of a list of `size` elements is asked for: `limit`, 1 to
/// kMostListed, which is the default, and `cursor`, before which the part ends; without it, the
/// last elements. Errors: invalid_argument "unknown_field", "bad_number", naming the parameter.
base::Result<ListPart> read_list_part(const std::map<std::string, std::string>& query, size_t size);

}  // namespace rampart::rampartd
