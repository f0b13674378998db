#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "rampart/base/digest.hpp"

namespace rampart::base {

/// merkle_root() of leaves that come one after the other; holds one digest a level.
class MerkleTree {
  public:
    void add(std::string_view leaf);
    uint64_t leaves() const { return leaves_; }
    Digest root() const;  // of no leaves the digest of nothing

  private:
    std::vector<Digest> peaks_;  // roots of the full trees so far, the largest first
    uint64_t leaves_ = 0;
};

}  // namespace rampart::base
