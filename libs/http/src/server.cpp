#include "rampart/http/server.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "connections.hpp"
#include "rampart/base/log.hpp"
#include "rampart/base/thread_name.hpp"
#include "rampart/base/thread_priority.hpp"
#include "rampart/http/reasons.hpp"

namespace rampart::http {
namespace {

using asio::ip::tcp;

constexpr base::Logger kLog("http");
constexpr size_t kMaxThreads = 256;
constexpr size_t kInlineThreads = 2;  // read, write, and answer inline; no lane occupies them
// Groups answered at a time: while one waits for the disk, the next is read.
constexpr size_t kGroupWorkers = 3;
constexpr size_t kEnoughOfAGroup = 8;  // requests, for which no worker waits longer
base::Result<tcp::endpoint> endpoint_of(const ServerOptions& options) {
    error_code ec;
    const auto address = asio::ip::make_address(options.address, ec);
    if (ec) {
        return base::make_error(Reason::kBadAddress,
                                "address '{}' is not a numeric address like 127.0.0.1 or ::1",
                                options.address);
    }
    if (!options.tls && !options.plaintext_anywhere && !address.is_loopback()) {
        return base::make_error(Reason::kPlaintextBeyondLoopback,
                                "address {} is beyond the loopback, and without TLS others on "
                                "the way could read tokens and applications: name files in "
                                "[http.tls], or set http.plaintext = \"any_address\"",
                                options.address);
    }
    return tcp::endpoint(address, options.port);
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
    std::mutex tls_mutex;
    std::shared_ptr<ServerTls> tls;  // for new connections; nullptr: plain HTTP

    base::Status load_tls();
    std::shared_ptr<ServerTls> tls_now();
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

base::Status Server::Impl::load_tls() {
    if (!shared.options.tls) return base::ok();
    auto loaded = load_server_tls(*shared.options.tls);
    if (!loaded) {
        shared.traffic->refused_certificate();
        return loaded.error();
    }
    shared.traffic->loaded_certificate((*loaded)->ends);
    const std::lock_guard lock(tls_mutex);
    tls = *std::move(loaded);
    return base::ok();
}

std::shared_ptr<ServerTls> Server::Impl::tls_now() {
    const std::lock_guard lock(tls_mutex);
    return tls;
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
    bool spare = others >= most;
    if (spare) {
        if (const auto gone = sessions.one_that_waits()) {
            gone->make_room();
            shared.traffic->made_room();
            spare = false;
        } else {
            shared.traffic->refused();
        }
    }
    if (others < most + kSpareConnections) {
        shared.traffic->opened();
        const auto secure = tls_now();
        const auto session = make_session(std::move(socket), shared, sessions, spare, secure.get());
        sessions.add(session);
        session->serve();
    }
    accept();
}

void Server::Impl::run() {
    base::name_this_thread("http-io");
    base::wake_promptly();
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
    // the threads of the lanes have name and priority of the one that makes them
    auto impl = std::async(std::launch::async, [threads] {
                    base::name_this_thread("http-lane");
                    base::wake_promptly();
                    return std::make_unique<Impl>(threads);
                }).get();
    impl->shared.options = options;
    impl->shared.by_principal.open(options.requests_per_second_by_principal);
    impl->shared.shares.open(options.connections_by_principal);
    impl->shared.by_address.open(options.requests_per_second_by_address);
    impl->answer_by(std::move(plan));
    impl->shared.traffic = std::move(traffic);
    for (const Lane lane : {Lane::kWork, Lane::kBulk, Lane::kAdministrative}) {
        const auto i = static_cast<size_t>(lane);
        impl->shared.gates[i].open(places[i], lane != Lane::kAdministrative);
    }
    impl->shared.groups.open({kGroupWorkers, kMaxGroup, chrono_of(options.longest_wait),
                              chrono_of(options.gather), kEnoughOfAGroup});
    RAMPART_RETURN_IF_ERROR(impl->load_tls());
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
    return fmt::format(fmt::runtime(address.is_v6() ? "{}[{}]:{}" : "{}{}:{}"),
                       impl_->shared.options.tls ? "https://" : "", address.to_string(), port());
}

void Server::answer_by(const Router& router) {
    impl_->answer_by([&router](Request& head) { return router.plan(head); });
}

base::Status Server::reload_tls() { return impl_->load_tls(); }

void Server::stop() { impl_->stop(); }

}  // namespace rampart::http
