#include "rampart/base/keyed_hash.hpp"

#include <gtest/gtest.h>

#include <string>

#include "rampart/base/digest.hpp"
#include "rampart/base/random.hpp"

namespace rampart::base {
namespace {

/// HMAC as OpenSSL computes it, for keys below, at and above a block, and messages of one block and
/// of several; one hash for many messages, in any order.
TEST(KeyedHash, IsHmacToTheBit) {
    Random random(1);
    const auto text = [&](size_t size) {
        std::string out(size, '\0');
        for (char& c : out) c = static_cast<char>(random.below(256));
        return out;
    };
    for (const size_t key_size : {0, 1, 16, 32, 63, 64, 65, 100, 200}) {
        const auto key = text(key_size);
        const KeyedHash hash(key);
        for (int repeat = 0; repeat < 2; ++repeat) {
            for (size_t size = 0; size < 200; ++size) {
                const auto message = text(size);
                EXPECT_EQ(hash.uniform(message), keyed_uniform(key, message)) << key_size;
            }
        }
    }
}

}  // namespace
}  // namespace rampart::base
