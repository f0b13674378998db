#include "rampart/http/server.hpp"

#include <array>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "group_queue.hpp"
#include "messages.hpp"
#include "rampart/base/log.hpp"
#include "rampart/http/reasons.hpp"
#include "rampart/http/request_id.hpp"
#include "sessions.hpp"

namespace rampart::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;
using boost::system::error_code;

constexpr base::Logger kLog("http");
constexpr size_t kMaxThreads = 256;
constexpr size_t kInlineThreads = 2;  // read, write, and answer inline; no lane occupies them
// Groups answered at a time: while one waits for the disk, the next is read.
constexpr size_t kGroupWorkers = 3;
// After a refusal the rest of the request is read and discarded, up to this time and size: closing
// at once would reset the connection, and the client could lose the response.
constexpr size_t kDrainBytes = 16u << 20;
constexpr auto kDrainTime = std::chrono::seconds(2);
// Time in which a connection beyond max_connections must send a request that is answered inline.
constexpr auto kSpareTime = std::chrono::seconds(2);

std::chrono::microseconds chrono_of(base::Duration duration) {
    return std::chrono::microseconds(duration.micros());
}

class Session;

using Gate = LaneGate<Session>;
using Groups = GroupQueue<Session>;
using Sessions = OpenSessions<Session>;

/// State shared by the sessions of one server.
struct Shared {
    using Planner = std::function<Plan(Request&)>;

    ServerOptions options;
    std::deque<Planner> planners;  // requests under way may have the plan of an earlier one
    std::atomic<const Planner*> planner{nullptr};
    std::shared_ptr<Traffic> traffic;
    RequestIds ids;
    std::array<Gate, 3> gates;   // for the lanes kWork, kBulk and kAdministrative
    Groups groups;               // for kGroup
    asio::any_io_executor pool;  // the threads of the lanes
    std::atomic<bool> stopping{false};

    static Response answer(const Plan& plan, const Request& request) {
        try {
            return (*plan.handler)(request);
        } catch (const std::exception& e) {
            kLog.error("msg=\"handler failed\" request_id={} what=\"{}\"", request.id, e.what());
            return handler_failed();
        }
    }
};

/// One connection. All its steps but the handler run on its strand, one at a time: header -> (100
/// continue) -> body -> (gate of the lane, or group) -> handler -> response -> header …, or
/// response -> drain -> close. A spare connection is answered once, and inline only.
class Session : public std::enable_shared_from_this<Session> {
  public:
    Session(tcp::socket socket, Shared& shared, Sessions& sessions, bool spare)
        : stream_(std::move(socket)), shared_(shared), sessions_(sessions), spare_(spare) {}
    ~Session() {
        sessions_.remove(this);
        shared_.traffic->closed();
    }

    void serve() {
        asio::dispatch(stream_.get_executor(),
                       [self = shared_from_this()] { self->read_header(); });
    }

    /// Runs the handler on a thread of the lane; called when the turn in the lane has come.
    void run() {
        asio::post(shared_.pool, [self = shared_from_this()] { self->run_in_lane(); });
    }

    bool same_group(const Session& other) const {
        return plan_.group == other.plan_.group &&
               std::max(body_bytes_, other.body_bytes_) <= kMaxGroupedBody;
    }

    /// Answers groups until none waits. Not on a strand: it waits for the disk.
    static void answer_groups(Shared& shared) {
        for (auto group = shared.groups.take(); !group.empty(); group = shared.groups.take())
            answer_group(shared, group);
    }

    /// Closes at once if no request is running; otherwise after the response.
    void stop() {
        asio::dispatch(stream_.get_executor(), [self = shared_from_this()] {
            if (self->idle_) self->close();
        });
    }

