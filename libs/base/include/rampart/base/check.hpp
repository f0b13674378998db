#pragma once

#include <fmt/format.h>

#include <string_view>

namespace rampart::base {

[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               std::string_view message);

}  // namespace rampart::base

/// Guards an invariant, in release builds too: prints place, condition and message, then aborts.
/// For defects in our own code only; invalid input is reported as an Error instead.
#define RAMPART_CHECK(condition, ...)                                     \
    do {                                                                  \
        if (!(condition)) [[unlikely]]                                    \
            ::rampart::base::check_failed(__FILE__, __LINE__, #condition, \
                                          ::fmt::format("" __VA_ARGS__)); \
    } while (false)
