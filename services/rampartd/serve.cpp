#include <thread>

#include "rampart/base/file.hpp"
#include "rampart/base/log.hpp"
#include "rampart/runtime/shutdown.hpp"
#include "services/rampartd/node.hpp"

namespace rampart::rampartd {
namespace {

constexpr base::Logger kLog("rampartd");

/// Moves the loop along the wall clock, once a second, until shutdown.
class Ticker {
  public:
    Ticker(Node& node, runtime::Shutdown& shutdown) : shutdown_(shutdown) {
        if (node.settings().event_clock) return;
        thread_ = std::thread([&node, &shutdown] {
            while (!shutdown.wait_for(base::Duration::seconds(1))) {
                const auto status = node.advance(node.now());
                if (!status) kLog.error("msg=\"{}\" reason={}", status.error().message, status.error().reason);
            }
        });
    }
    ~Ticker() {
        shutdown_.request();
        if (thread_.joinable()) thread_.join();
    }
    Ticker(const Ticker&) = delete;
    Ticker& operator=(const Ticker&) = delete;

  private:
    runtime::Shutdown& shutdown_;
    std::thread thread_;
};

}  // namespace

base::Status serve(const std::filesystem::path& config) {
    base::set_log_level(base::LogLevel::kInfo);
    RAMPART_TRY(const auto shutdown, runtime::Shutdown::install());
    RAMPART_TRY(auto settings, load_settings(config));
    RAMPART_TRY(const auto node, Node::open(std::move(settings)));
    http::Router router(node->keys().token);
    node->add_routes(router);
    RAMPART_TRY(const auto server, http::Server::start(node->settings().http, [&router](http::Request request) {
        return router.handle(std::move(request));
    }));
    const Ticker ticker(*node, *shutdown);
    const auto endpoint_file = node->settings().store / "endpoint";
    RAMPART_RETURN_IF_ERROR(base::write_file_atomically(endpoint_file, server->endpoint() + "\n"));
    kLog.info("msg=serving address={} store={}", server->endpoint(), node->settings().store.string());
    shutdown->wait();
    std::error_code ignored;
    std::filesystem::remove(endpoint_file, ignored);
    server->stop();
    return base::ok();
}

}  // namespace rampart::rampartd
