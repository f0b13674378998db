// A served store with TLS: commands on the machine, clients beside it, and new certificates at
// SIGHUP without a dropped connection.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "rampart/base/file.hpp"
#include "rampart/http/client.hpp"
#include "rampart/wire/application_json.hpp"
#include "services/rampartd/settings.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "support/tls_files.hpp"
#include "tools/demo/service_process.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::rampartd {
namespace {

namespace fs = std::filesystem;
using test_support::Ran;

const std::string kProgram = test_support::bin_dir() + "/rampart";

class TlsServing : public testing::Test {
  protected:
    void SetUp() override {
        loan_stream::StreamOptions options;
        options.name = "simulated";
        options.rows = 60;
        options.seed = 7;
        stream_ = loan_stream::load(options).value();
        folder_ = fs::path(testing::TempDir()) / fmt::format("tls_serving.{}", ::getpid());
        workspace_ =
            demo::prepare_workspace(folder_, test_support::source_dir() + "/ops/config", stream_, 7)
                .value();
        files_.certificate("server", "DNS:rampart.lender.example,IP:127.0.0.1", 20);
        ASSERT_TRUE(base::write_file_atomically(
            folder_ / "application.json", wire::to_json(stream_.applicants.front().application)));
    }
    void TearDown() override { fs::remove_all(folder_); }

