#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace rampart::chaos {

/// A child process that ends with the thread that started it, with its output in a file. Only the
/// main thread starts it. Not thread safe.
class Process {
  public:
    /// `words`: program and arguments. Its output is added to `log`. Throws std::runtime_error.
    Process(const std::vector<std::string>& words, const std::filesystem::path& log);
    ~Process() { kill(); }
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    pid_t pid() const { return pid_; }
    /// Returns its exit code, or 128 + the signal that ended it; nullopt: it runs.
    std::optional<int> ended();
    /// Does the same, and waits up to this time.
    std::optional<int> wait(std::chrono::milliseconds limit);

    /// Sends SIGKILL, and waits until it has ended.
    void kill();
    /// Sends SIGTERM, waits, and returns the exit code. After `limit` it sends SIGKILL and returns
    /// 137.
    int terminate(std::chrono::milliseconds limit);
    /// Sends SIGSTOP; returns once every thread of it has stopped.
    void stop() const;
    /// Sends SIGCONT.
    void cont() const;
    /// Forbids or allows that files of the process grow: its writes then fail as on a full disk
    /// (EFBIG instead of ENOSPC). The process must ignore SIGXFSZ.
    void freeze_files(bool frozen) const;
    /// Lets the process open no further file (EMFILE), or as many as before.
    void deny_files(bool denied);

  private:
    pid_t pid_ = -1;
    int exit_code_ = 0;
    uint64_t usual_files_ = 0;
};

/// Returns the last `bytes` of a text file, for messages.
std::string tail_of(const std::filesystem::path& file, size_t bytes = 1500);

/// Polls until the condition holds; false if it did not within the time.
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
