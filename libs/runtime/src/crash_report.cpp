#include "rampart/runtime/crash_report.hpp"

#include <execinfo.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <string_view>

namespace rampart::runtime {
namespace {

constexpr std::array kSignals{SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
constexpr int kMostFrames = 64;

void say(std::string_view text) {
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

/// Writes a number below 100 without what a signal handler must not call.
void say_number(int number) {
    const char digits[] = {static_cast<char>('0' + number / 10 % 10),
                           static_cast<char>('0' + number % 10)};
    say({digits, sizeof digits});
}

/// Says where, then ends the process by the default action.
void on_crash(int signal) {
    say("fatal runtime msg=\"crashed; the addresses of its stack follow\" signal=");
    say_number(signal);
    say("\n");
    std::array<void*, kMostFrames> frames{};
    const int depth = ::backtrace(frames.data(), kMostFrames);
    ::backtrace_symbols_fd(frames.data(), depth, STDERR_FILENO);
    ::raise(signal);
}

}  // namespace

void report_crashes() {
    void* first = nullptr;
    ::backtrace(&first, 1);  // loads what it needs, which a handler must not
    struct sigaction action {};
    action.sa_handler = on_crash;
    action.sa_flags = SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    for (const int signal : kSignals) ::sigaction(signal, &action, nullptr);
}

}  // namespace rampart::runtime
