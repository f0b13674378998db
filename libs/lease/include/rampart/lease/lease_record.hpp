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

/// What a node says about one partition of its group: a record of the topic of leases.
struct LeaseRecord {
    enum class Kind : uint8_t {
        kClaim = 1,    // wants to succeed the lease whose last sign of life is `replaces`
        kBeat = 2,     // has won `epoch`, and is alive
        kRelease = 3,  // gives `epoch` up
    };
    Kind kind = Kind::kClaim;
    uint64_t epoch = 0;  // >= 1
    // Of a claim: the offset of the last record that counted when it was made; nullopt: none did.
    std::optional<streaming::Offset> replaces{};
    base::Duration ttl;  // without a sign of life for so long, others may take over
    std::string node;
    std::string session;  // of one run of the node: 16 random bytes
    bool operator==(const LeaseRecord&) const = default;
};

/// Stored form: schemas/keys.md. decode: data_loss "bad_lease" for anything else.
std::string encode(const LeaseRecord& record);
base::Result<LeaseRecord> decode_lease(std::string_view bytes);

/// `<group>/<partition>`. lease_of: nullopt for a key that is none.
std::string lease_key(std::string_view group, streaming::PartitionId partition);
std::optional<std::pair<std::string_view, streaming::PartitionId>> lease_of(std::string_view key);

/// 1 to limits::kMaxNameBytes of [A-Za-z0-9._-]. invalid_argument "bad_name" naming `what`.
base::Status check_name(std::string_view what, std::string_view name);

}  // namespace rampart::lease
