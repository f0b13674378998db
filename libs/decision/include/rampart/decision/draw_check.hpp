#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>

#include "rampart/base/result.hpp"
#include "rampart/decision/draw.hpp"

namespace rampart::decision {

/// Compares the draws of decisions that were read from the log with the keys that this node has:
/// the one in use and the retired ones. Thread safe.
class DrawCheck {
  public:
    explicit DrawCheck(std::span<const DrawKey> keys);

    /// Computes window and draw again: two keyed hashes, or one for a decision without a window.
    /// Fails with data_loss "foreign_draw" if they are not the key's, to the bit. A decision that
    /// names a key that is not here is ok: it cannot be checked. The log says so once for each
    /// such key, up to kKeysNamed.
    base::Status check(const domain::Decision& decision);
    static constexpr size_t kKeysNamed = 64;

    /// Returns how many decisions named a key that is not here.
    uint64_t unchecked() const { return unchecked_; }

  private:
    void note_unknown(const std::string& key_id);

    std::map<std::string, std::string> secrets_;  // by key id
    std::atomic<uint64_t> unchecked_{0};
    std::mutex mutex_;
    std::set<std::string> unknown_;  // ids that were logged; with mutex_
};

}  // namespace rampart::decision
