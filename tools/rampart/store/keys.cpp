// keys list, export, import, rotate: the keys of a store.
#include "store/keys.hpp"

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <filesystem>

#include "frame/node_access.hpp"
#include "frame/reasons.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/runtime/key_file.hpp"
#include "rampart/runtime/store_start.hpp"
#include "rampart/runtime/system_clock.hpp"
#include "rampart/storage/folder.hpp"
#include "services/rampartd/key_inventory.hpp"
#include "services/rampartd/settings.hpp"
#include "services/rampartd/store_key.hpp"
#include "services/rampartd/store_layout.hpp"
#include "store/passphrase.hpp"

namespace rampart::cli {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using base::Result;
using registry::ModelRegistry;

struct Options : NodeOptions {
    std::string name;
    fs::path file, passphrase;
};

rampartd::KeyPlaces places_of(const rampartd::Settings& settings) {
    return {settings.store, settings.privacy.secret};
}

/// Returns the request with the time that the audit log goes by.
rampartd::KeyRequest request_of(const Options& options, const rampartd::Settings& settings,
                                const ModelRegistry* registry) {
    base::TimePoint now = runtime::SystemClock().now();
    if (settings.event_clock && registry != nullptr && registry->champion())
        now = registry->champion()->at;
    return {options.actor, options.reason, now};
}

std::string time_text(const std::optional<base::TimePoint>& time) {
    return time ? base::to_iso8601(*time).substr(0, 16) : "-";
}

json::value time_value(const std::optional<base::TimePoint>& time) {
    return time ? json::value(base::to_iso8601(*time)) : json::value(nullptr);
}

Result<Answer> list(const Options& options) {
    RAMPART_TRY(const auto settings, rampartd::load_settings(options.config));
    RAMPART_RETURN_IF_ERROR(check_exists(settings));
    RAMPART_TRY(const auto registry,
                ModelRegistry::open(settings.store / "registry", ModelRegistry::Mode::kReadOnly));
    RAMPART_TRY(const auto keys, rampartd::list_keys(places_of(settings), *registry));
    Answer answer;
    answer.text = fmt::format("{:<10}{:<18}{:<18}{:<18}{:<9}{}\n", "key", "id", "made", "retired",
                              "state", "file");
    json::array array;
    for (const auto& key : keys) {
        const auto state = to_string(key.state);
        answer.text += fmt::format("{:<10}{:<18}{:<18}{:<18}{:<9}{}\n", key.name,
                                   key.id.empty() ? "-" : key.id, time_text(key.made),
                                   time_text(key.retired), state, key.file.string());
        array.push_back({{"name", key.name},
                         {"id", key.id},
                         {"file", key.file.string()},
                         {"made", time_value(key.made)},
                         {"retired", time_value(key.retired)},
                         {"state", state}});
        const bool lost =
            key.state == rampartd::KeyState::kMissing || key.state == rampartd::KeyState::kOther;
        if (!lost) continue;
        answer.exit_code = ExitCode::kNo;
        answer.notes.push_back(fmt::format(
            "{}: {}; put it back from a copy: rampart keys import, or ops/runbooks/backup.md",
            key.file.string(), state == "other" ? "not the key of this store" : state));
    }
    answer.json = json::serialize(json::object{{"keys", std::move(array)}});
    return answer;
}

Result<Answer> export_keys(const Options& options) {
    RAMPART_TRY(const auto settings, rampartd::load_settings(options.config));
    RAMPART_RETURN_IF_ERROR(check_exists(settings));
    std::error_code failure;
    if (fs::exists(options.file, failure))
        return base::make_error(Reason::kMisuse, "--out {}: there is such a file already",
                                options.file.string());
    RAMPART_TRY(const auto registry, ModelRegistry::open(settings.store / "registry"));
    RAMPART_TRY(const auto listed, rampartd::list_keys(places_of(settings), *registry));
    RAMPART_TRY(const auto keys, rampartd::read_keys(listed));
    RAMPART_TRY(const auto passphrase, read_passphrase(options.passphrase, true));
    RAMPART_TRY(const auto file, runtime::wrap_keys(keys, passphrase));
    const auto request = request_of(options, settings, registry.get());
    RAMPART_RETURN_IF_ERROR(
        registry->record_operation(request.at, request.actor, "keys_exported",
                                   {{"file", options.file.string()}, {"reason", request.reason}}));
    RAMPART_RETURN_IF_ERROR(base::write_file_atomically(options.file, file, 0600));
    Answer answer;
    answer.text = fmt::format("{}: {} keys\n", options.file.string(), keys.size());
    answer.json =
        json::serialize(json::object{{"file", options.file.string()}, {"keys", keys.size()}});
    answer.notes.push_back(
        "nothing opens it without the passphrase: keep both, and apart from each other");
    return answer;
}

Result<Answer> import(const Options& options) {
    RAMPART_TRY(const auto settings, rampartd::load_settings(options.config));
    RAMPART_TRY(const auto file, base::read_file(options.file, runtime::kMaxKeyFileBytes));
    RAMPART_TRY(const auto passphrase, read_passphrase(options.passphrase, false));
    RAMPART_TRY(const auto keys, runtime::unwrap_keys(file, passphrase));
    const auto& store = settings.store;
    // no node starts meanwhile; a store may be begun with its keys
    RAMPART_TRY(const auto start, runtime::StoreStart::begin(
                                      store, {}, [&] { return rampartd::holds_a_store(store); }));
    RAMPART_RETURN_IF_ERROR(rampartd::settle_key_change(store));
    // the registry can be opened with them only
    RAMPART_TRY(auto written, rampartd::put_store_keys_back(store, keys));
    std::unique_ptr<ModelRegistry> registry;
    if (storage::is_database(store / "registry" / "registry")) {
        RAMPART_TRY(registry, ModelRegistry::open(store / "registry"));
    }
    const auto request = request_of(options, settings, registry.get());
    if (registry != nullptr && !written.empty()) {
        RAMPART_RETURN_IF_ERROR(
            registry->record_operation(request.at, request.actor, "keys_imported",
                                       {{"keys", "store"}, {"reason", request.reason}}));
    }
    RAMPART_TRY(auto others,
                rampartd::import_keys(places_of(settings), registry.get(), keys, request));
    written.insert(written.end(), others.begin(), others.end());
    start->succeed();
    Answer answer;
    json::array files;
    for (const auto& path : written) {
        answer.text += fmt::format("{}\n", path.string());
        files.push_back(json::value(path.string()));
    }
    if (written.empty()) answer.text = "all of them are there already\n";
    answer.json = json::serialize(json::object{{"written", std::move(files)}});
    return answer;
}

Result<Answer> rotate(const Options& options) {
    RAMPART_TRY(const auto settings, rampartd::load_settings(options.config));
    RAMPART_RETURN_IF_ERROR(check_exists(settings));
    const auto& store = settings.store;
    RAMPART_TRY(const auto start, runtime::StoreStart::begin(
                                      store, {}, [&] { return rampartd::holds_a_store(store); }));
    RAMPART_RETURN_IF_ERROR(rampartd::settle_key_change(store));
    RAMPART_TRY(const auto registry, ModelRegistry::open(store / "registry"));
    const auto request = request_of(options, settings, registry.get());
    RAMPART_TRY(const auto change,
                options.name == "store"
                    ? rampartd::change_store_key(store, *registry, request)
                    : rampartd::change_key(store, *registry, options.name, request));
    Answer answer;
    answer.text =
        fmt::format("{}: {} is in use, {} is retired\n", change.name, change.to, change.from);
    answer.json = json::serialize(
        json::object{{"name", change.name}, {"in_use", change.to}, {"retired", change.from}});
    answer.notes.push_back("earlier copies of the keys lack the new one: rampart keys export");
    if (change.name == "store")
        answer.notes.push_back(
            "what is there stays readable with the key before: rampart store encrypt writes it "
            "anew");
    if (change.name == "signing")
        answer.notes.push_back(fmt::format(
            "give {} to the nodes that follow this one and to those who verify certificates",
            (store / "gate.pub.pem").string()));
    return answer;
}

void add_request_options(CLI::App& command, Options& options) {
    command.add_option("--config", options.config, "rampartd.toml of the store")->required();
    command.add_option("--reason", options.reason, "reason, for the audit log")->required();
    add_actor_option(command, options.actor);
}

}  // namespace

