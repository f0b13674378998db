#pragma once

#include <vector>

#include "rampart/http/server.hpp"
#include "rampart/runtime/open_files.hpp"

namespace rampart::decision_service {

/// What a process with so many databases and this server may have open at a time.
std::vector<runtime::FilesNeeded> files_needed(size_t databases, const http::ServerOptions& http);

}  // namespace rampart::decision_service
