#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/privacy/register.hpp"
#include "rampart/streaming/reader.hpp"

namespace rampart::data_retention {

/// Applies the retention of the topics of an embedded log, now and then. Of the topics with a
/// limited retention only that of the applications is read here: its records stay until they are
/// decided. Thread safe.
class LogRetention {
  public:
    /// From where on a partition of a topic is needed, whatever its age; nullopt: nothing is.
    using Needed = std::function<base::Result<std::optional<streaming::Offset>>(
        std::string_view topic, streaming::PartitionId partition)>;
    struct Deps {
        std::string applications_topic;
        /// Up to where a partition of the applications is decided for good.
        std::function<base::Result<streaming::Offset>(streaming::PartitionId)> settled;
        /// Deletes what the topics need not keep as of a time; the number of records.
        std::function<base::Result<uint64_t>(base::TimePoint now, const Needed& needed)> drop;
    };
    /// `period`: no less between two applications, by the steady clock.
    LogRetention(base::Duration period, Deps deps) : period_(period), deps_(std::move(deps)) {}

    /// Applies it as of `now`, the first time and after each period. Errors: those of the deps; it
    /// is tried again after the period.
    base::Status apply(base::TimePoint now);

  private:
    const base::Duration period_;
    const Deps deps_;
    std::mutex mutex_;
    std::optional<std::chrono::steady_clock::time_point> applied_at_;
};

/// Puts down in the register whether an erasure has to look for decisions that lie in the log
/// unsealed. `seals`: what is appended from now on is sealed. A log that is shared is looked
/// through whatever is noted. Errors: Register's; the reader's.
base::Status note_sealing(privacy::Register& list, const streaming::Reader& log,
                          std::string_view decisions_topic, int32_t partitions, bool shared,
                          bool seals);

}  // namespace rampart::data_retention