void add_keys_list(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "keys list",
         .summary = "List the keys of a store: id, file, when it was made, and its state",
         .example = "rampart keys list --config rampartd.toml",
         .detail = "It shows no secret and changes nothing; a node may be serving the store. Exit "
                   "code 1: a key is missing, or its file holds another one."},
        [options](const Context&) { return list(*options); });
    command.add_option("--config", options->config, "rampartd.toml of the store")->required();
}

void add_keys_export(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "keys export",
         .summary = "Copy all keys of a store into one file, under a passphrase",
         .example = "rampart keys export --config rampartd.toml --out keys.rk --passphrase-file "
                    "passphrase --reason 'yearly copy'",
         .detail = "The file is sealed with AES-256-GCM; scrypt makes its key from the passphrase. "
                   "It has the retired keys, and not the token. No node may be serving the store."},
        [options](const Context&) { return export_keys(*options); });
    command.add_option("--out", options->file, "file to write, which does not exist yet")
        ->required();
    add_passphrase_option(command, options->passphrase);
    add_request_options(command, *options);
}

void add_keys_import(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "keys import",
         .summary = "Put the keys of an export into a store",
         .example = "rampart keys import keys.rk --config rampartd.toml --passphrase-file "
                    "passphrase --reason 'restored after a lost disk'",
         .detail = "Missing keys are written, all or none. It refuses to replace another key, and "
                   "keys other than those that the store's registry has recorded. Before there is "
                   "a store, they are kept for its first start. No node may be serving the store."},
        [options](const Context&) { return import(*options); });
    command.add_option("FILE", options->file, "file that `keys export` wrote")->required();
    add_passphrase_option(command, options->passphrase);
    add_request_options(command, *options);
}

void add_keys_rotate(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "keys rotate",
         .summary = "Put a new signing, draw or store key in the place of the one in use",
         .example = "rampart keys rotate signing --config rampartd.toml --reason 'yearly change'",
         .detail = "The key before is retired: what it signed, drew or encrypted is verified, "
                   "replayed and read as before. The other keys stay for the life of a store; the "
                   "refusal says why. No "
                   "node may be serving the store."},
        [options](const Context&) { return rotate(*options); });
    command.add_option("NAME", options->name, "signing, draw or store")
        ->required()
        ->check(CLI::IsMember({"signing", "draw", "arm", "evidence", "person", "split", "store"}));
    add_request_options(command, *options);
}

}  // namespace rampart::cli
