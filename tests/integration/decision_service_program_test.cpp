#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "rampart/access/principals.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/http/client.hpp"
#include "rampart/http/server.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/wire/application_json.hpp"
#include "rampart/wire/decision_json.hpp"
#include "support/places.hpp"
#include "support/tls_files.hpp"

/// The program `decision_service` as a user runs it.
namespace rampart::decision_service {
namespace {

namespace fs = std::filesystem;

/// A running program, killed at the end of its scope.
class Program {
  public:
    explicit Program(const fs::path& config) {
        int out[2];
        EXPECT_EQ(::pipe2(out, O_CLOEXEC), 0);
        const std::string binary = test_support::bin_dir() + "/decision_service";
        pid_ = ::fork();
        if (pid_ == 0) {
            ::dup2(out[1], STDOUT_FILENO);
            ::dup2(out[1], STDERR_FILENO);
            ::execl(binary.c_str(), binary.c_str(), "--config", config.c_str(), nullptr);
            ::_exit(127);
        }
        ::close(out[1]);
        out_ = out[0];
    }
    ~Program() {
        if (pid_ > 0) end(SIGKILL);
        ::close(out_);
    }

    /// Reads its output up to the address; empty when it ends before.
    std::string endpoint() {
        const std::string marker = "listening on ";
        std::string line;
        for (char c; ::read(out_, &c, 1) == 1;) {
            printed_ += c;
            if (c != '\n') {
                line += c;
                continue;
            }
            if (line.starts_with(marker)) return line.substr(marker.size());
            line.clear();
        }
        return {};
    }
    const std::string& printed() const { return printed_; }

    void signal(int number) const { ::kill(pid_, number); }
    int end(int signal) {
        this->signal(signal);
        return wait();
    }
    /// Returns the exit code, or -signal.
    int wait() {
        int status = 0;
        ::waitpid(pid_, &status, 0);
        pid_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }

  private:
    pid_t pid_;
    int out_;
    std::string printed_;
};

constexpr const char* kToken = "a token of this test";

class DecisionServiceProgram : public testing::Test {
  protected:
    void SetUp() override {
        folder_ = fs::path(testing::TempDir()) / ("program" + base::to_hex(base::random_bytes(8)));
        fs::create_directories(folder_ / "store");
        ASSERT_TRUE(access::add_principal(folder_ / "store" / "principals.toml",
                                          {.name = "test",
                                           .scopes = access::Scopes::all(),
                                           .token_sha256 = base::sha256(kToken).hex(),
                                           .created = {}}));
        write("product.toml", R"(name = "card"
[label]
name = "repaid"
horizon_months = 6
grace_days = 31
[impact]
units = "points"
lo = -150
hi = 75
favourable = 75
unfavourable = -150
declined = 0
)");
        configure(0);
    }
    void TearDown() override { fs::remove_all(folder_); }

    void write(const std::string& name, const std::string& text) {
        ASSERT_TRUE(base::write_file_atomically(folder_ / name, text));
    }
    void configure(int port, const std::string& more = {}) {
        write("service.toml", fmt::format(R"(store = "store"
product = "product.toml"
registry = "registry"
{}
[event_time]
max_age_days = 36500
[http]
port = {}
)",
                                          more, port));
    }
    void make_champion() {
        const auto schema =
            dataset::FeatureSchema::create({{"age", dataset::FeatureKind::kNumeric, {}}}).value();
        const auto policy =
            model::Policy::create(schema, {model::BootstrapLink{"age", {{0, 0.5}}, 0.5}}, {}, {})
                .value();
        const auto registry = registry::ModelRegistry::open(folder_ / "registry").value();
        const auto now = base::parse_iso8601("2005-01-01").value();
        const auto id =
            registry->register_model(model::encode_model_file(policy), now, "test").value();
        const auto promoted = registry->bootstrap_champion(id, now, "test");
        ASSERT_TRUE(promoted) << promoted.error().message;
    }
    fs::path config() const { return folder_ / "service.toml"; }
    http::Client client(const std::string& endpoint) {
        http::ClientOptions options;
        options.token = kToken;
        return http::Client::create(endpoint, options).value();
    }
    static domain::Application application(int number) {
        return {domain::ApplicationId(fmt::format("a-{}", number)),
                domain::PersonId("p"),
                base::parse_iso8601("2005-04-01").value(),
                {{"age", 40.0}}};
    }