  private:
    void read_header() {
        if (shared_.stopping) return close();
        head_ = false;
        begun_ = std::chrono::steady_clock::now();
        body_bytes_ = 0;
        request_ = {};
        request_.id = shared_.ids.next();
        plan_ = {};
        plan_.max_body_bytes = shared_.options.max_body_bytes;
        parser_.emplace();
        parser_->header_limit(static_cast<uint32_t>(shared_.options.max_header_bytes));
        parser_->body_limit(shared_.options.max_body_bytes);
        idle_ = buffer_.size() == 0;
        stream_.expires_after(spare_ ? kSpareTime
                                     : chrono_of(idle_ ? shared_.options.idle_timeout
                                                       : shared_.options.request_timeout));
        if (!idle_) return read_rest_of_header();
        // The first byte ends the idle time and starts the time limit for a whole request.
        stream_.async_read_some(
            buffer_.prepare(4096), [self = shared_from_this()](error_code ec, size_t bytes) {
                if (ec) return self->close();
                self->buffer_.commit(bytes);
                self->idle_ = false;
                self->begun_ = std::chrono::steady_clock::now();
                if (!self->spare_) {
                    self->stream_.expires_after(chrono_of(self->shared_.options.request_timeout));
                }
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
        const auto& head = parser_->get();
        if (auto error = framing_error(head)) return write(*std::move(error), false);
        keep_alive_ = head.keep_alive() && !spare_;
        // HEAD is GET without the body
        head_ = head.method() == bhttp::verb::head;
        auto request = to_request(head);
        if (!request) return refuse(error_response(request.error()));
        request->id = std::move(request_.id);
        request_ = *std::move(request);
        if (auto given = given_request_id(request_.headers)) request_.id = *std::move(given);
        if (head_) request_.method = "GET";
        plan_ = (*shared_.planner.load())(request_);
        if (spare_ && (plan_.refusal || plan_.lane != Lane::kInline)) return refuse(overloaded());
        if (plan_.refusal) return refuse(*std::move(plan_.refusal));
        plan_.max_body_bytes = std::min(plan_.max_body_bytes, shared_.options.max_body_bytes);
        if (parser_->content_length().value_or(0) > plan_.max_body_bytes) {
            return refuse(too_large());
        }
        parser_->body_limit(plan_.max_body_bytes);
        if (beast::iequals(head[bhttp::field::expect], "100-continue")) return send_continue();
        read_body();
    }

    /// Responds from the head alone. The next request can be found only if there is no body.
    void refuse(Response response) {
        write(std::move(response), keep_alive_ && parser_->is_done());
    }

    Response too_large() const {
        return refusal(Reason::kBodyTooLarge,
                       fmt::format("the body may have up to {} bytes", plan_.max_body_bytes));
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
            return write(too_large(), false);
        }
        if (ec == bhttp::error::header_limit) {
            return write(refusal(Reason::kHeadersTooLarge,
                                 fmt::format("line and headers may have up to {} bytes",
                                             shared_.options.max_header_bytes)),
                         false);
        }
        if (ec == beast::error::timeout) {
            // tcp_stream has closed the socket: no response is possible
            return close();
        }
        if (ec.category() == make_error_code(bhttp::error::bad_method).category() &&
            ec != bhttp::error::end_of_stream && ec != bhttp::error::partial_message) {
            return write(error_response(base::make_error(Reason::kBadHttp,
                                                         "this is not HTTP/1.1: {}", ec.message())),
                         false);
        }
        close();
    }

    void answer() {
        request_.body = std::move(parser_->get().body());
        body_bytes_ = request_.body.size();
        if (plan_.lane == Lane::kInline) return write(Shared::answer(plan_, request_), keep_alive_);
        if (plan_.lane == Lane::kGroup) return enter_group();
        switch (gate().enter(shared_from_this())) {
            case Gate::Entry::kGo:
                return run();
            case Gate::Entry::kWait:
                return;
            case Gate::Entry::kFull:
                return write(administrative_busy(), keep_alive_);
        }
    }

    void enter_group() {
        shared_.traffic->queued();
        switch (shared_.groups.enter(shared_from_this(), std::chrono::steady_clock::now())) {
            case Groups::Entry::kWork:
                return asio::post(shared_.pool, [&shared = shared_] { answer_groups(shared); });
            case Groups::Entry::kWait:
                return;
            case Groups::Entry::kFull:
                shared_.traffic->taken(1);
                shared_.traffic->full();
                return write(waited_too_long(), keep_alive_);
        }
    }

    static void answer_group(Shared& shared, const std::vector<std::shared_ptr<Session>>& group) {
        shared.traffic->taken(group.size());
        std::vector<std::atomic<bool>> answered(group.size());
        std::vector<Grouped> requests;
        for (size_t i = 0; i < group.size(); ++i) {
            requests.push_back({group[i]->request_, [&group, &answered, i](Response response) {
                                    if (!answered[i].exchange(true))
                                        group[i]->respond(std::move(response));
                                }});
        }
        try {
            (*group.front()->plan_.group)(requests);
        } catch (const std::exception& e) {
            kLog.error("msg=\"handler failed\" requests={} what=\"{}\"", group.size(), e.what());
        }
        for (size_t i = 0; i < group.size(); ++i)
            if (!answered[i]) group[i]->respond(handler_failed());
    }

    /// Writes the response from any thread.
    void respond(Response response) {
        asio::post(stream_.get_executor(),
                   [self = shared_from_this(), response = std::move(response)]() mutable {
                       self->write(std::move(response), self->keep_alive_);
                   });
    }

    void run_in_lane() {
        auto response = Shared::answer(plan_, request_);
        const auto next = gate().leave();
        respond(std::move(response));
        if (next) next->run();
    }

    Gate& gate() { return shared_.gates[static_cast<size_t>(plan_.lane)]; }

    void write(Response response, bool keep_alive) {
        keep_alive = keep_alive && !shared_.stopping;
        idle_ = false;
        response.headers.push_back({"X-Request-Id", request_.id});
        note(response);
        response_ = to_message(std::move(response), keep_alive, head_);
        stream_.expires_after(chrono_of(shared_.options.request_timeout));
        bhttp::async_write(stream_, response_,
                           [self = shared_from_this(), keep_alive](error_code ec, size_t) {
                               self->count();
                               if (ec) return self->close();
                               if (keep_alive) return self->read_header();
                               self->drain();
                           });
    }

    /// Keeps what count() needs of the response, and logs a failure of the service.
    void note(const Response& response) {
        answered_ = {std::string(plan_.route.empty() ? kOtherRoute : plan_.route),
                     std::string(known_method(request_.method)),
                     response.status,
                     0,
                     body_bytes_,
                     response.body.size()};
        request_.body.clear();
        if (response.status < 500) return;
        kLog.warning(
            "msg=\"a request failed\" status={} reason={} method={} route={} request_id={}",
            response.status, response.reason, answered_.method, answered_.route, request_.id);
    }

    void count() {
        answered_.seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
        shared_.traffic->answered(answered_);
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
        idle_ = true;  // no response is due
        stream_.async_read_some(buffer_.prepare(4096),
                                [self = shared_from_this()](error_code ec, size_t bytes) {
                                    self->drained_ += bytes;
                                    if (ec || self->drained_ > kDrainBytes) return self->close();
                                    self->drain_some();
                                });
    }

    void close() { stream_.close(); }

    beast::tcp_stream stream_;
    Shared& shared_;
    Sessions& sessions_;
    const bool spare_;
    beast::flat_buffer buffer_;
    std::optional<bhttp::request_parser<bhttp::string_body>> parser_;
    bhttp::response<bhttp::empty_body> continue_;
    bhttp::response<bhttp::string_body> response_;
    Request request_;
    Plan plan_;
    std::chrono::steady_clock::time_point begun_{};  // the request's first byte
    size_t body_bytes_ = 0;
    Answered answered_;
    size_t drained_ = 0;
    bool keep_alive_ = false;
    bool head_ = false;
    bool idle_ = true;  // waiting for a request that has not begun
};

base::Result<tcp::endpoint> endpoint_of(const ServerOptions& options) {
    error_code ec;
    const auto address = asio::ip::make_address(options.address, ec);
    if (!ec) return tcp::endpoint(address, options.port);
    return base::make_error(Reason::kBadAddress,
                            "address '{}' is not a numeric address like 127.0.0.1 or ::1",
                            options.address);
}

base::Error listen_error(const ServerOptions& options, const error_code& ec) {
    if (ec == asio::error::address_in_use) {
        return base::make_error(
            Reason::kPortInUse,
            "port {} of {} is in use; stop the program that uses it or choose another port",
            options.port, options.address);
    }
    if (ec == asio::error::access_denied) {
        return base::make_error(Reason::kPortNotAllowed,
                                "port {} of {} may not be opened by this user; use a port "
                                "from 1024 on",
                                options.port, options.address);
    }
    return base::make_error(Reason::kCannotListen, "cannot listen on port {} of {}: {}",
                            options.port, options.address, ec.message());
}

}  // namespace

