#include "connections.hpp"

#include <openssl/err.h>

#include <boost/asio/ssl/error.hpp>
#include <boost/asio/write.hpp>

namespace rampart::http {
namespace {

using asio::ip::tcp;
using SecureStream = beast::ssl_stream<beast::tcp_stream>;

constexpr size_t kDrainedAtOnce = 4096;

HandshakeFailure failure_of(const error_code& ec) {
    if (ec == beast::error::timeout) return HandshakeFailure::kTimeout;
    if (ec.category() != asio::error::get_ssl_category()) return HandshakeFailure::kOther;
    switch (ERR_GET_REASON(static_cast<unsigned long>(ec.value()))) {
        case SSL_R_HTTP_REQUEST:
            return HandshakeFailure::kPlainHttp;
        case SSL_R_UNSUPPORTED_PROTOCOL:
        case SSL_R_VERSION_TOO_LOW:
        case SSL_R_WRONG_VERSION_NUMBER:
        case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
            return HandshakeFailure::kVersion;
        case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
        case SSL_R_CERTIFICATE_VERIFY_FAILED:
            return HandshakeFailure::kClientCertificate;
        default:
            return HandshakeFailure::kOther;
    }
}

/// The steps of a session on one kind of stream.
template <class Stream>
class StreamSession : public Session {
  public:
    template <class... Of>
    StreamSession(Shared& shared, Sessions& sessions, bool spare, std::string address, Of&&... of)
        : Session(shared, sessions, spare, std::move(address)), stream_(std::forward<Of>(of)...) {}

  protected:
    void read_some(size_t most) override {
        stream_.async_read_some(buffer_.prepare(most),
                                [self = shared_from_this()](error_code ec, size_t bytes) {
                                    self->on_bytes(ec, bytes);
                                });
    }
    void send_continue() override {
        bhttp::async_write(stream_, continue_, [self = shared_from_this()](error_code ec, size_t) {
            self->on_continue_sent(ec);
        });
    }
    void send_response() override { send_by(stream_); }
    void send_bytes() override {
        asio::async_write(
            stream_, asio::buffer(out_),
            [self = shared_from_this()](error_code ec, size_t) { self->on_bytes_sent(ec); });
    }
    void drain_some() override {
        socket().async_read_some(buffer_.prepare(kDrainedAtOnce),
                                 [self = shared_from_this()](error_code ec, size_t bytes) {
                                     self->on_drained(ec, bytes);
                                 });
    }
    beast::tcp_stream& socket() override { return beast::get_lowest_layer(stream_); }

    template <class To>
    void send_by(To& to) {
        bhttp::async_write(to, response_, [self = shared_from_this()](error_code ec, size_t) {
            self->on_sent(ec);
        });
    }

    Stream stream_;
};

class PlainSession : public StreamSession<beast::tcp_stream> {
  public:
    using StreamSession::StreamSession;

  private:
    void open() override { on_open({}, {}, {}); }
    void end_sending() override { on_ended(); }
};

class SecureSession : public StreamSession<SecureStream> {
  public:
    using StreamSession::StreamSession;

  private:
    void open() override {
        stream_.async_handshake(asio::ssl::stream_base::server,
                                [this, self = shared_from_this()](error_code ec) {
                                    const auto why = failure_of(ec);
                                    plain_ = ec && why == HandshakeFailure::kPlainHttp;
                                    on_open(ec, why, ec ? "" : peer_name(stream_.native_handle()));
                                });
    }
    void send_response() override {
        if (plain_) return send_by(socket());
        StreamSession::send_response();
    }
    /// Says that the end is the end, so that no cut of a response goes unseen. What still
    /// comes from the client is read from the socket as it is.
    void end_sending() override {
        if (plain_) return on_ended();
        stream_.async_shutdown([self = shared_from_this()](error_code) { self->on_ended(); });
    }

    bool plain_ = false;  // the client does not speak TLS
};

}  // namespace

std::shared_ptr<Session> make_session(tcp::socket socket, Shared& shared, Sessions& sessions,
                                      bool spare, ServerTls* tls) {
    error_code ignored;
    auto address = socket.remote_endpoint(ignored).address().to_string();
    if (tls == nullptr)
        return std::make_shared<PlainSession>(shared, sessions, spare, std::move(address),
                                              std::move(socket));
    return std::make_shared<SecureSession>(shared, sessions, spare, std::move(address),
                                           std::move(socket), tls->context);
}

}  // namespace rampart::http
