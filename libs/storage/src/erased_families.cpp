#include "erased_families.hpp"

#include <utility>

namespace rampart::storage {

rocksdb::Status ErasedFamilies::load(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* format,
                                     const std::vector<rocksdb::ColumnFamilyHandle*>& handles) {
    format_ = format;
    families_.clear();
    for (const auto* handle : handles) {
        Family family{"compacted/" + handle->GetName()};
        std::string value;
        const auto status = format == nullptr ? rocksdb::Status::NotFound()
                                              : db.Get({}, format, family.mark, &value);
        if (!status.ok() && !status.IsNotFound()) return status;
        family.marked = status.ok();
        families_.push_back(std::move(family));
    }
    return rocksdb::Status::OK();
}

void ErasedFamilies::mark_new(rocksdb::WriteBatch& batch) {
    const std::lock_guard lock(mutex_);
    for (auto& family : families_) {
        // should the write fail, the database is not opened
        batch.Put(format_, family.mark, "").PermitUncheckedError();
        family.marked = true;
    }
}

ErasedFamilies::Writing ErasedFamilies::begin(const std::vector<ColumnFamily>& families,
                                              rocksdb::WriteBatch& batch) {
    if (families.empty()) return {};
    Writing writing(writing_);
    const std::lock_guard lock(mutex_);
    for (const auto& one : families) {
        auto& family = families_[one.index];
        ++family.erasures;
        // a batch takes any deletion; should its write fail, the mark is only missed
        if (std::exchange(family.marked, false))
            batch.Delete(format_, family.mark).PermitUncheckedError();
    }
    return writing;
}

std::optional<uint64_t> ErasedFamilies::begin_compaction(ColumnFamily family) {
    const std::unique_lock none_writes(writing_);
    const std::lock_guard lock(mutex_);
    const auto& known = families_[family.index];
    return known.marked ? std::nullopt : std::optional(known.erasures);
}

rocksdb::Status ErasedFamilies::end_compaction(ColumnFamily family, uint64_t before,
                                               rocksdb::DB& db) {
    if (format_ == nullptr) return rocksdb::Status::OK();
    const std::lock_guard lock(mutex_);  // an erasure that begins now takes the mark away again
    auto& known = families_[family.index];
    if (known.erasures != before) return rocksdb::Status::OK();
    const auto status = db.Put({}, format_, known.mark, "");
    known.marked = status.ok();
    return status;
}

}  // namespace rampart::storage
