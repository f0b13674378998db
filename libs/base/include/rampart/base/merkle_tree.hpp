#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "rampart/base/digest.hpp"

namespace rampart::base {

/// Computes merkle_root() of leaves that arrive one by one; stores one digest per tree level.
class MerkleTree {
  public:
    void add(std::string_view leaf);
    uint64_t leaves() const { return leaves_; }
    Digest root() const;  // without leaves: the digest of the empty string

  private:
    std::vector<Digest> peaks_;  // roots of the full subtrees so far, largest first
    uint64_t leaves_ = 0;
};

}  // namespace rampart::base
