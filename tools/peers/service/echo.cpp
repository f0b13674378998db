// A bare HTTP server of Boost.Beast: gives each body back. It prints its port and serves until it
// is killed.
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <cstdio>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;

class Session : public std::enable_shared_from_this<Session> {
  public:
    explicit Session(tcp::socket socket) : stream_(std::move(socket)) {}
    void read() {
        request_ = {};
        http::async_read(stream_, buffer_, request_,
                         [self = shared_from_this()](beast::error_code failure, size_t) {
                             if (!failure) self->write();
                         });
    }

  private:
    void write() {
        response_ = {http::status::ok, 11};
        response_.set(http::field::content_type, "application/json");
        response_.keep_alive(request_.keep_alive());
        response_.body() = std::move(request_.body());
        response_.prepare_payload();
        http::async_write(stream_, response_,
                          [self = shared_from_this()](beast::error_code failure, size_t) {
                              if (!failure) self->read();
                          });
    }

    beast::tcp_stream stream_;
    beast::flat_buffer buffer_;
    http::request<http::string_body> request_;
    http::response<http::string_body> response_;
};

void accept(tcp::acceptor& acceptor) {
    acceptor.async_accept(asio::make_strand(acceptor.get_executor()),
                          [&acceptor](beast::error_code failure, tcp::socket socket) {
                              if (failure) return;
                              socket.set_option(tcp::no_delay(true));
                              std::make_shared<Session>(std::move(socket))->read();
                              accept(acceptor);
                          });
}

}  // namespace

int main() {
    const auto threads = static_cast<int>(std::thread::hardware_concurrency());
    asio::io_context context(threads);
    tcp::acceptor acceptor(context, {asio::ip::address_v4::loopback(), 0});
    std::printf("127.0.0.1:%d\n", acceptor.local_endpoint().port());
    std::fflush(stdout);
    accept(acceptor);
    std::vector<std::thread> others;
    for (int i = 1; i < threads; ++i) others.emplace_back([&context] { context.run(); });
    context.run();
}
