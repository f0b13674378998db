#include "services/rampartd/trainer_move.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/certification/delta_ledger.hpp"
#include "rampart/lease/reasons.hpp"
#include "rampart/privacy/register.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/runtime/store_keys.hpp"
#include "rampart/runtime/store_start.hpp"
#include "rampart/runtime/system_clock.hpp"
#include "rampart/storage/encryption.hpp"
#include "rampart/storage/folder.hpp"
#include "rampart/storage/inspection.hpp"
#include "services/rampartd/key_inventory.hpp"
#include "services/rampartd/log_access.hpp"
#include "services/rampartd/log_ends.hpp"
#include "services/rampartd/reasons.hpp"
#include "services/rampartd/store_layout.hpp"

namespace rampart::rampartd {

using base::Result;
using base::Status;
using registry::ModelRegistry;
namespace fs = std::filesystem;

namespace {

constexpr size_t kMaxAboutBytes = 1 << 20;
constexpr const char* kHandedOver = "trainer_handed_over";
const std::string kRegister = "privacy/register";

/// What moves beside keys and seat: folders of the store.
const std::vector<std::string>& parts() {
    static const std::vector<std::string> all{"registry", "trainer", kRegister};
    return all;
}

fs::path staging_of(const fs::path& store) { return store / ".take-over"; }
fs::path ready_file(const fs::path& store) { return staging_of(store) / "ready"; }
fs::path claimed_file(const fs::path& store) { return staging_of(store) / "claimed"; }

bool is_there(const fs::path& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

base::Error cannot(std::string_view what, const fs::path& path, const std::error_code& failure) {
    return base::make_error(base::Reason::kIoError, "cannot {} '{}': {}", what, path.string(),
                            failure.message());
}

Status remove_folder(const fs::path& folder) {
    std::error_code failure;
    fs::remove_all(folder, failure);
    return failure ? Status(cannot("remove", folder, failure)) : base::ok();
}

Status make_folder(const fs::path& folder) {
    std::error_code failure;
    fs::create_directories(folder, failure);
    if (!failure) fs::permissions(folder, fs::perms::owner_all, failure);
    return failure ? Status(cannot("make", folder, failure)) : base::ok();
}

/// Makes the names in a folder durable, not what they name.
Status sync_names(const fs::path& folder) {
    const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool synced = fd >= 0 && ::fsync(fd) == 0;
    const std::error_code failure(errno, std::generic_category());
    if (fd >= 0) ::close(fd);
    return synced ? base::ok() : Status(cannot("write", folder, failure));
}

Status move_to(const fs::path& from, const fs::path& to) {
    RAMPART_RETURN_IF_ERROR(make_folder(to.parent_path()));
    std::error_code failure;
    fs::rename(from, to, failure);
    if (failure) return cannot("move", from, failure);
    RAMPART_RETURN_IF_ERROR(sync_names(to.parent_path()));
    return sync_names(from.parent_path());
}

Status after(const TrainerMove& move, std::string_view step) {
    return move.after ? move.after(step) : base::ok();
}

Status check_shared(const Settings& settings) {
    if (settings.log.broker == LogSettings::Broker::kKafka) return base::ok();
    return base::make_error(Reason::kNoSharedLog,
                            "log.broker is \"local\": one process has the embedded log, and "
                            "trains; move the whole store");
}

Result<std::unique_ptr<LogAccess>> open_log(const Settings& settings, const base::Clock& clock) {
    const auto wait = [](base::Duration duration) {
        std::this_thread::sleep_for(std::chrono::microseconds(duration.micros()));
        return true;
    };
    return LogAccess::open(settings.log, settings.store / "log", clock, wait, nullptr);
}

Result<std::unique_ptr<runtime::StoreStart>> lock(const fs::path& store) {
    RAMPART_TRY(auto start,
                runtime::StoreStart::begin(store, {}, [&] { return holds_a_store(store); }));
    start->succeed();
    RAMPART_RETURN_IF_ERROR(settle_key_change(store));
    return start;
}

Result<certification::DeltaLedger> ledger_of(const ModelRegistry& registry) {
    RAMPART_TRY(const auto entries, registry.ledger_entries());
    return certification::DeltaLedger::open(entries);
}

/// Checks that the file is for this configuration.
Status check_fits(const Settings& settings, const HandOver& about) {
    const std::pair<std::string_view, std::pair<std::string, std::string>> both[] = {
        {"kafka.group", {about.group, settings.log.group}},
        {"log.topic_prefix", {about.topic_prefix, settings.log.topic_prefix}},
        {"the product", {about.product, settings.product.name}}};
    for (const auto& [name, values] : both) {
        if (values.first == values.second) continue;
        return base::make_error(Reason::kOtherGroup, "{} is '{}' here, and '{}' in the file", name,
                                values.second, values.first);
    }
    return base::ok();
}

/// Puts the keys beside their places. `person` stays what it is: a secret of the group.
Status stage_keys(const KeyPlaces& places, const std::vector<runtime::StoredKey>& keys,
                  const fs::path& staging) {
    RAMPART_RETURN_IF_ERROR(make_folder(staging / "keys"));
    for (const auto& key : keys) {
        const auto name = key.retired ? fs::path("retired") / key.id : fs::path(key.name);
        if (key.name == "person" && !key.retired) {
            const auto there = base::read_file(places.file_of("person"), 1024);
            if (there && *there == key.content) continue;
            if (there || places.file_of("person") != places.store / "keys" / "person")
                return base::make_error(base::Reason::kOtherKey,
                                        "{}: not the secret of the node that handed over; name the "
                                        "same file in privacy.secret",
                                        places.file_of("person").string());
        }
        RAMPART_RETURN_IF_ERROR(make_folder((staging / "keys" / name).parent_path()));
        RAMPART_RETURN_IF_ERROR(
            base::write_file_atomically(staging / "keys" / name, key.content, 0600));
    }
    return base::ok();
}

/// Checks the ledger in the file: whole, the one that was handed over, and the log is the one that
/// its charges were made on.
Status check_ledger(const Settings& settings, const LogAccess& log, const HandOver& about,
                    const ModelRegistry& registry) {
    RAMPART_TRY(const auto ledger, ledger_of(registry));
    if (ledger.entries().size() != about.ledger_entries || ledger.head().hex() != about.ledger_head)
        return base::make_error(Reason::kBadHandOver,
                                "its ledger has {} entries, and is not the one of {} that was "
                                "handed over",
                                ledger.entries().size(), about.ledger_entries);
    RAMPART_TRY(const auto ends, committed_ends(ledger));
    const auto topics = wire::Topics::with_prefix(settings.log.topic_prefix);
    return check_log(log.sealed_reader(), topics.decisions, ends).map([](const auto&) {});
}

/// Checks that the keys are those that the registry goes by.
Status check_staged_keys(const ModelRegistry& registry, const fs::path& staging) {
    RAMPART_TRY(const auto listed, list_keys({staging, {}}, registry));
    for (const auto& key : listed) {
        if (key.name != "person" &&
            (key.state == KeyState::kMissing || key.state == KeyState::kOther))
            return base::make_error(base::Reason::kOtherKey,
                                    "key '{}' in the file is not that of its registry", key.name);
    }
    return base::ok();
}

/// Adds the holds of this store to those that come.
Status add_holds(const fs::path& store, const fs::path& staging) {
    if (!storage::is_database(store / kRegister)) return base::ok();
    RAMPART_TRY(const auto own, privacy::Register::open(store / kRegister));
    RAMPART_TRY(const auto come, privacy::Register::open(staging / kRegister));
    RAMPART_TRY(const auto holds, own->holds());
    for (const auto& hold : holds) RAMPART_RETURN_IF_ERROR(come->add(hold));
    return base::ok();
}

/// Puts all that is to come beside its place, checked; the file `ready` is the last of it.
Result<HandOver> stage(const Settings& settings, const TrainerMove& move, const LogAccess& log) {
    const auto& store = settings.store;
    const auto staging = staging_of(store);
    RAMPART_RETURN_IF_ERROR(remove_folder(staging));
    RAMPART_RETURN_IF_ERROR(make_folder(staging));
    RAMPART_TRY(const auto read, unpack_hand_over(move.file, move.passphrase, staging, parts()));
    const auto& about = read.about;
    RAMPART_RETURN_IF_ERROR(check_fits(settings, about));
    RAMPART_RETURN_IF_ERROR(stage_keys({store, settings.privacy.secret}, read.keys, staging));
    {
        RAMPART_TRY(const auto registry, ModelRegistry::open(staging / "registry"));
        RAMPART_RETURN_IF_ERROR(check_staged_keys(*registry, staging));
        RAMPART_RETURN_IF_ERROR(check_ledger(settings, log, about, *registry));
        RAMPART_RETURN_IF_ERROR(registry->record_operation(std::max(move.by.at, about.at),
                                                           move.by.actor, "trainer_taken_over",
                                                           {{"id", about.id},
                                                            {"from", about.node},
                                                            {"to", settings.log.node},
                                                            {"reason", move.by.reason}}));
    }
    RAMPART_RETURN_IF_ERROR(add_holds(store, staging));
    RAMPART_RETURN_IF_ERROR(lease::write_seat(seat_of(staging), about.seat));
    RAMPART_RETURN_IF_ERROR(base::sync_tree(staging));
    RAMPART_RETURN_IF_ERROR(base::write_file_atomically(ready_file(store), encode(about), 0600));
    return about;
}

/// Goes on with what an earlier run of the command has put beside its place.
Result<HandOver> staged(const TrainerMove& move, const fs::path& store) {
    RAMPART_TRY(const auto bytes, base::read_file(ready_file(store), kMaxAboutBytes));
    RAMPART_TRY(const auto about, decode_hand_over(bytes));
    RAMPART_TRY(const auto read, read_hand_over(move.file, move.passphrase));
    if (read.about == about) return about;
    return base::make_error(Reason::kTakeOverUnfinished,
                            "the take-over of another file, from node '{}' at {}, has to be "
                            "finished first",
                            about.node, base::to_iso8601(about.at));
}

/// Takes the lease: from here on the log says that this store trains. Where another one has it,
/// nothing stays of the take-over.
Status claim(const LogAccess& log, const HandOver& about, const fs::path& store) {
    RAMPART_TRY(const auto lease, log.trainer_lease(seat_of(staging_of(store))));
    const Status claimed = lease->claim();
    if (claimed) return base::write_file_atomically(claimed_file(store), about.id, 0600);
    if (!claimed.error().is(lease::Reason::kTrainerElsewhere)) return claimed;
    std::error_code ignored;
    fs::remove(ready_file(store), ignored);
    RAMPART_RETURN_IF_ERROR(remove_folder(staging_of(store)));
    return base::make_error(Reason::kHandOverUsed,
                            "the file was handed over under epoch {}, and {}",
                            about.seat.held->epoch, claimed.error().message);
}

/// Returns what lies in the staging folder, as paths of the store; the seat is the last of them.
Result<std::vector<fs::path>> to_place(const fs::path& staging) {
    std::vector<fs::path> all;
    std::error_code failure;
    for (fs::recursive_directory_iterator at(staging / "keys", failure), end; !failure && at != end;
         at.increment(failure)) {
        if (at->is_regular_file(failure)) all.push_back(at->path().lexically_relative(staging));
    }
    if (failure && is_there(staging / "keys")) return cannot("list", staging / "keys", failure);
    all.insert(all.end(), parts().begin(), parts().end());
    all.push_back(seat_of(""));
    std::erase_if(all, [&](const auto& path) { return !is_there(staging / path); });
    return all;
}

/// Writes what was placed anew with the key of this store, where its databases are encrypted: they
/// came plain.
Status encrypt_placed(const fs::path& store) {
    if (!is_there(runtime::store_key_file(store))) return base::ok();
    RAMPART_TRY(const auto databases, storage::find_databases(store));
    for (const auto& name : databases) {
        const bool placed = std::any_of(parts().begin(), parts().end(), [&](const auto& part) {
            return name == part || name.starts_with(part + "/");
        });
        if (placed) RAMPART_RETURN_IF_ERROR(storage::rewrite_files(store / name));
    }
    return base::ok();
}

/// Puts all of it in its place, one after the other; what was there goes to a folder of its own.
Status place(const TrainerMove& move, const HandOver& about, const fs::path& store) {
    const auto staging = staging_of(store);
    const auto before = store / ".before-take-over" / about.id;
    RAMPART_TRY(const auto paths, to_place(staging));
    for (const auto& path : paths) {
        if (is_there(store / path)) RAMPART_RETURN_IF_ERROR(move_to(store / path, before / path));
        RAMPART_RETURN_IF_ERROR(after(move, fmt::format("set aside {}", path.string())));
        RAMPART_RETURN_IF_ERROR(move_to(staging / path, store / path));
        RAMPART_RETURN_IF_ERROR(after(move, fmt::format("placed {}", path.string())));
    }
    RAMPART_RETURN_IF_ERROR(encrypt_placed(store));
    RAMPART_RETURN_IF_ERROR(after(move, "encrypted"));
    std::error_code failure;
    fs::remove(ready_file(store), failure);
    if (failure) return cannot("remove", ready_file(store), failure);
    RAMPART_RETURN_IF_ERROR(after(move, "done"));
    return remove_folder(staging);
}

}  // namespace

Status check_no_take_over(const fs::path& store) {
    if (!is_there(ready_file(store))) return base::ok();
    return base::make_error(Reason::kTakeOverUnfinished,
                            "a take-over of the training was cut off in '{}'", store.string());
}

Result<HandOver> hand_over(const Settings& settings, const TrainerMove& move) {
    RAMPART_RETURN_IF_ERROR(check_shared(settings));
    const auto& store = settings.store;
    RAMPART_TRY(const auto start, lock(store));
    RAMPART_RETURN_IF_ERROR(check_no_take_over(store));
    // what the audit log would refuse is refused before the seat is given
    RAMPART_RETURN_IF_ERROR(
        registry::next_entry({}, move.by.at, move.by.actor, kHandedOver,
                             {{"file", move.file.string()}, {"reason", move.by.reason}})
            .map([](const auto&) {}));
    const runtime::SystemClock clock;
    RAMPART_TRY(const auto log, open_log(settings, clock));
    RAMPART_TRY(const auto lease, log->trainer_lease(seat_of(store)));
    HandOver about{base::to_hex(base::random_bytes(8)),
                   settings.log.group,
                   settings.log.topic_prefix,
                   settings.product.name,
                   settings.log.node,
                   {},
                   0,
                   "",
                   move.by.at,
                   move.by.actor,
                   move.by.reason};
    std::vector<runtime::StoredKey> keys;
    {
        RAMPART_TRY(const auto registry, ModelRegistry::open(store / "registry"));
        RAMPART_TRY(auto listed, list_keys({store, settings.privacy.secret}, *registry));
        // databases travel decrypted in the sealed file, and get the key of the other store there
        std::erase_if(listed, [](const auto& key) { return key.name == "store"; });
        RAMPART_TRY(keys, read_keys(listed));
        RAMPART_TRY(const auto ledger, ledger_of(*registry));
        about.ledger_entries = ledger.entries().size();
        about.ledger_head = ledger.head().hex();
        RAMPART_TRY(about.seat, lease->hand_over());
        RAMPART_RETURN_IF_ERROR(after(move, "marked"));
        RAMPART_RETURN_IF_ERROR(
            registry->record_operation(move.by.at, move.by.actor, kHandedOver,
                                       {{"id", about.id},
                                        {"file", move.file.string()},
                                        {"epoch", fmt::format("{}", about.seat.held->epoch)},
                                        {"reason", move.by.reason}}));
    }
    RAMPART_RETURN_IF_ERROR(after(move, "recorded"));
    RAMPART_RETURN_IF_ERROR(write_hand_over(move.file, about, std::move(keys), move.passphrase,
                                            store, parts(), move.cost));
    return about;
}

Result<HandOver> take_over(const Settings& settings, const TrainerMove& move) {
    RAMPART_RETURN_IF_ERROR(check_shared(settings));
    if (!settings.trains)
        return base::make_error(Reason::kTrainingOff,
                                "training.enabled is false here, or there is no role train");
    const auto& store = settings.store;
    RAMPART_TRY(const auto start, lock(store));
    const runtime::SystemClock clock;
    RAMPART_TRY(const auto log, open_log(settings, clock));
    const bool goes_on = is_there(ready_file(store));
    const auto about = goes_on ? staged(move, store) : stage(settings, move, *log);
    if (!about) {
        if (!goes_on) RAMPART_RETURN_IF_ERROR(remove_folder(staging_of(store)));  // keys are in it
        return about.error();
    }
    RAMPART_RETURN_IF_ERROR(after(move, "ready"));
    if (!is_there(claimed_file(store))) RAMPART_RETURN_IF_ERROR(claim(*log, *about, store));
    RAMPART_RETURN_IF_ERROR(after(move, "claimed"));
    RAMPART_RETURN_IF_ERROR(place(move, *about, store));
    return about;
}

Status take_back(const Settings& settings, std::optional<uint64_t> over, const KeyRequest& by) {
    RAMPART_RETURN_IF_ERROR(check_shared(settings));
    const auto& store = settings.store;
    RAMPART_TRY(const auto start, lock(store));
    RAMPART_RETURN_IF_ERROR(check_no_take_over(store));
    const runtime::SystemClock clock;
    RAMPART_TRY(const auto log, open_log(settings, clock));
    RAMPART_TRY(const auto lease, log->trainer_lease(seat_of(store)));
    RAMPART_TRY(const auto registry, ModelRegistry::open(store / "registry"));
    const auto record = [&](std::string_view action, const std::string& why) {
        std::map<std::string, std::string> details{
            {"over", over ? fmt::format("{}", *over) : std::string()}, {"reason", by.reason}};
        if (!why.empty()) details.emplace("why", why);
        return registry->record_operation(by.at, by.actor, action, std::move(details));
    };
    // who asks is on record before, and what came of it after
    RAMPART_RETURN_IF_ERROR(record("trainer_take_back", ""));
    const Status taken = lease->take_back(over);
    const Status recorded = taken ? record("trainer_taken_back", "")
                                  : record("trainer_take_back_refused", taken.error().reason);
    return taken ? recorded : taken;
}

}  // namespace rampart::rampartd
