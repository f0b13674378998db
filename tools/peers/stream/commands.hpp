#pragma once

#include <filesystem>
#include <string>

#include "rampart/base/result.hpp"

/// What peer_stream_ours can do. Each prints one JSON object on standard output.
namespace rampart::peers {

/// Where the records lie: in a broker's topics (brokers not empty) or in an embedded log.
struct LogPlace {
    std::string brokers, prefix;
    std::filesystem::path folder;
    int partitions = 4;
};

/// Makes the topics, with `count` decisions and as many outcomes in them.
base::Status load(const LogPlace& place, size_t count);

/// Joins all that the log has, into new stores in `store`: records and seconds, from the first
/// poll, which connects to the log, until the last record's state is on the disk. The stores are
/// made before: that happens once in the life of a partition.
base::Status join(const LogPlace& place, const std::filesystem::path& store);

/// Whether decisions lie sealed in the log: not, with keys that are made on the way (every
/// applicant is a new person), or with keys that are there.
enum class Sealing { kNone, kNew, kKnown };

struct DecideOptions {
    std::filesystem::path store;
    size_t decisions = 0, batch = 0;
    int partitions = 1;
    Sealing sealing = Sealing::kNone;
};
/// Decides applications by the decision service, over an embedded log that syncs every append, on
/// one thread: decisions and seconds.
base::Status decide(const DecideOptions& options);

struct LagOptions {
    int rate = 0;  // records a second, half of them outcomes
    int seconds = 0;
};
/// Appends at a steady rate and joins meanwhile: percentiles of the time from a record's
/// acknowledgement by the log until its state is on the disk. The topics have to be new.
base::Status lag(const LogPlace& place, const std::filesystem::path& store,
                 const LagOptions& options);

}  // namespace rampart::peers
