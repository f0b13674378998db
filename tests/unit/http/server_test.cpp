#include "rampart/http/server.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "rampart/http/client.hpp"
#include "support/raw_connection.hpp"
#include "support/tls_connection.hpp"
#include "support/tls_files.hpp"

namespace rampart::http {
namespace {

Response echo(const Request& request) {
    return {200, request.method + " " + request.path + " " + request.body, "text/plain", {}};
}

/// All that a server does is done over plain HTTP and over TLS.
class ServerTest : public testing::TestWithParam<bool> {
  protected:
    static void SetUpTestSuite() {
        files_ = std::make_unique<test_support::TlsFolder>();
        files_->certificate("server");
    }
    static void TearDownTestSuite() { files_.reset(); }

    static ServerOptions with_tls(ServerOptions options) {
        if (GetParam()) options.tls = files_->server("server");
        return options;
    }
    static std::unique_ptr<Server> start(ServerOptions options = {},
                                         std::function<Response(Request)> handler = echo) {
        auto server = Server::start(with_tls(std::move(options)), std::move(handler));
        EXPECT_TRUE(server) << server.error().message;
        return std::move(*server);
    }
    static Client client_of(const Server& server) {
        ClientOptions options;
        options.tls = files_->client();
        return Client::create(server.endpoint(), options).value();
    }

    /// A connection for requests that no client would send.
    class Raw {
      public:
        explicit Raw(const Server& server) {
            if (GetParam()) {
                secure_.emplace(server.port());
            } else {
                plain_.emplace(server.port());
            }
        }
        void send(std::string_view bytes) { secure_ ? secure_->send(bytes) : plain_->send(bytes); }
        std::string receive(const std::string& wanted = {}) {
            return secure_ ? secure_->receive(wanted) : plain_->receive(wanted);
        }

      private:
        std::optional<test_support::RawConnection> plain_;
        std::optional<test_support::TlsConnection> secure_;
    };

