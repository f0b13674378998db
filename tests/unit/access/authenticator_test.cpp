#include "rampart/access/authenticator.hpp"

#include <gtest/gtest.h>

namespace rampart::access {
namespace {

TEST(OneToken, KnowsItsTokenOnly) {
    const auto one = one_token("secret", {"anna", {Scope::kRead}});
    EXPECT_EQ(one->identify({.token = "secret"}).value().name, "anna");
    for (const char* token : {"", "secre", "secrets", "Secret"})
        EXPECT_EQ(one->identify({.token = token}).error().reason, "unauthenticated") << token;
}

TEST(NoOne, IsKnown) {
    EXPECT_EQ(no_one()->identify({}).error().reason, "unauthenticated");
    EXPECT_FALSE(no_one()->identify({.token = "x", .certificate = "DNS:x"}));
}

TEST(CheckScope, NamesWhatIsMissingAndWhatIsThere) {
    const Principal anna{"anna", {Scope::kRead, Scope::kDecide}};
    EXPECT_TRUE(check_scope(anna, Scope::kRead));
    const auto refused = check_scope(anna, Scope::kErase);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "missing_scope");
    for (const char* word : {"'erase'", "'anna'", "decide, read"})
        EXPECT_NE(refused.error().message.find(word), std::string::npos) << word;
}

}  // namespace
}  // namespace rampart::access
