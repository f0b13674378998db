#pragma once

#include <rocksdb/rate_limiter.h>

#include <memory>

namespace rampart::storage {

/// What limit_background_rate() asked for; null: no bound.
std::shared_ptr<rocksdb::RateLimiter> background_limiter();
/// What limit_open_tables() asked for; the largest int: nothing.
int open_tables_limit();

}  // namespace rampart::storage
