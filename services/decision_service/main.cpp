// The decision service on its own: group-blind, on the embedded log. It links no protected
// attribute (tests/architecture proves it). Made in dependency order; each object says why it
// exists.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "rampart/access/directory.hpp"
#include "rampart/base/log.hpp"
#include "rampart/http/server.hpp"
#include "rampart/runtime/crash_report.hpp"
#include "rampart/runtime/exit_code.hpp"
#include "rampart/runtime/product_toml.hpp"
#include "rampart/runtime/secrets.hpp"
#include "rampart/runtime/shutdown.hpp"
#include "rampart/runtime/store_keys.hpp"
#include "rampart/runtime/store_start.hpp"
#include "rampart/runtime/system_clock.hpp"
#include "rampart/storage/inspection.hpp"
#include "rampart/storage/writable.hpp"
#include "rampart/streaming_local/local_log.hpp"
#include "services/decision_service/champion.hpp"
#include "services/decision_service/files_needed.hpp"
#include "services/decision_service/known_reasons.hpp"
#include "services/decision_service/routes.hpp"
#include "services/decision_service/settings.hpp"
#include "services/decision_service/tls_upkeep.hpp"

namespace rampart::decision_service {
namespace {

constexpr base::Logger kLog("decision_service");

/// Does what is due while the service runs, until it is to end.
base::Status keep_up(const Settings& settings, serving::DecisionService& service,
                     ChampionFollower& champion, access::Directory& callers,
                     identity_provider::Provider* provider, runtime::Shutdown& shutdown) {
    while (!shutdown.wait_for(settings.registry_poll)) {
        // a database that has stopped takes writes only in a new process
        RAMPART_RETURN_IF_ERROR(storage::all_writable());
        service.maintain();
        while (service.mend() && !shutdown.wait_for(base::Duration())) {
        }
        if (const auto changed = callers.refresh(); !changed) {
            kLog.error(
                "msg=\"the principals were not read; those from before stay\" reason={} "
                "what=\"{}\"",
                changed.error().reason, changed.error().message);
        }
        const auto keys = provider == nullptr ? base::Result<bool>(false) : provider->refresh();
        if (!keys) {
            kLog.error(
                "msg=\"the identity provider's keys were not read; those from before stay\" "
                "reason={} what=\"{}\"",
                keys.error().reason, keys.error().message);
        }
        if (const auto status = champion.refresh(); !status) {
            kLog.warning("msg=\"champion not refreshed\" reason={} what=\"{}\"",
                         status.error().reason, status.error().message);
        }
    }
    return base::ok();
}

base::Status serve(const std::filesystem::path& config) {
    runtime::make_files_private();
    runtime::use_store_keys();
    RAMPART_TRY(const Settings settings, load_settings(config));
    runtime::warn_of_exposed(settings.store);
    serving::DecisionServiceOptions options;
    RAMPART_TRY(options.product, runtime::load_product(settings.product));
    options.log.folder = settings.store / "partitions";
    options.log.partitions = settings.partitions;
    options.log.exploration_per_day = settings.exploration_per_day;
    options.cool_off_days = settings.cool_off_days;
    options.event_window = settings.event_window;

    // the log, the registry, and an index for each partition
    RAMPART_RETURN_IF_ERROR(reserve_files(options.log.partitions + 2, settings.http));
    // signals become a flag before there is anything that they could interrupt
    runtime::report_crashes();
    know_reasons();
    RAMPART_TRY(const auto shutdown, runtime::Shutdown::install());
    const auto reload = reload_signal_of(settings.http);
    // the secret behind the draws; a start that fails leaves none
    RAMPART_TRY(
        const auto start,
        runtime::StoreStart::begin(
            settings.store,
            {"log", "partitions", "principals.toml", "principals.toml.lock", "api.token"}, [&] {
                return storage::find_databases(settings.store).map([](const auto& found) {
                    return !found.empty();
                });
            }));
    RAMPART_TRY(const auto secrets, start->secrets({settings.store / "draw.key"}));
    options.draw_key = {runtime::secret_id(secrets.front()), secrets.front()};

    // where decisions and outcomes are kept
    const runtime::SystemClock clock;
    RAMPART_TRY(const auto log, streaming_local::LocalLog::open(settings.store / "log"));
    log->stamp_with(clock);
    for (const auto& topic : {options.log.topic, options.outcomes_topic}) {
        RAMPART_RETURN_IF_ERROR(log->create_topic(topic, {settings.partitions, {}, {}}));
    }
    runtime::Metrics metrics;
    runtime::Health health;
    RAMPART_TRY(const auto service, serving::DecisionService::open(
                                        std::move(options), {*log, *log, clock, metrics, health}));

    ChampionFollower champion(settings.registry, *service);
    RAMPART_RETURN_IF_ERROR(champion.refresh());

    // clients come last in and first out
    RAMPART_TRY(const auto callers,
                access::Directory::open(
                    {settings.store / "principals.toml", settings.store / "api.token"}, clock));
    std::shared_ptr<identity_provider::Provider> provider;
    if (settings.oidc) {
        RAMPART_TRY(provider, identity_provider::Provider::open(*settings.oidc, clock));
    }
    http::Router router(identity_provider::with_provider(callers, provider));
    DecisionRoutes(*service).add_to(router);
    StatusRoutes(health, metrics).add_to(router);
    RAMPART_TRY(const auto server, http::Server::start(settings.http, router));
    const TlsUpkeep tls(reload.get(), *server, *router.traffic(), clock, *shutdown);
    start->succeed();
    std::printf("listening on %s\n", server->endpoint().c_str());
    std::fflush(stdout);
    const auto status = keep_up(settings, *service, champion, *callers, provider.get(), *shutdown);
    server->stop();
    return status;
}

}  // namespace
}  // namespace rampart::decision_service

int main(int argc, char** argv) {
    CLI::App app{"Decides loan applications over HTTP; group-blind, on the embedded log."};
    std::string config;
    app.add_option("--config", config, "TOML file; services/decision_service/settings.hpp")
        ->required();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    rampart::base::set_log_level(rampart::base::LogLevel::kInfo);
    const auto status = rampart::decision_service::serve(config);
    if (status) return 0;
    std::fprintf(stderr, "decision_service: %s\n", status.error().message.c_str());
    return static_cast<int>(rampart::runtime::exit_code_of(status.error().code));
}
