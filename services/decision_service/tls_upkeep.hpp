#pragma once

#include <memory>
#include <optional>
#include <thread>

#include "rampart/base/clock.hpp"
#include "rampart/http/server.hpp"
#include "rampart/runtime/reload_signal.hpp"
#include "rampart/runtime/shutdown.hpp"

namespace rampart::decision_service {

/// Makes SIGHUP a signal to reload where the server speaks TLS; nullptr: it does not, and SIGHUP
/// ends the process as before. Made early, so that none ends a process that starts.
std::unique_ptr<runtime::ReloadSignal> reload_signal_of(const http::ServerOptions& options);

/// Reads the TLS files of a server anew at SIGHUP, and warns in the log, at the start and each day,
/// of a certificate that ends within 30 days.
class TlsUpkeep {
  public:
    /// All must outlive it. `signal` may be nullptr: then it does nothing. `clock`: the wall clock.
    TlsUpkeep(runtime::ReloadSignal* signal, http::Server& server, const http::Traffic& traffic,
              const base::Clock& clock, runtime::Shutdown& shutdown);
    /// Requests the end of the process, which ends the thread.
    ~TlsUpkeep();
    TlsUpkeep(const TlsUpkeep&) = delete;
    TlsUpkeep& operator=(const TlsUpkeep&) = delete;

    static constexpr auto kWarnBefore = base::Duration::days(30);
    static constexpr auto kWarnAgain = base::Duration::days(1);

  private:
    void reload();
    void warn();

    runtime::ReloadSignal* signal_;
    http::Server& server_;
    const http::Traffic& traffic_;
    const base::Clock& clock_;
    runtime::Shutdown& shutdown_;
    std::optional<base::TimePoint> warned_;
    std::thread thread_;
};

}  // namespace rampart::decision_service
