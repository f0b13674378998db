#pragma once

#include <functional>
#include <string>
#include <vector>

#include "join_store.hpp"
#include "rampart/joiner/decision_row.hpp"

namespace rampart::joiner {

enum class RowOrder { kFirstToLast, kLastToFirst };

/// Calls `visit` with the row of every decision of these stores whose key lies in [begin, end), in
/// this order of the keys, as they stood when this was called; an empty `end` means up to the last.
/// An error ends it.
base::Status visit_rows(const std::vector<const JoinStore*>& stores, const std::string& begin,
                        const std::string& end, RowPart part, RowOrder order,
                        const std::function<base::Status(const DecisionRow&)>& visit);

/// The entry of the index by time that a state with a decision has.
struct RowEntry {
    std::string key, value;
};
RowEntry row_entry(const std::string& id, const JoinState& state, const domain::Decision& decision);

}  // namespace rampart::joiner
