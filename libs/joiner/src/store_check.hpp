#pragma once

#include <string>
#include <vector>

#include "join_store.hpp"

namespace rampart::joiner {

/// Reads a whole store and says what does not fit, at most kMaxProblems of them: the hash, the
/// indices against the states and the states against the indices, the totals of what is there now.
inline constexpr size_t kMaxProblems = 100;
base::Result<std::vector<std::string>> check_store(const JoinStore& store);

}  // namespace rampart::joiner
