#include "rampart/runtime/shutdown.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>

#include "rampart/base/check.hpp"
#include "rampart/runtime/reasons.hpp"

namespace rampart::runtime {
namespace {

// A signal handler can use statics only. The pipe is created once and never closed: a handler that
// runs late must not write into an unrelated descriptor.
std::atomic<bool> g_installed{false};
int g_pipe[2] = {-1, -1};
struct sigaction g_before_term, g_before_int, g_before_pipe;

void write_byte() {
    const int error = errno;
    // If the pipe is full, it already contains the byte.
    [[maybe_unused]] const auto written = ::write(g_pipe[1], "x", 1);
    errno = error;
}

void on_signal(int) { write_byte(); }

/// Polls the pipe. The byte stays in it, so that every waiter sees it.
bool pipe_has_byte(int timeout_ms) {
    pollfd descriptor{g_pipe[0], POLLIN, 0};
    return ::poll(&descriptor, 1, timeout_ms) > 0;
}

}  // namespace

base::Result<std::unique_ptr<Shutdown>> Shutdown::install() {
    if (g_installed.exchange(true)) {
        return base::make_error(Reason::kAlreadyInstalled,
                                "a Shutdown is installed in this process already");
    }
    if (g_pipe[0] < 0 && ::pipe2(g_pipe, O_CLOEXEC | O_NONBLOCK) != 0) {
        g_installed = false;
        return base::make_error(Reason::kNoPipe, "cannot make a pipe: {}", std::strerror(errno));
    }
    char stale[64];
    while (::read(g_pipe[0], stale, sizeof stale) > 0) {
    }
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGTERM, &action, &g_before_term);
    ::sigaction(SIGINT, &action, &g_before_int);
    action.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &action, &g_before_pipe);
    return std::unique_ptr<Shutdown>(new Shutdown());
}

Shutdown::~Shutdown() {
    ::sigaction(SIGTERM, &g_before_term, nullptr);
    ::sigaction(SIGINT, &g_before_int, nullptr);
    ::sigaction(SIGPIPE, &g_before_pipe, nullptr);
    g_installed = false;
}

bool Shutdown::requested() const { return pipe_has_byte(0); }

void Shutdown::request() { write_byte(); }

void Shutdown::wait() const {
    while (!pipe_has_byte(-1)) {
    }
}

bool Shutdown::wait_for(base::Duration timeout) const {
    const int64_t ms = (timeout.micros() + 999) / 1000;
    return pipe_has_byte(static_cast<int>(std::clamp<int64_t>(ms, 0, INT_MAX)));
}

}  // namespace rampart::runtime
