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
/// their own: the first names the whole of what is asked for. Safe for use by several threads.
class RecordedSearches {
  public:
    using Fields = std::map<std::string, std::string>;
    using Write = std::function<base::Status(std::string_view principal, const Fields& search)>;
    static constexpr auto kOnceIn = base::Duration::hours(1);
    static constexpr size_t kMost = 1000;  // known at once; those beyond are written again

    explicit RecordedSearches(Write write) : write_(std::move(write)) {}

    /// Writes the search unless it was within the last hour. Errors: those of the write, and then
    /// nothing may be shown.
    base::Status record(std::string_view principal, const Fields& search, base::TimePoint now);

  private:
    const Write write_;
    std::mutex mutex_;
    std::map<std::string, base::TimePoint> written_;  // by principal and search
};

}  // namespace rampart::rampartd
