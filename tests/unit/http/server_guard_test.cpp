// What a server does against callers that send too much, too often, or nothing.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "rampart/http/client.hpp"
#include "rampart/http/server.hpp"
#include "support/raw_connection.hpp"

namespace rampart::http {
namespace {

using test_support::RawConnection;

const std::string kEnd = "\r\n\r\n";

/// Tries until it is so, for up to 30 s.
bool until(const std::function<bool()>& so) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!so())
        if (std::chrono::steady_clock::now() > limit) return false;
    return true;
}

/// Knows each caller by a token that is its name; "t" is that of anna.
class ByName final : public access::Authenticator {
  public:
    base::Result<access::Principal> identify(const access::Caller& caller) const override {
        const std::string name(caller.token == "t" ? "anna" : caller.token);
        if (name != "anna" && name != "bert") return access::no_one()->identify(caller);
        return access::Principal{name, {access::Scope::kDecide}};
    }
};

/// A server with one route for callers who are known, and one for all.
class ServerGuard : public testing::Test {
  protected:
    ServerGuard() {
        router_.add("POST", "/work", access::Scope::kDecide, [this](const Request& r) {
            if (r.query.contains("wait")) {
                entered_ = true;
                go_.get_future().wait();
            }
            return Response{200, r.principal + "@" + r.address, "text/plain", {}};
        });
        router_.add(
            "GET", "/healthz", kOpen, [](const Request&) { return Response{}; }, Lane::kInline);
    }
    void start(ServerOptions options) { server_ = Server::start(options, router_).value(); }

    Client client(std::string token = "t") {
        ClientOptions options;
        options.token = std::move(token);
        return Client::create(server_->endpoint(), options).value();
    }
    std::string head(size_t length) const {
        return fmt::format(
            "POST /work HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer t\r\nContent-Length: {}{}",
            length, kEnd);
    }

    std::promise<void> go_;
    std::atomic<bool> entered_{false};
    Router router_{std::make_shared<ByName>()};
    std::unique_ptr<Server> server_;
};

TEST_F(ServerGuard, HandlersKnowWhoCallsFromWhere) {
    start({});
    EXPECT_EQ(client().post("/work", "x").value().body, "anna@127.0.0.1");
    EXPECT_EQ(client("other").post("/work", "x").value().status, 401);
}

TEST_F(ServerGuard, AFoldedHeaderIsRefusedAndClosesTheConnection) {
    start({});
    for (const char* fold : {"X-A: b\r\n c: d\r\n", "X-A: b\r\n\tc\r\n", "X-A:\r\n b\r\n"}) {
        RawConnection connection(server_->port());
        connection.send(fmt::format("GET /healthz HTTP/1.1\r\nHost: a\r\n{}\r\n", fold));
        const auto answer = connection.receive();
        EXPECT_TRUE(answer.starts_with("HTTP/1.1 400")) << answer;
        EXPECT_NE(answer.find("folded_header"), std::string::npos) << answer;
    }
    RawConnection in_pieces(server_->port());
    for (const char* piece :
         {"GET /healthz HTTP/1.1\r", "\nHost: a\r\nX-A: b\r", "\n", " c\r\n\r\n"})
        in_pieces.send(piece);
    EXPECT_NE(in_pieces.receive().find("folded_header"), std::string::npos);
    RawConnection body(server_->port());
    body.send(head(8) + "\r\n x\r\n y");
    EXPECT_TRUE(body.receive("anna").starts_with("HTTP/1.1 200")) << "a body may have such bytes";
}

TEST_F(ServerGuard, AHeadIsBoundedAlsoWhenItsLinesComeOneByOne) {
    ServerOptions options;
    options.max_header_bytes = 1024;
    start(options);
    const std::string line = fmt::format("X-A: {}\r\n", std::string(93, 'x'));
    for (const int lines : {9, 60}) {
        RawConnection connection(server_->port());
        connection.send("GET /healthz HTTP/1.1\r\nHost: a\r\n");
        for (int i = 0; i < lines; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));  // each comes alone
            connection.send(line);
        }
        connection.send("\r\n");
        const auto answer = connection.receive(kEnd);
        EXPECT_TRUE(answer.starts_with(lines == 9 ? "HTTP/1.1 200" : "HTTP/1.1 431")) << answer;
    }
}

