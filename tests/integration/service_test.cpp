// The service by the wall clock: joining, learning, erasing and deciding side by side, and an end
// in the middle of a training run.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <csignal>
#include <filesystem>
#include <thread>

#include "rampart/base/file.hpp"
#include "rampart/http/client.hpp"
#include "services/rampartd/node.hpp"
#include "support/places.hpp"
#include "tools/demo/service_process.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::rampartd {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using Steady = std::chrono::steady_clock;

constexpr size_t kRows = 3000, kFirst = 2800, kErased = 5, kAtOnce = 200;

double since(Steady::time_point begin) {
    return std::chrono::duration<double>(Steady::now() - begin).count();
}

class Service : public testing::Test {
  protected:
    Service() {
        stream_ =
            loan_stream::load({.name = "simulated", .data_dir = {}, .rows = 2 * kRows}).value();
        workspace_ =
            demo::prepare_workspace(folder_, test_support::source_dir() + "/ops/config", stream_, 5)
                .value();
        replace("mode = \"event\"", "mode = \"system\"\nmax_downtime_hours = 24");
        replace("every_months = 2", "every_months = 0\nevery_matured = 1000");
        const auto text = base::read_file(workspace_.config, 1 << 20).value();
        const size_t at = text.find("learner = ");
        replace(text.substr(at, text.find("[postprocess]") - at), "recipe = \"recipe.toml\"\n");
        write_recipe(kEndless);
    }
    ~Service() override {
        node_.reset();
        fs::remove_all(folder_);
    }
    void write_recipe(const std::string& search) {
        ASSERT_TRUE(base::write_file_atomically(workspace_.config.parent_path() / "recipe.toml",
                                                "learner = \"gbdt\"\ntrees = 100\n" + search));
    }
    void replace(const std::string& before, const std::string& after) {
        auto text = base::read_file(workspace_.config, 1 << 20).value();
        const size_t at = text.find(before);
        ASSERT_NE(at, std::string::npos) << before;
        text.replace(at, before.size(), after);
        ASSERT_TRUE(base::write_file_atomically(workspace_.config, text));
    }
    void open() {
        auto settings = load_settings(workspace_.config).value();
        settings.privacy.retention_months = 0;
        auto node = Node::open(std::move(settings));
        ASSERT_TRUE(node) << node.error().message;
        node_ = *std::move(node);
    }
    std::string endpoint() const {
        const auto line = base::read_file(workspace_.store / "endpoint", 100).value();
        return line.substr(0, line.find('\n'));
    }
    void decide(size_t from, size_t to) {
        ASSERT_GE(stream_.applicants.size(), to);
        std::vector<domain::Application> batch;
        for (size_t i = from; i < to; ++i) batch.push_back(stream_.applicants[i].application);
        std::vector<domain::Outcome> outcomes;
        const std::string measure = node_->settings().product.label.name;
        for (size_t done = 0; done < batch.size(); done += kAtOnce) {
            const auto part = std::span(batch).subspan(done);
            const auto decided =
                node_->decisions().decide(part.first(std::min(kAtOnce, part.size())));
            ASSERT_TRUE(decided) << decided.error().message;
            for (size_t i = 0; i < decided->size(); ++i) {
                const auto& one = decided->at(i);
                if (one.action != domain::Action::kApprove) continue;
                for (const auto& report : stream_.applicants[from + done + i].reports)
                    outcomes.push_back(
                        {one.id, measure, report.revision, report.value, report.observed_at});
            }
        }
        for (size_t i = 0; i < outcomes.size(); i += kAtOnce) {
            const auto part = std::span(outcomes).subspan(i);
            const auto sent =
                node_->decisions().submit_outcomes(part.first(std::min(kAtOnce, part.size())));
            ASSERT_TRUE(sent) << sent.error().message;
        }
    }
    json::object status() {
        http::Router router(access::one_token("t"));
        node_->add_routes(router);
        http::Request request;
        request.method = "GET";
        request.path = "/v1/status";
        request.headers = {{"Authorization", "Bearer t"}};
        const auto response = router.handle(std::move(request));
        EXPECT_EQ(response.status, 200) << response.body;
        return json::parse(response.body).as_object();
    }
    static json::object job(const json::object& status, const std::string& name) {
        for (const auto& one : status.at("jobs").as_array()) {
            if (one.at("name").as_string() == name.c_str()) return one.as_object();
        }
        ADD_FAILURE() << "no job " << name;
        return {};
    }
    /// Whether a training run is under way: it has been for a while.
    static bool trains(const json::object& status) {
        const auto learn = job(status, "learn");
        return learn.at("running").as_bool() &&
               learn.at("running_seconds").to_number<double>() > 1 &&
               status.at("joined").at("matured").to_number<size_t>() >= 1000;
    }
    template <typename Look>
    static bool soon(const Look& holds) {
        for (const auto begin = Steady::now(); since(begin) < 60;) {
            if (holds()) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
        return false;
    }

    // a search of several minutes
    static inline const std::string kEndless =
        "[search]\nmethod = \"random\"\ntrials = 1000\nfolds = 5\n"
        "[search.ranges]\nleaves = {from = 4, to = 31}\nl2 = {from = 0.1, to = 30}\n";
    const fs::path folder_ = fs::path(testing::TempDir()) / fmt::format("service.{}", ::getpid());
    loan_stream::Stream stream_;
    demo::Workspace workspace_;
    std::unique_ptr<Node> node_;
};

TEST_F(Service, TrainingStopsNeitherJoiningNorErasingAndGoesOnUnderItsNumber) {
    open();
    if (HasFatalFailure()) return;
    ASSERT_NO_FATAL_FAILURE(decide(0, kFirst));
    node_->begin_work();
    ASSERT_TRUE(soon([&] { return trains(status()); }));

    const auto before = status();
    ASSERT_NO_FATAL_FAILURE(decide(kFirst, kRows));
    for (size_t i = 0; i < kErased; ++i) {
        const auto begin = Steady::now();
        const auto erased =
            node_->erase(stream_.applicants[i].application.person, "officer", "asked", false);
        ASSERT_TRUE(erased) << erased.error().message;
        EXPECT_LT(since(begin), 20) << "it waited for the training run";
    }
    ASSERT_TRUE(soon([&] {
        return status().at("joined").at("decisions").to_number<size_t>() == kRows - kErased;
    }));
    const auto meanwhile = status();
    ASSERT_TRUE(trains(meanwhile))
        << "it ended too early: give it more to do" << json::serialize(meanwhile);
    EXPECT_EQ(job(meanwhile, "learn").at("runs"), job(before, "learn").at("runs"));
    EXPECT_LT(meanwhile.at("joined").at("lag_seconds").to_number<double>(), 20)
        << "the joiner's clock waits for the training run";
    EXPECT_GT(job(meanwhile, "join").at("runs").to_number<int>(),
              job(before, "join").at("runs").to_number<int>());
    EXPECT_TRUE(meanwhile.at("ready").as_bool());

    const auto end = Steady::now();
    node_->begin_stop();
    EXPECT_FALSE(status().at("ready").as_bool());
    EXPECT_TRUE(node_->stop_work(base::Duration::seconds(60)).empty());
    EXPECT_LT(since(end), 10) << "the run goes on to its end";
    EXPECT_TRUE(node_->trainer().runs()->empty()) << "to be stopped is no result";

    node_.reset();
    write_recipe("");
    open();
    if (HasFatalFailure()) return;
    node_->begin_work();
    ASSERT_TRUE(soon([&] { return !node_->trainer().runs()->empty(); }));
    EXPECT_EQ(node_->trainer().runs()->front().ordinal, 1u);
    EXPECT_GE(node_->trainer().runs()->front().matured, 1000u);
}

TEST_F(Service, SigtermInTheMiddleOfTrainingIsSoonOver) {
    open();
    if (HasFatalFailure()) return;
    ASSERT_NO_FATAL_FAILURE(decide(0, kFirst));
    node_.reset();
    const auto start = [&] {
        return demo::ServiceProcess::start(test_support::bin_dir() + "/rampart", workspace_.config,
                                           workspace_.store / "endpoint", folder_ / "serve.log");
    };
    auto process = start();
    ASSERT_TRUE(process) << process.error().message;
    const auto ask = [endpoint = this->endpoint(), this](const std::string& path) {
        return http::Client::create(endpoint, {.token = workspace_.token}).value().get(path);
    };
    ASSERT_TRUE(soon([&] {
        const auto response = ask("/v1/status");
        return response && trains(json::parse(response->body).as_object());
    }));
    EXPECT_EQ(ask("/readyz")->status, 200);
    EXPECT_EQ(ask("/healthz")->status, 200);

    const auto begin = Steady::now();
    ASSERT_EQ(::kill(process->pid(), SIGTERM), 0);
    // the port stays open for a while, so that the load balancer sees that it is not ready
    ASSERT_TRUE(soon([&] {
        const auto response = ask("/readyz");
        return !response || response->status == 503;
    }));
    EXPECT_LT(since(begin), 2) << "it is not said that the process is about to end";
    const auto stopped = process->stop();
    EXPECT_TRUE(stopped) << stopped.error().message;
    EXPECT_LT(since(begin), 10);

    write_recipe("");
    process = start();
    ASSERT_TRUE(process) << process.error().message;
    auto client = http::Client::create(endpoint(), {.token = workspace_.token}).value();
    json::array runs;
    ASSERT_TRUE(soon([&] {
        runs = json::parse(client.get("/v1/runs")->body).at("runs").as_array();
        return !runs.empty();
    }));
    EXPECT_EQ(runs.front().at("ordinal").to_number<int>(), 1);
    EXPECT_TRUE(process->stop());
}

}  // namespace
}  // namespace rampart::rampartd
