#include "services/decision_service/tls_upkeep.hpp"

#include "rampart/base/log.hpp"
#include "rampart/base/thread_name.hpp"

namespace rampart::decision_service {
namespace {

constexpr base::Logger kLog("tls");
constexpr auto kLookEvery = base::Duration::seconds(1);

}  // namespace

std::unique_ptr<runtime::ReloadSignal> reload_signal_of(const http::ServerOptions& options) {
    return options.tls ? std::make_unique<runtime::ReloadSignal>() : nullptr;
}

TlsUpkeep::TlsUpkeep(runtime::ReloadSignal* signal, http::Server& server,
                     const http::Traffic& traffic, const base::Clock& clock,
                     runtime::Shutdown& shutdown)
    : signal_(signal), server_(server), traffic_(traffic), clock_(clock), shutdown_(shutdown) {
    if (signal_ == nullptr) return;
    thread_ = std::thread([this] {
        base::name_this_thread("tls-upkeep");
        do {
            if (signal_->take()) reload();
            warn();
        } while (!shutdown_.wait_for(kLookEvery));
    });
}

TlsUpkeep::~TlsUpkeep() {
    if (!thread_.joinable()) return;
    shutdown_.request();
    thread_.join();
}

void TlsUpkeep::reload() {
    warned_.reset();
    if (const auto status = server_.reload_tls(); !status) {
        kLog.error(
            "msg=\"the TLS files were not taken; the certificate from before stays in use\" "
            "reason={} what=\"{}\"",
            status.error().reason, status.error().message);
    } else if (const auto ends = traffic_.certificate_ends()) {
        kLog.info("msg=\"the TLS files were read anew\" certificate_ends={}",
                  base::to_iso8601(*ends));
    }
}

void TlsUpkeep::warn() {
    const auto now = clock_.now();
    const auto ends = traffic_.certificate_ends();
    if (!ends || *ends - now > kWarnBefore) return;
    if (warned_ && now - *warned_ < kWarnAgain) return;
    warned_ = now;
    kLog.warning("msg=\"the TLS certificate {}: renew it and send SIGHUP\" certificate_ends={}",
                 *ends <= now ? "has ended" : "ends within 30 days", base::to_iso8601(*ends));
}

}  // namespace rampart::decision_service
