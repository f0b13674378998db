#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>

namespace rampart::base {

enum class LogLevel { kDebug, kInfo, kWarning, kError, kOff };

/// Returns text for a place between quotes in a line of the log: quotes, backslashes and control
/// characters are escaped, as in C. Whatever a stranger sends is one value in one line.
std::string log_escaped(std::string_view text);

/// Returns an argument of a line of the log, escaped if it is text or an id.
template <class T>
decltype(auto) log_argument(const T& argument) {
    if constexpr (std::convertible_to<const T&, std::string_view>) {
        return log_escaped(argument);
    } else if constexpr (requires {
                             { argument.value() } -> std::convertible_to<std::string_view>;
                         }) {
        return log_escaped(argument.value());
    } else {
        return (argument);
    }
}

/// Writes lines to standard error: `2026-11-21T10:00:00.000Z info joiner msg="…" offset=12`. One
/// logger per room, with the room's name. Never log features, protected attributes or secrets.
///
/// Arguments are escaped. Of warnings and errors that repeat, but for a request's id, the first is
/// written, then one after 1, 10, 60 and every 600 s, with `repeated=N`: how many were left out.
class Logger {
  public:
    explicit constexpr Logger(std::string_view room) : room_(room) {}

    template <class... Args>
    void debug(fmt::format_string<Args...> format, Args&&... args) const {
        log(LogLevel::kDebug, format, std::forward<Args>(args)...);
    }
    template <class... Args>
    void info(fmt::format_string<Args...> format, Args&&... args) const {
        log(LogLevel::kInfo, format, std::forward<Args>(args)...);
    }
    template <class... Args>
    void warning(fmt::format_string<Args...> format, Args&&... args) const {
        log(LogLevel::kWarning, format, std::forward<Args>(args)...);
    }
    template <class... Args>
    void error(fmt::format_string<Args...> format, Args&&... args) const {
        log(LogLevel::kError, format, std::forward<Args>(args)...);
    }

  private:
    template <class... Args>
    void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) const {
        if (enabled(level)) write(level, text(format, log_argument(args)...));
    }
    template <class... Args>
    static std::string text(fmt::string_view format, const Args&... args) {
        return fmt::vformat(format, fmt::make_format_args(args...));
    }
    static bool enabled(LogLevel level);
    void write(LogLevel level, std::string_view message) const;
    std::string_view room_;
};

/// Sets the level for the whole process; the default is kWarning.
void set_log_level(LogLevel level);

}  // namespace rampart::base
