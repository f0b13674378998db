// Guarantees of the node for its clients: probes, metrics and decisions continue during training,
// erasures, idle sockets and gaps in topics that only training needs.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "rampart/base/file.hpp"
#include "rampart/http/client.hpp"
#include "rampart/storage/folder.hpp"
#include "rampart/streaming_local/local_log.hpp"
#include "rampart/wire/application_json.hpp"
#include "services/rampartd/files_needed.hpp"
#include "services/rampartd/node.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "tools/demo/driver.hpp"
#include "tools/demo/service_process.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::rampartd {
namespace {

namespace fs = std::filesystem;

const std::string kProgram = test_support::bin_dir() + "/rampart";

class Serving : public testing::Test {
  protected:
    void SetUp() override {
        loan_stream::StreamOptions options;
        options.name = "simulated";
        options.rows = 1500;
        options.seed = 7;
        stream_ = loan_stream::load(options).value();
        folder_ = fs::path(testing::TempDir()) / fmt::format("serving.{}", ::getpid());
        workspace_ =
            demo::prepare_workspace(folder_, test_support::source_dir() + "/ops/config", stream_, 7)
                .value();
    }
    void TearDown() override { fs::remove_all(folder_); }

    /// Removes a key of the configuration, if it is there.
    void remove(const std::string& key) {
        auto text = base::read_file(workspace_.config, 1 << 20).value();
        const size_t at = text.find("\n" + key + " = ");
        if (at == std::string::npos) return;
        text.erase(at, text.find('\n', at + 1) - at);
        ASSERT_TRUE(base::write_file_atomically(workspace_.config, text));
    }
    /// Replaces a key of a section of the configuration.
    void configure(const std::string& section, const std::string& key, const std::string& value) {
        remove(key);
        auto text = base::read_file(workspace_.config, 1 << 20).value();
        const std::string header = "\n[" + section + "]\n";
        text.replace(text.find(header), header.size(), header + key + " = " + value + "\n");
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
    http::Client client(int64_t seconds = 60) const {
        http::ClientOptions options;
        options.token = workspace_.token;
        options.timeout = base::Duration::seconds(seconds);
        return http::Client::create(endpoint(), options).value();
    }
    /// Returns an application that was not sent before, as the service accepts it.
    std::string application(int number) const {
        auto one = stream_.applicants.front().application;
        one.id = domain::ApplicationId(fmt::format("probe-{}", number));
        return wire::to_json(one);
    }
    /// Returns the status of a request on its own connection; 0: no answer.
    int ask(const char* target, const std::string& body = {}) const {
        auto asking = client();
        const auto answer = body.empty() ? asking.get(target) : asking.post(target, body);
        return answer ? answer->status : 0;
    }

    loan_stream::Stream stream_;
    fs::path folder_;
    demo::Workspace workspace_;
};

/// Sends dry runs of erasures until it is stopped.
class Erasures {
  public:
    Erasures(std::function<http::Client()> client, std::string body)
        : client_(std::move(client)), body_(std::move(body)) {
        for (int i = 0; i < 6; ++i) threads_.emplace_back([this] { run(); });
    }
    void stop() {
        stop_ = true;
        for (auto& thread : threads_) thread.join();
    }
    std::atomic<int> done{0}, turned_away{0};

