#include "rampart/storage/process_limits.hpp"

#include <atomic>
#include <limits>
#include <mutex>

#include "process_limits_impl.hpp"
#include "rampart/base/check.hpp"

namespace rampart::storage {
namespace {

std::mutex mutex;
std::shared_ptr<rocksdb::RateLimiter> limiter;
std::atomic<int> most_open_tables{std::numeric_limits<int>::max()};

}  // namespace

void limit_background_rate(uint64_t bytes_per_second) {
    const std::lock_guard lock(mutex);
    limiter.reset(bytes_per_second == 0
                      ? nullptr
                      : rocksdb::NewGenericRateLimiter(static_cast<int64_t>(bytes_per_second)));
}

void limit_open_tables(int per_database) {
    RAMPART_CHECK(per_database >= kFewestOpenTables, "per_database={}", per_database);
    most_open_tables = per_database;
}

std::shared_ptr<rocksdb::RateLimiter> background_limiter() {
    const std::lock_guard lock(mutex);
    return limiter;
}

int open_tables_limit() { return most_open_tables; }

}  // namespace rampart::storage
