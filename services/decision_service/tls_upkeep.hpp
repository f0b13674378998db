#pragma once

#include <optional>
#include <thread>

#include "rampart/base/clock.hpp"
#include "rampart/http/server.hpp"
#include "rampart/runtime/reload_signal.hpp"
#include "rampart/runtime/shutdown.hpp"

namespace rampart::decision_service {

/// Reads the TLS files of a server anew at SIGHUP, and warns in the log, at the start and each day,
/// of a certificate that ends within 30 days. Without TLS it does nothing, and SIGHUP ends the
/// process as before. Make it before the server, so that no SIGHUP ends a process that starts.
class TlsUpkeep {
  public:
    explicit TlsUpkeep(const http::ServerOptions& options);
    /// Requests the end of the process, and waits for its own.
    ~TlsUpkeep();
    TlsUpkeep(const TlsUpkeep&) = delete;
    TlsUpkeep& operator=(const TlsUpkeep&) = delete;

    /// Begins. All must outlive this; `clock` is the wall clock.
    void begin(http::Server& server, const http::Traffic& traffic, const base::Clock& clock,
               runtime::Shutdown& shutdown);

    static constexpr auto kWarnBefore = base::Duration::days(30);
    static constexpr auto kWarnAgain = base::Duration::days(1);

  private:
    void look(http::Server& server, const http::Traffic& traffic, const base::Clock& clock);

    std::optional<runtime::ReloadSignal> hangup_;
    std::optional<base::TimePoint> warned_;
    runtime::Shutdown* shutdown_ = nullptr;
    std::thread thread_;
};

}  // namespace rampart::decision_service