    /// Adds lines to [http], or after it.
    void configure(const std::string& lines) {
        auto text = base::read_file(workspace_.config, 1 << 20).value();
        const std::string before = "\n[http]\n";
        text.replace(text.find(before), before.size(), before + lines);
        ASSERT_TRUE(base::write_file_atomically(workspace_.config, text));
    }
    void configure_tls(const std::string& more = {}) {
        auto text = base::read_file(workspace_.config, 1 << 20).value();
        text +=
            fmt::format("\n[http.tls]\ncertificate_file = \"{}\"\nkey_file = \"{}\"\n{}",
                        (files_ / "server.pem").string(), (files_ / "server.key").string(), more);
        ASSERT_TRUE(base::write_file_atomically(workspace_.config, text));
    }
    demo::ServiceProcess start() {
        auto process = demo::ServiceProcess::start(kProgram, workspace_.config,
                                                   workspace_.endpoint_file, workspace_.log);
        EXPECT_TRUE(process) << process.error().message;
        return std::move(*process);
    }
    std::string endpoint() const {
        auto text = base::read_file(workspace_.endpoint_file, 256).value();
        text.pop_back();
        return text;
    }
    http::Client client() const {
        http::ClientOptions options;
        options.token = workspace_.token;
        options.tls = files_.client();
        return http::Client::create(endpoint(), options).value();
    }
    Ran rampart(const std::string& arguments) const {
        return test_support::run_program(std::string(kProgram) + " " + arguments);
    }
    Ran status() const { return rampart("status --config " + workspace_.config.string()); }
    Ran decide(const std::string& more) const {
        return rampart(fmt::format("decide {} --url {} --token-file {} {}",
                                   (folder_ / "application.json").string(), endpoint(),
                                   (workspace_.store / "keys" / "token").string(), more));
    }
    std::string ca() const { return "--ca-file " + (files_ / "ca.pem").string() + " "; }
    std::string log() const { return base::read_file(workspace_.log, 64 << 20).value(); }
    /// Returns the value of a metric that has no label; empty: it is not there.
    static std::string metric(http::Client& client, const std::string& name) {
        const auto answer = client.get("/metrics");
        if (!answer || answer->status != 200) return "no answer";
        const auto at = answer->body.find("\n" + name + " ");
        if (at == std::string::npos) return "";
        const auto from = at + name.size() + 2;
        return answer->body.substr(from, answer->body.find('\n', from) - from);
    }
    /// Waits until a metric is another one than `before`.
    static std::string changed(http::Client& client, const std::string& name,
                               const std::string& before) {
        for (int i = 0; i < 600; ++i) {
            if (const auto now = metric(client, name); now != before) return now;
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
        return before;
    }

    loan_stream::Stream stream_;
    fs::path folder_;
    demo::Workspace workspace_;
    test_support::TlsFolder files_;
};

constexpr const char* kEnd = "rampart_http_certificate_expiry_timestamp_seconds";
constexpr const char* kLoaded = "rampart_http_certificate_loaded";

TEST_F(TlsServing, CommandsAndClientsSpeakTls) {
    configure_tls();
    auto process = start();
    EXPECT_TRUE(endpoint().starts_with("https://127.0.0.1:")) << endpoint();
    const auto shown = status();
    EXPECT_NE(shown.output.find("clock"), std::string::npos) << shown.output;
    EXPECT_EQ(shown.output.find("tls"), std::string::npos) << shown.output;
    const auto decided = decide(ca());
    EXPECT_EQ(decided.exit_code, 0) << decided.output;
    const auto untrusting = decide("");
    EXPECT_NE(untrusting.exit_code, 0);
    EXPECT_NE(untrusting.output.find("certificate is not trusted"), std::string::npos)
        << untrusting.output;
    http::ClientOptions plain;
    auto without = http::Client::create(endpoint().substr(8), plain).value();
    EXPECT_EQ(without.get("/healthz").value().status, 400);
    auto client = this->client();
    EXPECT_GT(std::stod(metric(client, kEnd)), 1.7e9);
    EXPECT_EQ(metric(client, kLoaded), "1");
    EXPECT_NE(log().find("ends within 30 days"), std::string::npos) << log();
    EXPECT_TRUE(process.stop());
}

TEST_F(TlsServing, NewFilesAreTakenAtSighupAndBadOnesNot) {
    configure_tls();
    auto process = start();
    auto kept = client();  // its connection stays open throughout
    const auto first = metric(kept, kEnd);
    files_.certificate("new", "IP:127.0.0.1", 90);
    files_.replace("server", "new");
    const auto before = status();  // the service still shows the one from before
    EXPECT_NE(before.output.find("another certificate"), std::string::npos) << before.output;
    ASSERT_EQ(::kill(process.pid(), SIGHUP), 0);
    const auto second = changed(kept, kEnd, first);
    EXPECT_GT(std::stod(second), std::stod(first) + 60 * 86400);
    EXPECT_NE(status().output.find("clock"), std::string::npos) << status().output;
    EXPECT_NE(log().find("read anew"), std::string::npos);

    fs::copy_file(files_ / "ca.key", files_ / "server.key", fs::copy_options::overwrite_existing);
    ASSERT_EQ(::kill(process.pid(), SIGHUP), 0);
    EXPECT_EQ(changed(kept, kLoaded, "1"), "0");
    EXPECT_EQ(metric(kept, kEnd), second);
    EXPECT_EQ(client().get("/healthz").value().status, 200) << "a new connection";
    EXPECT_NE(log().find("tls_key_mismatch"), std::string::npos) << log();
    EXPECT_EQ(metric(kept, "rampart_http_connections_refused_total"), "0");
    EXPECT_TRUE(process.stop());
    const auto refused = rampart("serve --config " + workspace_.config.string());
    EXPECT_EQ(refused.exit_code, 2) << refused.output;
    EXPECT_NE(refused.output.find("http.tls.key_file"), std::string::npos) << refused.output;
}

TEST_F(TlsServing, ClientsHaveToShowACertificateAndCommandsShowTheServersOwn) {
    files_.authority("clients");
    files_.certificate("app", "DNS:app", 30, "clients");
    configure_tls("client_ca_file = \"" + (files_ / "clients.pem").string() + "\"\n");
    auto process = start();
    EXPECT_NE(status().output.find("clock"), std::string::npos) << status().output;
    const auto without = decide(ca());
    EXPECT_NE(without.exit_code, 0);
    EXPECT_NE(without.output.find("TLS failed"), std::string::npos) << without.output;
    const auto with =
        decide(ca() + fmt::format("--client-certificate {} --client-key {}",
                                  (files_ / "app.pem").string(), (files_ / "app.key").string()));
    EXPECT_EQ(with.exit_code, 0) << with.output;
    EXPECT_TRUE(process.stop());
}

TEST_F(TlsServing, PlainHttpBeyondTheLoopbackIsRefusedBeforeAnythingIsMade) {
    configure("address = \"0.0.0.0\"\n");
    const auto refused = rampart("serve --config " + workspace_.config.string());
    EXPECT_EQ(refused.exit_code, 2) << refused.output;
    EXPECT_NE(refused.output.find("beyond the loopback"), std::string::npos) << refused.output;
    EXPECT_FALSE(fs::exists(workspace_.store / "log"));
    configure("plaintext = \"any_address\"\n");
    auto process = start();
    EXPECT_EQ(status().output.find("error"), std::string::npos) << status().output;
    EXPECT_TRUE(process.stop());
}

TEST_F(TlsServing, HalfAConfigurationIsRefused) {
    configure("tls = {certificate_file = \"server.pem\"}\n");
    const auto refused = rampart("serve --config " + workspace_.config.string());
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_NE(refused.output.find("key_file"), std::string::npos) << refused.output;
}

TEST_F(TlsServing, AKeyWhereABackupWouldTakeItIsRefused) {
    const auto key_at = [&](const char* place) {
        auto text = base::read_file(folder_ / "plain.toml", 1 << 20).value();
        text += fmt::format("\n[http.tls]\ncertificate_file = \"{}\"\nkey_file = \"{}\"\n",
                            (files_ / "server.pem").string(), place);
        EXPECT_TRUE(base::write_file_atomically(workspace_.config, text));
        return load_settings(workspace_.config);
    };
    fs::copy_file(workspace_.config, folder_ / "plain.toml");
    const auto inside = key_at("store/server.key");
    ASSERT_FALSE(inside);
    EXPECT_NE(inside.error().message.find("key_file"), std::string::npos) << inside.error().message;
    EXPECT_TRUE(key_at("store/keys/server.key"));
    EXPECT_TRUE(key_at("server.key"));
}

}  // namespace
}  // namespace rampart::rampartd