  private:
    void run() {
        auto client = client_();
        while (!stop_) {
            const auto answer = client.post("/v1/erasures", body_);
            if (!answer) return;  // the service was killed
            if (answer->status != 503) {
                ++done;
                continue;
            }
            EXPECT_NE(answer->header("Retry-After"), "");
            ++turned_away;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    }
    std::function<http::Client()> client_;
    std::string body_;
    std::atomic<bool> stop_{false};
    std::vector<std::thread> threads_;
};

TEST_F(Serving, ProbesMetricsDecisionsAndErasuresAreAnsweredDuringATrainingRun) {
    // a run that would take many minutes; the service is killed during it
    for (const char* of_fairgbm : {"constraints", "tolerance", "allow_infeasible"})
        remove(of_fairgbm);
    for (const auto& [key, value] : {std::pair{"learner", "\"gbdt\""},
                                     {"trees", "20000"},
                                     {"leaves", "4096"},
                                     {"min_rows_in_leaf", "1"},
                                     {"learning_rate", "0.0001"},
                                     {"early_stopping_rounds", "0"},
                                     {"min_examples", "100"}}) {
        configure("training", key, value);
    }
    auto process = start();
    std::atomic<int> ticks{0};
    std::thread driving([&] {
        demo::Session session(workspace_.endpoint_file, workspace_.token,
                              base::Duration::seconds(5));
        demo::Driver driver(stream_, "repaid", std::move(session));
        EXPECT_FALSE(driver.run([&](base::TimePoint, double) { ++ticks; }))
            << "no training run was long enough";
    });
    const auto body = fmt::format(R"({{"person_id":"{}","reason":"t","dry_run":true}})",
                                  stream_.applicants.front().application.person);
    Erasures erasures([&] { return client(600); }, body);
    // until time has stood still for many rounds, and erasures were answered in each
    int still = 0;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(180);
    for (int i = 0; still < 40 && !HasFailure() && std::chrono::steady_clock::now() < deadline;
         ++i) {
        const int ticked = ticks, erased = erasures.done;
        for (const char* probe : {"/healthz", "/readyz", "/metrics", "/v1/policy"}) {
            EXPECT_EQ(ask(probe), 200) << probe;
        }
        EXPECT_EQ(ask("/v1/decisions", application(i)), 200);
        EXPECT_EQ(ask("/v1/runs"), 200);
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        still = ticks == ticked && erasures.done > erased ? still + 1 : 0;
    }
    EXPECT_EQ(still, 40) << "erasures wait for a training run, or none was long: " << ticks
                         << " ticks, " << erasures.done << " erasures done, "
                         << erasures.turned_away << " turned away";
    process.kill();
    driving.join();
    erasures.stop();
}

/// Connections on which only one byte is sent.
class IdleSockets {
  public:
    IdleSockets(const std::string& endpoint, size_t count) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port =
            htons(static_cast<uint16_t>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1))));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        for (size_t i = 0; i < count; ++i) {
            fds_.push_back(::socket(AF_INET, SOCK_STREAM, 0));
            EXPECT_EQ(::connect(fds_.back(), reinterpret_cast<sockaddr*>(&address), sizeof address),
                      0);
            EXPECT_EQ(::send(fds_.back(), "G", 1, MSG_NOSIGNAL), 1);
        }
    }
    ~IdleSockets() {
        for (const int fd : fds_) ::close(fd);
    }

  private:
    std::vector<int> fds_;
};

TEST_F(Serving, IdleSocketsTakeNoFileFromADatabase) {
    rlimit old{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &old), 0);
    rlimit low = old;
    low.rlim_cur = 256;  // enough to start: a new store has some 200 files open
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
    auto process = start();
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &old), 0);
    {
        const IdleSockets idle(endpoint(), 400);
        EXPECT_EQ(ask("/healthz"), 200);
        for (int i = 0; i < 5; ++i) EXPECT_EQ(ask("/v1/decisions", application(i)), 200);
    }
    EXPECT_TRUE(process.stop());
}

TEST_F(Serving, ALimitOfOpenFilesThatIsTooLowIsRefusedBeforeAnythingIsMade) {
    const auto ran = test_support::run_program(fmt::format(
        "ulimit -n 1024; timeout 60 {} serve --config {}", kProgram, workspace_.config.string()));
    EXPECT_EQ(ran.exit_code, 2);
    for (const char* part : {"is 1024", "14 databases", "LimitNOFILE="}) {
        EXPECT_NE(ran.output.find(part), std::string::npos) << part << ": " << ran.output;
    }
    EXPECT_FALSE(fs::exists(workspace_.store / "log"));
    EXPECT_FALSE(fs::exists(workspace_.store / "partitions"));
}

TEST_F(Serving, WithoutAWordInTheConfigurationTheServersOwnDefaultsHold) {
    const auto http = load_settings(workspace_.config).value().http;
    EXPECT_EQ(http.threads, http::ServerOptions().threads);
    EXPECT_EQ(http.max_connections, http::ServerOptions().max_connections);
}

