// Those who follow a node: what they get over the wire, where they go on, when they are cut off,
// and that deciding does not wait for them.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/http/client.hpp"
#include "rampart/http/server.hpp"
#include "rampart/wire/application_json.hpp"
#include "services/rampartd/node.hpp"
#include "services/rampartd/settings.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "support/raw_connection.hpp"
#include "tools/demo/service_process.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::rampartd {
namespace {

namespace fs = std::filesystem;

constexpr auto kPatience = std::chrono::seconds(120);

template <class Is>
bool comes(const Is& is) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!is()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
}

size_t count_of(const std::string& text, const std::string& part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++count;
    return count;
}

/// One who follows a node, on a thread of its own, until the stream ends or leave().
class Follower {
  public:
    Follower(std::string endpoint, std::string token, std::string target, std::string last = "")
        : thread_([this, endpoint, token, target, last] {
              auto client = http::Client::create(endpoint, {.token = token}).value();
              std::vector<http::Header> headers;
              if (!last.empty()) headers.push_back({"Last-Event-ID", last});
              const auto ended = client.follow(target, headers, [this](std::string_view bytes) {
                  const std::lock_guard lock(mutex_);
                  text_ += bytes;
                  return !leaves_;
              });
              status_ = ended ? ended->status : 0;
              ended_ = true;
          }) {}
    ~Follower() {
        leaves_ = true;
        thread_.join();
    }
    std::string text() const {
        const std::lock_guard lock(mutex_);
        return text_;
    }
    bool has(const std::string& part) const { return text().find(part) != std::string::npos; }
    bool gets(const std::string& part) const {
        return comes([&] { return has(part); });
    }
    bool ends() const {
        return comes([&] { return ended_.load(); });
    }
    int status() const { return status_; }
    /// Goes away with the next bytes.
    void leave() { leaves_ = true; }

  private:
    mutable std::mutex mutex_;
    std::string text_;
    std::atomic<bool> leaves_{false}, ended_{false};
    std::atomic<int> status_{-1};
    std::thread thread_;
};

class Events : public testing::Test {
  protected:
    Events()
        : folder_(fs::path(testing::TempDir()) / ("events" + base::to_hex(base::random_bytes(8)))),
          stream_(loan_stream::load({.name = "simulated", .data_dir = {}, .rows = 50}).value()) {
        workspace_ =
            demo::prepare_workspace(folder_, test_support::source_dir() + "/ops/config", stream_, 1)
                .value();
    }
    ~Events() override { fs::remove_all(folder_); }

    void serve() {
        auto settings = load_settings(workspace_.config).value();
        settings.event_streams = 300;
        node_ = Node::open(std::move(settings)).value();
        router_ = http::Router(node_->callers());
        node_->add_routes(router_);
        server_ = http::Server::start({}, router_).value();
        node_->begin_work();
    }
    void stop() {
        node_->begin_stop();
        server_->stop();
        EXPECT_TRUE(node_->stop_work(base::Duration::seconds(60)).empty());
    }
    std::string owner() const { return workspace_.token; }
    http::Client client() const {
        return http::Client::create(server_->endpoint(), {.token = workspace_.token}).value();
    }
    /// Makes a principal and returns its token, when the node knows it.
    std::string token(const std::string& name, const std::string& scopes) {
        const auto made = client().post(
            "/v1/tokens",
            fmt::format(R"({{"name":"{}","scopes":[{}],"expires":null}})", name, scopes));
        EXPECT_EQ(made->status, 201) << made->body;
        const auto at = made->body.find("\"token\":\"") + 9;
        return made->body.substr(at, made->body.find('"', at) - at);
    }
    http::Response decide(http::Client& asking, int number) const {
        auto one = stream_.applicants.front().application;
        one.id = domain::ApplicationId(fmt::format("new-{}", number));
        one.person = domain::PersonId(fmt::format("person-{}", number));
        return asking.post("/v1/decisions", wire::to_json(one)).value();
    }
    bool following(int callers) const {
        return client()
                   .get("/v1/status")
                   ->body.find(fmt::format("\"event_streams\":{},", callers)) != std::string::npos;
    }
    void press(
        const std::string& name, const std::function<void()>& meanwhile = [] {}) {
        const auto pressed =
            client().post("/v1/stops/" + name, R"({"reason":"a-reason-of-people"})");
        ASSERT_EQ(pressed->status, 200) << pressed->body;
        meanwhile();
        const auto ended = client().remove("/v1/stops/" + name + "?reason=a-reason-of-people");
        ASSERT_EQ(ended->status, 200) << ended->body;
    }

