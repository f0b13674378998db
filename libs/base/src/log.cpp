#include "rampart/base/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>

#include "rampart/base/repeated_lines.hpp"

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

/// Returns the line without the value of its request_id, by which alike ones differ.
std::string without_request_id(std::string_view message) {
    constexpr std::string_view kName = " request_id=";
    const size_t at = message.find(kName);
    if (at == std::string_view::npos) return std::string(message);
    const size_t end = std::min(message.find(' ', at + kName.size()), message.size());
    return std::string(message.substr(0, at)) + std::string(message.substr(end));
}

std::mutex repeated_mutex;
RepeatedLines repeated;  // guarded by it

std::optional<uint64_t> take(std::string_view room, std::string_view message) {
    const std::string key = fmt::format("{} {}", room, without_request_id(message));
    const std::lock_guard lock(repeated_mutex);
    return repeated.take(key, std::chrono::steady_clock::now());
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace

std::string log_escaped(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (c == '\n') {
            out += "\\n";
        } else if (is_control(c)) {
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        } else {
            out += c;
        }
    }
    return out;
}

bool Logger::enabled(LogLevel level) { return level >= g_level.load(std::memory_order_relaxed); }

void Logger::write(LogLevel level, std::string_view message) const {
    std::string line(message);
    // what is left of them came by an argument that is neither text nor an id
    std::replace_if(line.begin(), line.end(), is_control, ' ');
    if (level >= LogLevel::kWarning) {
        const auto left_out = take(room_, line);
        if (!left_out) return;
        if (*left_out > 0) line += fmt::format(" repeated={}", *left_out);
    }
    sink().log(to_spdlog(level), "{} {}", room_, line);
}

void set_log_level(LogLevel level) { g_level = level; }

}  // namespace rampart::base