  private:
    static inline std::unique_ptr<test_support::TlsFolder> files_;
};

INSTANTIATE_TEST_SUITE_P(Plain, ServerTest, testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Tls, ServerTest, testing::Values(true));

TEST_P(ServerTest, AnswersOnAPortOfItsChoice) {
    const auto server = start();
    EXPECT_NE(server->port(), 0);
    auto client = client_of(*server);
    EXPECT_EQ(client.get("/a").value().body, "GET /a ");
    EXPECT_EQ(client.post("/b", "x").value().body, "POST /b x");
}

TEST_P(ServerTest, APortInUseIsNamed) {
    const auto first = start();
    ServerOptions options;
    options.port = first->port();
    const auto second = Server::start(options, echo);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().reason, "port_in_use");
    EXPECT_NE(second.error().message.find(std::to_string(first->port())), std::string::npos);
}

TEST_P(ServerTest, AnswersByAnotherRouterFromOneMomentOn) {
    const auto server = start();
    auto client = client_of(*server);
    EXPECT_EQ(client.get("/now")->status, 200);
    Router router;
    router.add("GET", "/later", kOpen, [](const Request&) {
        Response response;
        response.status = 201;
        return response;
    });
    server->answer_by(router);
    EXPECT_EQ(client.get("/later")->status, 201) << "also on a connection that is open already";
    EXPECT_EQ(client.get("/now")->status, 404);
}

TEST_P(ServerTest, BadOptionsAreNamed) {
    ServerOptions options;
    options.address = "localhost";
    EXPECT_EQ(Server::start(options, echo).error().reason, "bad_address");
    options = {};
    options.threads = 0;
    EXPECT_EQ(Server::start(options, echo).error().reason, "bad_threads");
    options.threads = 257;
    EXPECT_EQ(Server::start(options, echo).error().reason, "bad_threads");
    options = {};
    options.administrative_threads = 0;
    EXPECT_EQ(Server::start(options, echo).error().reason, "bad_threads");
}

TEST_P(ServerTest, ABodyAtTheLimitIsReadAndOnePastItIsRefused) {
    ServerOptions options;
    options.max_body_bytes = 100'000;
    const auto server = start(options);
    auto client = client_of(*server);
    const std::string at_limit(options.max_body_bytes, 'x');
    EXPECT_EQ(client.post("/", at_limit).value().status, 200);
    const auto refused = client.post("/", at_limit + "x");
    ASSERT_TRUE(refused) << refused.error().message;
    EXPECT_EQ(refused->status, 413);
    EXPECT_NE(refused->body.find("100000 bytes"), std::string::npos);
    EXPECT_EQ(client.post("/", "x").value().status, 200);  // on a new connection
}

TEST_P(ServerTest, ABodyFarPastTheLimitStillGetsItsAnswer) {
    const auto server = start();
    const auto refused = client_of(*server).post("/", std::string(12 << 20, 'x'));
    ASSERT_TRUE(refused) << refused.error().message;
    EXPECT_EQ(refused->status, 413);
}

TEST_P(ServerTest, AChunkedBodyPastTheLimitIsRefusedToo) {
    ServerOptions options;
    options.max_body_bytes = 10;
    const auto server = start(options);
    Raw raw(*server);
    raw.send(
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        "b\r\n12345678901\r\n0\r\n\r\n");
    EXPECT_TRUE(raw.receive().starts_with("HTTP/1.1 413 "));
}

TEST_P(ServerTest, HeadersPastTheLimitAreRefused) {
    const auto server = start();
    Raw raw(*server);
    raw.send("GET / HTTP/1.1\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n");
    EXPECT_TRUE(raw.receive().starts_with("HTTP/1.1 431 "));
}

TEST_P(ServerTest, WhatIsNoHttpIsRefused) {
    const auto server = start();
    Raw raw(*server);
    raw.send("hello there\r\n\r\n");
    const std::string answer = raw.receive();
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << answer;
    EXPECT_NE(answer.find("bad_http"), std::string::npos);
}

TEST_P(ServerTest, ABadTargetIsRefusedAndTheConnectionKept) {
    const auto server = start();
    auto client = client_of(*server);
    EXPECT_EQ(client.get("/%zz").value().status, 400);
    EXPECT_EQ(client.get("/").value().status, 200);
}

TEST_P(ServerTest, SeveralRequestsSentAtOnceAreAnsweredInOrder) {
    const auto server = start();
    Raw raw(*server);
    raw.send(
        "GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n"
        "Connection: close\r\n\r\n");
    const std::string answers = raw.receive();
    EXPECT_LT(answers.find("GET /1"), answers.find("GET /2"));
    EXPECT_NE(answers.find("GET /2"), std::string::npos);
}

TEST_P(ServerTest, AClientThatAsksFirstIsToldToGoOn) {
    const auto server = start();
    Raw raw(*server);
    raw.send(
        "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n"
        "Connection: close\r\n\r\n");
    EXPECT_TRUE(raw.receive("\r\n\r\n").starts_with("HTTP/1.1 100 "));
    raw.send("hi");
    EXPECT_NE(raw.receive().find("POST / hi"), std::string::npos);
}

TEST_P(ServerTest, HeadIsGetWithoutTheBody) {
    const auto server = start();
    Raw raw(*server);
    raw.send("HEAD /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    const std::string answer = raw.receive();
    EXPECT_NE(answer.find("Content-Length: 7\r\n"), std::string::npos) << answer;
    EXPECT_TRUE(answer.ends_with("\r\n\r\n"));
}

TEST_P(ServerTest, ASlowRequestRunsIntoTheTimeout) {
    ServerOptions options;
    options.request_timeout = base::Duration::micros(50'000);
    const auto server = start(options);
    Raw raw(*server);
    raw.send("GET / HTT");
    EXPECT_EQ(raw.receive(), "");  // closed, without our sending the rest
}

TEST_P(ServerTest, AnIdleConnectionIsClosed) {
    ServerOptions options;
    options.idle_timeout = base::Duration::micros(50'000);
    const auto server = start(options);
    Raw raw(*server);
    EXPECT_EQ(raw.receive(), "");
}

TEST_P(ServerTest, OneConnectionTooManyIsTurnedAway) {
    ServerOptions options;
    options.max_connections = 2;
    const auto server = start(options);
    auto first = client_of(*server), second = client_of(*server), third = client_of(*server);
    ASSERT_EQ(first.get("/").value().status, 200);
    ASSERT_EQ(second.get("/").value().status, 200);
    const auto refused = third.get("/");
    ASSERT_TRUE(refused) << refused.error().message;
    EXPECT_EQ(refused->status, 503);
    EXPECT_EQ(refused->header("Retry-After"), "1");
    EXPECT_EQ(first.get("/").value().status, 200);
}

TEST_P(ServerTest, AHandlerThatThrowsIsAnInternalErrorAndTheServerLives) {
    const auto server = start({}, [](Request request) -> Response {
        if (request.path == "/throw") throw std::runtime_error("x");
        return echo(request);
    });
    auto client = client_of(*server);
    EXPECT_EQ(client.get("/throw").value().status, 500);
    EXPECT_EQ(client.get("/").value().status, 200);
}

TEST_P(ServerTest, StoppingLetsTheRequestUnderWayFinish) {
    std::mutex mutex;
    std::condition_variable changed;
    bool entered = false, go_on = false;
    const auto server = start({}, [&](const Request& request) {
        std::unique_lock lock(mutex);
        entered = true;
        changed.notify_all();
        changed.wait(lock, [&] { return go_on; });
        return echo(request);
    });
    Raw idle(*server);
    int status = 0;
    std::thread asker([&] { status = client_of(*server).get("/slow").value().status; });
    {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return entered; });
    }
    std::thread stopper([&] { server->stop(); });
    EXPECT_EQ(idle.receive(), "");  // stop() has begun once this returns
    {
        const std::lock_guard lock(mutex);
        go_on = true;
    }
    changed.notify_all();
    asker.join();
    stopper.join();
    EXPECT_EQ(status, 200);
    EXPECT_FALSE(client_of(*server).get("/"));
    server->stop();  // again: nothing happens
}

TEST_P(ServerTest, ManyClientsAreServedAtOnce) {
    std::atomic<int> served{0};
    const auto server = start({}, [&](const Request& request) {
        ++served;
        return echo(request);
    });
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 8; ++t) {
        threads.emplace_back([&, t] {
            auto client = client_of(*server);
            for (int i = 0; i < 100; ++i) {
                const std::string body = fmt::format("{}-{}", t, i);
                const auto response = client.post("/x", body);
                if (!response || response->body != "POST /x " + body) ++wrong;
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(served, 800);
}

}  // namespace
}  // namespace rampart::http
