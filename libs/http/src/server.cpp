#include "rampart/http/server.hpp"

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "rampart/base/log.hpp"

namespace rampart::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace bhttp = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr base::Logger kLog("http");
constexpr size_t kMaxThreads = 256;
// After a refusal the rest of what the client is sending is read and thrown away for so long and so
// much: closing at once would reset the connection and could take the answer with it.
constexpr size_t kDrainBytes = 16u << 20;
constexpr auto kDrainTime = std::chrono::seconds(2);

std::chrono::microseconds chrono_of(base::Duration duration) {
    return std::chrono::microseconds(duration.micros());
}

Response refusal(int status, std::string_view reason, std::string_view message) {
    return error_response(base::out_of_range(reason, "{}", message), status);
}

Response overloaded() {
    return error_response(base::resource_exhausted(
        "too_many_connections", "the service has as many connections as it takes; retry later"));
}

Request to_request(bhttp::request<bhttp::string_body>&& message) {
    Request request;
    request.method = std::string(message.method_string());
    for (const auto& field : message) {
        request.headers.push_back({std::string(field.name_string()), std::string(field.value())});
    }
    request.body = std::move(message.body());
    return request;
}

bhttp::response<bhttp::string_body> to_message(Response&& response, bool keep_alive, bool head) {
    bhttp::response<bhttp::string_body> message;
    message.version(11);
    message.result(static_cast<unsigned>(response.status));
    message.set(bhttp::field::content_type, response.content_type);
    message.set(bhttp::field::cache_control, "no-store");
    message.set("X-Content-Type-Options", "nosniff");
    for (const auto& [name, value] : response.headers) message.set(name, value);
    message.body() = std::move(response.body);
    message.keep_alive(keep_alive);
    message.prepare_payload();
    if (head) message.body().clear();  // the length stays
    return message;
}

/// What the sessions of one server share.
struct Shared {
    ServerOptions options;
    std::function<Response(Request)> handler;
    std::atomic<bool> stopping{false};

    Response answer(Request request) const {
        try {
            return handler(std::move(request));
        } catch (const std::exception& e) {
            kLog.error("msg=\"handler failed\" what=\"{}\"", e.what());
            return error_response(
                base::internal_error("handler_failed", "the request failed inside"));
        }
    }
};

class Session;

/// Who is connected, so that stop() can reach them and wait for the last one.
class Sessions {
  public:
    void add(const std::shared_ptr<Session>& session) {
        const std::lock_guard lock(mutex_);
        sessions_.insert({session.get(), session});
    }
    void remove(Session* session) {
        const std::lock_guard lock(mutex_);
        sessions_.erase(session);
        if (sessions_.empty()) none_left_.notify_all();
    }
    size_t count() const {
        const std::lock_guard lock(mutex_);
        return sessions_.size();
    }
    std::vector<std::shared_ptr<Session>> all() const {
        const std::lock_guard lock(mutex_);
        std::vector<std::shared_ptr<Session>> all;
        for (const auto& [key, weak] : sessions_) {
            if (auto session = weak.lock()) all.push_back(std::move(session));
        }
        return all;
    }
    bool wait_for_none(std::chrono::microseconds timeout) {
        std::unique_lock lock(mutex_);
        return none_left_.wait_for(lock, timeout, [&] { return sessions_.empty(); });
    }

  private:
    mutable std::mutex mutex_;
    std::condition_variable none_left_;
    std::map<Session*, std::weak_ptr<Session>> sessions_;
};

/// One connection. Everything happens on its strand, one step at a time:
/// header -> (100 continue) -> body -> handler -> answer -> header …, or answer -> drain -> close.
class Session : public std::enable_shared_from_this<Session> {
  public:
    Session(tcp::socket socket, const Shared& shared, Sessions& sessions)
        : stream_(std::move(socket)), shared_(shared), sessions_(sessions) {}
    ~Session() { sessions_.remove(this); }

    void serve() {
        asio::dispatch(stream_.get_executor(),
                       [self = shared_from_this()] { self->read_header(); });
    }

    void refuse(Response response) {
        asio::dispatch(stream_.get_executor(),
                       [self = shared_from_this(), response = std::move(response)]() mutable {
                           self->write(std::move(response), false);
                       });
    }

    /// Closes at once if no request is under way; otherwise its answer will be the last.
    void stop() {
        asio::dispatch(stream_.get_executor(), [self = shared_from_this()] {
            if (self->idle_) self->close();
        });
    }