struct Server::Impl {
    explicit Impl(size_t lane_threads)
        : context(static_cast<int>(kInlineThreads)),
          lanes(lane_threads),
          acceptor(asio::make_strand(context)) {
        shared.pool = lanes.get_executor();
    }

    Shared shared;
    Sessions sessions;  // outlives the context: sessions that end with it unregister here
    asio::io_context context;
    asio::thread_pool lanes;
    // until the last session has ended: stop() posts to sessions that may have no pending operation
    asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
    tcp::acceptor acceptor;  // used on its strand only, once the threads run
    std::optional<asio::steady_timer> accept_pause;
    std::vector<std::thread> threads;
    tcp::endpoint endpoint;
    std::mutex stop_mutex;

    error_code listen(const tcp::endpoint& wanted);
    void answer_by(Shared::Planner planner);
    void accept();
    void on_accept(error_code ec, tcp::socket socket);
    void run();
    void stop();
};

void Server::Impl::answer_by(Shared::Planner planner) {
    shared.planners.push_back(std::move(planner));
    shared.planner = &shared.planners.back();
}

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
        // most likely out of file descriptors: accepting again at once would only spin
        kLog.warning("msg=\"accept failed\" what=\"{}\"", ec.message());
        shared.traffic->failed_to_accept();
        accept_pause.emplace(acceptor.get_executor(), std::chrono::milliseconds(100));
        accept_pause->async_wait([this](error_code cancelled) {
            if (!cancelled && !shared.stopping) accept();
        });
        return;
    }
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    const size_t others = sessions.count();
    const size_t most = shared.options.max_connections;
    if (others >= most) shared.traffic->refused();
    if (others < most + kSpareConnections) {
        shared.traffic->opened();
        const auto session =
            std::make_shared<Session>(std::move(socket), shared, sessions, others >= most);
        sessions.add(session);
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
        kLog.warning("msg=\"running requests are cut off\" connections={}", sessions.count());
        context.stop();
        lanes.stop();
        shared.groups.clear();  // none of these has begun
    }
    lanes.join();
    work.reset();
    for (auto& thread : threads) thread.join();
    threads.clear();
    // sessions are destroyed before the objects that they refer to
    for (auto& gate : shared.gates) gate.clear();
    shared.groups.clear();
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() { stop(); }

