#include "services/decision_service/files_needed.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "rampart/base/log.hpp"
#include "rampart/storage/database.hpp"
#include "rampart/storage/process_limits.hpp"

namespace rampart::decision_service {
namespace {

constexpr base::Logger kLog("decision_service");
// write-ahead logs, manifest, lock, own log, folders, and what a compaction writes
constexpr uint64_t kBesideTables = 16;
// standard streams, signals, polling, and files that are read or written for a moment
constexpr uint64_t kOthers = 128;

int most_tables() { return storage::OpenOptions().max_open_files; }

}  // namespace

FilePlan plan_files(size_t databases, const http::ServerOptions& http,
                    std::vector<runtime::FilesNeeded> others, uint64_t hard_limit) {
    FilePlan plan{0, std::move(others)};
    plan.needs.push_back({"HTTP connections", http.max_connections + http::kSpareConnections});
    plan.needs.push_back({"others", kOthers});
    uint64_t beside = databases * kBesideTables;
    for (const auto& need : plan.needs) beside += need.count;
    const uint64_t left = hard_limit > beside ? hard_limit - beside : 0;
    plan.tables = static_cast<int>(std::clamp<uint64_t>(left / std::max<size_t>(databases, 1),
                                                        storage::kFewestOpenTables,
                                                        static_cast<uint64_t>(most_tables())));
    const auto each = static_cast<uint64_t>(plan.tables) + kBesideTables;
    plan.needs.insert(plan.needs.begin(),
                      {fmt::format("{} databases", databases), databases * each});
    return plan;
}

base::Status reserve_files(size_t databases, const http::ServerOptions& http,
                           std::vector<runtime::FilesNeeded> others) {
    RAMPART_TRY(const auto limits, runtime::file_limits());
    const auto plan = plan_files(databases, http, std::move(others), limits.hard);
    if (plan.tables < most_tables()) {
        kLog.warning(
            "msg=\"databases keep few tables open for the hard limit of open files, and read "
            "slower\" tables={} databases={} limit={} runbook=ops/runbooks/README.md",
            plan.tables, databases, limits.hard);
    }
    storage::limit_open_tables(plan.tables);
    return runtime::reserve_files(plan.needs);
}

}  // namespace rampart::decision_service