TEST_F(Serving, TheCoolOffIsConfiguredAndItsRangeChecked) {
    EXPECT_EQ(load_settings(workspace_.config)->cool_off_days, 30);
    configure("decision", "cool_off_days", "7");
    EXPECT_EQ(load_settings(workspace_.config)->cool_off_days, 7);
    for (const char* days : {"0", "3651"}) {
        configure("decision", "cool_off_days", days);
        const auto settings = load_settings(workspace_.config);
        ASSERT_FALSE(settings) << days;
        EXPECT_NE(settings.error().message.find("cool_off_days"), std::string::npos)
            << settings.error().message;
    }
    configure("decision", "cool_off_days", "7");
    const auto node = Node::open(load_settings(workspace_.config).value()).value();
    const auto& one = stream_.applicants.front().application;
    ASSERT_TRUE(node->advance(one.event_time));
    const auto window = node->decisions().decide(std::span(&one, 1))->front().draw_window;
    ASSERT_TRUE(window);
    EXPECT_EQ(window->cool_off_days, 7);
    EXPECT_EQ(window->product, node->settings().product.name);
}

TEST_F(Serving, AFeatureThatTheSchemaFileMakesIsRefusedByName) {
    const auto& features = stream_.schema.features();
    const auto number = std::find_if(features.begin(), features.end(), [](const auto& spec) {
        return spec.kind == dataset::FeatureKind::kNumeric;
    });
    ASSERT_NE(number, features.end());
    std::ofstream(workspace_.folder / "schema.toml", std::ios::app)
        << fmt::format("\n[[column]]\nname = \"{}\"\nrange = [0, 1]\n", number->name);
    const auto settings = load_settings(workspace_.config);
    ASSERT_FALSE(settings) << "applications would be decided on what training did not see";
    EXPECT_EQ(settings.error().reason, "not_for_applications");
    EXPECT_NE(settings.error().message.find(fmt::format("feature '{}'", number->name)),
              std::string::npos)
        << settings.error().message;
}

TEST_F(Serving, EveryDatabaseOfAStoreIsCounted) {
    const auto settings = load_settings(workspace_.config).value();
    { const auto node = Node::open(settings).value(); }
    size_t found = 0;
    for (const auto& entry : fs::recursive_directory_iterator(workspace_.store)) {
        found += entry.is_directory() && storage::is_database(entry.path());
    }
    EXPECT_EQ(databases_of(settings), found);
}

TEST_F(Serving, AGapInTheOutcomesIsNamedAndLeavesTheNodeReady) {
    const auto settings = load_settings(workspace_.config).value();
    {
        const auto node = Node::open(settings).value();
        ASSERT_TRUE(node->advance(stream_.start));
    }
    {
        const auto log = streaming_local::LocalLog::open(workspace_.store / "log").value();
        streaming_local::TopicOptions options;
        for (const auto& topic : log->topics())
            if (topic.name == "outcomes") options = topic.options;
        ASSERT_TRUE(log->delete_topic("outcomes"));
        ASSERT_TRUE(log->create_topic("outcomes", options));
    }
    const auto node = Node::open(settings).value();
    http::Router router(access::one_token("t"));
    node->add_routes(router);
    const auto get = [&](const char* path) {
        http::Request request;
        request.method = "GET";
        request.path = path;
        return router.handle(request);
    };
    EXPECT_NE(get("/readyz").body.find(R"({"ok":true,"degraded":false,)"), std::string::npos);
    EXPECT_FALSE(node->advance(stream_.start + base::Duration::days(1)));
    const auto answer = get("/readyz");
    EXPECT_EQ(answer.status, 200);
    EXPECT_NE(answer.body.find(R"({"ok":true,"degraded":true,)"), std::string::npos) << answer.body;
    EXPECT_NE(answer.body.find(R"({"name":"loop","ok":false,"required":false,)"), std::string::npos)
        << answer.body;
    EXPECT_NE(get("/metrics").body.find("rampart_check_ok{check=\"loop\"} 0\n"), std::string::npos);
    const auto& one = stream_.applicants.front().application;
    EXPECT_TRUE(node->decisions().decide(std::span(&one, 1)));
}

}  // namespace
}  // namespace rampart::rampartd
