#include "rampart/base/passphrase.hpp"

#include <gtest/gtest.h>

#include "rampart/base/digest.hpp"

namespace rampart::base {
namespace {

TEST(Passphrase, GivesTheKeyOfRfc7914) {
    // section 12, third vector: its first 32 bytes
    const auto key = key_from_passphrase("pleaseletmein", "SodiumChloride", {14, 8, 1});
    ASSERT_TRUE(key) << key.error().message;
    EXPECT_EQ(to_hex(*key), "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2");
}

TEST(Passphrase, AnotherSaltOrPassphraseGivesAnotherKey) {
    const ScryptCost cheap{10, 1, 1};
    const auto key = key_from_passphrase("a", "salt", cheap).value();
    EXPECT_EQ(key_from_passphrase("a", "salt", cheap).value(), key);
    EXPECT_NE(key_from_passphrase("b", "salt", cheap).value(), key);
    EXPECT_NE(key_from_passphrase("a", "tlas", cheap).value(), key);
}

TEST(Passphrase, ACostOutOfRangeIsRefusedByNameBeforeMemoryIsTaken) {
    for (const auto& [cost, name] :
         std::vector<std::pair<ScryptCost, std::string>>{{{9, 8, 1}, "log2_n"},
                                                         {{40, 8, 1}, "log2_n"},
                                                         {{16, 1, 1}, "log2_n"},
                                                         {{17, 0, 1}, "r is 0"},
                                                         {{17, 17, 1}, "r is 17"},
                                                         {{17, 8, 9}, "p is 9"}}) {
        const auto key = key_from_passphrase("a", "salt", cost);
        ASSERT_FALSE(key) << name;
        EXPECT_EQ(key.error().reason, "bad_number");
        EXPECT_NE(key.error().message.find(name), std::string::npos) << key.error().message;
    }
}

}  // namespace
}  // namespace rampart::base