  private:
    void read_header() {
        if (shared_.stopping) return close();
        parser_.emplace();
        parser_->header_limit(static_cast<uint32_t>(shared_.options.max_header_bytes));
        parser_->body_limit(shared_.options.max_body_bytes);
        idle_ = buffer_.size() == 0;
        stream_.expires_after(
            chrono_of(idle_ ? shared_.options.idle_timeout : shared_.options.request_timeout));
        if (!idle_) return read_rest_of_header();
        // The first byte ends the idle time and starts the time for a whole request.
        stream_.async_read_some(
            buffer_.prepare(4096), [self = shared_from_this()](error_code ec, size_t bytes) {
                if (ec) return self->close();
                self->buffer_.commit(bytes);
                self->idle_ = false;
                self->stream_.expires_after(chrono_of(self->shared_.options.request_timeout));
                self->read_rest_of_header();
            });
    }

    void read_rest_of_header() {
        bhttp::async_read_header(
            stream_, buffer_, *parser_,
            [self = shared_from_this()](error_code ec, size_t) { self->on_header(ec); });
    }

    void on_header(error_code ec) {
        if (ec) return on_bad_request(ec);
        const auto& message = parser_->get();
        if (beast::iequals(message[bhttp::field::expect], "100-continue")) return send_continue();
        read_body();
    }

    void send_continue() {
        continue_ = {bhttp::status::continue_, 11};
        bhttp::async_write(stream_, continue_, [self = shared_from_this()](error_code ec, size_t) {
            if (ec) return self->close();
            self->read_body();
        });
    }

    void read_body() {
        bhttp::async_read(stream_, buffer_, *parser_,
                          [self = shared_from_this()](error_code ec, size_t) {
                              if (ec) return self->on_bad_request(ec);
                              self->answer();
                          });
    }

    void on_bad_request(error_code ec) {
        if (ec == bhttp::error::body_limit) {
            return write(refusal(413, "body_too_large",
                                 fmt::format("the body may have up to {} bytes",
                                             shared_.options.max_body_bytes)),
                         false);
        }
        if (ec == bhttp::error::header_limit) {
            return write(refusal(431, "headers_too_large",
                                 fmt::format("line and headers may have up to {} bytes",
                                             shared_.options.max_header_bytes)),
                         false);
        }
        if (ec == beast::error::timeout) {
            // tcp_stream has closed the socket: there is nobody to tell
            return close();
        }
        if (ec.category() == make_error_code(bhttp::error::bad_method).category() &&
            ec != bhttp::error::end_of_stream && ec != bhttp::error::partial_message) {
            return write(error_response(base::invalid_argument(
                             "bad_http", "this is no HTTP/1.1: {}", ec.message())),
                         false);
        }
        close();
    }

    void answer() {
        auto message = parser_->release();
        const bool keep_alive = message.keep_alive();
        const std::string target(message.target());
        Request request = to_request(std::move(message));
        // HEAD is GET without the body
        head_ = request.method == "HEAD";
        if (head_) request.method = "GET";
        const auto parsed = parse_target(target, request);
        write(parsed ? shared_.answer(std::move(request)) : error_response(parsed.error()),
              keep_alive);
    }

    void write(Response response, bool keep_alive) {
        keep_alive = keep_alive && !shared_.stopping;
        idle_ = false;
        response_ = to_message(std::move(response), keep_alive, head_);
        stream_.expires_after(chrono_of(shared_.options.request_timeout));
        bhttp::async_write(stream_, response_,
                           [self = shared_from_this(), keep_alive](error_code ec, size_t) {
                               if (ec) return self->close();
                               if (keep_alive) return self->read_header();
                               self->drain();
                           });
    }

    void drain() {
        error_code ec;
        stream_.socket().shutdown(tcp::socket::shutdown_send, ec);
        if (ec) return close();
        buffer_.clear();
        stream_.expires_after(kDrainTime);
        drain_some();
    }

    void drain_some() {
        idle_ = true;  // nothing is owed any more
        stream_.async_read_some(buffer_.prepare(4096),
                                [self = shared_from_this()](error_code ec, size_t bytes) {
                                    self->drained_ += bytes;
                                    if (ec || self->drained_ > kDrainBytes) return self->close();
                                    self->drain_some();
                                });
    }

    void close() { stream_.close(); }

    beast::tcp_stream stream_;
    const Shared& shared_;
    Sessions& sessions_;
    beast::flat_buffer buffer_;
    std::optional<bhttp::request_parser<bhttp::string_body>> parser_;
    bhttp::response<bhttp::empty_body> continue_;
    bhttp::response<bhttp::string_body> response_;
    size_t drained_ = 0;
    bool head_ = false;
    bool idle_ = true;  // waiting for a request that has not begun
};

base::Error listen_error(const ServerOptions& options, const error_code& ec) {
    if (ec == asio::error::address_in_use) {
        return base::failed_precondition(
            "port_in_use", "port {} of {} is in use; stop what holds it or choose another port",
            options.port, options.address);
    }
    if (ec == asio::error::access_denied) {
        return base::permission_denied("port_not_allowed",
                                       "port {} of {} may not be opened by this user; ports from "
                                       "1024 on may",
                                       options.port, options.address);
    }
    return base::unavailable("cannot_listen", "cannot listen on port {} of {}: {}", options.port,
                             options.address, ec.message());
}

}  // namespace

