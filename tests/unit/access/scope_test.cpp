#include "rampart/access/scope.hpp"

#include <gtest/gtest.h>

namespace rampart::access {
namespace {

TEST(Scopes, AreReadAndWrittenByName) {
    const auto scopes = Scopes::parse({"read", "decide", "read"}).value();
    EXPECT_TRUE(scopes.has(Scope::kDecide));
    EXPECT_TRUE(scopes.has(Scope::kRead));
    EXPECT_FALSE(scopes.has(Scope::kErase));
    EXPECT_EQ(scopes.names(), (std::vector<std::string>{"decide", "read"}));
    EXPECT_EQ(scopes, (Scopes{Scope::kRead, Scope::kDecide}));
    EXPECT_TRUE(Scopes().empty());
    EXPECT_EQ(Scopes::all().names().size(), kScopes.size());
}

TEST(Scopes, AnUnknownOneIsNamed) {
    for (const char* name : {"decides", "", "READ", "*"}) {
        const auto refused = Scopes::parse({"read", name});
        ASSERT_FALSE(refused) << name;
        EXPECT_EQ(refused.error().reason, "unknown_scope");
    }
}

TEST(Scopes, EachIsOneOfItsOwn) {
    for (const auto& one : kScopes)
        for (const auto& other : kScopes)
            EXPECT_EQ(Scopes{one.value}.has(other.value), one.value == other.value)
                << to_string(one.value) << ' ' << to_string(other.value);
}

}  // namespace
}  // namespace rampart::access
