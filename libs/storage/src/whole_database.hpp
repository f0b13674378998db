#pragma once

#include <rocksdb/db.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"

namespace rampart::storage {

/// A database with all the column families that it has, whatever they are.
class WholeDatabase {
  public:
    enum class Mode {
        kRead,
        kRecover,  // for writing, without any change but that its log becomes tables
    };
    static base::Result<WholeDatabase> open(const std::filesystem::path& path, Mode mode);
    WholeDatabase(WholeDatabase&&) noexcept = default;
    WholeDatabase& operator=(WholeDatabase&&) = delete;
    ~WholeDatabase();

    rocksdb::DB& db() { return *db_; }
    const std::shared_ptr<rocksdb::Env>& environment() const { return environment_; }
    const std::vector<rocksdb::ColumnFamilyHandle*>& families() const { return families_; }

  private:
    WholeDatabase() = default;
    std::shared_ptr<rocksdb::Env> environment_;
    std::unique_ptr<rocksdb::DB> db_;
    std::vector<rocksdb::ColumnFamilyHandle*> families_;
};

}  // namespace rampart::storage
