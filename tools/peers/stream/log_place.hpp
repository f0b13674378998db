#pragma once

#include <memory>

#include "rampart/joiner/outcome_joiner.hpp"
#include "rampart/streaming_kafka/settings.hpp"
#include "tools/peers/stream/commands.hpp"

/// What join and lag share.
namespace rampart::peers {

streaming_kafka::KafkaSettings kafka_settings(const LogPlace& place);
base::Status make_topics(const LogPlace& place);
/// As rampartd opens it.
base::Result<std::unique_ptr<joiner::OutcomeJoiner>> open_joiner(const LogPlace& place,
                                                                 const std::filesystem::path& store,
                                                                 const streaming::Reader& reader);

}  // namespace rampart::peers
