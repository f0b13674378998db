#include "services/decision_service/tls_upkeep.hpp"

#include "rampart/base/log.hpp"

namespace rampart::decision_service {
namespace {

constexpr base::Logger kLog("tls");
constexpr auto kLookEvery = base::Duration::seconds(1);

}  // namespace

TlsUpkeep::TlsUpkeep(const http::ServerOptions& options) {
    if (options.tls) hangup_.emplace();
}

TlsUpkeep::~TlsUpkeep() {
    if (!thread_.joinable()) return;
    shutdown_->request();
    thread_.join();
}

void TlsUpkeep::begin(http::Server& server, const http::Traffic& traffic, const base::Clock& clock,
                      runtime::Shutdown& shutdown) {
    if (!hangup_) return;
    shutdown_ = &shutdown;
    thread_ = std::thread([this, &server, &traffic, &clock] {
        do look(server, traffic, clock);
        while (!shutdown_->wait_for(kLookEvery));
    });
}

void TlsUpkeep::look(http::Server& server, const http::Traffic& traffic, const base::Clock& clock) {
    if (hangup_->take()) {
        warned_.reset();
        if (const auto status = server.reload_tls(); !status) {
            kLog.error(
                "msg=\"the TLS files were not taken; the certificate from before stays in use\" "
                "reason={} what=\"{}\"",
                status.error().reason, status.error().message);
        } else if (const auto ends = traffic.certificate_ends()) {
            kLog.info("msg=\"the TLS files were read anew\" certificate_ends={}",
                      base::to_iso8601(*ends));
        }
    }
    const auto now = clock.now();
    const auto ends = traffic.certificate_ends();
    if (!ends || *ends - now > kWarnBefore) return;
    if (warned_ && now - *warned_ < kWarnAgain) return;
    warned_ = now;
    kLog.warning("msg=\"the TLS certificate {}: renew it and send SIGHUP\" certificate_ends={}",
                 *ends <= now ? "has ended" : "ends within 30 days", base::to_iso8601(*ends));
}

}  // namespace rampart::decision_service
