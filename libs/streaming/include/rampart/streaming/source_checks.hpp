#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rampart/streaming/bookmark.hpp"

namespace rampart::streaming {

/// Compares many readers' positions with a log, and asks the log once for all that stand at the
/// same record: else the number of questions grows with readers times partitions. For one pass; it
/// remembers what the log was when it was asked. Not thread safe.
class SourceChecks {
  public:
    /// Keeps a reference to the reader.
    explicit SourceChecks(const Reader& reader) : reader_(reader) {}

    /// As check_bookmark().
    base::Status check(std::string_view topic, PartitionId partition, const Bookmark& bookmark);
    /// As Reader::begin_offset().
    base::Result<Offset> begin_offset(std::string_view topic, PartitionId partition);

  private:
    using Place = std::pair<std::string, PartitionId>;
    const Reader& reader_;
    std::map<Place, std::vector<Bookmark>> fit_;
    std::map<Place, Offset> begins_;
};

}  // namespace rampart::streaming
