#pragma once

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <functional>
#include <string>
#include <string_view>

#include "support/raw_connection.hpp"

namespace rampart::test_support {

/// A TLS connection that verifies nothing, for requests and handshakes that no client would make.
class TlsConnection {
  public:
    using Configure = std::function<void(SSL_CTX*, SSL*)>;

    explicit TlsConnection(uint16_t port, const Configure& configure = {})
        : socket_(port), context_(SSL_CTX_new(TLS_client_method())) {
        SSL_CTX_set_session_cache_mode(context_, SSL_SESS_CACHE_CLIENT);
        ssl_ = SSL_new(context_);
        if (configure) configure(context_, ssl_);
        SSL_set_fd(ssl_, socket_.descriptor());
        ERR_clear_error();
        connected_ = SSL_connect(ssl_) == 1;
    }
    ~TlsConnection() {
        SSL_free(ssl_);
        SSL_CTX_free(context_);
    }
    TlsConnection(const TlsConnection&) = delete;
    TlsConnection& operator=(const TlsConnection&) = delete;

    bool connected() const { return connected_; }
    SSL* ssl() { return ssl_; }
    void send(std::string_view bytes) {
        if (connected_) SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()));
    }
    /// Reads until the server ends, or until `wanted` has arrived.
    std::string receive(const std::string& wanted = {}) {
        std::string all;
        char chunk[4096];
        while (connected_ && (wanted.empty() || all.find(wanted) == std::string::npos)) {
            const int n = SSL_read(ssl_, chunk, sizeof chunk);
            if (n <= 0) break;
            all.append(chunk, static_cast<size_t>(n));
        }
        return all;
    }
    /// Returns whether the server has said that its end is the end.
    bool ended() const { return (SSL_get_shutdown(ssl_) & SSL_RECEIVED_SHUTDOWN) != 0; }

  private:
    RawConnection socket_;
    SSL_CTX* context_;
    SSL* ssl_ = nullptr;
    bool connected_ = false;
};

}  // namespace rampart::test_support
