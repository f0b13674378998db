// A served node with TLS, as testssl (Debian) sees it.
#include <boost/json.hpp>

#include "security/served_node.hpp"
#include "support/tls_files.hpp"

namespace rampart::security {
namespace {

namespace json = boost::json;

class TlsScan : public test_support::ServedNode {
  protected:
    void SetUp() override {
        if (!is_installed("testssl")) GTEST_SKIP() << "there is no testssl; ops/setup installs it";
        ServedNode::SetUp();
        // as an authority of a lender makes it: for a quarter, with an address for its list
        files_.certificate("server",
                           "DNS:localhost,IP:127.0.0.1\n"
                           "crlDistributionPoints=URI:" +
                               std::string("http:") + "//127.0.0.1:9/list.crl",
                           90);
    }
    /// What testssl finds, by severity above LOW: "HIGH id: text".
    std::vector<std::string> findings(const std::string& min_version) {
        serve(fmt::format(
            "tls.certificate_file = \"{}\"\ntls.key_file = \"{}\"\n"
            "tls.min_version = \"{}\"\n",
            (files_ / "server.pem").string(), (files_ / "server.key").string(), min_version));
        const auto out = folder_ / "found.json";
        const auto port = endpoint().substr(endpoint().rfind(':') + 1);
        const auto ran = test_support::run_program(fmt::format(
            "testssl --quiet --color 0 --warnings off --nodns none --add-ca {} --jsonfile {} "
            "--protocols --std --fs --server-preference --server-defaults --headers "
            "--vulnerable localhost:{}",
            (files_ / "ca.pem").string(), out.string(), port));
        std::vector<std::string> found;
        const auto text = base::read_file(out, 16 << 20);
        EXPECT_TRUE(text) << ran.output;
        if (!text) return found;
        size_t looked = 0;
        const auto document = json::parse(*text);
        for (const auto& one : document.as_array()) {
            const auto severity = std::string(one.at("severity").as_string());
            looked += severity == "OK";
            if (severity == "MEDIUM" || severity == "HIGH" || severity == "CRITICAL" ||
                severity == "FATAL")
                found.push_back(fmt::format("{} {}: {}", severity, one.at("id").as_string().c_str(),
                                            one.at("finding").as_string().c_str()));
        }
        EXPECT_GT(looked, 30u) << ran.output;
        return found;
    }

    test_support::TlsFolder files_;
};

TEST_F(TlsScan, FindsNothingAboveLowWithTheOldestVersionThatCanBeConfigured) {
    EXPECT_EQ(fmt::format("{}", fmt::join(findings("1.2"), "\n")), "");
    EXPECT_TRUE(process_->stop());
}

TEST_F(TlsScan, ACertificateOfAFewDaysIsFound) {
    files_.certificate("server", "DNS:localhost,IP:127.0.0.1", 5);
    EXPECT_FALSE(findings("1.3").empty());
}

}  // namespace
}  // namespace rampart::security
