#pragma once

#include <string>

#include "rampart/streaming/record.hpp"
#include "services/rampartd/api/bodies.hpp"

namespace rampart::rampartd {

/// A partition of a topic, as requests name it.
struct Place {
    std::string topic;
    streaming::PartitionId partition;  // -1: "all"
};

/// By the members "topic" and "partition". invalid_argument "bad_number".
base::Result<Place> place_of(const Members& members);
/// The member "partition" of it: a number, or "all".
Json partition_to_json(streaming::PartitionId partition);

/// A source that could not be read.
Json stopped_to_json(const std::string& topic, streaming::PartitionId partition,
                     const base::Error& error);

}  // namespace rampart::rampartd
