#include "services/decision_service/files_needed.hpp"

#include <fmt/format.h>

#include "rampart/storage/database.hpp"

namespace rampart::decision_service {

std::vector<runtime::FilesNeeded> files_needed(size_t databases, const http::ServerOptions& http) {
    // write-ahead logs, manifest, lock, own log, folders, and what a compaction writes
    constexpr uint64_t kBesideTables = 16;
    // standard streams, signals, polling, and files that are read or written for a moment
    constexpr uint64_t kOthers = 128;
    const auto tables = static_cast<uint64_t>(storage::OpenOptions().max_open_files);
    return {{fmt::format("{} databases", databases), databases * (tables + kBesideTables)},
            {"HTTP connections", http.max_connections + http::kSpareConnections},
            {"others", kOthers}};
}

}  // namespace rampart::decision_service
