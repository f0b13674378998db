// Which handlers may wait for which, and what a client can take before it has shown its token.
#include <gtest/gtest.h>

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "rampart/http/client.hpp"
#include "rampart/http/server.hpp"
#include "support/raw_connection.hpp"
#include "support/thread_names.hpp"

namespace rampart::http {
namespace {

using test_support::RawConnection;

/// Holds the threads that arrive until it is opened, and counts them.
class Latch {
  public:
    Response hold() {
        std::unique_lock lock(mutex_);
        ++inside_;
        changed_.notify_all();
        changed_.wait(lock, [&] { return open_; });
        return {200, "held", "text/plain", {}};
    }
    void wait_for(int inside) {
        std::unique_lock lock(mutex_);
        EXPECT_TRUE(
            changed_.wait_for(lock, std::chrono::seconds(20), [&] { return inside_ >= inside; }))
            << inside_ << " of " << inside << " came in";
    }
    void open() {
        const std::lock_guard lock(mutex_);
        open_ = true;
        changed_.notify_all();
    }
    int inside() {
        const std::lock_guard lock(mutex_);
        return inside_;
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int inside_ = 0;
    bool open_ = false;
};

/// A server with a route that is held and one that is free in each lane.
class ServerLanes : public testing::Test {
  protected:
    void SetUp() override {
        const auto add = [&](const std::string& name, Lane lane, Latch* latch) {
            router_.add(
                "POST", "/" + name, kOpen,
                [latch](const Request&) { return latch == nullptr ? Response{} : latch->hold(); },
                lane);
        };
        add("work", Lane::kWork, nullptr);
        add("bulk", Lane::kBulk, nullptr);
        add("administrative", Lane::kAdministrative, nullptr);
        add("probe", Lane::kInline, nullptr);
        add("held-work", Lane::kWork, &work_);
        add("held-bulk", Lane::kBulk, &bulk_);
        add("held-administrative", Lane::kAdministrative, &administrative_);
        ServerOptions options;
        options.threads = 2;
        options.bulk_threads = 1;
        options.administrative_threads = 2;
        server_ = Server::start(options, router_).value();
    }
    void TearDown() override {
        for (Latch* latch : {&work_, &bulk_, &administrative_}) latch->open();
        for (auto& thread : threads_) thread.join();
    }
    Response post(const std::string& name) {
        ClientOptions options;
        options.timeout = base::Duration::seconds(20);
        const auto answer =
            Client::create(server_->endpoint(), options).value().post("/" + name, "x");
        return answer ? *answer : Response{0, answer.error().message, {}, {}};
    }
    /// In the background; TearDown waits for the answer, which has to be the handler's.
    void send(const std::string& name, int times) {
        for (int i = 0; i < times; ++i) {
            threads_.emplace_back([this, name] { EXPECT_EQ(post(name).body, "held"); });
        }
    }

