#include "rampart/identity_provider/provider.hpp"

#include <gtest/gtest.h>
#include <openssl/hmac.h>
#include <unistd.h>

#include <filesystem>

#include "rampart/access/principals.hpp"
#include "rampart/base/file.hpp"
#include "support/provider_key.hpp"

namespace rampart::identity_provider {
namespace {

namespace fs = std::filesystem;
using base::Duration;
using base::TimePoint;
using test_support::base64url;
using test_support::ProviderKey;

class SetClock final : public base::Clock {
  public:
    TimePoint now() const override { return time; }
    TimePoint time = TimePoint::from_micros(1'800'000'000'000'000);
};

class ProviderTest : public testing::Test {
  protected:
    void SetUp() override { write({rsa_.jwk(), ec_.jwk()}); }
    void TearDown() override { fs::remove(settings_.keys); }

    void write(const std::vector<std::string>& keys) const {
        write_text(fmt::format(R"({{"keys":[{}]}})", fmt::join(keys, ",")));
    }
    void write_text(const std::string& text) const {
        ASSERT_TRUE(base::write_file_atomically(settings_.keys, text));
    }
    base::Result<std::shared_ptr<Provider>> open() { return Provider::open(settings_, clock_); }
    int64_t seconds(int64_t from_now = 0) const {
        return clock_.time.micros() / 1'000'000 + from_now;
    }
    /// Claims of a good token, some of them in another form; an empty one is left out.
    std::string claims(const std::map<std::string, std::string>& other = {}) const {
        std::map<std::string, std::string> all{
            {"iss", R"("https://login.lender.example")"},
            {"aud", R"("rampart")"},
            {"sub", R"("anna@lender.example")"},
            {"iat", fmt::format("{}", seconds())},
            {"exp", fmt::format("{}", seconds(600))},
            {"scope", R"("openid rampart:decide rampart:read rampart:grant other:erase")"}};
        for (const auto& [name, value] : other) all[name] = value;
        std::string text;
        for (const auto& [name, value] : all)
            if (!value.empty())
                text += fmt::format(R"({}"{}":{})", text.empty() ? "" : ",", name, value);
        return "{" + text + "}";
    }
    static std::string reason(const Provider& provider, const std::string& token) {
        const auto caller = provider.identify({.token = token});
        return caller ? "" : caller.error().reason;
    }
    /// What is said of a token with these claims.
    std::string refusal(const std::map<std::string, std::string>& other) {
        const auto caller = open().value()->identify({.token = rsa_.token(claims(other))});
        return caller ? "" : caller.error().message;
    }

    const ProviderKey rsa_ = ProviderKey::rsa("one"), ec_ = ProviderKey::ec("two");
    SetClock clock_;
    const ProviderSettings settings_{
        .issuer = "https://login.lender.example",
        .audience = "rampart",
        .keys = fs::path(testing::TempDir()) / fmt::format("jwks.{}.json", ::getpid())};
};

TEST_F(ProviderTest, KnowsWhoHasATokenOfItsKeys) {
    const auto provider = open().value();
    for (const auto& token : {rsa_.token(claims()), ec_.token(claims())}) {
        ASSERT_TRUE(Provider::has_form_of(token));
        for (int time = 0; time < 2; ++time) {
            const auto caller = provider->identify({.token = token});
            ASSERT_TRUE(caller) << caller.error().message;
            EXPECT_EQ(caller->name, "oidc:anna@lender.example");
            EXPECT_EQ(caller->scopes,
                      (access::Scopes{access::Scope::kDecide, access::Scope::kRead}))
                << "no grant, nothing of others";
        }
    }
}

TEST_F(ProviderTest, ATokenWithAByteChangedIsRefused) {
    const auto provider = open().value();
    for (const auto& pair : {rsa_, ec_}) {
        const auto token = pair.token(claims());
        // the last letter of each part may have bits that stand for nothing
        for (size_t at = 0; at + 2 < token.size(); at += 7) {
            auto changed = token;
            if (changed[at] == '.' || changed[at + 1] == '.') continue;
            changed[at] = changed[at] == 'A' ? 'B' : 'A';
            EXPECT_EQ(reason(*provider, changed), "unauthenticated") << at;
        }
        EXPECT_EQ(reason(*provider, token), "");
    }
}

TEST_F(ProviderTest, OnlyItsKeysCount) {
    const auto provider = open().value();
    const auto stranger = ProviderKey::rsa("one");
    EXPECT_EQ(reason(*provider, stranger.token(claims())), "unauthenticated") << "another's";
    EXPECT_EQ(reason(*provider, ProviderKey::rsa("three").token(claims())), "unauthenticated");
    const auto swapped = ProviderKey::ec("one");
    EXPECT_EQ(reason(*provider, swapped.token(claims())), "unauthenticated") << "another type";
}

TEST_F(ProviderTest, ATokenWithoutASignatureOrUnderAPublicKeyAsSecretIsRefused) {
    const auto provider = open().value();
    const auto none = base64url(R"({"alg":"none","kid":"one"})") + "." + base64url(claims()) + ".";
    EXPECT_EQ(reason(*provider, none), "unauthenticated");
    const auto text = base64url(R"({"alg":"HS256","kid":"one"})") + "." + base64url(claims());
    for (const auto& secret : {rsa_.jwk(), rsa_.number(OSSL_PKEY_PARAM_RSA_N), std::string()}) {
        unsigned char mac[32];
        unsigned size = sizeof mac;
        HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
             reinterpret_cast<const unsigned char*>(text.data()), text.size(), mac, &size);
        const auto token = text + "." + base64url({reinterpret_cast<const char*>(mac), sizeof mac});
        EXPECT_EQ(reason(*provider, token), "unauthenticated");
    }
    EXPECT_EQ(reason(*provider, rsa_.token(claims(), R"("crit":["exp"],)")), "unauthenticated");
    for (const std::string bad : {"", "..", "a.b.c", "e30.e30.e30", "....", ". ."})
        EXPECT_EQ(reason(*provider, bad), "unauthenticated") << bad;
    EXPECT_EQ(reason(*provider, std::string(kMaxTokenBytes, 'a') + ".b.c"), "unauthenticated");
}

TEST_F(ProviderTest, EachClaimHasToBeRight) {
    const std::string ours = R"("https://login.lender.example")";
    EXPECT_EQ(refusal({}), "");
    EXPECT_EQ(refusal({{"aud", R"(["other","rampart"])"}}), "");
    for (const std::string issuer : {"", R"("https://login.lender.example/")", "7"})
        EXPECT_NE(refusal({{"iss", issuer}}).find("another issuer"), std::string::npos) << issuer;
    EXPECT_NE(refusal({{"iss", "[" + ours + "," + ours + "]"}}), "");
    for (const std::string audience : {"", R"("other")", "[]", R"("rampart other")", "[7]"})
        EXPECT_NE(refusal({{"aud", audience}}).find("another audience"), std::string::npos)
            << audience;
    for (const std::string time : {"", "\"7\"", "-1", "1e300", "null"}) {
        EXPECT_NE(refusal({{"exp", time}}), "") << time;
        EXPECT_NE(refusal({{"iat", time}}), "") << time;
    }
    EXPECT_NE(refusal({{"exp", fmt::format("{}", seconds(3601))}}).find("longest_minutes"),
              std::string::npos);
    EXPECT_EQ(refusal({{"exp", fmt::format("{}", seconds(3600))}}), "");
    for (const std::string name : {"", R"("")", R"("two words")", R"("a\nb")", "7", R"(["a","b"])"})
        EXPECT_NE(refusal({{"sub", name}}).find("\"sub\""), std::string::npos) << name;
}

TEST_F(ProviderTest, ATokenCountsFromItsBeginningToItsEnd) {
    const auto provider = open().value();
    const auto token = rsa_.token(claims({{"nbf", fmt::format("{}", seconds(300))}}));
    const auto start = clock_.time;
    const auto at = [&](int64_t after) {
        clock_.time = start + Duration::seconds(after);
        return reason(*provider, token);
    };
    EXPECT_EQ(at(239), "unauthenticated") << "a minute is granted";
    EXPECT_EQ(at(240), "");
    EXPECT_EQ(at(659), "");
    EXPECT_EQ(at(660), "token_expired") << "it was remembered";
    EXPECT_EQ(at(-1'000'000), "unauthenticated") << "made in the future";
}

TEST_F(ProviderTest, ScopesComeFromTheClaimInEitherForm) {
    auto settings = settings_;
    settings.scopes_claim = "roles";
    settings.scope_prefix = "";
    settings.principal_claim = "client_id";
    const auto provider = Provider::open(settings, clock_).value();
    const auto caller =
        provider->identify({.token = rsa_.token(claims({{"roles", R"(["audit","none",7,"read"])"},
                                                        {"client_id", R"("scoring")"}}))});
    ASSERT_TRUE(caller) << caller.error().message;
    EXPECT_EQ(caller->name, "oidc:scoring");
    EXPECT_EQ(caller->scopes, (access::Scopes{access::Scope::kAudit, access::Scope::kRead}));
    const auto without =
        provider->identify({.token = rsa_.token(claims({{"client_id", R"("scoring")"}}))});
    ASSERT_TRUE(without);
    EXPECT_TRUE(without->scopes.empty());
}

TEST_F(ProviderTest, NewKeysCountFromThenOnAndABadFileChangesNothing) {
    const auto provider = open().value();
    const auto later = ProviderKey::ec("three");
    const auto before = rsa_.token(claims()), after = later.token(claims());
    EXPECT_EQ(reason(*provider, before), "");
    EXPECT_FALSE(provider->refresh().value());
    write_text("{");
    EXPECT_EQ(provider->refresh().error().reason, "bad_key_set");
    EXPECT_FALSE(provider->refresh().value()) << "it is said once";
    EXPECT_EQ(reason(*provider, before), "");
    write({later.jwk()});
    EXPECT_TRUE(provider->refresh().value());
    EXPECT_EQ(reason(*provider, after), "");
    EXPECT_EQ(reason(*provider, before), "unauthenticated") << "though it was remembered";
}

TEST_F(ProviderTest, ASetWithASecretOrAWeakKeyOrWithoutAnyIsRefused) {
    const auto said = [&] {
        const auto opened = open();
        return opened ? std::string() : opened.error().reason + ": " + opened.error().message;
    };
    for (const std::string text :
         {"", "[]", R"({"keys":7})", R"({"keys":[]})", R"({"keys":[7]})",
          R"({"keys":[{"kty":"oct","k":"AAAA"}]})", R"({"keys":[{"kty":"RSA","kid":"x"}]})",
          R"({"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}]})"}) {
        write_text(text);
        EXPECT_EQ(said().substr(0, 11), "bad_key_set") << text;
        EXPECT_NE(said().find(settings_.keys.string()), std::string::npos);
    }
    write({rsa_.jwk(R"(,"d":"AAAA")")});
    EXPECT_NE(said().find("secret"), std::string::npos);
    write({ProviderKey::rsa("weak", 1024).jwk()});
    EXPECT_NE(said().find("2048"), std::string::npos);
    // keys for other work are passed over
    write({R"({"kty":"EC","use":"enc"})", R"({"kty":"OKP","crv":"Ed25519","x":"AA"})", ec_.jwk()});
    EXPECT_EQ(said(), "");
    fs::remove(settings_.keys);
    EXPECT_NE(said(), "");
}

TEST_F(ProviderTest, ATokenOfTheServiceIsForItsOwnPrincipals) {
    const std::shared_ptr<const Provider> provider = open().value();
    const auto own = access::one_token("t", {"scoring", {access::Scope::kRead}});
    const auto both = with_provider(own, provider);
    EXPECT_EQ(both->identify({.token = "t"})->name, "scoring");
    EXPECT_EQ(both->identify({.token = ec_.token(claims())})->name, "oidc:anna@lender.example");
    EXPECT_FALSE(both->identify({.token = "a.b.c"}));
    EXPECT_FALSE(both->identify({}));
    EXPECT_EQ(with_provider(own, nullptr), own);
    EXPECT_FALSE(access::check({.name = "oidc:anna", .scopes = {access::Scope::kRead}}));
}

}  // namespace
}  // namespace rampart::identity_provider