base::Result<std::unique_ptr<Server>> Server::start(const ServerOptions& options,
                                                    const Router& router) {
    return start_with(
        options, [&router](Request& head) { return router.plan(head); }, router.traffic());
}

base::Result<std::unique_ptr<Server>> Server::start(const ServerOptions& options, Handler handler,
                                                    std::shared_ptr<Traffic> traffic) {
    const auto kept = std::make_shared<const Handler>(std::move(handler));
    return start_with(
        options,
        [kept](Request&) {
            Plan plan;
            plan.handler = kept.get();
            return plan;
        },
        std::move(traffic));
}

base::Result<std::unique_ptr<Server>> Server::start_with(const ServerOptions& options,
                                                         std::function<Plan(Request&)> plan,
                                                         std::shared_ptr<Traffic> traffic) {
    RAMPART_TRY(const auto wanted, endpoint_of(options));
    const size_t places[] = {options.threads, options.bulk_threads, options.administrative_threads};
    size_t threads = kGroupWorkers;
    for (const size_t n : places) {
        if (n < 1 || n > kMaxThreads) {
            return base::make_error(Reason::kBadThreads, "threads {} is not in 1 to {}", n,
                                    kMaxThreads);
        }
        threads += n;
    }
    auto impl = std::make_unique<Impl>(threads);
    impl->shared.options = options;
    impl->answer_by(std::move(plan));
    impl->shared.traffic = std::move(traffic);
    for (const Lane lane : {Lane::kWork, Lane::kBulk, Lane::kAdministrative}) {
        const auto i = static_cast<size_t>(lane);
        impl->shared.gates[i].open(places[i], lane != Lane::kAdministrative);
    }
    impl->shared.groups.open(kGroupWorkers, kMaxGroup, chrono_of(options.longest_wait));
    if (const auto ec = impl->listen(wanted)) return listen_error(options, ec);
    impl->accept();
    for (size_t i = 0; i < kInlineThreads; ++i) {
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

void Server::answer_by(const Router& router) {
    impl_->answer_by([&router](Request& head) { return router.plan(head); });
}

void Server::stop() { impl_->stop(); }

}  // namespace rampart::http