    fs::path folder_;
    const loan_stream::Stream stream_;
    demo::Workspace workspace_;
    std::unique_ptr<Node> node_;
    http::Router router_;
    std::unique_ptr<http::Server> server_;
};

TEST_F(Events, ComeToThoseWhoMayHaveThemAndNameNoPerson) {
    serve();
    const auto reading = token("reader", R"("read")");
    const auto auditing = token("auditor", R"("read","audit")");
    Follower reader(server_->endpoint(), reading, "/v1/events");
    Follower auditor(server_->endpoint(), auditing, "/v1/events");
    Follower alarms(server_->endpoint(), reading, "/v1/events?kinds=alarm");
    for (const auto* one : {&reader, &auditor, &alarms}) ASSERT_TRUE(one->gets("event: begin"));
    auto asking = client();
    ASSERT_EQ(decide(asking, 1).status, 200);
    ASSERT_EQ(client().get("/v1/decisions?person=person-1")->status, 200);
    press("exploration");
    ASSERT_TRUE(reader.gets("\"action\":\"release_stop\""));
    ASSERT_TRUE(auditor.gets("event: audit\nid: "));
    ASSERT_TRUE(comes([&] { return count_of(auditor.text(), "\"release_stop\"") == 2; }));
    ASSERT_TRUE(reader.gets("event: decisions\n"));
    press("refer-all", [&] { ASSERT_EQ(decide(asking, 2).status, 200); });
    EXPECT_TRUE(reader.gets("\"refer\":1")) << "what people decide is counted, too";
    EXPECT_TRUE(auditor.has("\"action\":\"read_decisions\""));
    EXPECT_FALSE(reader.has("read_decisions")) << "that is for those who audit";
    EXPECT_FALSE(reader.has("event: audit"));
    EXPECT_FALSE(alarms.has("event: stop"));
    for (const auto* one : {&reader, &auditor}) {
        EXPECT_FALSE(one->has("person-1")) << one->text();
        EXPECT_FALSE(one->has("a-reason-of-people"));
        EXPECT_FALSE(one->has("new-1"));
    }
    EXPECT_EQ(client().get("/v1/events?kinds=")->status, 400);
    Follower refused(server_->endpoint(), reading, "/v1/events?kinds=audit");
    ASSERT_TRUE(refused.ends());
    EXPECT_EQ(refused.status(), 403);
    stop();
    ASSERT_TRUE(reader.ends());
    EXPECT_EQ(reader.status(), 200) << "a whole answer";
    EXPECT_TRUE(reader.text().ends_with("event: end\ndata: {\"reason\":\"stopping\"}\n\n"));
}

/// A follower who is cut off again and again, and goes on each time behind what it had last, has
/// each entry of the audit log, in order.
TEST_F(Events, AreNotLostWhereAFollowerGoesOnBehindItsLast) {
    serve();
    std::string last = "0";
    uint64_t seen = 0;
    for (int round = 0; round < 6; ++round) {
        if (round % 2 == 1) press("exploration");
        const auto head = node_->registry().audit_head().count;
        std::string text;
        {
            Follower one(server_->endpoint(), owner(), "/v1/events?kinds=audit", last);
            if (round % 2 == 0) press("rules-only");
            const auto want = fmt::format("id: {}\n", round % 2 == 0 ? head + 1 : head);
            ASSERT_TRUE(one.gets(want)) << one.text();
            text = one.text();
            one.leave();
            press("exploration");  // is for the next one
        }
        // what was received whole
        text.resize(text.rfind("\n\n"));
        for (size_t at = text.find("event: audit\nid: "); at != std::string::npos;
             at = text.find("event: audit\nid: ", at + 1)) {
            last = text.substr(at + 17, text.find('\n', at + 17) - at - 17);
            EXPECT_EQ(std::stoull(last), ++seen);
        }
    }
    EXPECT_GT(seen, 12u);
    stop();
}

TEST_F(Events, EndForWhoMayNoMoreFollow) {
    serve();
    const auto reading = token("reader", R"("read")");
    Follower reader(server_->endpoint(), reading, "/v1/events");
    Follower owner_follows(server_->endpoint(), owner(), "/v1/events");
    ASSERT_TRUE(reader.gets("event: begin"));
    ASSERT_TRUE(owner_follows.gets("event: begin"));
    ASSERT_EQ(client().remove("/v1/tokens/reader")->status, 200);
    EXPECT_TRUE(reader.ends());
    EXPECT_FALSE(reader.has("event: end"));
    press("exploration");
    EXPECT_TRUE(owner_follows.gets("release_stop")) << "others go on";
    stop();
}

