#include "rampart/storage/database.hpp"

#include <rocksdb/db.h>
#include <rocksdb/utilities/checkpoint.h>

#include <chrono>

#include "database_impl.hpp"
#include "errors.hpp"
#include "memory_budget_impl.hpp"
#include "options.hpp"
#include "rampart/base/check.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/storage/reasons.hpp"

namespace rampart::storage {
namespace {

using base::Result;

rocksdb::Slice slice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }
std::string_view view(const rocksdb::Slice& bytes) { return {bytes.data(), bytes.size()}; }

std::string successor(std::string key) {
    while (!key.empty() && static_cast<unsigned char>(key.back()) == 0xff) key.pop_back();
    if (!key.empty()) key.back() = static_cast<char>(static_cast<unsigned char>(key.back()) + 1);
    return key;  // empty: no upper end
}

}  // namespace

KeyRange KeyRange::with_prefix(std::string_view prefix) {
    return {std::string(prefix), successor(std::string(prefix))};
}

struct Snapshot::Impl {
    rocksdb::DB* db;
    const rocksdb::Snapshot* snapshot;
    ~Impl() { db->ReleaseSnapshot(snapshot); }
};
Snapshot::Snapshot(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Snapshot::Snapshot(Snapshot&&) noexcept = default;
Snapshot& Snapshot::operator=(Snapshot&&) noexcept = default;
Snapshot::~Snapshot() = default;

Database::Impl::~Impl() {
    note_closing(*this);
    if (budget) budget->impl().leave(db.get());
    for (auto* handle : handles) db->DestroyColumnFamilyHandle(handle);
    if (db) db->Close();
}

rocksdb::ColumnFamilyHandle* Database::Impl::handle(ColumnFamily family) const {
    RAMPART_CHECK(family.index < families, "column family {} of {}", family.index, families);
    return handles[family.index];
}

base::Error Database::Impl::failed(const rocksdb::Status& status, std::string_view action) const {
    auto error = map_error(status, path, action);
    damage->take(error);
    return error;
}

base::Status Database::Impl::check_room(size_t bytes) const {
    std::error_code error;
    const auto space = std::filesystem::space(path, error);
    if (error || space.available >= min_free_bytes + bytes) return base::ok();
    return base::make_error(
        base::Reason::kDiskFull,
        "cannot write to database '{}': {} bytes are free and {} are kept in reserve; make "
        "room, then try again",
        path.string(), space.available, min_free_bytes);
}

Result<ErasedFamilies::Writing> Database::Impl::add(rocksdb::WriteBatch& batch,
                                                    const WriteBatch& changes) {
    std::vector<ColumnFamily> erased_from;
    for (const auto& change : changes.changes_) {
        const auto key = slice(changes.key_of(change)), value = slice(changes.value_of(change));
        rocksdb::Status added;
        switch (change.kind) {
            case WriteBatch::Kind::kPut:
                added = batch.Put(handle(change.family), key, value);
                break;
            case WriteBatch::Kind::kErase:
                added = batch.Delete(handle(change.family), key);
                break;
            case WriteBatch::Kind::kEraseRange:
                added = batch.DeleteRange(handle(change.family), key, value);
                break;
        }
        if (!added.ok()) return failed(added, "write to");
        const bool erases = change.kind != WriteBatch::Kind::kPut;
        if (erases && (erased_from.empty() || erased_from.back() != change.family))
            erased_from.push_back(change.family);
    }
    return erased.begin(erased_from, batch);
}

base::Status Database::Impl::write(rocksdb::WriteBatch& batch, Sync sync) {
    RAMPART_RETURN_IF_ERROR(check_room(2 * batch.GetDataSize()));  // log, then table file
    rocksdb::WriteOptions options;
    options.sync = sync == Sync::kAlways;
    const auto begun = std::chrono::steady_clock::now();
    const auto status = db->Write(options, &batch);
    if (!status.ok()) return failed(status, "write to");
    if (options.sync) {
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun;
        synced_writes->observe(taken.count());
    }
    if (budget) budget->impl().relieve();
    return base::ok();
}

Database::Database(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Database::~Database() = default;
const std::filesystem::path& Database::path() const { return impl_->path; }
base::Status Database::damage() const { return impl_->damage->status(); }

base::Status Database::write(const WriteBatch& changes, Sync sync) {
    constexpr size_t kOverhead =
        24;  // bytes of a change besides its content: kind, family, two lengths
    rocksdb::WriteBatch batch(changes.bytes() + kOverhead * changes.size());
    RAMPART_TRY(const auto writing, impl_->add(batch, changes));
    return impl_->write(batch, sync);
}

Result<std::optional<std::string>> Database::get(ColumnFamily family, std::string_view key,
                                                 const Snapshot* at) const {
    rocksdb::ReadOptions options;
    if (at != nullptr) options.snapshot = at->impl_->snapshot;
    std::string value;
    const auto status = impl_->db->Get(options, impl_->handle(family), slice(key), &value);
    if (status.IsNotFound()) return std::optional<std::string>();
    if (!status.ok()) return impl_->failed(status, "read");
    return std::optional(std::move(value));
}

base::Status Database::scan(ColumnFamily family, const KeyRange& range, const Visitor& visit,
                            const Snapshot* at) const {
    rocksdb::ReadOptions options;
    if (at != nullptr) options.snapshot = at->impl_->snapshot;
    const rocksdb::Slice upper = range.end;
    if (!range.end.empty()) options.iterate_upper_bound = &upper;
    const std::unique_ptr<rocksdb::Iterator> it(
        impl_->db->NewIterator(options, impl_->handle(family)));
    for (it->Seek(range.begin); it->Valid(); it->Next()) {
        RAMPART_TRY(const bool more, visit(view(it->key()), view(it->value())));
        if (!more) return base::ok();
    }
    // An iterator that meets an error looks as if it were at its end.
    if (!it->status().ok()) return impl_->failed(it->status(), "read");
    return base::ok();
}

base::Status Database::scan_back(ColumnFamily family, const KeyRange& range, const Visitor& visit,
                                 const Snapshot* at) const {
    rocksdb::ReadOptions options;
    if (at != nullptr) options.snapshot = at->impl_->snapshot;
    const rocksdb::Slice lower = range.begin, upper = range.end;
    if (!range.begin.empty()) options.iterate_lower_bound = &lower;
    if (!range.end.empty()) options.iterate_upper_bound = &upper;
    const std::unique_ptr<rocksdb::Iterator> it(
        impl_->db->NewIterator(options, impl_->handle(family)));
    for (it->SeekToLast(); it->Valid(); it->Prev()) {
        RAMPART_TRY(const bool more, visit(view(it->key()), view(it->value())));
        if (!more) return base::ok();
    }
    if (!it->status().ok()) return impl_->failed(it->status(), "read");
    return base::ok();
}

Result<std::optional<std::pair<std::string, std::string>>> Database::last(
    ColumnFamily family, const KeyRange& range, const Snapshot* at) const {
    rocksdb::ReadOptions options;
    if (at != nullptr) options.snapshot = at->impl_->snapshot;
    const rocksdb::Slice upper = range.end;
    if (!range.end.empty()) options.iterate_upper_bound = &upper;
    const std::unique_ptr<rocksdb::Iterator> it(
        impl_->db->NewIterator(options, impl_->handle(family)));
    it->SeekToLast();
    if (!it->status().ok()) return impl_->failed(it->status(), "read");
    std::optional<std::pair<std::string, std::string>> found;
    if (it->Valid() && view(it->key()) >= range.begin) {
        found.emplace(it->key().ToString(), it->value().ToString());
    }
    return found;
}

Snapshot Database::snapshot() const {
    auto* db = impl_->db.get();
    return Snapshot(std::unique_ptr<Snapshot::Impl>(new Snapshot::Impl{db, db->GetSnapshot()}));
}

base::Status Database::checkpoint(const std::filesystem::path& target) const {
    std::error_code error;
    if (std::filesystem::exists(target, error)) {
        return base::make_error(Reason::kCheckpointExists,
                                "cannot write checkpoint '{}': it is there already",
                                target.string());
    }
    rocksdb::Checkpoint* raw = nullptr;
    auto status = rocksdb::Checkpoint::Create(impl_->db.get(), &raw);
    const std::unique_ptr<rocksdb::Checkpoint> checkpoint(raw);
    if (status.ok()) status = checkpoint->CreateCheckpoint(target.string());
    if (!status.ok()) return map_error(status, target, "write checkpoint of");
    return base::ok();
}

Result<uint64_t> Database::approximate_bytes(ColumnFamily family, const KeyRange& range) const {
    std::string end = range.end;
    if (end.empty()) {
        RAMPART_TRY(const auto greatest, last(family, range));
        if (!greatest) return uint64_t{0};
        end = greatest->first + '\0';
    }
    rocksdb::SizeApproximationOptions options;
    options.include_memtables = true;
    const rocksdb::Range wanted(range.begin, end);
    uint64_t bytes = 0;
    const auto status =
        impl_->db->GetApproximateSizes(options, impl_->handle(family), &wanted, 1, &bytes);
    if (!status.ok()) return impl_->failed(status, "measure");
    return bytes;
}

}  // namespace rampart::storage
