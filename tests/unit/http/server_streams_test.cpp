// Responses that go on: bytes as they come, followers who are slow or go away, and ends.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "rampart/access/reasons.hpp"
#include "rampart/http/client.hpp"
#include "rampart/http/server.hpp"
#include "support/raw_connection.hpp"
#include "support/tls_files.hpp"

namespace rampart::http {
namespace {

constexpr auto kPatience = std::chrono::seconds(60);

/// Waits until it is so; false: it is not within the patience of the test.
template <class Is>
bool comes(const Is& is) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!is()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
}

/// Callers whose right can be taken away.
class Callers : public access::Authenticator {
  public:
    base::Result<access::Principal> identify(const access::Caller& caller) const override {
        const std::lock_guard lock(mutex_);
        if (caller.token != "t" || scopes_.empty())
            return base::make_error(access::Reason::kUnauthenticated, "unknown");
        return access::Principal{"anna", scopes_};
    }
    void set(access::Scopes scopes) {
        const std::lock_guard lock(mutex_);
        scopes_ = scopes;
    }

  private:
    mutable std::mutex mutex_;
    access::Scopes scopes_{access::Scope::kRead};
};

class ServerStreams : public testing::TestWithParam<bool> {
  protected:
    void SetUp() override {
        files_.certificate("server");
        router_.add("GET", "/stream", access::Scope::kRead, [this](const Request&) {
            Response response;
            response.content_type = "text/event-stream";
            response.stream = std::make_shared<ResponseStream>(most_waiting_);
            const std::lock_guard lock(mutex_);
            stream_ = response.stream;
            return response;
        });
        router_.add(
            "GET", "/probe", kOpen, [](const Request&) { return Response{}; }, Lane::kInline);
        start({});
    }
    void TearDown() override {
        server_->stop();
        for (auto& thread : threads_) thread.join();
    }
    void start(ServerOptions options) {
        if (GetParam()) options.tls = files_.server("server");
        server_ = Server::start(options, router_).value();
    }
    Client client() const {
        ClientOptions options;
        options.token = "t";
        options.timeout = base::Duration::seconds(60);
        options.tls = files_.client();
        return Client::create(server_->endpoint(), options).value();
    }
    std::shared_ptr<ResponseStream> stream() {
        const std::lock_guard lock(mutex_);
        return stream_;
    }
    /// Follows the stream on a thread of its own.
    void follow() {
        threads_.emplace_back([this] {
            const auto result = client().follow("/stream", {}, [this](std::string_view bytes) {
                const std::lock_guard lock(mutex_);
                received_ += bytes;
                return true;
            });
            const std::lock_guard lock(mutex_);
            ended_well_ = result.has_value() && result->status == 200;
            ended_ = true;
        });
        ASSERT_TRUE(comes([&] { return stream() != nullptr; }));
    }
    std::string received() {
        const std::lock_guard lock(mutex_);
        return received_;
    }

