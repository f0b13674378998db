#include "rampart/storage/database_figures.hpp"

#include <rocksdb/db.h>

#include <algorithm>
#include <mutex>
#include <string>

#include "database_impl.hpp"

namespace rampart::storage {
namespace {

using Properties = rocksdb::DB::Properties;

std::mutex open_mutex;
std::vector<const Database::Impl*> open_databases;  // in the order in which they were opened

uint64_t sum_of(rocksdb::DB& db, const std::string& property) {
    uint64_t value = 0;
    return db.GetAggregatedIntProperty(property, &value) ? value : 0;
}

uint64_t value_of(rocksdb::DB& db, const std::string& property) {
    uint64_t value = 0;
    return db.GetIntProperty(property, &value) ? value : 0;
}

uint64_t most_level0_files(const Database::Impl& impl) {
    const std::string property = Properties::kNumFilesAtLevelPrefix + "0";
    uint64_t most = 0;
    for (auto* family : impl.handles) {
        std::string text;
        if (impl.db->GetProperty(family, property, &text)) {
            most = std::max<uint64_t>(most, std::strtoull(text.c_str(), nullptr, 10));
        }
    }
    return most;
}

}  // namespace

void note_open(const Database::Impl& impl) {
    const std::lock_guard lock(open_mutex);
    open_databases.push_back(&impl);
}

void note_closing(const Database::Impl& impl) {
    const std::lock_guard lock(open_mutex);
    std::erase(open_databases, &impl);
}

std::vector<OpenTables> open_tables() {
    const std::lock_guard lock(open_mutex);
    std::vector<OpenTables> all;
    for (const auto* impl : open_databases) {
        OpenTables& tables =
            all.emplace_back(OpenTables{impl->path, impl->environment, impl->damage, {}});
        std::vector<rocksdb::LiveFileMetaData> files;
        impl->db->GetLiveFilesMetaData(&files);
        for (const auto& file : files)
            tables.files.emplace_back(file.db_path + "/" + file.relative_filename);
    }
    return all;
}

base::Status damage_met() {
    const std::lock_guard lock(open_mutex);
    for (const auto* impl : open_databases) {
        const auto status = impl->damage->status();
        if (!impl->derived && !status) return status;
    }
    return base::ok();
}

std::vector<DatabaseFigures> database_figures() {
    const std::lock_guard lock(open_mutex);
    std::vector<DatabaseFigures> all;
    for (const auto* impl : open_databases) {
        DatabaseFigures figures;
        figures.path = impl->path;
        figures.live_bytes = sum_of(*impl->db, Properties::kLiveSstFilesSize);
        figures.pending_compaction_bytes =
            sum_of(*impl->db, Properties::kEstimatePendingCompactionBytes);
        figures.level0_files = most_level0_files(*impl);
        figures.writes_stopped = value_of(*impl->db, Properties::kIsWriteStopped) != 0;
        figures.writes_delayed = value_of(*impl->db, Properties::kActualDelayedWriteRate) != 0;
        figures.damaged = !impl->damage->status();
        figures.synced_writes = impl->synced_writes;
        all.push_back(std::move(figures));
    }
    return all;
}

}  // namespace rampart::storage
