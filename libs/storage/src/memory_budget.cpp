#include "rampart/storage/memory_budget.hpp"

#include "memory_budget_impl.hpp"
#include "rampart/storage/reasons.hpp"

namespace rampart::storage {
namespace {

// Write buffers charge the cache in pieces of 256 kB: few shards, so that a shard holds many.
constexpr int kCacheShardBits = 2;
constexpr bool kMayExceed = false;  // strict_capacity_limit: reads would fail instead
// Indices and filters go last: without them a lookup reads every file.
constexpr double kShareOfIndicesAndFilters = 0.5;

}  // namespace

base::Result<std::shared_ptr<MemoryBudget>> MemoryBudget::create(uint64_t bytes) {
    if (bytes < kMinBytes) {
        return base::make_error(Reason::kBadMemoryBudget,
                                "a memory budget of {} bytes is too small; give {} or more", bytes,
                                kMinBytes);
    }
    auto impl = std::make_unique<Impl>();
    impl->bytes = bytes;
    impl->cache =
        rocksdb::NewLRUCache(bytes, kCacheShardBits, kMayExceed, kShareOfIndicesAndFilters);
    impl->write_buffers = std::make_shared<rocksdb::WriteBufferManager>(bytes, impl->cache);
    impl->statistics = rocksdb::CreateDBStatistics();
    impl->statistics->set_stats_level(rocksdb::StatsLevel::kExceptHistogramOrTimers);
    return std::shared_ptr<MemoryBudget>(new MemoryBudget(std::move(impl)));
}

MemoryBudget::MemoryBudget(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MemoryBudget::~MemoryBudget() = default;
void MemoryBudget::Impl::join(rocksdb::DB* db, const Families* families) {
    const std::lock_guard lock(mutex);
    members.emplace_back(db, families);
}

void MemoryBudget::Impl::leave(rocksdb::DB* db) {
    const std::lock_guard lock(mutex);
    std::erase_if(members, [&](const auto& member) { return member.first == db; });
}

bool MemoryBudget::Impl::flush_largest(bool wait) {
    const auto& property = wait ? rocksdb::DB::Properties::kCurSizeAllMemTables
                                : rocksdb::DB::Properties::kCurSizeActiveMemTable;
    rocksdb::DB* largest = nullptr;
    rocksdb::ColumnFamilyHandle* family = nullptr;
    uint64_t most = 0;
    for (const auto& [db, families] : members) {
        for (auto* candidate : *families) {
            uint64_t size = 0;
            if (!db->GetIntProperty(candidate, property, &size) || size <= most) continue;
            most = size;
            largest = db;
            family = candidate;
        }
    }
    if (largest == nullptr) return false;
    rocksdb::FlushOptions options;
    options.wait = wait;
    options.allow_write_stall = true;
    return largest->Flush(options, family).ok();
}

void MemoryBudget::Impl::relieve() {
    // What is on its way to a file still takes memory, but no second flush makes it go faster.
    const auto many = [&] { return write_buffers->mutable_memtable_memory_usage() > bytes / 8; };
    const auto too_many = [&] { return write_buffers->memory_usage() > bytes / 4; };
    if (many()) {
        const std::unique_lock lock(mutex, std::try_to_lock);
        if (lock.owns_lock() && many()) flush_largest(false);
    }
    while (too_many()) {
        const std::lock_guard lock(mutex);
        if (too_many() && !flush_largest(true)) return;
    }
}

MemoryUsage MemoryBudget::usage() const {
    const auto count = [this](rocksdb::Tickers ticker) {
        return impl_->statistics->getTickerCount(ticker);
    };
    return {.used = impl_->cache->GetUsage(),
            .write_buffers = impl_->write_buffers->memory_usage(),
            .pinned = impl_->cache->GetPinnedUsage(),
            .limit = impl_->bytes,
            .cache_hits = count(rocksdb::BLOCK_CACHE_HIT),
            .cache_misses = count(rocksdb::BLOCK_CACHE_MISS),
            .stall_seconds = static_cast<double>(count(rocksdb::STALL_MICROS)) / 1e6};
}

}  // namespace rampart::storage
