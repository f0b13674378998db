#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"

namespace rampart::runtime {

enum class Probe {
    kLive,      // /healthz: restart the process when it fails
    kReady,     // /readyz: send no work while it fails
    kDegraded,  // something else stands still: told with /readyz, whose answer it does not change
};

struct CheckResult {
    std::string name;
    base::Status status;
    bool required = true;  // false: of kDegraded
};

struct HealthReport {
    std::vector<CheckResult> checks;  // in the order added
    bool ok() const;                  // all required ones passed; true when there are none
    bool degraded() const;            // one that is not required failed
};

/// Named questions about the state of the process. A check must answer at once, without a lock that
/// is held for long, and may be called from any thread. What it refers to has to outlive its last
/// probe. Thread safe.
class Health {
  public:
    using Check = std::function<base::Status()>;
    /// `name` is unique per probe (checked).
    void add(Probe probe, std::string name, Check check);
    /// kReady runs all checks: what has to be restarted is not ready either.
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
