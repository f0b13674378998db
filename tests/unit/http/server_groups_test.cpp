// Requests that wait are answered together, each with its own response.
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "rampart/http/client.hpp"
#include "rampart/http/server.hpp"

namespace rampart::http {
namespace {

constexpr auto kPatience = std::chrono::seconds(20);

/// A server with a route whose handler gives each request its body back. A body "hold" waits until
/// open() is called.
class ServerGroups : public testing::Test {
  protected:
    void SetUp() override {
        router_.add_group("POST", "/group", access::Scope::kRead,
                          [this](auto requests) { answer(requests); });
        router_.add_group("POST", "/other", access::Scope::kRead,
                          [this](auto requests) { answer(requests); });
        router_.add(
            "GET", "/probe", kOpen, [](const Request&) { return Response{}; }, Lane::kInline);
        start({});
    }
    void TearDown() override {
        open();
        join();
    }
    void start(const ServerOptions& options) { server_ = Server::start(options, router_).value(); }
    void join() {
        for (auto& thread : threads_) thread.join();
        threads_.clear();
    }

    void answer(std::span<const Grouped> requests) {
        {
            const std::lock_guard lock(mutex_);
            sizes_.push_back(requests.size());
        }
        for (const auto& one : requests) {
            const auto body = one.request.body;  // answer() ends the request
            if (body == "hold") hold();
            if (body == "throw") throw std::runtime_error("as asked");
            if (body == "forget") continue;
            one.answer({200, one.request.path + " " + body, "text/plain", {}});
            if (body == "twice") one.answer({200, "again", "text/plain", {}});
        }
    }
    void hold() {
        std::unique_lock lock(mutex_);
        ++held_;
        changed_.notify_all();
        changed_.wait(lock, [&] { return open_; });
    }
    void open() {
        const std::lock_guard lock(mutex_);
        open_ = true;
        changed_.notify_all();
    }

    Response post(const std::string& body, const std::string& path = "/group") {
        ClientOptions options;
        options.timeout = base::Duration::seconds(20);
        options.token = "secret";
        const auto answer = Client::create(server_->endpoint(), options).value().post(path, body);
        return answer ? *answer : Response{0, answer.error().message, {}, {}};
    }
    void send(const std::string& body, const std::string& path = "/group") {
        threads_.emplace_back(
            [=, this] { EXPECT_EQ(post(body, path).body, path + " " + body) << body; });
    }
    /// Sends requests that are held until no worker is left, and returns how many there are.
    void hold_all_workers() {
        for (int held = 0;; ++held) {
            send("hold");
            std::unique_lock lock(mutex_);
            const auto come = [&] { return held_ > held; };
            ASSERT_TRUE(changed_.wait_for(lock, kPatience, come));
            if (held_ == kWorkers) return;
        }
    }
    /// Has two requests answered together, after those that were held.
    void answer_two() {
        hold_all_workers();
        send("one");
        send("two");
        wait_for_waiting(2);
        open();
        join();
        ASSERT_EQ(sizes().back(), 2u);
    }
    void wait_for_waiting(size_t n) {
        const auto until = std::chrono::steady_clock::now() + kPatience;
        while (router_.traffic()->waiting() < n && std::chrono::steady_clock::now() < until)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        ASSERT_EQ(router_.traffic()->waiting(), n);
    }
    std::vector<size_t> sizes() {
        const std::lock_guard lock(mutex_);
        return sizes_;
    }

    static constexpr int kWorkers = 3;  // as a server has

