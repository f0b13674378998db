#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace rampart::chaos {

/// A child process that dies with the thread that started it, its output in a file. Started by the
/// main thread only. Not thread safe.
class Process {
  public:
    /// `words`: program and arguments. What it prints is added to `log`. Throws std::runtime_error.
    Process(const std::vector<std::string>& words, const std::filesystem::path& log);
    ~Process() { kill(); }
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    pid_t pid() const { return pid_; }
    /// Its exit code, or 128 + the signal that ended it; nullopt: it runs.
    std::optional<int> ended();
    /// The same, after at most so long.
    std::optional<int> wait(std::chrono::milliseconds limit);

    /// SIGKILL, and waits until it is gone.
    void kill();
    /// SIGTERM, then waits; the exit code. SIGKILL after `limit`: then 137.
    int terminate(std::chrono::milliseconds limit);
    /// SIGSTOP; returns once every thread of it stands still.
    void stop() const;
    /// SIGCONT.
    void cont() const;
    /// From now on, or no longer, no file of it may grow: what it writes fails as on a full disk
    /// (EFBIG instead of ENOSPC). It has to ignore SIGXFSZ.
    void freeze_files(bool frozen) const;

  private:
    pid_t pid_ = -1;
    int exit_code_ = 0;
};

/// The last `bytes` of a text file, for messages.
std::string tail_of(const std::filesystem::path& file, size_t bytes = 1500);

/// Polls until it holds; false when it did not within the time.
template <class Holds>
bool wait_until(std::chrono::milliseconds limit, const Holds& holds);

void sleep_ms(int64_t milliseconds);

template <class Holds>
bool wait_until(std::chrono::milliseconds limit, const Holds& holds) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (!holds()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        sleep_ms(5);
    }
    return true;
}

}  // namespace rampart::chaos
