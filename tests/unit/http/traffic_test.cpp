#include "rampart/http/traffic.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>
#include <thread>
#include <vector>

#include "rampart/http/client.hpp"
#include "rampart/http/server.hpp"
#include "support/raw_connection.hpp"

namespace rampart::http {
namespace {

/// "GET /x 200:2 404:1 in 3 out 5", a line for each route and method.
std::string summary(const Traffic& traffic) {
    std::string text;
    traffic.visit([&](auto route, auto method, const auto& requests) {
        text += fmt::format("{} {}", method, route);
        uint64_t all = 0;
        for (const auto& [status, count] : requests.by_status) {
            text += fmt::format(" {}:{}", status, count);
            all += count;
        }
        text += fmt::format(" in {}\n", requests.request_bytes);
        const auto counts = requests.seconds->counts();
        EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), uint64_t{0}), all);
    });
    return text;
}

TEST(Traffic, IsCountedByRouteMethodAndStatus) {
    Traffic traffic;
    traffic.answered({"/a", "GET", 200, 0.5, 0, 10});
    traffic.answered({"/a", "GET", 200, 0.5, 2, 10});
    traffic.answered({"/a", "GET", 503, 0.5, 1, 10});
    traffic.answered({"/a", "POST", 200, 0.5, 7, 10});
    EXPECT_EQ(summary(traffic), "GET /a 200:2 503:1 in 3\nPOST /a 200:1 in 7\n");
    traffic.opened();
    traffic.opened();
    traffic.closed();
    traffic.refused();
    traffic.failed_to_accept();
    const auto connections = traffic.connections();
    EXPECT_EQ(connections.accepted, 2u);
    EXPECT_EQ(connections.open, 1u);
    EXPECT_EQ(connections.refused, 1u);
    EXPECT_EQ(connections.accept_failures, 1u);
}

TEST(Traffic, UncommonMethodsHaveOneName) {
    EXPECT_EQ(known_method("PATCH"), "PATCH");
    EXPECT_EQ(known_method("BREW"), "other");
    EXPECT_EQ(known_method(""), "other");
}

class TrafficOfAServer : public testing::Test {
  protected:
    TrafficOfAServer() {
        router_.add("POST", "/things/{id}", access::Scope::kRead, [this](const Request& request) {
            seen_ = request.id;
            if (request.body == "fail") throw std::runtime_error("what");
            return Response{200, "ok", "text/plain", {}};
        });
        router_.add("POST", "/failing", access::Scope::kRead,
                    [](const Request&) -> Response { throw std::runtime_error("what"); });
        server_ = Server::start({}, router_).value();
    }
    Client client() {
        ClientOptions options;
        options.token = "token";
        return Client::create(server_->endpoint(), options).value();
    }
    /// What the server answers to a request with these lines.
    std::string answer(const std::string& head) {
        test_support::RawConnection connection(server_->port());
        connection.send(head + "Host: x\r\nConnection: close\r\n\r\n");
        return connection.receive();
    }
    Router router_{access::one_token("token")};
    std::unique_ptr<Server> server_;
    std::string seen_;
};

TEST_F(TrafficOfAServer, LabelsAreFewWhateverIsAsked) {
    auto client = this->client();
    EXPECT_EQ(client.post("/things/1", "abc").value().status, 200);
    EXPECT_EQ(client.post("/things/2", "abc").value().status, 200);
    EXPECT_EQ(client.post("/things/2", "fail").value().status, 500);
    EXPECT_EQ(client.get("/things/2").value().status, 405);
    EXPECT_EQ(client.get("/nothing/at/all").value().status, 404);
    answer("POST /things/3 HTTP/1.1\r\n");    // no token
    answer("BREW /coffee HTTP/1.1\r\n");      // no such method
    answer("this is no request at all\r\n");  // nor is this
    server_->stop();
    EXPECT_EQ(summary(*router_.traffic()),
              "POST /things/{id} 200:2 401:1 500:1 in 10\n"
              "GET other 404:1 405:1 in 0\n"
              "other other 400:1 404:1 in 0\n");
    const auto connections = router_.traffic()->connections();
    EXPECT_EQ(connections.accepted, 4u);
    EXPECT_EQ(connections.open, 0u);
}

// A loaded machine may read the first byte late, but never before it is sent: the upper limit is
// the client's own time, and the lower one leaves the server a second and a half.
TEST_F(TrafficOfAServer, TimeCountsFromTheFirstByte) {
    test_support::RawConnection connection(server_->port());
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // idle: not in it
    const auto sent = std::chrono::steady_clock::now();
    connection.send("P");
    std::this_thread::sleep_for(std::chrono::seconds(2));
    connection.send("OST /things/1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    connection.receive();
    server_->stop();
    const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - sent;
    router_.traffic()->visit([&](auto, auto, const auto& requests) {
        EXPECT_GE(requests.seconds->sum(), 0.5);
        EXPECT_LT(requests.seconds->sum(), whole.count());
    });
}

TEST_F(TrafficOfAServer, EachResponseHasTheIdThatTheHandlerSaw) {
    auto client = this->client();
    const auto first = client.post("/things/1", "").value();
    EXPECT_EQ(first.header("X-Request-Id"), seen_);
    const std::string id = seen_;
    EXPECT_FALSE(id.empty());
    EXPECT_TRUE(client.post("/things/1", ""));
    EXPECT_NE(seen_, id);
    EXPECT_NE(answer("POST /things/1 HTTP/1.1\r\nX-Request-Id: mine-7\r\n"
                     "Authorization: Bearer token\r\n")
                  .find("X-Request-Id: mine-7\r\n"),
              std::string::npos);
    EXPECT_EQ(seen_, "mine-7");
    // refusals have one as well, and what is not safe is not sent back
    EXPECT_NE(answer("GET / HTTP/1.1\r\nX-Request-Id: mine-8\r\n").find("X-Request-Id: mine-8\r\n"),
              std::string::npos);
    const auto refused = answer("nonsense\r\n");
    EXPECT_NE(refused.find("X-Request-Id: "), std::string::npos) << refused;
    const auto unsafe = answer("GET / HTTP/1.1\r\nX-Request-Id: a\"b\r\n");
    EXPECT_EQ(unsafe.find("a\"b"), std::string::npos) << unsafe;
}

TEST_F(TrafficOfAServer, AFailureIsLoggedWithItsId) {
    testing::internal::CaptureStderr();
    test_support::RawConnection connection(server_->port());
    connection.send(
        "POST /failing HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Request-Id: mine-9\r\n"
        "Authorization: Bearer token\r\nContent-Length: 4\r\n\r\nfail");
    connection.receive();
    server_->stop();
    const auto log = testing::internal::GetCapturedStderr();
    EXPECT_NE(log.find("status=500 reason=handler_failed method=POST route=/failing "
                       "request_id=mine-9\n"),
              std::string::npos)
        << log;
}

}  // namespace
}  // namespace rampart::http
