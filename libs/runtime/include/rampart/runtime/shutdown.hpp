#pragma once

#include <memory>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"

namespace rampart::runtime {

/// Turns SIGTERM and SIGINT into a flag with a blocking wait. One instance per process; the
/// destructor restores the previous handlers. SIGPIPE is ignored meanwhile: a closed connection
/// gives an error code and does not end the process. Thread safe.
class Shutdown {
  public:
    /// Fails with failed_precondition if another one is installed.
    static base::Result<std::unique_ptr<Shutdown>> install();
    ~Shutdown();
    Shutdown(const Shutdown&) = delete;
    Shutdown& operator=(const Shutdown&) = delete;

    bool requested() const;
    /// Sets the flag, as a signal does.
    void request();
    /// Blocks until requested; any number of threads may wait.
    void wait() const;
    /// Blocks for at most `timeout`; returns true if requested.
    bool wait_for(base::Duration timeout) const;

  private:
    Shutdown() = default;
};

}  // namespace rampart::runtime
