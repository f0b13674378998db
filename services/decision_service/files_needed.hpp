#pragma once

#include <vector>

#include "rampart/http/server.hpp"
#include "rampart/runtime/open_files.hpp"

namespace rampart::decision_service {

/// What a process with so many databases, this server and `others` may have open at a time.
struct FilePlan {
    int tables = 0;  // that each database keeps open
    std::vector<runtime::FilesNeeded> needs;
};

/// Plans for a hard limit: where it is low, databases keep fewer tables open, but
/// storage::kFewestOpenTables, and what they then need may be over the limit.
FilePlan plan_files(size_t databases, const http::ServerOptions& http,
                    std::vector<runtime::FilesNeeded> others, uint64_t hard_limit);

/// Makes it so, for databases that are opened afterwards. Fails as runtime::reserve_files.
base::Status reserve_files(size_t databases, const http::ServerOptions& http,
                           std::vector<runtime::FilesNeeded> others = {});

}  // namespace rampart::decision_service
