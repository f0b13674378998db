#include <functional>
#include <optional>
#include <thread>

#include "rampart/base/file.hpp"
#include "rampart/base/log.hpp"
#include "rampart/runtime/shutdown.hpp"
#include "rampart/storage/writable.hpp"
#include "services/rampartd/node.hpp"

namespace rampart::rampartd {
namespace {

constexpr base::Logger kLog("rampartd");

/// Does something again and again, with a pause in between, until shutdown.
class Repeating {
  public:
    Repeating(runtime::Shutdown& shutdown, base::Duration pause, std::function<base::Status()> work)
        : shutdown_(shutdown), thread_([this, pause, work = std::move(work)] {
              while (!shutdown_.wait_for(pause)) {
                  const auto status = work();
                  if (!status)
                      kLog.error("msg=\"{}\" reason={}", status.error().message,
                                 status.error().reason);
              }
          }) {}
    ~Repeating() {
        shutdown_.request();
        thread_.join();
    }
    Repeating(const Repeating&) = delete;
    Repeating& operator=(const Repeating&) = delete;

  private:
    runtime::Shutdown& shutdown_;
    std::thread thread_;
};

}  // namespace

base::Status serve(const std::filesystem::path& config) {
    base::set_log_level(base::LogLevel::kInfo);
    RAMPART_TRY(const auto shutdown, runtime::Shutdown::install());
    RAMPART_TRY(auto settings, load_settings(config));
    RAMPART_RETURN_IF_ERROR(http::Server::check(settings.http));  // before a store is made
    RAMPART_TRY(const auto node, Node::open(std::move(settings), shutdown.get()));
    http::Router router(node->keys().token);
    node->add_routes(router);
    RAMPART_TRY(const auto server, http::Server::start(node->settings().http, router));
    // keeps what this node owns, and goes on where something failed
    const auto beat = base::Duration::micros(node->settings().log.lease_ttl.micros() / 3);
    // a database that has stopped takes writes only in a new process
    std::optional<Repeating> watching(std::in_place, *shutdown, base::Duration::seconds(1),
                                      [&shutdown] {
                                          auto status = storage::all_writable();
                                          if (!status) shutdown->request();
                                          return status;
                                      });
    std::optional<Repeating> tending(std::in_place, *shutdown, beat,
                                     [&node] { return node->maintain(); });
    std::optional<Repeating> mending(std::in_place, *shutdown, base::Duration::seconds(1), [&] {
        while (node->mend() && !shutdown->wait_for(base::Duration())) {
        }
        return base::ok();
    });
    // along the wall clock; along event time the clock's route does it
    std::optional<Repeating> ticking;
    if (!node->settings().event_clock) {
        ticking.emplace(*shutdown, base::Duration::seconds(1),
                        [&node] { return node->advance(node->now()); });
    }
    const auto endpoint_file = node->settings().store / "endpoint";
    RAMPART_RETURN_IF_ERROR(base::write_file_atomically(endpoint_file, server->endpoint() + "\n"));
    kLog.info("msg=serving address={} store={}", server->endpoint(),
              node->settings().store.string());
    shutdown->wait();
    std::error_code ignored;
    std::filesystem::remove(endpoint_file, ignored);
    server->stop();
    ticking.reset();
    mending.reset();
    tending.reset();
    watching.reset();
    const auto released = node->release();
    RAMPART_RETURN_IF_ERROR(storage::all_writable());
    return released;
}

}  // namespace rampart::rampartd
