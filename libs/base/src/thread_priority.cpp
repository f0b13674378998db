#include "rampart/base/thread_priority.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "rampart/base/log.hpp"

namespace rampart::base {
namespace {

constexpr Logger kLog("base");
constexpr int kNice = 10;
constexpr uint64_t kPromptSlice = 100'000;  // ns, the shortest that Linux takes

/// What sched_setattr(2) takes, as of Linux 3.14; the C library has no name for it.
struct Attributes {
    uint32_t size = sizeof(Attributes);
    uint32_t policy = 0;  // SCHED_OTHER
    uint64_t flags = 0;
    int32_t nice = 0;
    uint32_t priority = 0;
    uint64_t runtime = 0;  // with SCHED_OTHER: the slice, ns; 0: the system's
    uint64_t deadline = 0, period = 0;
};

/// Sets both for the calling thread, not for its process. Where Linux lets no slice be set, or the
/// thread is of another kind than usual, the slice stays.
void set(int nice, uint64_t slice) {
    Attributes attributes;
    const bool known = syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) == 0;
    if (known && (attributes.policy == SCHED_OTHER || attributes.policy == SCHED_BATCH)) {
        attributes.nice = nice;
        attributes.runtime = slice;
        if (syscall(SYS_sched_setattr, 0, &attributes, 0) == 0) return;
    }
    if (setpriority(PRIO_PROCESS, 0, nice) != 0)
        kLog.warning("msg=\"a thread keeps its priority\" error=\"{}\"", std::strerror(errno));
}

int nice_now() { return getpriority(PRIO_PROCESS, 0); }

}  // namespace

void lower_priority() { set(std::max(kNice, nice_now()), 0); }

void wake_promptly() { set(nice_now(), kPromptSlice); }

}  // namespace rampart::base
