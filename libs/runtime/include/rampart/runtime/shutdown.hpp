#pragma once

#include <memory>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"

namespace rampart::runtime {

/// Turns SIGTERM and SIGINT into a flag that one can wait for. One at a time in a process; the
/// destructor restores what was there before. SIGPIPE is ignored meanwhile: a peer that hangs up is
/// an error code, not the end. Thread safe.
class Shutdown {
  public:
    /// failed_precondition: another one is installed.
    static base::Result<std::unique_ptr<Shutdown>> install();
    ~Shutdown();
    Shutdown(const Shutdown&) = delete;
    Shutdown& operator=(const Shutdown&) = delete;

    bool requested() const;
    /// As if a signal had come.
    void request();
    /// Until requested; any number of threads may wait.
    void wait() const;
    /// At most so long; true: requested.
    bool wait_for(base::Duration timeout) const;

  private:
    Shutdown() = default;
};

}  // namespace rampart::runtime
