#include "services/rampartd/recorded_searches.hpp"

#include "services/rampartd/reasons.hpp"

namespace rampart::rampartd {

base::Status RecordedSearches::record(std::string_view principal, const Fields& search,
                                      base::TimePoint now) {
    std::lock_guard lock(mutex_);
    auto& written = by_principal_[std::string(principal)];
    std::erase_if(written, [&](const auto& one) {  // a clock that was set back starts anew
        return one.second > now || now - one.second >= kOnceIn;
    });
    if (written.contains(search)) return base::ok();
    if (written.size() == kMost)
        return base::make_error(
            Reason::kTooManySearches,
            "{} has made {} different searches within an hour, each of which is "
            "an audit entry: ask for more at once, or later",
            principal, kMost);
    RAMPART_RETURN_IF_ERROR(write_(principal, search));
    written[search] = now;
    return base::ok();
}

}  // namespace rampart::rampartd
