#include "rampart/base/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <string>

namespace rampart::base {
namespace {

std::atomic<LogLevel> g_level{LogLevel::kWarning};

spdlog::logger& sink() {
    static const auto logger = [] {
        auto made = spdlog::stderr_logger_mt("rampart");
        made->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
        made->set_level(spdlog::level::trace);
        return made;
    }();
    return *logger;
}

spdlog::level::level_enum to_spdlog(LogLevel level) {
    switch (level) {
        case LogLevel::kDebug:
            return spdlog::level::debug;
        case LogLevel::kInfo:
            return spdlog::level::info;
        case LogLevel::kWarning:
            return spdlog::level::warn;
        case LogLevel::kError:
            return spdlog::level::err;
        case LogLevel::kOff:
            return spdlog::level::off;
    }
    return spdlog::level::err;
}

}  // namespace

bool Logger::enabled(LogLevel level) { return level >= g_level.load(std::memory_order_relaxed); }

void Logger::write(LogLevel level, std::string_view message) const {
    sink().log(to_spdlog(level), "{} {}", room_, message);
}

void set_log_level(LogLevel level) { g_level = level; }

}  // namespace rampart::base
