#include "services/rampartd/recorded_searches.hpp"

#include <fmt/format.h>

namespace rampart::rampartd {
namespace {

/// Returns one text for the principal and the search; no two have the same.
std::string key_of(std::string_view principal, const RecordedSearches::Fields& search) {
    auto key = fmt::format("{} {}", principal.size(), principal);
    for (const auto& [name, value] : search)
        key += fmt::format(" {} {} {}", name, value.size(), value);
    return key;
}

}  // namespace

base::Status RecordedSearches::record(std::string_view principal, const Fields& search,
                                      base::TimePoint now) {
    auto key = key_of(principal, search);
    std::lock_guard lock(mutex_);
    const auto found = written_.find(key);
    // a clock that was set back starts anew
    if (found != written_.end() && found->second <= now && now - found->second < kOnceIn)
        return base::ok();
    RAMPART_RETURN_IF_ERROR(write_(principal, search));
    if (found == written_.end() && written_.size() == kMost) written_.clear();
    written_[std::move(key)] = now;
    return base::ok();
}

}  // namespace rampart::rampartd
