#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <thread>

#include "rampart/base/file.hpp"
#include "rampart/http/client.hpp"
#include "rampart/http/server.hpp"
#include "support/tls_connection.hpp"
#include "support/tls_files.hpp"

namespace rampart::http {
namespace {

using base::Duration;
using test_support::RawConnection;
using test_support::TlsConnection;

constexpr const char* kAsk = "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";

class Tls : public testing::Test {
  protected:
    Tls() {
        files_.certificate("server", "IP:127.0.0.1,DNS:localhost");
        options_.tls = files_.server("server");
    }
    void start() {
        auto server = Server::start(
            options_,
            [this](const Request& request) {
                ++handled_;
                return Response{200, "client=" + request.client, "text/plain", {}};
            },
            traffic_);
        ASSERT_TRUE(server) << server.error().message;
        server_ = *std::move(server);
    }
    void start_with_client_authority() {
        files_.authority("clients");
        options_.tls->client_ca = files_ / "clients.pem";
        start();
    }
    base::Result<Response> ask(const ClientTls& tls) const { return ask(server_->endpoint(), tls); }
    static base::Result<Response> ask(const std::string& endpoint, const ClientTls& tls) {
        ClientOptions options;
        options.tls = tls;
        auto client = Client::create(endpoint, options);
        if (!client) return client.error();
        return client->get("/");
    }
    std::string reason_of_start() const {
        const auto server = Server::start(options_, [](const Request&) { return Response{}; });
        return server ? "" : server.error().reason;
    }
    std::string url(const std::string& host) const {
        return fmt::format("https://{}:{}", host, server_->port());
    }
    /// Waits until a count is what it should be: the server counts after the client knows.
    void expect_failures(HandshakeFailure why, uint64_t wanted) const {
        for (int i = 0; i < 2000 && traffic_->handshake_failures(why) < wanted; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        EXPECT_EQ(traffic_->handshake_failures(why), wanted);
    }

    test_support::TlsFolder files_;
    ServerOptions options_;
    std::shared_ptr<Traffic> traffic_ = std::make_shared<Traffic>();
    std::atomic<int> handled_{0};
    std::unique_ptr<Server> server_;
};

TEST_F(Tls, AClientTrustsTheAuthorityAndTheNameOfTheHost) {
    start();
    EXPECT_EQ(server_->endpoint(), url("127.0.0.1"));
    EXPECT_EQ(ask(files_.client()).value().body, "client=");
    EXPECT_EQ(ask(url("localhost"), files_.client()).value().status, 200);
}

TEST_F(Tls, AnotherAuthorityIsNotTrusted) {
    start();
    files_.authority("other");
    auto tls = files_.client();
    tls.ca = files_ / "other.pem";
    EXPECT_EQ(ask(tls).error().reason, "tls_not_trusted");
    EXPECT_EQ(ask({}).error().reason, "tls_not_trusted") << "the system's authorities";
    EXPECT_EQ(handled_, 0);
}

TEST_F(Tls, ACertificateOfAnotherHostIsNotTrusted) {
    files_.certificate("server", "DNS:bank.example");
    start();
    for (const char* host : {"127.0.0.1", "localhost"}) {
        const auto answer = ask(url(host), files_.client());
        ASSERT_FALSE(answer) << host;
        EXPECT_EQ(answer.error().reason, "tls_not_trusted");
        EXPECT_EQ(answer.error().code, base::ErrorCode::kPermissionDenied);
    }
    EXPECT_EQ(handled_, 0);
}

TEST_F(Tls, APinnedCertificateIsTrustedAndNoOther) {
    files_.certificate("server", "DNS:bank.example");
    files_.certificate("other");
    start();
    ClientTls tls;
    tls.pinned = files_ / "server.pem";
    EXPECT_EQ(ask(tls).value().status, 200);
    tls.pinned = files_ / "other.pem";
    EXPECT_EQ(ask(tls).error().reason, "tls_not_trusted");
    tls = files_.client();
    tls.pinned = files_ / "other.pem";
    EXPECT_EQ(ask(tls).error().reason, "tls_not_trusted") << "not by its authority either";
}

TEST_F(Tls, OlderVersionsThanTheConfiguredOneAreRefused) {
    const auto most = [](int version) {
        return [version](SSL_CTX* context, SSL* ssl) {
            (void)context;
            SSL_set_security_level(ssl, 0);  // would not offer 1.1 otherwise
            SSL_set_max_proto_version(ssl, version);
        };
    };
    start();
    EXPECT_FALSE(TlsConnection(server_->port(), most(TLS1_2_VERSION)).connected());
    TlsConnection newest(server_->port());
    EXPECT_STREQ(SSL_get_version(newest.ssl()), "TLSv1.3");
    expect_failures(HandshakeFailure::kVersion, 1);
    options_.tls->least = TlsVersion::k12;
    start();
    EXPECT_TRUE(TlsConnection(server_->port(), most(TLS1_2_VERSION)).connected());
    EXPECT_FALSE(TlsConnection(server_->port(), most(TLS1_1_VERSION)).connected());
}

TEST_F(Tls, Version12HasForwardSecrecyAndNoRenegotiation) {
    options_.tls->least = TlsVersion::k12;
    start();
    const auto with_cipher = [](const char* ciphers) {
        return [ciphers](SSL_CTX*, SSL* ssl) {
            SSL_set_max_proto_version(ssl, TLS1_2_VERSION);
            SSL_set_cipher_list(ssl, ciphers);
        };
    };
    EXPECT_FALSE(TlsConnection(server_->port(), with_cipher("kRSA")).connected());
    EXPECT_FALSE(TlsConnection(server_->port(), with_cipher("ECDHE+AES:!AESGCM")).connected());
    TlsConnection good(server_->port(), with_cipher("ECDHE+AESGCM"));
    ASSERT_TRUE(good.connected());
    EXPECT_EQ(SSL_get_current_compression(good.ssl()), nullptr);
    SSL_renegotiate(good.ssl());
    EXPECT_NE(SSL_do_handshake(good.ssl()) == 1 && SSL_renegotiate_pending(good.ssl()) == 0, true);
}

TEST_F(Tls, ClientsWithAnotherProtocolThanHttp11AreRefused) {
    start();
    const auto offer = [](std::string protocol) {
        return [protocol](SSL_CTX*, SSL* ssl) {
            SSL_set_alpn_protos(ssl, reinterpret_cast<const unsigned char*>(protocol.data()),
                                static_cast<unsigned>(protocol.size()));
        };
    };
    EXPECT_FALSE(TlsConnection(server_->port(), offer("\x02h2")).connected());
    TlsConnection both(server_->port(), offer("\x02h2\x08http/1.1"));
    ASSERT_TRUE(both.connected());
    const unsigned char* chosen = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(both.ssl(), &chosen, &size);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(chosen), size), "http/1.1");
}

TEST_F(Tls, NoConnectionIsResumed) {
    for (const auto least : {TlsVersion::k13, TlsVersion::k12}) {
        options_.tls->least = least;
        start();
        const int most = least == TlsVersion::k12 ? TLS1_2_VERSION : TLS1_3_VERSION;
        TlsConnection first(server_->port(),
                            [most](SSL_CTX*, SSL* ssl) { SSL_set_max_proto_version(ssl, most); });
        first.send(kAsk);
        EXPECT_NE(first.receive(), "");  // tickets of TLS 1.3 come with the first bytes
        EXPECT_FALSE(SSL_SESSION_is_resumable(SSL_get0_session(first.ssl()))) << most;
    }
}

TEST_F(Tls, TheEndOfAResponseIsSaid) {
    start();
    TlsConnection raw(server_->port());
    raw.send(kAsk);
    EXPECT_TRUE(raw.receive().starts_with("HTTP/1.1 200 "));
    EXPECT_TRUE(raw.ended());
}

TEST_F(Tls, PlainHttpIsToldThatItMustSpeakTls) {
    start();
    RawConnection raw(server_->port());
    raw.send(kAsk);
    const auto answer = raw.receive();
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << answer;
    EXPECT_NE(answer.find("tls_required"), std::string::npos) << answer;
    EXPECT_EQ(handled_, 0);
    expect_failures(HandshakeFailure::kPlainHttp, 1);
    const auto plain = ask(fmt::format("127.0.0.1:{}", server_->port()), {});
    ASSERT_TRUE(plain) << plain.error().message;
    EXPECT_EQ(plain->status, 400);
    EXPECT_EQ(ask(files_.client()).value().status, 200);
}

TEST_F(Tls, TlsOnAPlainPortFails) {
    options_.tls.reset();
    start();
    EXPECT_EQ(ask(url("127.0.0.1"), files_.client()).error().reason, "tls_handshake_failed");
}

TEST_F(Tls, WhatIsNeitherIsClosed) {
    start();
    RawConnection raw(server_->port());
    raw.send("hello there, this is neither TLS nor HTTP\r\n\r\n");
    EXPECT_EQ(raw.receive().find("HTTP"), std::string::npos);
    EXPECT_EQ(ask(files_.client()).value().status, 200);
}

TEST_F(Tls, ASlowHandshakeIsCutOff) {
    options_.handshake_timeout = Duration::micros(100'000);
    start();
    RawConnection silent(server_->port()), half(server_->port());
    half.send(std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11));
    EXPECT_EQ(silent.receive(), "");  // closed, without our sending anything
    EXPECT_EQ(half.receive(), "");
    expect_failures(HandshakeFailure::kTimeout, 2);
    EXPECT_EQ(handled_, 0);
}

TEST_F(Tls, AHandshakeThatBreaksOffLeavesNoConnection) {
    start();
    {
        RawConnection half(server_->port());
        half.send(std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11));
    }
    for (int i = 0; i < 2000 && traffic_->connections().open > 0; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(traffic_->connections().open, 0u);
}

TEST_F(Tls, StoppingWaitsForNoHandshake) {
    options_.handshake_timeout = Duration::seconds(3600);
    options_.stop_timeout = Duration::seconds(3600);
    start();
    RawConnection silent(server_->port());
    ASSERT_EQ(ask(files_.client()).value().status, 200);  // the server has accepted both
    server_->stop();
    EXPECT_EQ(silent.receive(), "");
}

TEST_F(Tls, AClientWithoutACertificateDoesNotGetThrough) {
    start_with_client_authority();
    EXPECT_EQ(ask(files_.client()).error().reason, "tls_handshake_failed");
    TlsConnection raw(server_->port());
    raw.send(kAsk);
    EXPECT_EQ(raw.receive(), "");
    expect_failures(HandshakeFailure::kClientCertificate, 2);
    EXPECT_EQ(handled_, 0);
}

TEST_F(Tls, AClientOfAnotherAuthorityOrTimeDoesNotGetThrough) {
    start_with_client_authority();
    files_.certificate("stranger", "DNS:app");  // signed by the server's authority
    files_.certificate("old", "DNS:app", -1, "clients");
    for (const char* name : {"stranger", "old"})
        EXPECT_EQ(ask(files_.client(name)).error().reason, "tls_handshake_failed") << name;
    expect_failures(HandshakeFailure::kClientCertificate, 2);
    EXPECT_EQ(handled_, 0);
}

TEST_F(Tls, AHandlerKnowsTheNameOfTheClient) {
    start_with_client_authority();
    const std::pair<const char*, const char*> names[] = {
        {"DNS:app.bank.example", "client=DNS:app.bank.example"},
        {"DNS:app,URI:spiffe://bank/app", "client=URI:spiffe://bank/app"},
        {"email:ops@bank.example", "client=email:ops@bank.example"},
        {"IP:10.0.0.1", "client=subject:CN=app"}};
    for (const auto& [alternative, wanted] : names) {
        files_.certificate("app", alternative, 30, "clients");
        ClientOptions options;
        options.tls = files_.client("app");
        auto client = Client::create(server_->endpoint(), options).value();
        EXPECT_EQ(client.get("/").value().body, wanted);
        EXPECT_EQ(client.get("/").value().body, wanted) << "of every request";
    }
}

TEST_F(Tls, TheServersOwnCertificateIsThatOfAClientToo) {
    start_with_client_authority();
    EXPECT_EQ(ask(files_.client("server")).value().status, 200);
}

TEST_F(Tls, AReloadIsForNewConnectionsAndOpenOnesGoOn) {
    start();
    std::atomic<bool> stop{false};
    std::atomic<int> answered{0}, failed{0};
    ClientOptions options;
    options.tls = files_.client();
    std::vector<std::thread> clients;
    for (int i = 0; i < 4; ++i) {
        clients.emplace_back([&, keep = i % 2 == 0] {
            auto client = Client::create(server_->endpoint(), options).value();
            while (!stop) {
                if (!keep) client = Client::create(server_->endpoint(), options).value();
                const auto answer = client.get("/");
                ++(answer && answer->status == 200 ? answered : failed);
            }
        });
    }
    const auto before = traffic_->certificate_ends();
    for (int i = 0; i < 5; ++i) {
        files_.certificate("new", "IP:127.0.0.1", 60 + i);
        files_.replace("server", "new");
        const auto status = server_->reload_tls();
        EXPECT_TRUE(status) << status.error().message;
        const int so_far = answered;
        for (int j = 0; j < 4000 && answered < so_far + 20; ++j)
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    stop = true;
    for (auto& client : clients) client.join();
    EXPECT_EQ(failed, 0);
    EXPECT_GE(answered, 100);
    EXPECT_GT(*traffic_->certificate_ends() - *before, Duration::days(30));
    ClientTls newest;
    newest.pinned = files_ / "new.pem";
    EXPECT_EQ(ask(newest).value().status, 200);
}

TEST_F(Tls, FilesThatAreBadAtAReloadLeaveTheOnesBefore) {
    start();
    ClientTls before;
    files_.certificate("kept");
    files_.replace("kept", "server");
    before.pinned = files_ / "kept.pem";
    files_.certificate("other");
    files_.certificate("old", "IP:127.0.0.1", -1);
    const auto ends = traffic_->certificate_ends();
    const auto expect_kept = [&](const std::string& reason) {
        EXPECT_EQ(server_->reload_tls().error().reason, reason);
        EXPECT_FALSE(traffic_->certificate_loaded()) << reason;
        EXPECT_EQ(traffic_->certificate_ends(), ends) << reason;
        EXPECT_EQ(ask(before).value().status, 200) << reason;
    };
    EXPECT_TRUE(traffic_->certificate_loaded());
    std::filesystem::copy_file(files_ / "other.pem", files_ / "server.pem",
                               std::filesystem::copy_options::overwrite_existing);
    expect_kept("tls_key_mismatch");
    files_.replace("server", "old");
    expect_kept("tls_certificate_expired");
    files_.write("server.pem", "");
    expect_kept("bad_tls_certificate");
    std::filesystem::remove(files_ / "server.key");
    expect_kept("bad_tls_certificate");
    files_.replace("server", "other");
    EXPECT_TRUE(server_->reload_tls());
    EXPECT_TRUE(traffic_->certificate_loaded());
    EXPECT_FALSE(ask(before));
}

TEST_F(Tls, AReloadTakesTheAuthoritiesOfClientsToo) {
    start_with_client_authority();
    files_.certificate("app", "DNS:app", 30, "clients");
    ASSERT_EQ(ask(files_.client("app")).value().status, 200);
    files_.authority("clients");
    ASSERT_TRUE(server_->reload_tls());
    EXPECT_FALSE(ask(files_.client("app")));
    files_.certificate("app", "DNS:app", 30, "clients");
    EXPECT_EQ(ask(files_.client("app")).value().status, 200);
}

TEST_F(Tls, FilesThatCannotServeAreRefusedAtTheStart) {
    files_.certificate("other");
    options_.tls->key = files_ / "other.key";
    EXPECT_EQ(reason_of_start(), "tls_key_mismatch");
    options_.tls->key = files_ / "none.key";
    EXPECT_EQ(reason_of_start(), "bad_tls_key");
    options_.tls = files_.server("server");
    options_.tls->certificate = files_ / "none.pem";
    EXPECT_EQ(reason_of_start(), "bad_tls_certificate");
    files_.certificate("old", "IP:127.0.0.1", -1);
    options_.tls = files_.server("old");
    EXPECT_EQ(reason_of_start(), "tls_certificate_expired");
    files_.certificate_of_the_future("early");
    options_.tls = files_.server("early");
    EXPECT_EQ(reason_of_start(), "tls_certificate_not_yet_valid");
    options_.tls = files_.server("server");
    files_.write("empty.pem", "no certificate\n");
    options_.tls->client_ca = files_ / "empty.pem";
    EXPECT_EQ(reason_of_start(), "bad_tls_certificate");
    files_.write("half.pem", base::read_file(files_ / "server.pem", 1 << 20)->substr(0, 300));
    options_.tls->client_ca = files_ / "half.pem";
    EXPECT_EQ(reason_of_start(), "bad_tls_certificate");
    EXPECT_EQ(traffic_->certificate_ends(), std::nullopt);
}

TEST_F(Tls, AKeyThatOthersMayReadIsRefused) {
    for (const mode_t mode : {0640, 0604}) {
        ASSERT_EQ(::chmod((files_ / "server.key").c_str(), mode), 0);
        EXPECT_EQ(reason_of_start(), "secret_exposed");
    }
}

TEST_F(Tls, AKeyWithAPassphraseIsRefusedWithoutAsking) {
    files_.openssl("ec -in server.key -aes256 -passout pass:x -out locked.key");
    options_.tls->key = files_ / "locked.key";
    EXPECT_EQ(reason_of_start(), "bad_tls_key");
}

TEST_F(Tls, AShortKeyIsRefused) {
    files_.openssl("req -x509 -newkey rsa:1024 -nodes -keyout weak.key -out weak.pem -subj /CN=w");
    options_.tls = files_.server("weak");
    EXPECT_EQ(reason_of_start(), "bad_tls_certificate");
}

TEST_F(Tls, PlainHttpBeyondTheLoopbackHasToBeAskedFor) {
    options_.address = "0.0.0.0";
    EXPECT_EQ(reason_of_start(), "") << "with TLS";
    options_.tls.reset();
    for (const char* address : {"0.0.0.0", "::", "10.0.0.1", "::ffff:10.0.0.1"}) {
        options_.address = address;
        EXPECT_EQ(reason_of_start(), "plaintext_beyond_loopback") << address;
    }
    options_.address = "0.0.0.0";
    options_.plaintext_anywhere = true;
    EXPECT_EQ(reason_of_start(), "") << "asked for";
    options_.plaintext_anywhere = false;
    options_.address = "127.8.8.8";
    EXPECT_EQ(reason_of_start(), "") << "the loopback";
}

TEST_F(Tls, AClientNamesTheFileThatItCannotUse) {
    start();
    auto tls = files_.client("server");
    tls.key = files_ / "ca.key";
    EXPECT_EQ(ask(tls).error().reason, "tls_key_mismatch");
    tls = files_.client();
    tls.ca = files_ / "server.key";
    const auto answer = ask(tls);
    EXPECT_EQ(answer.error().reason, "bad_tls_certificate");
    EXPECT_NE(answer.error().message.find("server.key"), std::string::npos);
}

}  // namespace
}  // namespace rampart::http