/// Two hundred follow, half of them without reading, and decisions are made all the while: each is
/// answered, and those who read have every entry.
TEST_F(Events, OfManyFollowersHoldNoDecisionUp) {
    serve();
    std::vector<std::unique_ptr<test_support::RawConnection>> all;
    for (int i = 0; i < 200; ++i) {
        all.push_back(std::make_unique<test_support::RawConnection>(server_->port()));
        all.back()->send(fmt::format(
            "GET /v1/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\n\r\n", owner()));
        ASSERT_NE(all.back()->receive("event: begin").find("200 OK"), std::string::npos) << i;
    }
    EXPECT_TRUE(following(200));
    std::atomic<int> next{0}, refused{0};
    std::atomic<bool> done{false};
    std::vector<std::thread> deciding;
    for (int t = 0; t < 2; ++t)
        deciding.emplace_back([&] {
            auto asking = client();
            while (!done)
                if (decide(asking, next++).status != 200) ++refused;
        });
    for (int i = 0; i < 10; ++i) press("exploration");
    const auto head = fmt::format("id: {}\n", node_->registry().audit_head().count);
    for (size_t i = 0; i < all.size(); i += 2)
        EXPECT_NE(all[i]->receive(head).find("release_stop"), std::string::npos) << i;
    const int before = next;
    EXPECT_TRUE(comes([&] { return next >= before + 100; })) << "decisions go on";
    done = true;
    for (auto& thread : deciding) thread.join();
    EXPECT_EQ(refused, 0);
    EXPECT_GT(next, 100);
    all.clear();
    EXPECT_TRUE(comes([&] { return following(0); })) << "they went away";
    stop();
}

TEST_F(Events, AreFollowedByACommandThatConnectsAgain) {
    const auto program = test_support::bin_dir() + "/rampart";
    const auto start = [&] {
        return std::move(demo::ServiceProcess::start(program, workspace_.config,
                                                     workspace_.endpoint_file, workspace_.log)
                             .value());
    };
    const auto rampart = [&](const std::string& arguments) {
        return test_support::run_program(
            fmt::format("{} {} --config {}", program, arguments, workspace_.config.string()));
    };
    auto process = start();
    ASSERT_EQ(rampart("stop exploration --reason load").exit_code, 0);
    const auto some = rampart("events --kind promotion --kind stop --since 0 --count 2");
    EXPECT_EQ(some.exit_code, 0) << some.output;
    EXPECT_NE(some.output.find("promotion number="), std::string::npos) << some.output;
    EXPECT_NE(some.output.find("action=press_stop"), std::string::npos) << some.output;
    const auto json = rampart("events --kind stop --since 0 --count 1 --json 2>/dev/null");
    EXPECT_TRUE(json.output.starts_with(R"({"events":[{"event":"stop","data":{"number":)"))
        << json.output;
    EXPECT_EQ(rampart("events --kind weather").exit_code, 2);
    EXPECT_EQ(rampart("events --json").exit_code, 2) << "without an end there is no document";
    const auto wrong = rampart("events --since x --count 1");
    EXPECT_EQ(wrong.exit_code, 2) << wrong.output;
    EXPECT_NE(wrong.output.find("Last-Event-ID"), std::string::npos) << wrong.output;
    // the node is killed and comes back while the command follows
    test_support::Ran followed;
    std::thread following([&] { followed = rampart("events --kind stop --since 0 --count 3"); });
    process.kill();
    process = start();
    ASSERT_EQ(rampart("stop exploration --end --reason load").exit_code, 0);
    ASSERT_EQ(rampart("stop exploration --reason again").exit_code, 0);
    following.join();
    EXPECT_EQ(followed.exit_code, 0) << followed.output;
    EXPECT_EQ(count_of(followed.output, "\nstop number=") +
                  static_cast<size_t>(followed.output.starts_with("stop number=")),
              3u)
        << followed.output;
    ASSERT_TRUE(process.stop());
    const auto away = rampart("events --patience 0");
    EXPECT_EQ(away.exit_code, 4) << away.output;
}

}  // namespace
}  // namespace rampart::rampartd
