#include "services/decision_service/settings.hpp"

#include <gtest/gtest.h>

namespace rampart::decision_service {
namespace {

/// What reading [http.oidc] from this text says; empty: nothing is wrong.
std::string wrong(const std::string& text,
                  std::optional<identity_provider::ProviderSettings>* read = nullptr) {
    auto root = config::parse(text, "rampartd.toml").value();
    auto oidc = read_oidc(root.table("http").table("oidc"), "/etc/rampart");
    const auto status = root.finish();
    if (read != nullptr) *read = std::move(oidc);
    return status ? "" : status.error().message;
}

TEST(ReadOidc, IsOffUnlessSaidSoAndThenNeedsThreeKeys) {
    std::optional<identity_provider::ProviderSettings> oidc;
    EXPECT_EQ(wrong("", &oidc), "");
    EXPECT_FALSE(oidc);
    EXPECT_EQ(wrong("[http.oidc]\nissuer = \"\"\naudience = \"\"\nkeys_file = \"\"\n", &oidc), "");
    EXPECT_FALSE(oidc);
    const std::string issuer = "issuer = \"https://login\"\n", audience = "audience = \"a\"\n",
                      keys = "keys_file = \"jwks.json\"\n", table = "[http.oidc]\n";
    EXPECT_NE(wrong(table + audience + keys).find("http.oidc.issuer"), std::string::npos);
    EXPECT_NE(wrong(table + issuer + keys).find("http.oidc.audience"), std::string::npos);
    EXPECT_NE(wrong(table + issuer + audience).find("http.oidc.keys_file"), std::string::npos);
    EXPECT_NE(wrong(table + issuer + audience + keys + "longest_minutes = 1441\n"), "");
    EXPECT_NE(wrong(table + issuer + audience + keys + "algorithm = \"none\"\n"), "");
    EXPECT_EQ(wrong(table + issuer + audience + keys + "longest_minutes = 5\n", &oidc), "");
    ASSERT_TRUE(oidc);
    EXPECT_EQ(oidc->keys, "/etc/rampart/jwks.json");
    EXPECT_EQ(oidc->longest_life, base::Duration::seconds(300));
    EXPECT_EQ(oidc->principal_claim, "sub");
    EXPECT_EQ(oidc->scope_prefix, "rampart:");
}

}  // namespace
}  // namespace rampart::decision_service