TEST_F(ServerGuard, LinesOfChunksAndTrailersAreBounded) {
    start({});
    const std::string begin =
        "POST /work HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer t\r\n"
        "Transfer-Encoding: chunked\r\n\r\n";
    const auto answer = [&](const std::string& body) {
        RawConnection connection(server_->port());
        connection.send(begin + body);
        return connection.receive(kEnd);
    };
    const auto long_one = std::string(100'000, 'x');
    EXPECT_TRUE(answer("1;a=b\r\nx\r\n0\r\nX-A: b\r\n\r\n").starts_with("HTTP/1.1 200"));
    for (const auto& body : {"1;a=" + long_one, "1\r\nx\r\n0\r\nX-A: " + long_one}) {
        const auto refused = answer(body);
        EXPECT_TRUE(refused.starts_with("HTTP/1.1 431")) << refused;
    }
}

TEST_F(ServerGuard, ALastChunkMayComeInPieces) {
    start({});
    const std::string begin =
        "POST /work HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer t\r\n"
        "Transfer-Encoding: chunked\r\n\r\n";
    for (const std::string chunks : {"", "1\r\nx\r\n"}) {
        RawConnection connection(server_->port());
        connection.send(begin + chunks);
        for (const char* piece : {"0", "\r\n", "\r", "\n"}) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));  // each comes alone
            connection.send(piece);
        }
        EXPECT_TRUE(connection.receive("anna").starts_with("HTTP/1.1 200"));
    }
}

TEST_F(ServerGuard, ExtensionsOfAChunkHaveNoEndOfALineWithinQuotes) {
    start({});
    const std::string begin =
        "POST /work HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer t\r\n"
        "Transfer-Encoding: chunked\r\n\r\n";
    for (const std::string extension : {";a=\"\n\"", ";a=\"\\\n\"", ";a=\"\x7f\""}) {
        RawConnection connection(server_->port());
        connection.send(begin + "1" + extension + "\r\nx\r\n0\r\n\r\n");
        const auto answer = connection.receive();
        EXPECT_TRUE(answer.starts_with("HTTP/1.1 400")) << answer;
    }
    RawConnection connection(server_->port());
    connection.send(begin + "1;a=\"b\tc\\\"\" ; d\r\nx\r\n0;e\r\n\r\n");
    EXPECT_TRUE(connection.receive("anna").starts_with("HTTP/1.1 200"));
}

