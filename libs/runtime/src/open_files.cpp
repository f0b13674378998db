#include "rampart/runtime/open_files.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "rampart/base/log.hpp"
#include "rampart/runtime/reasons.hpp"

namespace rampart::runtime {
namespace {

constexpr base::Logger kLog("runtime");

base::Error no_limit(std::string_view action) {
    return base::make_error(Reason::kNoFileLimit, "cannot {} the limit of open files: {}", action,
                            std::strerror(errno));
}

}  // namespace

base::Result<uint64_t> soft_limit_for(std::span<const FilesNeeded> needs, FileLimits limits) {
    uint64_t total = 0;
    std::string parts;
    for (const auto& need : needs) {
        total += need.count;
        parts += fmt::format("{}{} for {}", parts.empty() ? "" : ", ", need.count, need.what);
    }
    if (total <= limits.hard) return std::max(total, limits.soft);
    return base::make_error(
        Reason::kTooFewFiles,
        "up to {} files and sockets may be open at a time ({}), and the hard limit of this process "
        "is {}: raise it (systemd: LimitNOFILE={}; container: --ulimit nofile={}), or configure "
        "fewer partitions or connections",
        total, parts, limits.hard, total, total);
}

base::Result<FileLimits> file_limits() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return no_limit("read");
    return FileLimits{limit.rlim_cur, limit.rlim_max};
}

base::Status reserve_files(std::span<const FilesNeeded> needs) {
    RAMPART_TRY(const auto limits, file_limits());
    RAMPART_TRY(const uint64_t soft, soft_limit_for(needs, limits));
    if (soft == limits.soft) return base::ok();
    kLog.info("msg=\"limit of open files raised\" from={} to={}", limits.soft, soft);
    const rlimit limit{soft, limits.hard};
    return ::setrlimit(RLIMIT_NOFILE, &limit) == 0 ? base::ok() : no_limit("raise");
}

}  // namespace rampart::runtime
