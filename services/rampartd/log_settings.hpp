#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/config/secret_file.hpp"
#include "rampart/config/table.hpp"
#include "rampart/streaming/record.hpp"
#include "rampart/streaming_kafka/settings.hpp"
#include "services/rampartd/roles.hpp"

namespace rampart::rampartd {

/// Where the log is, and which partitions of it this node has to do with: [log] and [kafka], and
/// what its leases say of it.
struct LogSettings {
    enum class Broker { kLocal, kKafka };
    Broker broker = Broker::kLocal;
    int32_t partitions = 4;  // N; fixed once made
    Roles roles{};           // this node's; with the embedded log all
    std::string topic_prefix;
    std::vector<streaming::PartitionId> own;     // decided here, ascending
    std::vector<streaming::PartitionId> follow;  // joined here, decided elsewhere

    streaming_kafka::KafkaSettings kafka;
    /// A cluster for development: topics may have one replica.
    bool development = false;
    /// For so long the cluster keeps decisions and outcomes, in months of 31 days; 0: for ever.
    int kept_months = 0;
    std::optional<base::Duration> kept() const;
    std::string group = "rampart", node;  // whose nodes share the partitions; this one's name
    base::Duration lease_ttl = base::Duration::seconds(10);
    std::string advertise;  // [http] advertise: where clients reach this node; empty: not said
    /// Whether the node reads and writes the topic of protected attributes: it trains, or decides
    /// by group. Without, it needs no right on it (streaming_kafka/roles.hpp).
    bool attributes = true;
    std::vector<std::filesystem::path> group_keys;  // files of the keys of the group's MACs
    std::optional<base::TimePoint> unauthenticated_until = {};

    /// own and follow together, ascending.
    std::vector<streaming::PartitionId> held() const;
    bool holds_all() const { return held().size() == static_cast<size_t>(partitions); }
};

/// Errors are the table's. Keys and passwords may be credentials (config::secret_file()). `roles`:
/// by commas, in place of the file's; empty: the file's.
LogSettings read_log_settings(config::Table& root, const config::Places& places,
                              std::string_view roles = {});

}  // namespace rampart::rampartd
