#pragma once

#include <functional>
#include <mutex>

#include "rampart/base/clock.hpp"
#include "rampart/runtime/metrics.hpp"

namespace rampart::rampartd {

/// Reads all that the databases of the process hold, and says in log, metrics and health what is
/// damaged. Thread safe.
class ScrubJob {
  public:
    /// `bytes_per_second` on average at most. The metrics have to outlive it.
    ScrubJob(uint64_t bytes_per_second, runtime::Metrics& metrics)
        : bytes_per_second_(bytes_per_second), metrics_(metrics) {}

    /// data_loss "damage_found", with the files.
    base::Status run(base::TimePoint now, const std::function<bool()>& stopping);
    /// data_loss "damage_found": the last one found damage, or a read has met some that makes a
    /// restore necessary.
    base::Status status() const;

  private:
    const uint64_t bytes_per_second_;
    runtime::Metrics& metrics_;
    mutable std::mutex mutex_;
    base::Status status_;
};

}  // namespace rampart::rampartd
