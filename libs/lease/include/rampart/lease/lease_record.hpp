#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/streaming/record.hpp"

namespace rampart::lease {

/// A node's message about one partition of its group: a record of the lease topic.
struct LeaseRecord {
    enum class Kind : uint8_t {
        kClaim = 1,    // asks to succeed the lease whose last counted record is `replaces`
        kBeat = 2,     // has won `epoch` and is alive
        kRelease = 3,  // gives up `epoch`
    };
    Kind kind = Kind::kClaim;
    uint64_t epoch = 0;  // >= 1
    // For a claim: offset of the last record that had counted when it was made; nullopt: none.
    std::optional<streaming::Offset> replaces{};
    base::Duration ttl;  // after this time without a beat, other nodes may take over
    std::string node;
    std::string session;  // id of one run of the node: 16 random bytes
    bool operator==(const LeaseRecord&) const = default;
};

/// Encode and decode: schemas/keys.md. decode fails with data_loss "bad_lease" otherwise.
std::string encode(const LeaseRecord& record);
base::Result<LeaseRecord> decode_lease(std::string_view bytes);

/// `<group>/<partition>`. lease_of returns nullopt for other keys.
std::string lease_key(std::string_view group, streaming::PartitionId partition);
std::optional<std::pair<std::string_view, streaming::PartitionId>> lease_of(std::string_view key);

/// Requires 1 to limits::kMaxNameBytes of [A-Za-z0-9._-]. Fails with invalid_argument "bad_name".
base::Status check_name(std::string_view what, std::string_view name);

}  // namespace rampart::lease