    Latch work_, bulk_, administrative_;
    Router router_;
    std::unique_ptr<Server> server_;
    std::vector<std::thread> threads_;
};

TEST_F(ServerLanes, ProbesAreAnsweredWhileEveryHandlerThreadIsHeld) {
    send("held-work", 6);  // four more than there are threads: they wait for their turn
    send("held-bulk", 3);
    send("held-administrative", 2);
    work_.wait_for(2);
    bulk_.wait_for(1);
    administrative_.wait_for(2);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(post("probe").status, 200);
    EXPECT_EQ(work_.inside(), 2);
    EXPECT_EQ(bulk_.inside(), 1);
    work_.open();  // those that wait come one after the other
    work_.wait_for(6);
    EXPECT_EQ(post("work").status, 200);
}

TEST_F(ServerLanes, ThreadsHaveTheNameOfWhatTheyDo) {
    const size_t lanes = 2 + 1 + 2 + 3;  // 3 for groups
    test_support::expect_threads("http-io", 2);
    test_support::expect_threads("http-lane", lanes);
    send("held-work", 2);
    send("held-bulk", 1);
    send("held-administrative", 2);
    test_support::expect_threads("http-work", 2);
    test_support::expect_threads("http-bulk", 1);
    test_support::expect_threads("http-admin", 2);
    test_support::expect_threads("http-lane", lanes - 5);
}

TEST_F(ServerLanes, AdministrativeRequestsNeverTakeTheThreadsOfDecisions) {
    send("held-administrative", 2);
    administrative_.wait_for(2);
    for (int i = 0; i < 10; ++i) {
        const auto refused = post("held-administrative");
        EXPECT_EQ(refused.status, 503);
        EXPECT_EQ(refused.header("Retry-After"), "1");
        EXPECT_NE(refused.body.find("administrative_busy"), std::string::npos);
    }
    EXPECT_EQ(administrative_.inside(), 2);
    EXPECT_EQ(post("work").status, 200);
    EXPECT_EQ(post("bulk").status, 200);
    administrative_.open();
    for (auto& thread : threads_) thread.join();
    threads_.clear();
    EXPECT_EQ(post("administrative").status, 200);
}

TEST_F(ServerLanes, BulkReportsWaitForEachOtherAndForNothingElse) {
    send("held-bulk", 4);
    bulk_.wait_for(1);
    EXPECT_EQ(post("work").status, 200);
    EXPECT_EQ(post("administrative").status, 200);
    EXPECT_EQ(bulk_.inside(), 1);
}

class ServerEdge : public testing::Test {
  protected:
    void SetUp() override {
        router_.add("POST", "/v1/decisions", access::Scope::kRead, [](const Request& r) {
            return Response{200, r.body, "text/plain", {}};
        });
        router_.add(
            "GET", "/healthz", kOpen, [](const Request&) { return Response{}; }, Lane::kInline);
        start();
    }
    void start(ServerOptions options = {}) { server_ = Server::start(options, router_).value(); }
    static std::string head(const std::string& line, const std::string& more) {
        return line + " HTTP/1.1\r\nHost: h\r\n" + more + "\r\n";
    }
    /// The answer to these bytes, up to the end of its head.
    std::string answer(const std::string& bytes) {
        RawConnection raw(server_->port());
        raw.send(bytes);
        return raw.receive("\r\n\r\n");
    }
    static size_t resident_bytes() {
        size_t total = 0, resident = 0;
        std::ifstream("/proc/self/statm") >> total >> resident;
        return resident * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    }
    static size_t open_files() {
        size_t count = 0;
        for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
            count += entry.is_symlink();
        }
        return count;
    }

