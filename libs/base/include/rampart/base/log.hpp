#pragma once

#include <fmt/format.h>

#include <string_view>

namespace rampart::base {

enum class LogLevel { kDebug, kInfo, kWarning, kError, kOff };

/// Writes lines to standard error: `2026-11-21T10:00:00.000Z info joiner msg="…" offset=12`. One
/// logger per room, with the room's name. Never log features, protected attributes or secrets.
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
        if (enabled(level)) write(level, fmt::format(format, std::forward<Args>(args)...));
    }
    static bool enabled(LogLevel level);
    void write(LogLevel level, std::string_view message) const;
    std::string_view room_;
};

/// Sets the level for the whole process; the default is kWarning.
void set_log_level(LogLevel level);

}  // namespace rampart::base
