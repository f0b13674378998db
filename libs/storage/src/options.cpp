#include "options.hpp"

#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <algorithm>

#include "memory_budget_impl.hpp"
#include "process_limits_impl.hpp"

namespace rampart::storage {
namespace {

constexpr uint64_t kDay = 24 * 3600;
// What was erased moves down to the last level, and vanishes there, within a week or so of its
// becoming a file, also where nothing is written any more. compact() does it at once.
constexpr uint64_t kErasedReachLastLevel = 7 * kDay;
// Every block is read, and its checksum compared, at least so often.
constexpr uint64_t kEveryFileRewritten = 30 * kDay;

rocksdb::WALRecoveryMode recovery_mode(Recovery recovery) {
    switch (recovery) {
        case Recovery::kStrict:
            return rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
        case Recovery::kPointInTime:
            return rocksdb::WALRecoveryMode::kPointInTimeRecovery;
    }
    return rocksdb::WALRecoveryMode::kAbsoluteConsistency;
}

void set_cache(const OpenOptions& options, rocksdb::Options& out,
               rocksdb::BlockBasedTableOptions& table) {
    if (!options.budget) {
        table.block_cache = rocksdb::NewLRUCache(options.cache_bytes);
        return;
    }
    auto& budget = options.budget->impl();
    table.block_cache = budget.cache;
    out.write_buffer_manager = budget.write_buffers;
    out.statistics = budget.statistics;
    // What else grows with the data counts, too (a file's metadata, 0.5 kB, does not: it would
    // count in steps of 256 kB for every column family).
    table.cache_index_and_filter_blocks = true;
    table.pin_l0_filter_and_index_blocks_in_cache = true;  // every lookup asks these
    // In pieces of 4 kB: a lookup loads those that it needs, not 1 MB for every table file. With a
    // budget of 1 % of the data 13 us a lookup instead of 92; 3 us dearer when all of it fits.
    table.partition_filters = true;
    table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
    using Decision = rocksdb::CacheEntryRoleOptions::Decision;
    for (const auto role : {rocksdb::CacheEntryRole::kFilterConstruction,
                            rocksdb::CacheEntryRole::kBlockBasedTableReader}) {
        table.cache_usage_options.options_overrides[role].charged = Decision::kEnabled;
    }
    // An arena takes whole blocks, for every column family that is written to, 1 MB each by
    // default.
    out.arena_block_size = 64u << 10;
}

}  // namespace

rocksdb::Options database_options(const OpenOptions& options) {
    rocksdb::Options out;
    out.create_if_missing = options.create && !options.read_only;
    out.create_missing_column_families = !options.read_only;
    out.wal_recovery_mode = recovery_mode(options.recovery);
    // What a restart after a crash reads again at most. Families that are hardly written to would
    // keep old logs, and are flushed for it. With 8: 4.4 s instead of 3.5 for a million decisions.
    out.max_total_wal_size = 4 * options.memtable_bytes;
    out.max_background_jobs = 2;
    out.rate_limiter = background_limiter();
    out.write_buffer_size = options.memtable_bytes;
    // Most keys that are looked up are new, and need no search through the write buffer to say so.
    // 16 kB of 8 MB, taken at once, for every column family: 16 bits for each kB that is written.
    out.memtable_prefix_bloom_size_ratio = 0.002;
    out.memtable_whole_key_filtering = true;
    out.compression = rocksdb::kLZ4Compression;

    out.level_compaction_dynamic_level_bytes = true;  // all levels but the last: a tenth of it
    out.ttl = kErasedReachLastLevel;
    out.periodic_compaction_seconds = kEveryFileRewritten;
    // The manifest is written anew with every change of files (1.5 ms each): else it would keep the
    // first and last keys of files that are long gone, erased ones among them.
    out.max_manifest_file_size = 1;
    // Files are not allocated ahead: 13 MB for each database, of 512 with 256 partitions.
    out.allow_fallocate = false;
    // A reader beside a writer keeps every file open, so that none can be deleted under its hands.
    out.max_open_files =
        options.read_only ? -1 : std::min(options.max_open_files, open_tables_limit());

    rocksdb::BlockBasedTableOptions table;
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));  // absent: 1.4 us, without 11.4
    set_cache(options, out, table);
    out.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    return out;
}

std::unordered_map<std::string, std::string> unchanged_option() {
    return {{"ttl", std::to_string(kErasedReachLastLevel)}};
}

}  // namespace rampart::storage
