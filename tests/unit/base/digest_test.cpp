#include "rampart/base/digest.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rampart::base {
namespace {

TEST(Digest, Sha256MatchesFips180) {
    EXPECT_EQ(sha256("abc").hex(),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256("").hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Digest, HmacMatchesRfc4231) {
    EXPECT_EQ(hmac_sha256("Jefe", "what do ya want for nothing?").hex(),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(Digest, AnHmacWithoutAKeyDoesNotTakeTheKeyBefore) {
    // RFC 4231, case 6: a key longer than a block
    EXPECT_EQ(hmac_sha256(std::string(131, '\xaa'),
                          "Test Using Larger Than Block-Size Key - Hash Key First")
                  .hex(),
              "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    for (const std::string_view none : {std::string_view(), std::string_view("")})
        EXPECT_EQ(hmac_sha256(none, "").hex(),
                  "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

TEST(Digest, KeyedUniformIsTheFirst53BitsOfTheHmac) {
    EXPECT_DOUBLE_EQ(keyed_uniform("Jefe", "what do ya want for nothing?"),
                     static_cast<double>(0x5bdcc146bf60754eULL >> 11) * 0x1.0p-53);
}

TEST(Digest, KeyedUniformIsUniformOverMessages) {
    double sum = 0;
    constexpr int kDraws = 20'000;
    for (int i = 0; i < kDraws; ++i) sum += keyed_uniform("key", std::to_string(i));
    EXPECT_NEAR(sum / kDraws, 0.5, 4 * 0.2887 / 141.4);
}

TEST(Digest, FieldsCannotRunIntoEachOther) {
    Sha256 a, b;
    a.update_field("ab");
    a.update_field("c");
    b.update_field("a");
    b.update_field("bc");
    EXPECT_NE(a.finish(), b.finish());
}

TEST(Digest, MerkleRootDependsOnEveryLeafAndTheirOrder) {
    const std::vector<std::string> leaves{"a", "b", "c"};
    const Digest root = merkle_root(leaves);
    EXPECT_NE(merkle_root({"a", "b"}), root);
    EXPECT_NE(merkle_root({"b", "a", "c"}), root);
    EXPECT_NE(merkle_root({"a", "b", "d"}), root);
    EXPECT_NE(merkle_root({"a", "b", "c", "c"}), root);
    EXPECT_EQ(merkle_root({}), sha256(""));
}

TEST(Digest, HexAndBase64RefuseWhatTheyWouldNotWrite) {
    EXPECT_FALSE(from_hex("0"));
    EXPECT_FALSE(from_hex("0G"));
    EXPECT_FALSE(from_hex("AB"));
    EXPECT_FALSE(from_base64("abc"));
    EXPECT_FALSE(from_base64("YW=="));  // stray bits
    EXPECT_FALSE(Digest::from_hex("abcd"));
}

RC_GTEST_PROP(Digest, TextFormsComeBack, (const std::string& bytes)) {
    RC_ASSERT(from_hex(to_hex(bytes)).value() == bytes);
    RC_ASSERT(from_base64(to_base64(bytes)).value() == bytes);
    const Digest digest = sha256(bytes);
    RC_ASSERT(Digest::from_hex(digest.hex()).value() == digest);
}

TEST(Digest, RandomBytesDiffer) {
    EXPECT_EQ(random_bytes(32).size(), 32u);
    EXPECT_NE(random_bytes(32), random_bytes(32));
}

TEST(Digest, ConstantTimeEqualIsEquality) {
    EXPECT_TRUE(constant_time_equal("token", "token"));
    EXPECT_FALSE(constant_time_equal("token", "tokem"));
    EXPECT_FALSE(constant_time_equal("token", "toke"));
}

}  // namespace
}  // namespace rampart::base
