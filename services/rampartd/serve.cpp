#include <cstdlib>
#include <functional>
#include <mutex>
#include <thread>

#include "rampart/base/file.hpp"
#include "rampart/base/log.hpp"
#include "rampart/base/thread_name.hpp"
#include "rampart/runtime/crash_report.hpp"
#include "rampart/runtime/secrets.hpp"
#include "rampart/runtime/shutdown.hpp"
#include "rampart/runtime/system_clock.hpp"
#include "rampart/storage/writable.hpp"
#include "services/decision_service/routes.hpp"
#include "services/decision_service/tls_upkeep.hpp"
#include "services/rampartd/known_reasons.hpp"
#include "services/rampartd/node.hpp"
#include "services/rampartd/reasons.hpp"

namespace rampart::rampartd {
namespace {

constexpr base::Logger kLog("rampartd");

// How long a run of training may take to come to a point from which it goes on. A run that is cut
// off loses nothing but time: it is taken up under its number.
constexpr auto kStopTime = base::Duration::seconds(3);
// for requests that were accepted
constexpr auto kAnswerTime = base::Duration::seconds(5);

/// What is answered until the node is open.
class StartPage {
  public:
    StartPage() {
        health_.add(runtime::Probe::kReady, "start", [this]() -> base::Status {
            return base::make_error(Reason::kStarting, "starting: {}", phase());
        });
        decision_service::StatusRoutes(health_, metrics_).add_to(router_);
    }
    void say(const std::string& phase) {
        kLog.info("msg=\"{}\"", phase);
        const std::lock_guard lock(mutex_);
        phase_ = phase;
    }
    http::Response answer(const http::Request& request) const {
        auto response = router_.handle(request);
        if (response.status != 404) return response;
        response = http::error_response(
            base::make_error(Reason::kStarting, "the service is starting: {}", phase()));
        response.headers.push_back({"Retry-After", "1"});
        return response;
    }

  private:
    std::string phase() const {
        const std::lock_guard lock(mutex_);
        return phase_;
    }

    mutable std::mutex mutex_;
    std::string phase_ = "reading the configuration";
    runtime::Health health_;
    runtime::Metrics metrics_;
    http::Router router_;
};

/// Ends the process where a database takes no more writes: it does so only in a new process.
class Watch {
  public:
    explicit Watch(runtime::Shutdown& shutdown)
        : shutdown_(shutdown), thread_([this] { watch(); }) {}
    ~Watch() {
        shutdown_.request();
        thread_.join();
    }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

  private:
    void watch() {
        base::name_this_thread("disk-watch");
        while (!shutdown_.wait_for(base::Duration::seconds(1))) {
            const auto status = storage::all_writable();
            if (status) continue;
            kLog.error("msg=\"{}\" reason={}", status.error().message, status.error().reason);
            shutdown_.request();
        }
    }

    runtime::Shutdown& shutdown_;
    std::thread thread_;
};

}  // namespace

base::Status serve(const std::filesystem::path& config, std::string_view roles) {
    base::set_log_level(base::LogLevel::kInfo);
    runtime::report_crashes();
    know_reasons();
    runtime::make_files_private();
    RAMPART_TRY(const auto shutdown, runtime::Shutdown::install());
    RAMPART_TRY(auto settings, load_settings(config, roles));
    runtime::warn_of_exposed(settings.store);
    const auto reload = decision_service::reload_signal_of(settings.http);
    settings.http.stop_timeout = kAnswerTime;
    // before a store is made
    StartPage page;
    std::unique_ptr<Node> node;
    http::Router router;
    const auto answer = [&page](const http::Request& request) { return page.answer(request); };
    const runtime::SystemClock clock;
    RAMPART_TRY(const auto server, http::Server::start(settings.http, answer, router.traffic()));
    const decision_service::TlsUpkeep tls(reload.get(), *server, *router.traffic(), clock,
                                          *shutdown);
    RAMPART_TRY(node, Node::open(std::move(settings), shutdown.get(), {},
                                 [&page](const auto& phase) { page.say(phase); }));
    RAMPART_RETURN_IF_ERROR(remember_roles(node->settings().store, roles));
    router = http::Router(node->callers(), router.traffic());
    node->add_routes(router);
    server->answer_by(router);
    Watch watch(*shutdown);
    node->begin_work();
    const auto endpoint_file = node->settings().store / "endpoint";
    RAMPART_RETURN_IF_ERROR(base::write_file_atomically(endpoint_file, server->endpoint() + "\n"));
    const auto address = server->endpoint();
    kLog.info("msg=serving address={} store={} roles={} console={}{}/console/", address,
              node->settings().store.string(), to_string(node->settings().log.roles),
              address.starts_with("https://") ? "" : "http://", address);
    shutdown->wait();
    node->begin_stop();
    // so that those who balance the load see it before the port closes
    std::this_thread::sleep_for(std::chrono::microseconds(node->settings().drain.micros()));
    std::error_code ignored;
    std::filesystem::remove(endpoint_file, ignored);
    server->stop();
    const auto left = node->stop_work(kStopTime);
    const auto released = node->release();
    const auto writable = storage::all_writable();
    if (!left.empty()) {
        kLog.warning("msg=\"cut off; it goes on at the next start\" job={}", left.front());
        // its thread uses what would be destroyed
        std::_Exit(writable && released ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    RAMPART_RETURN_IF_ERROR(writable);
    return released;
}

}  // namespace rampart::rampartd
