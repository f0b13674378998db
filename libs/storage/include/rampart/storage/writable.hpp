#pragma once

#include "rampart/base/result.hpp"

namespace rampart::storage {

/// Whether every open Database of this process takes writes.
///
/// When a write-ahead log, a flush or a compaction fails in a way that RocksDB does not mend by
/// itself (a quota, a limit of files, an error of the device), a database refuses all writes until
/// it is opened anew, also when the cause is gone long since. What it had acknowledged is safe. A
/// service that sees this ends, says so, and is started again by its supervisor. Damage in a
/// DerivedDatabase does not count: it is made anew.
///
/// unavailable "database_stopped": names the database that stopped first, and why; until it is
/// closed. Thread safe, and cheap enough for once a second.
base::Status all_writable();

}  // namespace rampart::storage
