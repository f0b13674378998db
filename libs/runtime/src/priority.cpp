#include "rampart/runtime/priority.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "rampart/base/log.hpp"

namespace rampart::runtime {
namespace {

constexpr base::Logger kLog("runtime");
constexpr int kNice = 10;

}  // namespace

void lower_priority() {
    // 0: for Linux that is the calling thread, not its process
    const int lower = std::max(kNice, getpriority(PRIO_PROCESS, 0));
    if (setpriority(PRIO_PROCESS, 0, lower) != 0)
        kLog.warning("msg=\"a thread keeps its priority\" error=\"{}\"", std::strerror(errno));
}

}  // namespace rampart::runtime
