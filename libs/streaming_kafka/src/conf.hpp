#pragma once

#include "handles.hpp"
#include "rampart/base/result.hpp"
#include "rampart/streaming_kafka/settings.hpp"

namespace rampart::streaming_kafka {

/// Converts the settings to the library's configuration; reads the password file.
/// Does not set callbacks.
base::Result<Conf> consumer_conf(const KafkaSettings& settings);
base::Result<Conf> producer_conf(const KafkaSettings& settings);

}  // namespace rampart::streaming_kafka
