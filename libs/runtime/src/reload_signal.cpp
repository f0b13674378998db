#include "rampart/runtime/reload_signal.hpp"

#include <signal.h>

#include <atomic>

namespace rampart::runtime {
namespace {

// a signal handler can use statics only
std::atomic<bool> g_came{false};
static_assert(std::atomic<bool>::is_always_lock_free);
struct sigaction g_before;

void on_hangup(int) { g_came = true; }

}  // namespace

ReloadSignal::ReloadSignal() {
    g_came = false;
    struct sigaction action {};
    action.sa_handler = on_hangup;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGHUP, &action, &g_before);
}

ReloadSignal::~ReloadSignal() { ::sigaction(SIGHUP, &g_before, nullptr); }

bool ReloadSignal::take() { return g_came.exchange(false); }

}  // namespace rampart::runtime
