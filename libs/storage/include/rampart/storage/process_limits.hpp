#pragma once

#include <cstdint>

/// Limits of all databases of a process together, for those that are opened after the call. Thread
/// safe.
namespace rampart::storage {

/// Bounds what the databases write to their files in the background (flushes, compactions) and
/// backups copy, in bytes a second for all together, so that synced writes beside them wait less.
/// 0: no bound, as before the first call. Too low a bound makes writes wait once the files pile up.
void limit_background_rate(uint64_t bytes_per_second);

/// Tables that each database keeps open at most, kFewestOpenTables or more, whatever its
/// OpenOptions::max_open_files says.
void limit_open_tables(int per_database);
inline constexpr int kFewestOpenTables = 16;

}  // namespace rampart::storage
