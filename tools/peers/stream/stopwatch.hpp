#pragma once

#include <sys/resource.h>

#include <chrono>

namespace rampart::peers {

/// Time since construction: wall time, and CPU time of all threads of the process.
class Stopwatch {
  public:
    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }
    double cpu_seconds() const { return used() - used_; }

  private:
    static double used() {
        rusage usage{};
        ::getrusage(RUSAGE_SELF, &usage);
        const auto in_seconds = [](const timeval& t) {
            return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
        };
        return in_seconds(usage.ru_utime) + in_seconds(usage.ru_stime);
    }
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    double used_ = used();
};

}  // namespace rampart::peers