struct Server::Impl {
    explicit Impl(size_t concurrency)
        : context(static_cast<int>(concurrency)), acceptor(asio::make_strand(context)) {}

    Shared shared;
    Sessions sessions;  // outlives the context: sessions that die with it say goodbye here
    asio::io_context context;
    tcp::acceptor acceptor;  // used on its strand only, once the threads run
    std::optional<asio::steady_timer> accept_pause;
    std::vector<std::thread> threads;
    tcp::endpoint endpoint;
    std::mutex stop_mutex;

    error_code listen(const tcp::endpoint& wanted);
    void accept();
    void on_accept(error_code ec, tcp::socket socket);
    void run();
    void stop();
};

error_code Server::Impl::listen(const tcp::endpoint& wanted) {
    error_code ec;
    if (acceptor.open(wanted.protocol(), ec)) return ec;
    if (acceptor.set_option(asio::socket_base::reuse_address(true), ec)) return ec;
    if (acceptor.bind(wanted, ec)) return ec;
    if (acceptor.listen(asio::socket_base::max_listen_connections, ec)) return ec;
    endpoint = acceptor.local_endpoint(ec);
    return ec;
}

void Server::Impl::accept() {
    acceptor.async_accept(asio::make_strand(context), [this](error_code ec, tcp::socket socket) {
        on_accept(ec, std::move(socket));
    });
}

void Server::Impl::on_accept(error_code ec, tcp::socket socket) {
    if (shared.stopping || ec == asio::error::operation_aborted) return;
    if (ec) {
        // out of file descriptors, most likely: accepting again at once would only spin
        kLog.warning("msg=\"accept failed\" what=\"{}\"", ec.message());
        accept_pause.emplace(acceptor.get_executor(), std::chrono::milliseconds(100));
        accept_pause->async_wait([this](error_code cancelled) {
            if (!cancelled && !shared.stopping) accept();
        });
        return;
    }
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    const bool full = sessions.count() >= shared.options.max_connections;
    const auto session = std::make_shared<Session>(std::move(socket), shared, sessions);
    sessions.add(session);
    if (full) {
        session->refuse(overloaded());
    } else {
        session->serve();
    }
    accept();
}

void Server::Impl::run() {
    while (true) {
        try {
            context.run();
            return;
        } catch (const std::exception& e) {
            kLog.error("msg=\"a connection failed\" what=\"{}\"", e.what());
        }
    }
}

void Server::Impl::stop() {
    const std::lock_guard lock(stop_mutex);
    if (threads.empty()) return;
    shared.stopping = true;
    asio::post(acceptor.get_executor(), [this] {
        error_code ignored;
        acceptor.close(ignored);
        if (accept_pause) accept_pause->cancel();
    });
    for (const auto& session : sessions.all()) session->stop();
    if (!sessions.wait_for_none(chrono_of(shared.options.stop_timeout))) {
        kLog.warning("msg=\"requests under way are cut off\" connections={}", sessions.count());
        context.stop();
    }
    for (auto& thread : threads) thread.join();
    threads.clear();
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() { stop(); }

base::Result<std::unique_ptr<Server>> Server::start(const ServerOptions& options,
                                                    std::function<Response(Request)> handler) {
    error_code ec;
    const auto address = asio::ip::make_address(options.address, ec);
    if (ec) {
        return base::invalid_argument("bad_address",
                                      "address '{}' is no numeric address like 127.0.0.1 or ::1",
                                      options.address);
    }
    if (options.threads < 1 || options.threads > kMaxThreads) {
        return base::invalid_argument("bad_threads", "threads {} is not in 1 to {}",
                                      options.threads, kMaxThreads);
    }
    auto impl = std::make_unique<Impl>(options.threads);
    impl->shared.options = options;
    impl->shared.handler = std::move(handler);
    if ((ec = impl->listen({address, options.port}))) return listen_error(options, ec);
    impl->accept();
    for (size_t i = 0; i < options.threads; ++i) {
        impl->threads.emplace_back([server = impl.get()] { server->run(); });
    }
    return std::unique_ptr<Server>(new Server(std::move(impl)));
}

uint16_t Server::port() const { return impl_->endpoint.port(); }

std::string Server::endpoint() const {
    const auto address = impl_->endpoint.address();
    return fmt::format(fmt::runtime(address.is_v6() ? "[{}]:{}" : "{}:{}"), address.to_string(),
                       port());
}

void Server::stop() { impl_->stop(); }

}  // namespace rampart::http
