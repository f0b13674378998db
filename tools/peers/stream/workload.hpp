#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/domain/decision.hpp"
#include "rampart/domain/outcome.hpp"
#include "rampart/domain/product.hpp"
#include "rampart/streaming/record.hpp"

/// Synthetic events of the size of the card stream's, each a function of its number only.
namespace rampart::peers {

/// Returns a product with a label after six months and one more measure after three.
domain::Product product();

inline constexpr size_t kFeatures = 21;
std::string feature_name(size_t i);

domain::Application application(size_t i);
domain::Decision decision(size_t i);
/// Returns outcome i: the older half of the decisions gets two reports each, in order; number i is
/// about decision i / 2, so that reports refer to older and older decisions.
domain::Outcome outcome(size_t i);

/// Converts to records of their topics; decisions under lease epoch 1.
streaming::Record decision_record(size_t i);
streaming::Record outcome_record(size_t i);

/// Calls `take` with `count` records created by `make`, in order, in batches.
base::Status in_batches(
    size_t count, size_t batch, streaming::Record (*make)(size_t),
    const std::function<base::Status(const std::vector<streaming::Record>&)>& take);

/// Writes input for the peers without Rampart: for each of `count` decisions, then of as many
/// outcomes, u32 length of the key, key, u32 length of the value, value (little-endian).
base::Status write_records_file(const std::filesystem::path& path, size_t count);

}  // namespace rampart::peers
