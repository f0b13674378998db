#include "services/rampartd/log_settings.hpp"

#include <gtest/gtest.h>

namespace rampart::rampartd {
namespace {

std::string settings_error(const std::string& text) {
    auto root = config::parse(text, "x.toml").value();
    const auto settings = read_log_settings(root, {"/etc"});
    const auto status = root.finish();
    return status ? "" : status.error().message;
}

TEST(LogSettings, SayWhatIsWrongWithThem) {
    EXPECT_EQ(settings_error(""), "");
    const std::string kafka = "[kafka]\nbootstrap_servers = \"a:1\"\nnode = \"n\"\n";
    const std::string key = "group_key_files = [\"k\"]\n";
    EXPECT_EQ(settings_error("[log]\nbroker = \"kafka\"\n" + key + "own = [0, 2]\nfollow = [1]\n" +
                             kafka),
              "");
    for (const auto& [text, word] : std::vector<std::pair<std::string, std::string>>{
             {"[log]\nown = [0]\n", "embedded"},
             {"[log]\nbroker = \"kafka\"\n" + key + "[kafka]\nbootstrap_servers = \"a:1\"\n",
              "node"},
             {"[log]\nbroker = \"kafka\"\n" + key + "[kafka]\nnode = \"n\"\n", "bootstrap_servers"},
             {"[log]\nbroker = \"kafka\"\n" + key + "own = [4]\n" + kafka, "0 to 3"},
             {"[log]\nbroker = \"kafka\"\n" + key + "own = [1, 1]\n" + kafka, "twice"},
             {"[log]\nbroker = \"kafka\"\n" + key + "own = [1]\nfollow = [1]\n" + kafka,
              "owned already"},
             {"[log]\nbroker = \"kafka\"\n" + key + "follow = [1]\n" + kafka, "own"},
             {kafka + "securty = \"tls\"\n", "securty"}}) {
        EXPECT_NE(settings_error(text).find(word), std::string::npos)
            << text << settings_error(text);
    }
}

/// Reads settings of a cluster with one more line.
LogSettings of_cluster(const std::string& line) {
    auto root = config::parse(
                    "[log]\nbroker = \"kafka\"\ngroup_key_files = [\"k\"]\n"
                    "[kafka]\nbootstrap_servers = \"a:1\"\nnode = \"n\"\n" +
                        line,
                    "x.toml")
                    .value();
    auto settings = read_log_settings(root, {"/etc"});
    EXPECT_TRUE(root.finish()) << line;
    return settings;
}

TEST(LogSettings, AClusterIsForDevelopmentOnlyWhereTheFileSaysSo) {
    const auto development = [](const std::string& line) { return of_cluster(line).development; };
    EXPECT_FALSE(development(""));
    EXPECT_FALSE(development("development = false\n"));
    EXPECT_TRUE(development("development = true\n"));
}

TEST(LogSettings, AClusterKeepsForEverUnlessTheFileSaysForHowLong) {
    const auto kept = [](const std::string& line) { return of_cluster(line).kept(); };
    EXPECT_EQ(kept(""), std::nullopt);
    EXPECT_EQ(kept("kept_months = 0\n"), std::nullopt);
    EXPECT_EQ(kept("kept_months = 84\n"), base::Duration::days(84 * 31));
}

TEST(LogSettings, ASharedLogNeedsAKeyOfTheGroupOrTheWordsThatItHasNone) {
    const std::string kafka = "[kafka]\nbootstrap_servers = \"a:1\"\nnode = \"n\"\n";
    const std::string log = "[log]\nbroker = \"kafka\"\n";
    const std::string key = "group_key_files = [\"k\"]\n";
    const std::string open = "control_records = \"unauthenticated\"\n";
    EXPECT_NE(settings_error(log + kafka).find("openssl rand -hex 32"), std::string::npos);
    EXPECT_EQ(settings_error(log + open + kafka), "");
    EXPECT_NE(settings_error(log + key + open + kafka), "") << "one or the other";
    const std::string until = "unauthenticated_until = ";
    EXPECT_EQ(settings_error(log + key + until + "\"2026-12-01\"\n" + kafka), "");
    EXPECT_NE(settings_error(log + key + until + "\"soon\"\n" + kafka), "");
    EXPECT_NE(settings_error(log + open + until + "\"2026-12-01\"\n" + kafka), "");
    auto root = config::parse(log + key + until + "\"2026-12-01\"\n" + kafka, "x.toml").value();
    const auto settings = read_log_settings(root, {"/etc"});
    EXPECT_EQ(settings.group_keys, std::vector<std::filesystem::path>{"/etc/k"});
    EXPECT_EQ(settings.unauthenticated_until, base::parse_iso8601("2026-12-01").value());
}

TEST(LogSettings, TheAddressForClientsIsSchemeHostAndPort) {
    const auto read = [](const std::string& address) {
        const auto text = "[http]\nadvertise = \"" + address + "\"\n";
        auto root = config::parse(text, "x.toml").value();
        auto settings = read_log_settings(root, {"/etc"});
        const auto status = root.finish();
        return status ? settings.advertise : status.error().message;
    };
    EXPECT_EQ(read(""), "");
    const std::string address = "https://node-1.bank.example:8443";
    EXPECT_EQ(read(address), address);
    for (const char* bad : {"node-1.bank.example:8443", "https://node-1.bank.example",
                            "https://node-1.bank.example:8443/", "ftp://node-1:21"}) {
        const auto said = read(bad);
        EXPECT_NE(said.find("advertise"), std::string::npos) << said;
        EXPECT_NE(said.find("x.toml"), std::string::npos) << said;
    }
}

}  // namespace
}  // namespace rampart::rampartd
