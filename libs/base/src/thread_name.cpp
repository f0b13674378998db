#include "rampart/base/thread_name.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>

namespace rampart::base {
namespace {

/// Name that this function gave the thread last, with a final NUL; empty: none yet.
thread_local std::array<char, kMaxThreadName + 1> now_named{};

}  // namespace

void name_this_thread(std::string_view name) {
    name = name.substr(0, kMaxThreadName);
    if (name == now_named.data()) return;
    std::array<char, kMaxThreadName + 1> next{};
    std::copy(name.begin(), name.end(), next.begin());
    // fails only for names that are too long
    if (pthread_setname_np(pthread_self(), next.data()) == 0) now_named = next;
}

}  // namespace rampart::base
