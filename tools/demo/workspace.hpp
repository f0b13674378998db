#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "rampart/base/result.hpp"
#include "rampart/loan_stream/stream.hpp"

namespace rampart::demo {

/// The folder of one run: configuration, keys, store and, later, the report.
struct Workspace {
    std::filesystem::path folder, config, store, endpoint_file, log;
    std::string token;
};

/// Where the log is, if it is not the embedded one.
struct KafkaBroker {
    std::string bootstrap_servers, topic_prefix;
};

/// Lays a folder out for a stream: rampartd.toml (from `config_dir`/demo/<stream>.toml, with the
/// seed put in), product.toml, schema.toml, a random token, and keys that are derived from the
/// seed, so that the same seed gives the same run to the bit: anybody can compute them, also the
/// one that signs. (A deployment's keys come from the operating system's generator; these are for
/// replays of public data only.) An earlier run's files are removed; a folder that holds anything
/// else is refused.
base::Result<Workspace> prepare_workspace(const std::filesystem::path& folder,
                                          const std::filesystem::path& config_dir,
                                          const loan_stream::Stream& stream, uint64_t seed,
                                          const std::optional<KafkaBroker>& kafka = std::nullopt);

}  // namespace rampart::demo