    fs::path folder_;
};

TEST_F(DecisionServiceProgram, ServesUntilItIsToldToStop) {
    make_champion();
    Program program(config());
    const auto endpoint = program.endpoint();
    ASSERT_FALSE(endpoint.empty()) << program.printed();
    auto http = client(endpoint);
    EXPECT_EQ(http.get("/readyz")->status, 200);
    EXPECT_EQ(http.post("/v1/decisions", wire::to_json(application(1)))->status, 200);
    EXPECT_EQ(program.end(SIGTERM), 0);
}

TEST_F(DecisionServiceProgram, WhatWasAnsweredIsThereAfterKillNine) {
    make_champion();
    std::vector<std::string> answers;
    for (int round = 0; round < 3; ++round) {
        Program program(config());
        auto http = client(program.endpoint());
        for (int i = 0; i < static_cast<int>(answers.size()); ++i) {
            const auto again = http.post("/v1/decisions", wire::to_json(application(i))).value();
            EXPECT_EQ(again.body, answers[static_cast<size_t>(i)]);
        }
        for (int i = 0; i < 20; ++i) {
            const auto number = static_cast<int>(answers.size());
            const auto fresh =
                http.post("/v1/decisions", wire::to_json(application(number))).value();
            ASSERT_EQ(fresh.status, 200) << fresh.body;
            answers.push_back(fresh.body);
        }
        EXPECT_EQ(program.end(SIGKILL), -SIGKILL);
    }
}

TEST_F(DecisionServiceProgram, APortInUseIsNamedAndTheExitCodeIsTwo) {
    make_champion();
    const auto other =
        http::Server::start({}, [](const http::Request&) { return http::Response{}; }).value();
    configure(other->port());
    fs::remove_all(folder_ / "store");
    Program program(config());
    EXPECT_EQ(program.endpoint(), "");
    EXPECT_NE(program.printed().find(fmt::format("port {} of 127.0.0.1 is in use", other->port())),
              std::string::npos)
        << program.printed();
    EXPECT_EQ(program.wait(), 2);
    EXPECT_FALSE(fs::exists(folder_ / "store")) << "a first start that fails leaves nothing";
}

TEST_F(DecisionServiceProgram, AStoreWithoutItsDrawKeyGetsNoNewOne) {
    make_champion();
    {
        Program program(config());
        ASSERT_FALSE(program.endpoint().empty()) << program.printed();
        EXPECT_EQ(program.end(SIGINT), 0);
    }
    const auto key = folder_ / "store" / "draw.key";
    fs::rename(key, folder_ / "draw.key");
    Program program(config());
    EXPECT_EQ(program.endpoint(), "");
    EXPECT_NE(program.printed().find(key.string() + ": missing"), std::string::npos)
        << program.printed();
    EXPECT_EQ(program.wait(), 2);
    EXPECT_FALSE(fs::exists(key));
}

TEST_F(DecisionServiceProgram, WithoutAChampionItDoesNotStart) {
    { const auto registry = registry::ModelRegistry::open(folder_ / "registry").value(); }
    Program program(config());
    EXPECT_EQ(program.endpoint(), "");
    EXPECT_NE(program.printed().find("has no champion yet"), std::string::npos)
        << program.printed();
    EXPECT_EQ(program.wait(), 2);
}

TEST_F(DecisionServiceProgram, AnUnknownSettingIsNamedWithItsLine) {
    make_champion();
    configure(0, "partition = 3");
    Program program(config());
    EXPECT_EQ(program.endpoint(), "");
    EXPECT_NE(program.printed().find("line 4: partition: is not a known key"), std::string::npos)
        << program.printed();
    EXPECT_EQ(program.wait(), 2);
}

TEST_F(DecisionServiceProgram, AnExposedKeyIsRefused) {
    make_champion();
    {
        Program program(config());
        ASSERT_FALSE(program.endpoint().empty()) << program.printed();
        EXPECT_EQ(program.end(SIGINT), 0);
    }
    fs::permissions(folder_ / "store" / "draw.key", fs::perms::others_read, fs::perm_options::add);
    Program program(config());
    EXPECT_EQ(program.endpoint(), "");
    EXPECT_NE(program.printed().find("draw.key"), std::string::npos) << program.printed();
    EXPECT_EQ(program.wait(), 2);
}

TEST_F(DecisionServiceProgram, SpeaksTlsAndTakesANewCertificateAtSighup) {
    make_champion();
    test_support::TlsFolder files;
    files.certificate("server");
    files.certificate("new", "IP:127.0.0.1", 90);
    configure(0);
    auto text = base::read_file(config(), 1 << 20).value();
    write("service.toml",
          text + fmt::format("[http.tls]\ncertificate_file = \"{}\"\nkey_file = \"{}\"\n",
                             (files / "server.pem").string(), (files / "server.key").string()));
    Program program(config());
    const auto endpoint = program.endpoint();
    ASSERT_TRUE(endpoint.starts_with("https://")) << program.printed();
    const auto answers_by = [&](const char* certificate) {
        http::ClientOptions options;
        options.tls.pinned = files / certificate;
        const auto answer = http::Client::create(endpoint, options)->get("/healthz");
        return answer && answer->status == 200;
    };
    std::filesystem::copy_file(files / "server.pem", files / "old.pem");
    EXPECT_TRUE(answers_by("old.pem"));
    files.replace("server", "new");
    EXPECT_TRUE(answers_by("old.pem")) << "until SIGHUP";
    program.signal(SIGHUP);
    for (int i = 0; i < 600 && !answers_by("new.pem"); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_TRUE(answers_by("new.pem"));
    EXPECT_FALSE(answers_by("old.pem"));
    EXPECT_EQ(program.end(SIGTERM), 0);
}

}  // namespace
}  // namespace rampart::decision_service
