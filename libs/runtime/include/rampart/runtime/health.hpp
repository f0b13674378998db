#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"

namespace rampart::runtime {

enum class Probe {
    kLive,      // /healthz: restart the process if it fails
    kReady,     // /readyz: send no requests while it fails
    kDegraded,  // something else has failed: reported by /readyz, without changing its status
};

struct CheckResult {
    std::string name;
    base::Status status;
    bool required = true;  // false for kDegraded
};

struct HealthReport {
    std::vector<CheckResult> checks;  // in the order added
    bool ok() const;                  // all required checks passed; true without checks
    bool degraded() const;            // a check that is not required failed
};

/// Named checks of the state of the process. A check must return at once, must not hold a lock
/// for long, and may be called from any thread. Objects that it refers to must outlive its
/// last probe. Thread safe.
class Health {
  public:
    using Check = std::function<base::Status()>;
    /// Requires a `name` that is unique per probe (RAMPART_CHECK).
    void add(Probe probe, std::string name, Check check);
    /// Runs the checks; kReady runs all, as a process that must be restarted is not ready either.
    HealthReport report(Probe probe) const;

  private:
    struct Entry {
        Probe probe;
        std::string name;
        Check check;
    };
    mutable std::mutex mutex_;
    std::vector<Entry> entries_;
};

}  // namespace rampart::runtime
