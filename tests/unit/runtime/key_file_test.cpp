#include "rampart/runtime/key_file.hpp"

#include <gtest/gtest.h>

namespace rampart::runtime {
namespace {

constexpr base::ScryptCost kCheap{10, 1, 1};
constexpr const char* kPassphrase = "correct horse battery";
const std::vector<StoredKey> kKeys{{"draw", "0123456789abcdef", false, std::string(64, 'a') + "\n"},
                                   {"signing", "fedcba9876543210", true, "-----BEGIN…\n"}};

TEST(KeyFile, GivesTheKeysBackForThePassphraseOnly) {
    const auto file = wrap_keys(kKeys, kPassphrase, kCheap).value();
    EXPECT_EQ(unwrap_keys(file, kPassphrase).value(), kKeys);
    EXPECT_EQ(file.find("aaaa"), std::string::npos);
    EXPECT_NE(wrap_keys(kKeys, kPassphrase, kCheap).value(), file) << "salt and nonce are its own";
    const auto other = unwrap_keys(file, "correct horse batterie");
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().reason, "wrong_passphrase");
}

TEST(KeyFile, EachChangedByteIsNoticed) {
    const auto file = wrap_keys(kKeys, kPassphrase, kCheap).value();
    for (size_t i = 0; i < file.size(); ++i) {
        auto changed = file;
        changed[i] = changed[i] == '1' ? '2' : '1';
        EXPECT_FALSE(unwrap_keys(changed, kPassphrase)) << "byte " << i;
    }
    for (const size_t kept : {size_t{0}, size_t{10}, file.size() / 2, file.size() - 1})
        EXPECT_EQ(unwrap_keys(file.substr(0, kept), kPassphrase).error().reason, "bad_key_file");
    EXPECT_EQ(unwrap_keys(file + "more\n", kPassphrase).error().reason, "bad_key_file");
}

TEST(KeyFile, TheCostOfAForeignFileIsBounded) {
    auto file = wrap_keys(kKeys, kPassphrase, kCheap).value();
    file.replace(file.find("scrypt 10"), 9, "scrypt 60");
    EXPECT_EQ(unwrap_keys(file, kPassphrase).error().reason, "bad_number");
}

TEST(KeyFile, AShortPassphraseProtectsNothing) {
    const auto wrapped = wrap_keys(kKeys, "elevenbytes", kCheap);
    ASSERT_FALSE(wrapped);
    EXPECT_EQ(wrapped.error().reason, "short_passphrase");
    EXPECT_TRUE(wrap_keys(kKeys, "twelve bytes", kCheap));
}

}  // namespace
}  // namespace rampart::runtime