TEST_F(ServerGuard, OneOfSeveralConnectionHeadersMayEndIt) {
    start({});
    RawConnection connection(server_->port());
    connection.send(
        "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\nConnection: close\r\n\r\n"
        "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
    const auto answer = connection.receive();  // to the end, which comes at once
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200")) << answer;
    EXPECT_NE(answer.find("Connection: close"), std::string::npos) << answer;
    EXPECT_EQ(answer.find("HTTP/1.1", 1), std::string::npos) << answer;
}

TEST_F(ServerGuard, AHostIsAHostAndAPort) {
    start({});
    const auto answer = [&](const std::string& host) {
        RawConnection connection(server_->port());
        connection.send(
            fmt::format("GET /healthz HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", host));
        return connection.receive();
    };
    for (const char* host : {"", "a", "a-b_c.example:8080", "127.0.0.1:", "[::1]", "[::1]:80"})
        EXPECT_TRUE(answer(host).starts_with("HTTP/1.1 200")) << host;
    for (const char* host : {"a b", "a/b", "a:b", "a@b", "a,b:1:2", "[", "[]", "[::1", "[::1]80",
                             "::1", "a#", "\xc3\xa4"})
        EXPECT_NE(answer(host).find("bad_host"), std::string::npos) << host;
}

TEST_F(ServerGuard, WhatAHeadRequestGetsHasNoBody) {
    ServerOptions options;
    options.max_header_bytes = 1024;
    start(options);
    const auto big = fmt::format("Host: a\r\nX-A: {}\r\n", std::string(2000, 'x'));
    for (const std::string headers : {"", "Host: a\r\nX-A: b\r\n c\r\n", big.c_str()}) {
        RawConnection connection(server_->port());
        connection.send(fmt::format("HEAD /healthz HTTP/1.1\r\n{}\r\n", headers));
        const auto answer = connection.receive();
        EXPECT_TRUE(answer.starts_with("HTTP/1.1 4")) << answer;
        EXPECT_TRUE(answer.ends_with(kEnd)) << answer;
    }
    const auto endless = "HEAD /" + std::string(2000, 'x');
    for (const std::string line : {endless.c_str(), "HEAD /healthz HTTP/1.2\r\n\r\n"}) {
        RawConnection connection(server_->port());
        connection.send(line);
        const auto answer = connection.receive();
        EXPECT_TRUE(answer.starts_with("HTTP/1.1 4")) << answer;
        EXPECT_TRUE(answer.ends_with(kEnd)) << answer;
    }
}

TEST_F(ServerGuard, HttpOfBeforeHasNoKeepAliveNoContinueAndNoChunks) {
    start({});
    RawConnection connection(server_->port());
    connection.send(
        "POST /work HTTP/1.0\r\nAuthorization: Bearer t\r\nConnection: keep-alive\r\n"
        "Expect: 100-continue\r\nContent-Length: 1\r\n\r\nx");
    const auto answer = connection.receive();  // to the end, which comes at once
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200")) << answer;
    EXPECT_NE(answer.find("Connection: close"), std::string::npos) << answer;
    RawConnection chunks(server_->port());
    chunks.send(
        "POST /work HTTP/1.0\r\nAuthorization: Bearer t\r\nTransfer-Encoding: chunked\r\n\r\n"
        "1\r\nx\r\n0\r\n\r\n");
    EXPECT_NE(chunks.receive().find("bad_transfer_encoding"), std::string::npos);
}

TEST_F(ServerGuard, BodiesShareABoundWhateverTheirConnections) {
    ServerOptions options;
    options.max_body_bytes_in_flight = 1000;
    start(options);
    RawConnection half(server_->port());
    half.send(head(900) + "only a part");
    Response refused;
    until([&] {  // the head of the first is read
        refused = client().post("/work", std::string(200, 'x')).value();
        return refused.status != 200;
    });
    EXPECT_EQ(refused.status, 503);
    EXPECT_NE(refused.body.find("too_many_bytes"), std::string::npos) << refused.body;
    EXPECT_EQ(client().post("/work", std::string(50, 'x')).value().status, 200);
    RawConnection chunked(server_->port());
    chunked.send(
        "POST /work HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer t\r\n"
        "Transfer-Encoding: chunked\r\n\r\n");
    EXPECT_NE(chunked.receive().find("too_many_bytes"), std::string::npos)
        << "a body of unknown length counts with the most that it may have";
    half.send(std::string(889, 'x'));
    EXPECT_NE(half.receive("anna").find("200"), std::string::npos);
    EXPECT_EQ(client().post("/work", std::string(900, 'x')).value().status, 200)
        << "what was answered does not count any more";
}

TEST_F(ServerGuard, APrincipalHasItsRateAndProbesDoNotCount) {
    ServerOptions options;
    options.requests_per_second_by_principal = 1e-3;
    start(options);
    auto asking = client();
    EXPECT_EQ(asking.post("/work", "x").value().status, 200);
    const auto refused = asking.post("/work", "x").value();
    EXPECT_EQ(refused.status, 429);
    EXPECT_NE(refused.body.find("principal 'anna'"), std::string::npos) << refused.body;
    EXPECT_GT(std::stoi(std::string(refused.header("Retry-After"))), 100);
    EXPECT_EQ(client("other").post("/work", "x").value().status, 401);
    EXPECT_EQ(asking.get("/healthz").value().status, 200);
}

TEST_F(ServerGuard, APrincipalHasItsConnectionsHoweverSlowItsBodiesAre) {
    ServerOptions options;
    options.connections_by_principal = 2;
    start(options);
    RawConnection first(server_->port()), second(server_->port());
    for (auto* slow : {&first, &second}) {
        auto text = head(9);
        slow->send(text.insert(text.size() - 2, "Expect: 100-continue\r\n"));
        ASSERT_NE(slow->receive(kEnd).find("100 Continue"), std::string::npos)
            << "its head is read";
        slow->send("slow");
    }
    const auto refused = client().post("/work", "x").value();
    EXPECT_EQ(refused.status, 429);
    EXPECT_NE(refused.body.find("too_many_connections_of_principal"), std::string::npos);
    EXPECT_NE(refused.body.find("'anna' has 2 connections"), std::string::npos) << refused.body;
    EXPECT_EQ(client("bert").post("/work", "x").value().status, 200);
    EXPECT_EQ(client().get("/healthz").value().status, 200);
    first.send(" body");
    EXPECT_NE(first.receive("anna").find("200"), std::string::npos) << "what was taken is answered";
    EXPECT_EQ(client().post("/work", "x").value().status, 429) << "it still has both";
}

TEST_F(ServerGuard, AConnectionCountsForWhoCalledLastAndForNoneOnceClosed) {
    ServerOptions options;
    options.connections_by_principal = 1;
    start(options);
    {
        RawConnection shared(server_->port());
        shared.send(head(1) + "x");
        EXPECT_NE(shared.receive("anna@").find("200"), std::string::npos);
        EXPECT_EQ(client().post("/work", "x").value().status, 429);
        shared.send(
            "POST /work HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer bert\r\n"
            "Content-Length: 1\r\n\r\nx");
        EXPECT_NE(shared.receive("bert@").find("200"), std::string::npos);
        EXPECT_EQ(client().post("/work", "x").value().status, 200);
        EXPECT_EQ(client("bert").post("/work", "x").value().status, 429);
    }
    EXPECT_TRUE(until([&] { return client("bert").post("/work", "x").value().status == 200; }));
    EXPECT_TRUE(until([&] { return client().post("/work", "x").value().status == 200; }));
}

TEST_F(ServerGuard, AnAddressHasItsRateAlsoWithoutAToken) {
    ServerOptions options;
    options.requests_per_second_by_address = 1e-3;
    start(options);
    EXPECT_EQ(client("other").post("/work", "x").value().status, 401);
    const auto refused = client().post("/work", "x").value();
    EXPECT_EQ(refused.status, 429);
    EXPECT_NE(refused.body.find("address 127.0.0.1"), std::string::npos) << refused.body;
    EXPECT_EQ(client().get("/healthz").value().status, 200);
}

TEST_F(ServerGuard, ConnectionsThatWaitMakeRoomUnknownClientsFirst) {
    ServerOptions options;
    options.max_connections = 4;
    start(options);
    auto known = client();
    EXPECT_EQ(known.post("/work", "x").value().status, 200);
    std::vector<std::unique_ptr<RawConnection>> silent;
    for (int i = 0; i < 3; ++i) {
        silent.push_back(std::make_unique<RawConnection>(server_->port()));
        silent.back()->send("POST /wo");
    }
    // they are old enough after a moment; until then a new connection is refused
    EXPECT_TRUE(until([&] {
        const auto answer = client().post("/work", "x");
        return answer && answer->status == 200;
    }));
    EXPECT_GE(router_.traffic()->connections().made_room, 1u);
    EXPECT_EQ(known.post("/work", "x").value().status, 200)
        << "on its own connection, or on a new one";
    EXPECT_EQ(silent.front()->receive(), "") << "the one that was silent for longest is closed";
}

TEST_F(ServerGuard, ARequestUnderWayMakesNoRoom) {
    ServerOptions options;
    options.max_connections = 1;
    start(options);
    auto waiting = std::async(std::launch::async,
                              [&] { return client().post("/work?wait=1", "x").value().status; });
    while (!entered_) std::this_thread::yield();
    EXPECT_EQ(client().get("/healthz").value().status, 200) << "a probe is answered all the same";
    go_.set_value();
    EXPECT_EQ(waiting.get(), 200);
}

}  // namespace
}  // namespace rampart::http