    test_support::TlsFolder files_;
    std::shared_ptr<Callers> callers_ = std::make_shared<Callers>();
    Router router_{callers_};
    size_t most_waiting_ = 1 << 20;
    std::unique_ptr<Server> server_;
    std::mutex mutex_;
    std::shared_ptr<ResponseStream> stream_;
    std::string received_;
    bool ended_well_ = false;
    std::atomic<bool> ended_{false};
    std::vector<std::thread> threads_;
};

/// What is looked at byte by byte, over plain HTTP.
class ServerStreamBytes : public ServerStreams {};

INSTANTIATE_TEST_SUITE_P(Plain, ServerStreamBytes, testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Plain, ServerStreams, testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Tls, ServerStreams, testing::Values(true));

TEST_P(ServerStreams, PassesBytesOnAsTheyComeAndEndsWhereTheHandlerEndsIt) {
    follow();
    std::string all;
    for (int i = 0; i < 50; ++i) {
        const auto part = fmt::format("part {}\n", i);
        ASSERT_TRUE(stream()->send(part));
        all += part;
        ASSERT_TRUE(comes([&] { return received() == all; })) << i;
    }
    stream()->send("last");
    stream()->end();
    ASSERT_TRUE(comes([&] { return ended_.load(); }));
    EXPECT_TRUE(ended_well_);
    EXPECT_EQ(received(), all + "last");
}

TEST_P(ServerStreams, EndsWhereTheCallerMayNoMore) {
    for (const bool known : {true, false}) {
        ended_ = false;
        stream_ = nullptr;
        callers_->set({access::Scope::kRead});
        follow();
        ASSERT_TRUE(stream()->send("x"));
        ASSERT_TRUE(comes([&] { return !received().empty(); }));
        // another scope less or more: what it may receive is another
        callers_->set(known ? access::Scopes{access::Scope::kRead, access::Scope::kAudit}
                            : access::Scopes{});
        ASSERT_TRUE(comes([&] { return ended_.load(); })) << known;
        EXPECT_TRUE(stream()->ended());
    }
}

TEST_P(ServerStreams, ThatOfAClientWhoGoesAwayEnds) {
    threads_.emplace_back(
        [this] { (void)client().follow("/stream", {}, [](std::string_view) { return false; }); });
    ASSERT_TRUE(comes([&] { return stream() != nullptr; }));
    stream()->send("enough");
    EXPECT_TRUE(comes([&] { return stream()->ended(); }));
}

TEST_P(ServerStreams, AnEndOfTheServerEndsThem) {
    follow();
    stream()->send("before");
    server_->stop();
    ASSERT_TRUE(comes([&] { return ended_.load(); }));
    EXPECT_TRUE(ended_well_);
    EXPECT_EQ(received(), "before");
    EXPECT_TRUE(stream()->ended());
}

/// A client that never reads: what waits is bounded, its stream is cut, and the
/// others are answered meanwhile.
TEST_P(ServerStreamBytes, WhoDoesNotReadIsCutOffAndHoldsNoOtherUp) {
    test_support::RawConnection slow(server_->port());
    slow.send("GET /stream HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer t\r\n\r\n");
    ASSERT_TRUE(comes([&] { return stream() != nullptr; }));
    const std::string part(64 << 10, 'x');
    size_t sent = 0;
    while (stream()->send(part) && sent < 4096) {
        ASSERT_LE(stream()->waiting(), most_waiting_);
        ++sent;
        if (sent % 64 == 0) {
            EXPECT_EQ(client().get("/probe").value().status, 200);
        }
    }
    EXPECT_LT(sent, 4096u) << "256 MiB wait for a client that reads nothing";
    EXPECT_TRUE(stream()->ended());
    EXPECT_TRUE(comes([&] { return stream().use_count() <= 2; })) << "the connection is closed";
}

TEST_P(ServerStreams, RefusalsAreAnsweredAsOfOtherRoutes) {
    EXPECT_EQ(client().follow("/none", {}, [](auto) { return true; }).value().status, 404);
    callers_->set({});
    const auto refused = client().follow("/stream", {}, [](auto) { return true; }).value();
    EXPECT_EQ(refused.status, 401);
    EXPECT_NE(refused.body.find("unauthenticated"), std::string::npos);
}

TEST_P(ServerStreamBytes, OfHeadAreNone) {
    test_support::RawConnection head(server_->port());
    head.send(
        "HEAD /stream HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer t\r\n\r\n");
    const auto answer = head.receive();
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200")) << answer;
    EXPECT_TRUE(answer.ends_with("\r\n\r\n")) << answer;
    EXPECT_TRUE(stream()->ended());
}

TEST_P(ServerStreamBytes, AnOldClientGetsTheBytesAsTheyAre) {
    test_support::RawConnection old(server_->port());
    old.send("GET /stream HTTP/1.0\r\nHost: a\r\nAuthorization: Bearer t\r\n\r\n");
    ASSERT_TRUE(comes([&] { return stream() != nullptr; }));
    stream()->send("plain");
    stream()->end();
    const auto answer = old.receive();
    EXPECT_TRUE(answer.ends_with("\r\n\r\nplain")) << answer;
    EXPECT_EQ(answer.find("chunked"), std::string::npos);
}

/// Many at once, each with its own bytes, and requests between them.
TEST_P(ServerStreamBytes, ManyGoOnTogether) {
    constexpr size_t kMany = 200;
    std::vector<std::unique_ptr<test_support::RawConnection>> all;
    std::vector<std::shared_ptr<ResponseStream>> streams;
    for (size_t i = 0; i < kMany; ++i) {
        stream_ = nullptr;
        all.push_back(std::make_unique<test_support::RawConnection>(server_->port()));
        all.back()->send("GET /stream HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer t\r\n\r\n");
        ASSERT_TRUE(comes([&] { return stream() != nullptr; })) << i;
        streams.push_back(stream());
    }
    for (size_t i = 0; i < kMany; ++i) ASSERT_TRUE(streams[i]->send(fmt::format("<{}>", i)));
    EXPECT_EQ(client().get("/probe").value().status, 200);
    for (size_t i = 0; i < kMany; ++i) {
        const auto wanted = fmt::format("<{}>", i);
        EXPECT_NE(all[i]->receive(wanted).find(wanted), std::string::npos) << i;
    }
    all.clear();
    for (auto& one : streams) EXPECT_TRUE(comes([&] { return one->ended(); })) << "gone";
}

}  // namespace
}  // namespace rampart::http
