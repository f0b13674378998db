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

/// What is leased beside partitions: the right to train for the group.
inline const streaming::PartitionId kTrainer(-1);

/// A node's message about one partition of its group, or kTrainer: a record of the lease topic.
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
    std::string session;    // id of one run of the node: 16 random bytes
    std::string address{};  // where clients reach the node (check_address); empty: it does not say
    bool operator==(const LeaseRecord&) const = default;
};

/// Encode and decode: schemas/keys.md. decode fails with data_loss "bad_lease" otherwise. A record
/// without an address has the bytes that it had before there were addresses.
std::string encode(const LeaseRecord& record);
base::Result<LeaseRecord> decode_lease(std::string_view bytes);

/// `<group>/<partition>`, `<group>/trainer`. lease_of returns nullopt for other keys.
std::string lease_key(std::string_view group, streaming::PartitionId partition);
std::optional<std::pair<std::string_view, streaming::PartitionId>> lease_of(std::string_view key);

/// Requires 1 to limits::kMaxNameBytes of [A-Za-z0-9._-]. Fails with invalid_argument "bad_name".
base::Status check_name(std::string_view what, std::string_view name);

/// Requires http:// or https://, a host (a name, an IPv4 address, or an IPv6 address in brackets)
/// and a port from 1 to 65535, and nothing else: "https://node-1.bank.example:8443". Fails with
/// invalid_argument "bad_node_address".
base::Status check_address(std::string_view address);

}  // namespace rampart::lease
