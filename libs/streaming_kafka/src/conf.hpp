#pragma once

#include "handles.hpp"
#include "rampart/base/result.hpp"
#include "rampart/streaming_kafka/settings.hpp"

namespace rampart::streaming_kafka {

/// The library's configuration for what the settings say; reads the password file. Callbacks are
/// not set.
base::Result<Conf> consumer_conf(const KafkaSettings& settings);
base::Result<Conf> producer_conf(const KafkaSettings& settings);

}  // namespace rampart::streaming_kafka
