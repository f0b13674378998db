#include "rampart/http/client.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "rampart/http/server.hpp"

namespace rampart::http {
namespace {

using base::ErrorCode;

TEST(Client, AnEndpointIsHostAndPort) {
    for (const char* good : {"127.0.0.1:80", "[::1]:8080", "scoring.example:65535"}) {
        EXPECT_TRUE(Client::create(good)) << good;
    }
    for (const char* bad : {"", "host", ":80", "host:", "host:0", "host:65536", "host:x", "[::1:80",
                            "http://host:80x"}) {
        const auto client = Client::create(bad);
        ASSERT_FALSE(client) << bad;
        EXPECT_EQ(client.error().reason, "bad_endpoint");
    }
}

TEST(Client, SendsItsTokenAndContentType) {
    const auto server = Server::start({}, [](const Request& request) {
                            return Response{200,
                                            std::string(request.header("Authorization")) + "|" +
                                                std::string(request.header("Content-Type")),
                                            "text/plain",
                                            {}};
                        }).value();
    ClientOptions options;
    options.token = "t1";
    auto client = Client::create(server->endpoint(), options).value();
    EXPECT_EQ(client.post("/", "{}").value().body, "Bearer t1|application/json");
    EXPECT_EQ(client.post("/", "a", "text/csv").value().body, "Bearer t1|text/csv");
    EXPECT_EQ(client.get("/").value().body, "Bearer t1|");
}

TEST(Client, SendsItsHostWithBracketsAroundIpv6) {
    for (const char* address : {"127.0.0.1", "::1"}) {
        ServerOptions options;
        options.address = address;
        const auto started = Server::start(options, [](const Request& request) {
            return Response{200, std::string(request.header("Host")), "text/plain", {}};
        });
        if (!started) continue;  // a machine without IPv6
        const auto endpoint = (*started)->endpoint();
        EXPECT_EQ(Client::create(endpoint).value().get("/").value().body, endpoint);
    }
}

TEST(Client, ReadsStatusHeadersAndBody) {
    const auto server = Server::start({}, [](const Request&) {
                            return Response{404, "nothing", "text/plain", {{"X-Why", "because"}}};
                        }).value();
    const auto response = Client::create(server->endpoint()).value().get("/x").value();
    EXPECT_EQ(response.status, 404);
    EXPECT_EQ(response.body, "nothing");
    EXPECT_EQ(response.content_type, "text/plain");
    EXPECT_EQ(response.header("x-why"), "because");
}

TEST(Client, OpensAClosedConnectionAgain) {
    ServerOptions options;
    auto server = Server::start(options, [](const Request&) { return Response{}; }).value();
    options.port = server->port();
    auto client = Client::create(server->endpoint()).value();
    ASSERT_TRUE(client.get("/"));
    server.reset();  // closes the kept connection
    server = Server::start(options, [](const Request&) { return Response{}; }).value();
    const auto response = client.post("/", "{}");
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->status, 200);
}

TEST(Client, NobodyListeningIsUnavailable) {
    auto server = Server::start({}, [](const Request&) { return Response{}; }).value();
    const std::string endpoint = server->endpoint();
    server.reset();
    const auto response = Client::create(endpoint).value().get("/x");
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, ErrorCode::kUnavailable);
    EXPECT_NE(response.error().message.find(endpoint), std::string::npos);
}

TEST(Client, GivesUpAfterItsTimeout) {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    const auto server = Server::start({}, [&](const Request&) {
                            std::unique_lock lock(mutex);
                            changed.wait(lock, [&] { return done; });
                            return Response{};
                        }).value();
    ClientOptions options;
    options.timeout = base::Duration::micros(50'000);
    const auto response = Client::create(server->endpoint(), options).value().get("/");
    {
        const std::lock_guard lock(mutex);
        done = true;
    }
    changed.notify_all();
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().reason, "timeout");
}

TEST(Client, AnAnswerPastTheLimitIsRefusedAndOneAtItIsRead) {
    const auto server =
        Server::start({}, [](const Request& request) {
            return Response{200, std::string(request.path.size() * 100, 'x'), "t/p", {}};
        }).value();
    ClientOptions options;
    options.max_response_bytes = 300;
    auto client = Client::create(server->endpoint(), options).value();
    EXPECT_EQ(client.get("/12").value().body.size(), 300u);
    EXPECT_EQ(client.get("/123").error().reason, "answer_too_large");
    EXPECT_EQ(client.get("/1").value().body.size(), 200u);  // and goes on
}

/// Accepts one connection, reads a little, says `answer`, hangs up.
class OneShot {
  public:
    explicit OneShot(std::string answer) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&address), size), 0);
        EXPECT_EQ(::listen(fd_, 1), 0);
        ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
        endpoint_ = fmt::format("127.0.0.1:{}", ntohs(address.sin_port));
        thread_ = std::thread([fd = fd_, answer = std::move(answer)] {
            const int peer = ::accept(fd, nullptr, nullptr);
            char chunk[4096];
            (void)!::recv(peer, chunk, sizeof chunk, 0);
            (void)!::send(peer, answer.data(), answer.size(), MSG_NOSIGNAL);
            ::close(peer);
        });
    }
    ~OneShot() {
        thread_.join();
        ::close(fd_);
    }
    const std::string& endpoint() const { return endpoint_; }

  private:
    int fd_;
    std::string endpoint_;
    std::thread thread_;
};

TEST(Client, WhatIsNoHttpIsDataLoss) {
    const OneShot server("220 smtp.example\r\n");
    EXPECT_EQ(Client::create(server.endpoint()).value().get("/").error().reason, "bad_http");
}

TEST(Client, AnAnswerThatBreaksOffIsUnavailable) {
    const OneShot server("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort");
    const auto response = Client::create(server.endpoint()).value().get("/");
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace rampart::http
