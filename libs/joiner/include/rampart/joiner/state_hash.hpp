#pragma once

#include <array>
#include <string_view>

#include "rampart/base/digest.hpp"
#include "rampart/base/result.hpp"
#include "rampart/joiner/join_state.hpp"

namespace rampart::joiner {

/// A hash of a set that follows its changes: the sum, modulo 2^256, of the members' digests
/// (Bellare and Micciancio 1997, AdHash). It does not depend on the order of changes, so replicas
/// and replays that hold the same states have the same hash, however they got there. It finds
/// mistakes; it does not protect against states forged on purpose.
class StateHash {
  public:
    void add(const base::Digest& member);
    void remove(const base::Digest& member);

    /// 32 bytes, big-endian; the empty set's is 0.
    base::Digest value() const { return value_; }
    static StateHash from(const base::Digest& value);
    bool operator==(const StateHash&) const = default;

  private:
    base::Digest value_;
};

/// The digest of one decision id's state: SHA-256 over its id and, if it is dated, all of it. If it
/// is not, over decision, reports and each measure's last version, without what depends on when
/// this reader read (version numbers, known_at, known_from).
base::Digest state_digest(std::string_view id, const JoinState& state);
/// Returns the same where `encoded`, the bytes of encode(state), are at hand.
base::Digest state_digest(std::string_view id, const JoinState& state, std::string_view encoded);

}  // namespace rampart::joiner
