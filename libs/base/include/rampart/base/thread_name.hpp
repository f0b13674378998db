#pragma once

#include <cstddef>
#include <string_view>

namespace rampart::base {

inline constexpr size_t kMaxThreadName = 15;  // bytes; Linux keeps no more

/// Names the calling thread, for `top -H`, gdb and perf; of a longer name, the first kMaxThreadName
/// bytes. Threads that it starts from then on begin with that name, too. The main thread's name is
/// that of the process: leave it. Costs next to nothing where the thread has the name already.
void name_this_thread(std::string_view name);

}  // namespace rampart::base
