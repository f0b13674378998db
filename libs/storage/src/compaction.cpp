#include <rocksdb/db.h>

#include "database_impl.hpp"
#include "options.hpp"
#include "rampart/storage/database.hpp"
#include "rampart/storage/reasons.hpp"

namespace rampart::storage {
namespace {

/// Whether a snapshot keeps content that was changed since.
bool keeps_old_content(rocksdb::DB& db) {
    uint64_t snapshots = 0, oldest = 0;
    return db.GetIntProperty(rocksdb::DB::Properties::kNumSnapshots, &snapshots) && snapshots > 0 &&
           db.GetIntProperty(rocksdb::DB::Properties::kOldestSnapshotSequence, &oldest) &&
           oldest < db.GetLatestSequenceNumber();
}

}  // namespace

base::Status Database::Impl::compact(std::span<const FamilyRange> parts) {
    if (parts.empty()) return base::ok();
    if (keeps_old_content(*db)) {
        return base::make_error(
            Reason::kSnapshotHeld,
            "cannot compact database '{}': a reader holds a snapshot of older content; try again "
            "when it is done",
            path.string());
    }
    // All families: they share the write-ahead log, which goes when none of them needs it.
    rocksdb::FlushOptions flush;
    flush.allow_write_stall = true;
    auto status = db->Flush(flush, handles);
    for (const auto& [family, range] : parts) {
        if (!status.ok()) break;
        rocksdb::CompactRangeOptions options;
        options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
        const rocksdb::Slice begin = range.begin, end = range.end;
        status =
            db->CompactRange(options, handle(family), &begin, range.end.empty() ? nullptr : &end);
    }
    // A new manifest begins with the files as they were before the change that it was made for, so
    // it takes one more change, here an option set to what it is, for the old ones to be forgotten.
    if (status.ok()) status = db->SetOptions(handle(parts.back().family), unchanged_option());
    // Obsolete files are looked for when deletions are allowed again, and gone when that returns.
    if (status.ok()) status = db->DisableFileDeletions();
    if (status.ok()) status = db->EnableFileDeletions(/*force=*/false);
    if (!status.ok()) return failed(status, "compact");
    return base::ok();
}

base::Status Database::compact(std::span<const FamilyRange> parts) {
    uint64_t bytes = 0;
    for (const auto& [family, range] : parts) {
        RAMPART_TRY(const uint64_t more, approximate_bytes(family, range));
        bytes += more;
    }
    RAMPART_RETURN_IF_ERROR(impl_->check_room(2 * bytes));  // the old and the new, for a while
    return impl_->compact(parts);
}

base::Status Database::compact(ColumnFamily family, const KeyRange& range) {
    const FamilyRange part{family, range};
    return compact(std::span(&part, 1));
}

base::Status Database::compact_erased(ColumnFamily family) {
    const auto before = impl_->erased.begin_compaction(family);
    if (!before) return base::ok();
    RAMPART_RETURN_IF_ERROR(compact(family));
    const auto marked = impl_->erased.end_compaction(family, *before, *impl_->db);
    return marked.ok() ? base::ok() : base::Status(impl_->failed(marked, "write to"));
}

}  // namespace rampart::storage
