#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/storage/write_batch.hpp"

namespace rampart::storage {

class Database;

/// How a database gets from one version of what its room keeps in it to the next.
struct Migration {
    /// Does one part of the work, of some MB at most: adds the changes to `batch`, and returns the
    /// cursor from which the next part goes on, or nullopt when this was the last. `cursor` is
    /// empty at first. Changes and cursor are one synced write, so that after a crash the work goes
    /// on behind the last part that was written, and no part takes effect twice. From the first
    /// part on the database has the new version, so that the release before refuses it.
    using Step = std::function<base::Result<std::optional<std::string>>(
        const Database& database, std::string_view cursor, WriteBatch& batch)>;

    uint32_t to = 0;   // from to - 1
    std::string what;  // in a few words, for the log
    Step step;
};

/// The version of a room's keys and values, stored in the database when it is made. A database
/// without one was made before there were any, and counts as version 1.
///
/// Database::open brings an older database forward, one migration after the other, before it hands
/// it out. Column families that a version adds are there already when its migration runs.
struct Schema {
    /// Schema for tools that read any database as it is.
    static constexpr uint32_t kAnyVersion = 0;

    uint32_t version = 1;
    /// To consecutive versions, the last of them `version`. May begin late: a database that is too
    /// old for the first is refused.
    std::vector<Migration> migrations{};
};

}  // namespace rampart::storage