    Router router_{access::one_token("secret")};
    std::unique_ptr<Server> server_;
};

TEST_F(ServerEdge, AWrongTokenIsRefusedBeforeTheBodyIsRead) {
    // not a byte of the body is sent, and with Expect it is not asked for
    for (const char* more : {"Content-Length: 1000\r\n", "Transfer-Encoding: chunked\r\n",
                             "Content-Length: 1000\r\nExpect: 100-continue\r\n",
                             "Content-Length: 1000\r\nAuthorization: Bearer guess\r\n"}) {
        const auto refused = answer(head("POST /v1/decisions", more));
        EXPECT_TRUE(refused.starts_with("HTTP/1.1 401 ")) << more << refused;
        EXPECT_NE(refused.find("Connection: close"), std::string::npos) << refused;
    }
    EXPECT_TRUE(answer(head("POST /nowhere", "Content-Length: 9\r\n")).starts_with("HTTP/1.1 404"));
    EXPECT_TRUE(answer(head("PUT /healthz", "Content-Length: 9\r\n")).starts_with("HTTP/1.1 405"));
    // without a body the connection is kept
    RawConnection raw(server_->port());
    for (int i = 0; i < 2; ++i) {
        raw.send(head("POST /v1/decisions", "Content-Length: 0\r\n"));
        EXPECT_NE(raw.receive("}}").find("HTTP/1.1 401 "), std::string::npos) << i;
    }
}

TEST_F(ServerEdge, BodiesOfStrangersTakeNoMemory) {
    const std::string body((8 << 20) - 1, 'x');  // a byte less than it says
    const size_t before = resident_bytes();
    std::vector<std::unique_ptr<RawConnection>> strangers;
    for (int i = 0; i < 40; ++i) {
        strangers.push_back(std::make_unique<RawConnection>(server_->port()));
        strangers.back()->send(head("POST /v1/decisions", "Content-Length: 8388608\r\n"));
        strangers.back()->send(body);
    }
    EXPECT_LT(resident_bytes(), before + (64u << 20));
}

TEST_F(ServerEdge, ARouteWithoutATokenTakesNoLargeBody) {
    EXPECT_TRUE(
        answer(head("GET /healthz", "Content-Length: 1025\r\n")).starts_with("HTTP/1.1 413 "));
    EXPECT_TRUE(answer(head("GET /healthz", "Transfer-Encoding: chunked\r\n") + "401\r\n" +
                       std::string(1025, 'x') + "\r\n0\r\n\r\n")
                    .starts_with("HTTP/1.1 413 "));
    EXPECT_TRUE(
        answer(head("GET /healthz", "Content-Length: 2\r\n") + "hi").starts_with("HTTP/1.1 200 "));
}

TEST_F(ServerEdge, ARequestWhoseEndOrHostIsNotClearIsRefused) {
    for (const char* coding : {"xchunked", "gzip, chunked", "gzip", "chunked, chunked"}) {
        const auto refused =
            answer(head("GET /healthz", fmt::format("Transfer-Encoding: {}\r\n", coding)));
        EXPECT_TRUE(refused.starts_with("HTTP/1.1 400 ")) << coding << ": " << refused;
    }
    for (const char* hosts : {"", "Host: a\r\nHost: b\r\n"}) {
        const auto refused = answer(fmt::format("GET /healthz HTTP/1.1\r\n{}\r\n", hosts));
        EXPECT_TRUE(refused.starts_with("HTTP/1.1 400 ")) << hosts << refused;
        EXPECT_NE(refused.find("Connection: close"), std::string::npos) << refused;
    }
    EXPECT_TRUE(answer("GET /healthz HTTP/1.0\r\n\r\n").starts_with("HTTP/1.1 200 "));
    EXPECT_TRUE(answer(head("GET /healthz", "Transfer-Encoding: Chunked\r\n") + "0\r\n\r\n")
                    .starts_with("HTTP/1.1 200 "));
}

TEST_F(ServerEdge, IdleConnectionsKeepNoProbeFromItsAnswer) {
    ServerOptions options;
    options.max_connections = 2;
    start(options);
    const RawConnection first(server_->port()), second(server_->port());
    EXPECT_TRUE(answer(head("GET /healthz", "")).starts_with("HTTP/1.1 200 "));
    const auto refused = answer(head("POST /v1/decisions", "Authorization: Bearer secret\r\n"));
    EXPECT_TRUE(refused.starts_with("HTTP/1.1 503 ")) << refused;
    EXPECT_NE(refused.find("Retry-After: 1\r\n"), std::string::npos);
}

TEST_F(ServerEdge, MoreConnectionsThanThoseCountedAreClosedAtOnce) {
    ServerOptions options;
    options.max_connections = 2;
    start(options);
    const size_t before = open_files();
    constexpr size_t kMany = 300;
    std::vector<std::unique_ptr<RawConnection>> idle;
    for (size_t i = 0; i < kMany; ++i) {
        idle.push_back(std::make_unique<RawConnection>(server_->port()));
        ASSERT_TRUE(idle.back()->connected());
    }
    idle.back()->receive();  // accepted in their order: it is through with all of them
    EXPECT_LE(open_files(), before + kMany + options.max_connections + kSpareConnections + 2);
}

}  // namespace
}  // namespace rampart::http
