#include "rampart/http/client.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <charconv>
#include <optional>

#include "rampart/base/reasons.hpp"
#include "rampart/http/reasons.hpp"

namespace rampart::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace bhttp = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

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
    asio::io_context context;
    std::optional<beast::tcp_stream> stream;
    beast::flat_buffer buffer;
    std::chrono::steady_clock::time_point deadline;

    /// Runs one asynchronous operation to its end; `start` receives the completion handler.
    template <class Start>
    error_code wait(Start start);
    error_code connect();
    error_code exchange(const bhttp::request<bhttp::string_body>& request,
                        bhttp::response_parser<bhttp::string_body>& parser);
    base::Result<Response> send(bhttp::verb verb, std::string_view target, std::string body,
                                std::string_view content_type);
    base::Error error_of(const error_code& ec, std::string_view target) const;
};

template <class Start>
error_code Client::Impl::wait(Start start) {
    error_code result = asio::error::would_block;
    if (stream) stream->expires_at(deadline);
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
    stream.emplace(context);
    ec = wait([&](auto done) {
        stream->async_connect(found,
                              [done](error_code e, const tcp::endpoint&) mutable { done(e); });
    });
    if (!ec) stream->socket().set_option(tcp::no_delay(true), ec);
    return ec;
}

error_code Client::Impl::exchange(const bhttp::request<bhttp::string_body>& request,
                                  bhttp::response_parser<bhttp::string_body>& parser) {
    const auto written = wait([&](auto done) { bhttp::async_write(*stream, request, done); });
    // A server that refuses early answers before it has read the whole request: read the
    // response in any case.
    if (written == beast::error::timeout) return written;
    const auto read = wait([&](auto done) { bhttp::async_read(*stream, buffer, parser, done); });
    return read && written ? written : read;
}

base::Error Client::Impl::error_of(const error_code& ec, std::string_view target) const {
    const std::string where = fmt::format("{}:{}{}", host, port, target);
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
    return base::make_error(Reason::kNoConnection, "{}: {}", where, ec.message());
}

base::Result<Response> Client::Impl::send(bhttp::verb verb, std::string_view target,
                                          std::string body, std::string_view content_type) {
    bhttp::request<bhttp::string_body> request{verb, std::string(target), 11};
    request.set(bhttp::field::host, host + ":" + port);
    if (!options.token.empty()) {
        request.set(bhttp::field::authorization, "Bearer " + options.token);
    }
    if (verb != bhttp::verb::get)
        request.set(bhttp::field::content_type, std::string(content_type));
    request.body() = std::move(body);
    request.prepare_payload();
    deadline =
        std::chrono::steady_clock::now() + std::chrono::microseconds(options.timeout.micros());

    const bool kept = stream.has_value();
    for (bool again = kept;; again = false) {
        if (!stream) {
            if (const auto ec = connect()) {
                stream.reset();
                return error_of(ec, target);
            }
        }
        bhttp::response_parser<bhttp::string_body> parser;
        parser.body_limit(options.max_response_bytes);
        const auto ec = exchange(request, parser);
        if (!ec) {
            auto message = parser.release();
            if (!message.keep_alive()) stream.reset();
            return to_response(std::move(message));
        }
        stream.reset();
        // the connection was closed while idle: no byte of a response arrived
        if (again && !parser.got_some() && ec != beast::error::timeout) continue;
        return error_of(ec, target);
    }
}

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;
Client::~Client() = default;

base::Result<Client> Client::create(std::string_view endpoint, ClientOptions options) {
    const size_t colon = endpoint.rfind(':');
    const auto bad = [&] {
        return base::make_error(Reason::kBadEndpoint, "'{}' is not host:port, as in 127.0.0.1:8080",
                                endpoint);
    };
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
    auto impl = std::make_unique<Impl>();
    impl->host = std::string(host);
    impl->port = std::string(port);
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

}  // namespace rampart::http
