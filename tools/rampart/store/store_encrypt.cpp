// store encrypt: all files of the databases under the store's key.
#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "frame/commands.hpp"
#include "frame/node_access.hpp"
#include "frame/reasons.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/runtime/store_start.hpp"
#include "rampart/runtime/system_clock.hpp"
#include "services/rampartd/settings.hpp"
#include "services/rampartd/store_key.hpp"
#include "services/rampartd/store_layout.hpp"

namespace rampart::cli {
namespace {

namespace json = boost::json;

base::Result<Answer> encrypt(const NodeOptions& options) {
    RAMPART_TRY(const auto settings, rampartd::load_settings(options.config));
    RAMPART_RETURN_IF_ERROR(check_exists(settings));
    if (!settings.privacy.encrypt_databases)
        return base::make_error(Reason::kMisuse,
                                "privacy.encrypt_databases is false in {}: set it to true first",
                                options.config.string());
    const auto& store = settings.store;
    RAMPART_TRY(const auto start, runtime::StoreStart::begin(
                                      store, {}, [&] { return rampartd::holds_a_store(store); }));
    RAMPART_RETURN_IF_ERROR(rampartd::settle_key_change(store));
    base::TimePoint now = runtime::SystemClock().now();
    if (settings.event_clock) {  // the audit log goes by it
        RAMPART_TRY(const auto registry,
                    registry::ModelRegistry::open(store / "registry",
                                                  registry::ModelRegistry::Mode::kReadOnly));
        if (registry->champion()) now = registry->champion()->at;
    }
    RAMPART_TRY(const auto done,
                rampartd::encrypt_store(store, {options.actor, options.reason, now}));
    Answer answer;
    json::array databases;
    for (const auto& [name, files] : done.databases) {
        const auto& [before, after] = files;
        uint64_t others = before.plain, left = after.plain;
        for (const auto& [id, count] : before.by_key) others += id == done.key_id ? 0 : count;
        for (const auto& [id, count] : after.by_key) left += id == done.key_id ? 0 : count;
        answer.text +=
            fmt::format("{:<28} {} files had no key or another one, now {}\n", name, others, left);
        databases.push_back({{"database", name}, {"before", others}, {"left", left}});
        if (left > 0) answer.exit_code = ExitCode::kNo;
    }
    answer.json = json::serialize(json::object{
        {"key", done.key_id}, {"key_made", done.key_made}, {"databases", std::move(databases)}});
    if (done.key_made)
        answer.notes.push_back(fmt::format(
            "key {} was made: without a copy of it the store is lost; rampart keys export",
            done.key_id));
    answer.notes.push_back(
        "deleted files and earlier backups have what they had; overwrite the free space of the "
        "disk where that matters");
    return answer;
}

}  // namespace

void add_store_encrypt(Frame& frame) {
    auto options = std::make_shared<NodeOptions>();
    auto& command = frame.add(
        {.name = "store encrypt",
         .summary = "Write all databases of a store anew, encrypted with its key",
         .example = "rampart store encrypt --config rampartd.toml --reason 'audit of May'",
         .detail = "For a store that was made plain, and after `keys rotate store`. It makes the "
                   "key where there never was one. It may be repeated after a crash. No node may "
                   "be serving the store. Exit code 1: a file is left."},
        [options](const Context&) { return encrypt(*options); });
    command.add_option("--config", options->config, "rampartd.toml of the store")->required();
    command.add_option("--reason", options->reason, "reason, for the audit log")->required();
    add_actor_option(command, options->actor);
}

}  // namespace rampart::cli
