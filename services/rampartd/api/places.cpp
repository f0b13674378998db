#include "services/rampartd/api/places.hpp"

namespace rampart::rampartd {

using streaming::PartitionId;

base::Result<Place> place_of(const Members& members) {
    constexpr int64_t kMaxPartition = 1'000'000;
    const auto& text = members.at("partition");
    if (text == "all") return Place{members.at("topic"), PartitionId(-1)};
    RAMPART_TRY(const int64_t p, number_of("partition", text, 0, kMaxPartition));
    return Place{members.at("topic"), PartitionId(static_cast<int32_t>(p))};
}

Json partition_to_json(PartitionId partition) {
    return partition.value() < 0 ? Json("all") : Json(partition.value());
}

Json stopped_to_json(const std::string& topic, streaming::PartitionId partition,
                     const base::Error& error) {
    return Json::object({{"topic", topic},
                         {"partition", partition_to_json(partition)},
                         {"reason", error.reason},
                         {"message", error.message}});
}

}  // namespace rampart::rampartd
