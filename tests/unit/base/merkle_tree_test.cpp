#include "rampart/base/merkle_tree.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <span>

namespace rampart::base {
namespace {

TEST(MerkleTree, OfAnySizeIsThatOfRfc6962) {
    // MTH(D[n]) = H(1 || MTH(D[0:k]) || MTH(D[k:n])), k the largest power of two below n
    const std::function<std::string(std::span<const std::string>)> by_definition =
        [&](std::span<const std::string> leaves) -> std::string {
        const auto raw = [](const Digest& d) {
            return std::string(d.bytes.begin(), d.bytes.end());
        };
        if (leaves.size() == 1) return raw(sha256(std::string(1, '\0') + leaves[0]));
        const size_t k = std::bit_floor(leaves.size() - 1);
        return raw(sha256(std::string(1, '\1') + by_definition(leaves.first(k)) +
                          by_definition(leaves.subspan(k))));
    };
    std::vector<std::string> leaves;
    MerkleTree tree;
    EXPECT_EQ(tree.root(), sha256(""));
    for (int n = 1; n <= 40; ++n) {
        leaves.push_back(fmt::format("leaf {}", n));
        tree.add(leaves.back());
        EXPECT_EQ(tree.root().hex(), to_hex(by_definition(leaves))) << n;
        EXPECT_EQ(merkle_root(leaves), tree.root()) << n;
    }
}

}  // namespace
}  // namespace rampart::base
