#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"

namespace rampart::rampartd {

/// Writes which decisions were asked for, and by whom, to the audit log: each search of a principal
/// once an hour, whatever it finds. Its further pages, and the same search again, are no entries of
/// their own: the first names the whole of what is asked for. An hour is one of the machine's
/// clock, also where the service's clock is that of events. Safe for use by several threads.
class RecordedSearches {
  public:
    using Fields = std::map<std::string, std::string>;
    using Write = std::function<base::Status(std::string_view principal, const Fields& search)>;
    static constexpr auto kOnceIn = base::Duration::hours(1);
    static constexpr size_t kMost = 1000;  // different ones of a principal in that time

    explicit RecordedSearches(Write write) : write_(std::move(write)) {}

    /// Writes the search unless it was within the last hour. Errors, after which nothing may be
    /// shown: failed_precondition "too_many_searches" beyond kMost; those of the write.
    base::Status record(std::string_view principal, const Fields& search, base::TimePoint now);

  private:
    const Write write_;
    std::mutex mutex_;
    std::map<std::string, std::map<Fields, base::TimePoint>, std::less<>> by_principal_;
};

}  // namespace rampart::rampartd
