#include "whole_database.hpp"

#include "encrypted_files.hpp"
#include "errors.hpp"
#include "options.hpp"
#include "rampart/storage/folder.hpp"
#include "rampart/storage/reasons.hpp"
#include "rocksdb_log.hpp"

namespace rampart::storage {

base::Result<WholeDatabase> WholeDatabase::open(const std::filesystem::path& path, Mode mode) {
    if (!is_database(path)) {
        return base::make_error(Reason::kNoDatabase, "there is no database at '{}'", path.string());
    }
    OpenOptions ours;
    ours.create = false;
    ours.read_only = mode == Mode::kRead;
    WholeDatabase database;
    RAMPART_TRY(database.environment_,
                environment_of(path, ours.read_only ? Access::kRead : Access::kWrite));
    rocksdb::Options options = database_options(ours);
    options.env = database.environment_.get();
    options.info_log = rocksdb_log(path);
    options.create_missing_column_families = false;
    options.disable_auto_compactions = true;
    std::vector<std::string> names;
    auto status = rocksdb::DB::ListColumnFamilies(options, path.string(), &names);
    if (!status.ok()) return map_error(status, path, "open");
    std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
    for (const auto& name : names) {
        descriptors.emplace_back(name, rocksdb::ColumnFamilyOptions(options));
    }
    rocksdb::DB* db = nullptr;
    status = mode == Mode::kRead
                 ? rocksdb::DB::OpenForReadOnly(options, path.string(), descriptors,
                                                &database.families_, &db)
                 : rocksdb::DB::Open(options, path.string(), descriptors, &database.families_, &db);
    if (!status.ok()) return map_error(status, path, "open");
    database.db_.reset(db);
    return database;
}

WholeDatabase::~WholeDatabase() {
    if (db_ == nullptr) return;  // moved away
    for (auto* family : families_) db_->DestroyColumnFamilyHandle(family);
}

}  // namespace rampart::storage
