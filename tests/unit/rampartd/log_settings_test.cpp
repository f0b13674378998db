#include "services/rampartd/log_settings.hpp"

#include <gtest/gtest.h>

namespace rampart::rampartd {
namespace {

std::string settings_error(const std::string& text) {
    auto root = config::parse(text, "x.toml").value();
    const auto settings = read_log_settings(root, "/etc");
    const auto status = root.finish();
    return status ? "" : status.error().message;
}

TEST(LogSettings, SayWhatIsWrongWithThem) {
    EXPECT_EQ(settings_error(""), "");
    const std::string kafka = "[kafka]\nbootstrap_servers = \"a:1\"\nnode = \"n\"\n";
    EXPECT_EQ(settings_error("[log]\nbroker = \"kafka\"\nown = [0, 2]\nfollow = [1]\n" + kafka),
              "");
    for (const auto& [text, word] : std::vector<std::pair<std::string, std::string>>{
             {"[log]\nown = [0]\n", "embedded"},
             {"[log]\nbroker = \"kafka\"\n[kafka]\nbootstrap_servers = \"a:1\"\n", "node"},
             {"[log]\nbroker = \"kafka\"\n[kafka]\nnode = \"n\"\n", "bootstrap_servers"},
             {"[log]\nbroker = \"kafka\"\nown = [4]\n" + kafka, "0 to 3"},
             {"[log]\nbroker = \"kafka\"\nown = [1, 1]\n" + kafka, "twice"},
             {"[log]\nbroker = \"kafka\"\nown = [1]\nfollow = [1]\n" + kafka, "owned already"},
             {"[log]\nbroker = \"kafka\"\nfollow = [1]\n" + kafka, "own"},
             {kafka + "securty = \"tls\"\n", "securty"}}) {
        EXPECT_NE(settings_error(text).find(word), std::string::npos)
            << text << settings_error(text);
    }
}

}  // namespace
}  // namespace rampart::rampartd
