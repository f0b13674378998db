#include "rampart/http/client.hpp"

#include <openssl/err.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <charconv>
#include <optional>

#include "rampart/base/reasons.hpp"
#include "rampart/http/reasons.hpp"
#include "tls_context.hpp"

namespace rampart::http {
namespace {

namespace beast = boost::beast;
namespace bhttp = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using SecureStream = beast::ssl_stream<beast::tcp_stream>;

Response to_response(bhttp::response<bhttp::string_body>&& message) {
    Response response;
    response.status = static_cast<int>(message.result_int());
    response.content_type = std::string(message[bhttp::field::content_type]);
    for (const auto& field : message) {
        response.headers.push_back({std::string(field.name_string()), std::string(field.value())});
    }
    response.body = std::move(message.body());
    return response;
}

}  // namespace

struct Client::Impl {
    std::string host, port;
    ClientOptions options;
    std::unique_ptr<SecureClient> secure;  // nullptr: plain HTTP
    asio::io_context context;
    // one of them, once connected
    std::optional<beast::tcp_stream> plain_stream;
    std::optional<SecureStream> secure_stream;
    beast::flat_buffer buffer;
    std::chrono::steady_clock::time_point deadline;

    bool connected() const { return plain_stream || secure_stream; }
    void disconnect();
    beast::tcp_stream& socket();
    /// Runs one asynchronous operation to its end; `start` receives the completion handler.
    template <class Start>
    error_code wait(Start start);
    error_code connect();
    error_code shake_hands();
    template <class Stream>
    error_code exchange_on(Stream& stream, const bhttp::request<bhttp::string_body>& request,
                           bhttp::response_parser<bhttp::string_body>& parser);
    error_code exchange(const bhttp::request<bhttp::string_body>& request,
                        bhttp::response_parser<bhttp::string_body>& parser);
    base::Result<Response> send(bhttp::verb verb, std::string_view target, std::string body,
                                std::string_view content_type);
    bhttp::request<bhttp::string_body> request_of(bhttp::verb verb, std::string_view target) const;
    using OnBytes = std::function<bool(std::string_view bytes)>;
    template <class Stream>
    error_code follow_on(Stream& stream, const bhttp::request<bhttp::string_body>& request,
                         bhttp::response_parser<bhttp::string_body>& parser,
                         const OnBytes& on_bytes);
    void set_deadline();
    base::Error error_of(const error_code& ec, std::string_view target);
    std::string why_not_trusted();
};

void Client::Impl::disconnect() {
    plain_stream.reset();
    secure_stream.reset();
}

beast::tcp_stream& Client::Impl::socket() {
    return plain_stream ? *plain_stream : beast::get_lowest_layer(*secure_stream);
}

template <class Start>
error_code Client::Impl::wait(Start start) {
    error_code result = asio::error::would_block;
    if (connected()) socket().expires_at(deadline);
    start([&result](error_code ec, auto&&...) { result = ec; });
    context.restart();
    context.run();
    return result;
}

error_code Client::Impl::connect() {
    error_code ec;
    tcp::resolver resolver(context);
    const auto found = resolver.resolve(host, port, ec);
    if (ec) return ec;
    buffer.clear();
    if (secure) {
        secure_stream.emplace(context, secure->context);
    } else {
        plain_stream.emplace(context);
    }
    ec = wait([&](auto done) {
        socket().async_connect(found,
                               [done](error_code e, const tcp::endpoint&) mutable { done(e); });
    });
    if (!ec) socket().socket().set_option(tcp::no_delay(true), ec);
    return ec || !secure ? ec : shake_hands();
}

error_code Client::Impl::shake_hands() {
    expect_host(secure_stream->native_handle(), host);
    return wait(
        [&](auto done) { secure_stream->async_handshake(asio::ssl::stream_base::client, done); });
}

error_code Client::Impl::exchange(const bhttp::request<bhttp::string_body>& request,
                                  bhttp::response_parser<bhttp::string_body>& parser) {
    return secure ? exchange_on(*secure_stream, request, parser)
                  : exchange_on(*plain_stream, request, parser);
}

template <class Stream>
error_code Client::Impl::exchange_on(Stream& stream,
                                     const bhttp::request<bhttp::string_body>& request,
                                     bhttp::response_parser<bhttp::string_body>& parser) {
    const auto written = wait([&](auto done) { bhttp::async_write(stream, request, done); });
    // A server that refuses early answers before it has read the whole request: read the
    // response in any case.
    if (written == beast::error::timeout) return written;
    const auto read = wait([&](auto done) { bhttp::async_read(stream, buffer, parser, done); });
    return read && written ? written : read;
}

std::string Client::Impl::why_not_trusted() {
    if (secure->pinned) return "it shows another certificate than http.tls.certificate_file has";
    const long why = secure_stream ? SSL_get_verify_result(secure_stream->native_handle()) : 0;
    return fmt::format("its certificate is not trusted: {}", X509_verify_cert_error_string(why));
}

base::Error Client::Impl::error_of(const error_code& ec, std::string_view target) {
    const std::string where =
        fmt::format("{}{}:{}{}", secure ? "https://" : "", host, port, target);
    if (ec == beast::error::timeout) {
        return base::make_error(base::Reason::kTimeout, "{}: no answer within {} s", where,
                                static_cast<double>(options.timeout.micros()) / 1e6);
    }
    if (ec == bhttp::error::body_limit) {
        return base::make_error(Reason::kAnswerTooLarge, "{}: the answer has more than {} bytes",
                                where, options.max_response_bytes);
    }
    const bool http = ec.category() == make_error_code(bhttp::error::bad_method).category();
    if (http && ec != bhttp::error::end_of_stream && ec != bhttp::error::partial_message) {
        return base::make_error(Reason::kBadHttpAnswer, "{}: the answer is not HTTP/1.1: {}", where,
                                ec.message());
    }
    if (ec.category() == asio::error::get_ssl_category()) {
        const bool refused = ERR_GET_REASON(static_cast<unsigned long>(ec.value())) ==
                             SSL_R_CERTIFICATE_VERIFY_FAILED;
        if (refused) {
            return base::make_error(Reason::kTlsNotTrusted, "{}: {}", where, why_not_trusted());
        }
        return base::make_error(Reason::kTlsHandshakeFailed, "{}: TLS failed: {}", where,
                                ec.message());
    }
    if (http) {
        return base::make_error(Reason::kNoConnection,
                                "{}: the connection ended before the answer; the request may have "
                                "been done",
                                where);
    }
    return base::make_error(Reason::kNoConnection, "{}: {}", where, ec.message());
}

bhttp::request<bhttp::string_body> Client::Impl::request_of(bhttp::verb verb,
                                                            std::string_view target) const {
    bhttp::request<bhttp::string_body> request{verb, std::string(target), 11};
    const bool v6 = host.find(':') != std::string::npos;
    request.set(bhttp::field::host, v6 ? fmt::format("[{}]:{}", host, port) : host + ":" + port);
    if (!options.token.empty()) request.set(bhttp::field::authorization, "Bearer " + options.token);
    return request;
}

void Client::Impl::set_deadline() {
    deadline =
        std::chrono::steady_clock::now() + std::chrono::microseconds(options.timeout.micros());
}

template <class Stream>
error_code Client::Impl::follow_on(Stream& stream,
                                   const bhttp::request<bhttp::string_body>& request,
                                   bhttp::response_parser<bhttp::string_body>& parser,
                                   const OnBytes& on_bytes) {
    if (const auto ec = wait([&](auto done) { bhttp::async_write(stream, request, done); }))
        return ec;
    if (const auto ec =
            wait([&](auto done) { bhttp::async_read_header(stream, buffer, parser, done); }))
        return ec;
    if (parser.get().result() != bhttp::status::ok) {
        parser.body_limit(options.max_response_bytes);
        return wait([&](auto done) { bhttp::async_read(stream, buffer, parser, done); });
    }
    while (!parser.is_done()) {
        set_deadline();
        const auto ec =
            wait([&](auto done) { bhttp::async_read_some(stream, buffer, parser, done); });
        const auto bytes = std::exchange(parser.get().body(), {});
        if (!bytes.empty() && !on_bytes(bytes)) return {};
        if (ec) return ec;
    }
    return {};
}

base::Result<Response> Client::Impl::send(bhttp::verb verb, std::string_view target,
                                          std::string body, std::string_view content_type) {
    auto request = request_of(verb, target);
    if (!content_type.empty()) request.set(bhttp::field::content_type, std::string(content_type));
    request.body() = std::move(body);
    request.prepare_payload();
    set_deadline();

    const bool kept = connected();
    for (bool again = kept;; again = false) {
        if (!connected()) {
            if (const auto ec = connect()) {
                auto error = error_of(ec, target);
                disconnect();
                return error;
            }
        }
        bhttp::response_parser<bhttp::string_body> parser;
        parser.body_limit(options.max_response_bytes);
        const auto ec = exchange(request, parser);
        if (!ec) {
            auto message = parser.release();
            if (!message.keep_alive()) disconnect();
            return to_response(std::move(message));
        }
        auto error = error_of(ec, target);
        disconnect();
        // the connection was closed while idle: no byte of a response arrived
        if (again && !parser.got_some() && ec != beast::error::timeout) continue;
        return error;
    }
}

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;
Client::~Client() = default;

base::Result<Client> Client::create(std::string_view endpoint, ClientOptions options) {
    const auto bad = [given = endpoint] {
        return base::make_error(Reason::kBadEndpoint, "'{}' is not host:port, as in 127.0.0.1:8080",
                                given);
    };
    const bool secure = endpoint.starts_with("https://");
    if (secure || endpoint.starts_with("http://")) endpoint.remove_prefix(secure ? 8 : 7);
    const size_t colon = endpoint.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return bad();
    std::string_view host = endpoint.substr(0, colon);
    const std::string_view port = endpoint.substr(colon + 1);
    unsigned number = 0;
    const auto [end, problem] = std::from_chars(port.data(), port.data() + port.size(), number);
    if (problem != std::errc() || end != port.data() + port.size() || number < 1 ||
        number > 65535) {
        return bad();
    }
    if (host.front() == '[') {
        if (host.size() < 3 || host.back() != ']') return bad();
        host = host.substr(1, host.size() - 2);
    }
    if (host.find_first_of("/@?# ") != std::string_view::npos) return bad();
    auto impl = std::make_unique<Impl>();
    impl->host = std::string(host);
    impl->port = std::string(port);
    if (secure) {
        RAMPART_TRY(impl->secure, load_client_tls(options.tls));
    }
    impl->options = std::move(options);
    return Client(std::move(impl));
}

base::Result<Response> Client::get(std::string_view target) {
    return impl_->send(bhttp::verb::get, target, {}, {});
}

base::Result<Response> Client::post(std::string_view target, std::string body,
                                    std::string_view content_type) {
    return impl_->send(bhttp::verb::post, target, std::move(body), content_type);
}

base::Result<Response> Client::remove(std::string_view target) {
    return impl_->send(bhttp::verb::delete_, target, {}, {});
}

base::Result<Response> Client::follow(std::string_view target, const std::vector<Header>& headers,
                                      const std::function<bool(std::string_view bytes)>& on_bytes) {
    auto& impl = *impl_;
    auto request = impl.request_of(bhttp::verb::get, target);
    for (const auto& [name, value] : headers) request.set(name, value);
    impl.disconnect();
    impl.set_deadline();
    bhttp::response_parser<bhttp::string_body> parser;
    parser.eager(true);
    parser.body_limit(boost::none);
    auto ec = impl.connect();
    if (!ec)
        ec = impl.secure ? impl.follow_on(*impl.secure_stream, request, parser, on_bytes)
                         : impl.follow_on(*impl.plain_stream, request, parser, on_bytes);
    if (ec) {
        auto error = impl.error_of(ec, target);
        impl.disconnect();
        return error;
    }
    impl.disconnect();
    return to_response(parser.release());
}

}  // namespace rampart::http