    Router router_{access::one_token("secret")};
    std::mutex mutex_;
    std::condition_variable changed_;
    bool open_ = false;
    int held_ = 0;
    std::vector<size_t> sizes_;
    std::unique_ptr<Server> server_;
    std::vector<std::thread> threads_;
};

TEST_F(ServerGroups, AllThatWaitAreAnsweredInOneCallEachWithItsOwn) {
    hold_all_workers();
    EXPECT_EQ(sizes(), std::vector<size_t>(kWorkers, 1)) << "one that comes alone waits for none";
    for (int i = 0; i < 40; ++i) send(fmt::format("body {}", i));
    wait_for_waiting(40);
    EXPECT_EQ(Client::create(server_->endpoint(), {}).value().get("/probe")->status, 200);
    open();
    join();
    const auto all = sizes();
    ASSERT_EQ(all.size(), kWorkers + 1u);
    EXPECT_EQ(all.back(), 40u);
    EXPECT_EQ(router_.traffic()->waiting(), 0u);
}

/// A server that gathers for as long as it is given, and has just answered a group of two.
class ServerGathers : public ServerGroups {
  protected:
    static ServerOptions gathering(base::Duration gather) {
        ServerOptions options;
        options.longest_wait = base::Duration::seconds(400);  // no gathering is cut by it
        options.gather = gather;
        return options;
    }
    void after_two(base::Duration gather) {
        start(gathering(gather));
        answer_two();
    }
};

TEST_F(ServerGathers, AfterSeveralTheNextComeTogether) {
    after_two(base::Duration::seconds(5));
    const auto begin = std::chrono::steady_clock::now();
    send("three");
    wait_for_waiting(1);
    send("four");
    join();
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
    EXPECT_EQ(sizes().size(), kWorkers + 2u) << "no other worker takes them";
    EXPECT_EQ(sizes().back(), 2u);
}

// What is no part of the first group that was gathered does not wait for its end.
TEST_F(ServerGathers, WhatDoesNotFitIsTakenByAnotherWorker) {
    after_two(base::Duration::seconds(5));
    {
        const std::lock_guard lock(mutex_);
        open_ = false;
        held_ = 0;
    }
    send("hold");
    wait_for_waiting(1);
    send("other", "/other");
    const auto until = std::chrono::steady_clock::now() + kPatience;
    const auto answered = [&] { return sizes().size() == kWorkers + 3u; };
    while (!answered() && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_TRUE(answered()) << "while the first is held";
    open();
    join();
}

TEST_F(ServerGroups, NoneIsGatheredForLongerThanOthersAreLetIn) {
    ServerOptions options;
    options.longest_wait = base::Duration::seconds(20);
    options.gather = base::Duration::seconds(60);
    start(options);
    answer_two();
    EXPECT_EQ(post("three").body, "/group three") << "after 5 s; the client waits for 20";
}

// Whether it waits, is seen by the time, which is far beyond any answer's.
TEST_F(ServerGathers, EightAreEnoughAndOneAfterOneWaitsForNone) {
    after_two(base::Duration::seconds(60));
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 8; ++i) send(std::to_string(i));
    join();
    EXPECT_EQ(sizes().back(), 8u);
    start(gathering(base::Duration::seconds(60)));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(post("alone").body, "/group alone");
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(40));
}

TEST_F(ServerGroups, RoutesAndLongBodiesAreNotMixed) {
    hold_all_workers();
    const std::string longer(kMaxGroupedBody + 1, 'x');
    send("a");
    wait_for_waiting(1);
    send("b", "/other");
    wait_for_waiting(2);
    send(longer);
    wait_for_waiting(3);
    send(longer);
    wait_for_waiting(4);
    open();
    join();
    EXPECT_EQ(sizes(), std::vector<size_t>(kWorkers + 4, 1));
}

TEST_F(ServerGroups, NoGroupIsLargerThanTheLimit) {
    hold_all_workers();
    constexpr size_t kMore = 20;
    for (size_t i = 0; i < kMaxGroup + kMore; ++i) send(std::to_string(i));
    wait_for_waiting(kMaxGroup + kMore);
    open();
    join();
    const auto all = sizes();
    ASSERT_EQ(all.size(), kWorkers + 2u);
    EXPECT_EQ(std::max(all[kWorkers], all[kWorkers + 1]), kMaxGroup);
    EXPECT_EQ(std::min(all[kWorkers], all[kWorkers + 1]), kMore);
}

TEST_F(ServerGroups, AFailureOfTheHandlerIsThatOfThoseWithoutAnAnswer) {
    hold_all_workers();
    std::vector<std::string> bodies{"first", "forget", "twice", "throw", "behind"};
    std::vector<Response> answers(bodies.size());
    std::vector<std::thread> callers;
    for (size_t i = 0; i < bodies.size(); ++i) {
        callers.emplace_back([&, i] { answers[i] = post(bodies[i]); });
        wait_for_waiting(i + 1);  // so that they are in this order
    }
    open();
    for (auto& caller : callers) caller.join();
    EXPECT_EQ(answers[0].body, "/group first");
    EXPECT_EQ(answers[2].body, "/group twice") << "a second answer is none";
    for (const size_t i : {1, 3, 4}) {
        EXPECT_EQ(answers[i].status, 500) << bodies[i];
        EXPECT_NE(answers[i].body.find("handler_failed"), std::string::npos) << answers[i].body;
    }
    EXPECT_EQ(post("after").body, "/group after");
}

TEST_F(ServerGroups, WhileTheOldestHasWaitedTooLongOthersAreRefused) {
    ServerOptions options;
    options.longest_wait = base::Duration::micros(100'000);
    start(options);
    hold_all_workers();
    send("oldest");
    wait_for_waiting(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    const auto refused = post("too late");
    EXPECT_EQ(refused.status, 503);
    EXPECT_EQ(refused.header("Retry-After"), "1");
    EXPECT_NE(refused.body.find("wait_too_long"), std::string::npos) << refused.body;
    EXPECT_EQ(router_.traffic()->waiting(), 1u);
    EXPECT_EQ(router_.traffic()->wait_refusals(), 1u);
    open();
    join();  // the oldest has its answer
    EXPECT_EQ(post("again").body, "/group again");
}

TEST_F(ServerGroups, ManyClientsAtOnceGetTheirOwnAnswers) {
    constexpr int kClients = 16, kRequests = 200;
    for (int c = 0; c < kClients; ++c) {
        threads_.emplace_back([this, c] {
            ClientOptions options;
            options.timeout = base::Duration::seconds(20);
            options.token = "secret";
            auto client = Client::create(server_->endpoint(), options).value();
            for (int i = 0; i < kRequests; ++i) {
                const auto body = fmt::format("{} {}", c, i);
                const auto answer = client.post("/group", body);
                ASSERT_TRUE(answer) << answer.error().message;
                EXPECT_EQ(answer->body, "/group " + body);
            }
        });
    }
    join();
    size_t total = 0;
    for (const size_t size : sizes()) total += size;
    EXPECT_EQ(total, static_cast<size_t>(kClients * kRequests));
}

TEST_F(ServerGroups, AStopThatCutsOffRunsNoneThatStillWaits) {
    ServerOptions options;
    options.stop_timeout = base::Duration::micros(50'000);
    start(options);
    std::vector<std::thread> callers;
    for (int i = 0; i < kWorkers; ++i) {
        callers.emplace_back([this] { post("hold"); });
        std::unique_lock lock(mutex_);
        ASSERT_TRUE(changed_.wait_for(lock, kPatience, [&] { return held_ > i; }));
    }
    for (size_t i = 0; i < 5; ++i) callers.emplace_back([this] { post("waits"); });
    wait_for_waiting(5);
    std::thread stopper([this] { server_->stop(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(500));  // ten times stop_timeout
    open();
    stopper.join();
    server_.reset();  // closes what was cut off
    for (auto& caller : callers) caller.join();
    EXPECT_EQ(sizes(), std::vector<size_t>(kWorkers, 1));
}

TEST_F(ServerGroups, AStopAnswersThoseThatWait) {
    hold_all_workers();
    for (int i = 0; i < 5; ++i) send(std::to_string(i));
    wait_for_waiting(5);
    std::thread stopper([this] { server_->stop(); });
    open();
    stopper.join();
    join();
}

}  // namespace
}  // namespace rampart::http
