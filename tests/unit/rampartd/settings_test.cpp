#include "services/rampartd/settings.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "services/decision_service/settings.hpp"

namespace rampart::rampartd {
namespace {

namespace fs = std::filesystem;

/// A folder with a configuration and with credentials, gone afterwards.
class CredentialSettings : public testing::Test {
  protected:
    void SetUp() override { ASSERT_TRUE(fs::create_directories(credentials())); }
    void TearDown() override {
        ::unsetenv("CREDENTIALS_DIRECTORY");
        fs::remove_all(folder_);
    }
    fs::path credentials() const { return folder_ / "credentials"; }
    std::string refusal(const std::string& text) {
        const auto head = "product = \"p.toml\"\nschema = \"s.toml\"\n";
        const auto file = folder_ / "rampartd.toml";
        EXPECT_TRUE(base::write_file_atomically(file, head + text));
        return load_settings(file).error().message;
    }

    fs::path folder_ = fs::path(testing::TempDir()) / ("s" + base::to_hex(base::random_bytes(8)));
};

TEST_F(CredentialSettings, AStartWithoutTheRolesOfTheOneBeforeIsRefused) {
    const auto file = folder_ / "rampartd.toml";
    const auto start = [&](const std::string& text, GivenRoles roles) {
        EXPECT_TRUE(base::write_file_atomically(
            file, text + "product = \"p.toml\"\nschema = \"s.toml\"\nstore = \"store\"\n"
                         "[log]\nbroker = \"kafka\"\ncontrol_records = \"unauthenticated\"\n"));
        return load_settings(file, roles).error();
    };
    ASSERT_TRUE(fs::create_directories(folder_ / "store"));
    EXPECT_NE(start("", "").reason, "roles_missing") << "the first start";
    ASSERT_TRUE(remember_roles(folder_ / "store", "join,train"));
    const auto refused = start("", "");
    EXPECT_EQ(refused.reason, "roles_missing");
    EXPECT_NE(refused.message.find("give --roles join,train again, or, for a node that does all, "
                                   "--roles decide,join,train,monitor"),
              std::string::npos)
        << refused.message;
    EXPECT_NE(start("", "decide").reason, "roles_missing");
    EXPECT_NE(start("", std::nullopt).reason, "roles_missing") << "a command";
    EXPECT_NE(start("roles = [\"join\"]\n", "").reason, "roles_missing") << "the file says it";
}

TEST_F(CredentialSettings, EachFileOfASecretMayBeOne) {
    const std::string kafka = "[log]\nbroker = \"kafka\"\n", open =
                                                                 "control_records = \"unauthen"
                                                                 "ticated\"\n";
    const std::vector<std::pair<std::string, std::string>> settings{
        {"http.tls.key_file", "[http.tls]\ncertificate_file = \"c\"\nkey_file = \"credential:k\""},
        {"kafka.key_file", kafka + open +
                               "[kafka]\nbootstrap_servers = \"a:1\"\n"
                               "key_file = \"credential:k\""},
        {"kafka.password_file", kafka + open +
                                    "[kafka]\nbootstrap_servers = \"a:1\"\n"
                                    "password_file = \"credential:k\""},
        {"log.group_key_files", kafka + "group_key_files = [\"credential:k\"]"},
        {"privacy.secret", "[privacy]\nsecret = \"credential:k\""}};
    const auto refused = [&](const std::string& text, const std::string& key) {
        const auto said = refusal(text);
        return said.find(key + ": 'credential:k'") != std::string::npos &&
               said.find("LoadCredential=k:FILE") != std::string::npos;
    };
    for (const auto& [key, text] : settings) EXPECT_TRUE(refused(text, key)) << refusal(text);
    ::setenv("CREDENTIALS_DIRECTORY", credentials().c_str(), 1);
    for (const auto& [key, text] : settings) EXPECT_TRUE(refused(text, key)) << refusal(text);
    ASSERT_TRUE(base::write_file_atomically(credentials() / "k", "key", 0400));
    for (const auto& [key, text] : settings)
        EXPECT_EQ(refusal(text).find("credential:k"), std::string::npos) << refusal(text);
}

TEST_F(CredentialSettings, AClusterKeepsDecisionsForLongerThanTheNodeHasTo) {
    const auto said = [&](int kept, int retention) {
        return refusal(
            fmt::format("[log]\nbroker = \"kafka\"\ncontrol_records = "
                        "\"unauthenticated\"\n[kafka]\nbootstrap_servers = \"a:1\"\n"
                        "node = \"n\"\nkept_months = {}\n[privacy]\nsecret = \"s\"\n"
                        "retention_months = {}\n",
                        kept, retention));
    };
    const std::string key = "privacy.retention_months: decisions are kept for ";
    EXPECT_NE(said(27, 25).find(key + "25 months, and kafka.kept_months is 27: give that 28"),
              std::string::npos)
        << said(27, 25);
    EXPECT_NE(said(1, 1).find(key), std::string::npos);
    EXPECT_NE(said(84, 82).find(key), std::string::npos);
    for (const auto& [kept, retention] : {std::pair{28, 25}, {84, 25}, {84, 81}, {0, 1200}})
        EXPECT_EQ(said(kept, retention).find(key), std::string::npos) << kept;
    EXPECT_NE(said(-1, 25).find("kafka.kept_months"), std::string::npos);
}

TEST_F(CredentialSettings, HowLongDecisionsAreGatheredIsRead) {
    const auto places = decision_service::places_of(folder_ / "x.toml");
    const auto micros = [&](const char* text) {
        return decision_service::read_http(*config::parse(text, "x"), places).gather.micros();
    };
    EXPECT_EQ(micros(""), 2000);
    EXPECT_EQ(micros("gather_ms = 0"), 0);
    EXPECT_EQ(micros("gather_ms = 100"), 100'000);
}

TEST_F(CredentialSettings, ComeFromTheFolderOfSystemd) {
    ::setenv("CREDENTIALS_DIRECTORY", credentials().c_str(), 1);
    ASSERT_TRUE(base::write_file_atomically(credentials() / "k", "key", 0400));
    const auto places = decision_service::places_of(folder_ / "x.toml");
    auto http = config::parse("[tls]\ncertificate_file = \"c\"\nkey_file = \"credential:k\"", "x");
    const auto tls = decision_service::read_http(*http, places).tls;
    ASSERT_TRUE(tls);
    EXPECT_EQ(tls->key, credentials() / "k");
    EXPECT_EQ(tls->certificate, folder_ / "c");
    auto log = config::parse(
        "[log]\nbroker = \"kafka\"\ngroup_key_files = [\"g\", \"credential:k\"]\n"
        "[kafka]\nbootstrap_servers = \"a:1\"\nnode = \"n\"\npassword_file = \"credential:k\"\n"
        "security = \"sasl_tls\"\nuser = \"u\"\nkey_file = \"credential:k\"\n"
        "certificate_file = \"c\"",
        "x");
    const auto read = read_log_settings(*log, places);
    ASSERT_TRUE(log->finish()) << log->finish().error().message;
    EXPECT_EQ(read.group_keys, (std::vector<fs::path>{folder_ / "g", credentials() / "k"}));
    EXPECT_EQ(read.kafka.password_file, credentials() / "k");
    EXPECT_EQ(read.kafka.key_file, credentials() / "k");
}

}  // namespace
}  // namespace rampart::rampartd
