#pragma once

#include <memory>

#include "rampart/joiner/outcome_joiner.hpp"
#include "rampart/streaming_kafka/settings.hpp"
#include "tools/peers/stream/commands.hpp"

/// Shared code of join and lag.
namespace rampart::peers {

streaming_kafka::KafkaSettings kafka_settings(const LogPlace& place);
base::Status make_topics(const LogPlace& place);
/// Opens the joiner as rampartd does.
base::Result<std::unique_ptr<joiner::OutcomeJoiner>> open_joiner(const LogPlace& place,
                                                                 const std::filesystem::path& store,
                                                                 const streaming::Reader& reader);

}  // namespace rampart::peers
