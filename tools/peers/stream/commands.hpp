#pragma once

#include <filesystem>
#include <string>

#include "rampart/base/result.hpp"

/// Commands of peer_stream_ours. Each prints one JSON object on standard output.
namespace rampart::peers {

/// Location of the records: topics of a broker (brokers not empty) or an embedded log.
struct LogPlace {
    std::string brokers, prefix;
    std::filesystem::path folder;
    int partitions = 4;
};

/// Creates the topics, with `count` decisions and as many outcomes.
base::Status load(const LogPlace& place, size_t count);

/// Joins the whole log into new stores in `store`; prints records and seconds, from the first poll,
/// which connects to the log, until the last record's state is durable. The stores are created
/// before, as this happens only once per partition.
base::Status join(const LogPlace& place, const std::filesystem::path& store);

/// Whether decisions are sealed in the log: no, with keys created on the way (every applicant is a
/// new person), or with existing keys.
enum class Sealing { kNone, kNew, kKnown };

struct DecideOptions {
    std::filesystem::path store;
    size_t decisions = 0, batch = 0;
    int partitions = 1;
    Sealing sealing = Sealing::kNone;
};
/// Decides applications with the decision service, over an embedded log that syncs every append, on
/// one thread; prints decisions and seconds.
base::Status decide(const DecideOptions& options);

struct LagOptions {
    int rate = 0;  // records per second, half of them outcomes
    int seconds = 0;
};
/// Appends at a steady rate and joins meanwhile; prints percentiles of the time from a record's
/// acknowledgement by the log until its state is durable. The topics must be new.
base::Status lag(const LogPlace& place, const std::filesystem::path& store,
                 const LagOptions& options);

}  // namespace rampart::peers
