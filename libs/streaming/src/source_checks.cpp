#include "rampart/streaming/source_checks.hpp"

#include <algorithm>

namespace rampart::streaming {

base::Status SourceChecks::check(std::string_view topic, PartitionId partition,
                                 const Bookmark& bookmark) {
    auto& fit = fit_[{std::string(topic), partition}];
    if (std::find(fit.begin(), fit.end(), bookmark) != fit.end()) return base::ok();
    RAMPART_RETURN_IF_ERROR(check_bookmark(reader_, topic, partition, bookmark));
    fit.push_back(bookmark);
    return base::ok();
}

base::Result<Offset> SourceChecks::begin_offset(std::string_view topic, PartitionId partition) {
    const Place place(topic, partition);
    const auto known = begins_.find(place);
    if (known != begins_.end()) return known->second;
    RAMPART_TRY(const Offset begin, reader_.begin_offset(topic, partition));
    begins_.emplace(place, begin);
    return begin;
}

}  // namespace rampart::streaming
