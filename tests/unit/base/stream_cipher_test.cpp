#include "rampart/base/stream_cipher.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "rampart/base/digest.hpp"

namespace rampart::base {
namespace {

std::string bytes_of(std::string_view hex) { return *from_hex(hex); }

const std::string kKey =
    bytes_of("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4");

// AES-256 of the counters 0 and 1 under the key of zeros: the first is the last vector of the
// KeySbox test of NIST's AESAVS, the second was made with `openssl enc -aes-256-ecb`.
TEST(StreamCipher, AgreesWithKnownAnswers) {
    std::string text(32, '\0');
    StreamCipher(std::string(32, '\0')).apply(0, text);
    EXPECT_EQ(to_hex(text),
              "dc95c078a2408989ad48a21492842087"
              "530f8afbc74536b9a963b4f1c4cb738b");
}

RC_GTEST_PROP(StreamCipher, AnyPartCanBeDoneForItself, (std::string text)) {
    const StreamCipher cipher(random_bytes(kStreamKeyBytes));
    const auto offset = *rc::gen::inRange<uint64_t>(0, uint64_t{1} << 40);
    std::string whole = text;
    cipher.apply(offset, whole);
    const auto from = *rc::gen::inRange<size_t>(0, text.size() + 1);
    const auto to = *rc::gen::inRange<size_t>(from, text.size() + 1);
    std::string part = whole.substr(from, to - from);
    cipher.apply(offset + from, part);
    RC_ASSERT(part == text.substr(from, to - from));
}

TEST(StreamCipher, KeysAndPlacesGiveOtherBytes) {
    const std::string zeros(64, '\0');
    const auto encrypted = [&](const std::string& key, uint64_t offset) {
        std::string text = zeros;
        StreamCipher(key).apply(offset, text);
        return text;
    };
    const auto other = std::string(32, 'k');
    EXPECT_NE(encrypted(kKey, 0), zeros);
    EXPECT_NE(encrypted(kKey, 0), encrypted(other, 0));
    EXPECT_NE(encrypted(kKey, 0), encrypted(kKey, 64));
    EXPECT_NE(encrypted(kKey, 0), encrypted(kKey, uint64_t{1} << 36));
}

}  // namespace
}  // namespace rampart::base
