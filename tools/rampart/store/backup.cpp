// backup create, list, verify, restore.
#include "rampart/storage/backup.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "frame/commands.hpp"
#include "frame/reasons.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/runtime/job_record.hpp"
#include "rampart/runtime/reasons.hpp"
#include "rampart/runtime/store_keys.hpp"
#include "rampart/runtime/system_clock.hpp"
#include "rampart/storage/reasons.hpp"
#include "store/store_checks.hpp"

namespace rampart::cli {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using base::Result;
using storage::BackupFolder;
using storage::BackupInfo;
using Kind = storage::BackupItem::Kind;

const std::string kFolder = "registry/", kDatabase = kFolder + "registry",
                  kHead = kFolder + "audit.head";

/// A folder that goes away with it.
struct Scratch {
    fs::path folder;
    Scratch() : folder(fs::temp_directory_path() / fmt::format("rampart-backup.{}", ::getpid())) {}
    ~Scratch() {
        std::error_code ignored;
        fs::remove_all(folder, ignored);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
};

/// Returns what the registry and the audit log in a backup name and the backup does not have as it
/// should be, a line each: models, certificates, evidence. Empty: nothing, or the store has no
/// registry. Errors: BackupFolder's, and those of opening the registry (data_loss: it is damaged).
base::Result<std::vector<std::string>> missing_from(const storage::BackupFolder& backups,
                                                    uint64_t id) {
    RAMPART_TRY(const auto info, backups.info(id));
    std::vector<std::string> missing;
    const bool there = std::any_of(info.items.begin(), info.items.end(),
                                   [](const auto& item) { return item.path == kDatabase; });
    if (!there) return missing;
    const Scratch scratch;
    RAMPART_RETURN_IF_ERROR(backups.extract(id, {kDatabase, kHead}, scratch.folder));
    RAMPART_TRY(const auto registry,
                registry::ModelRegistry::open(scratch.folder / kFolder,
                                              registry::ModelRegistry::Mode::kReadOnly));
    RAMPART_TRY(const auto documents, registry->documents());
    for (const auto& [path, digest] : documents) {
        const auto found = info.digests.find(kFolder + path);
        if (found == info.digests.end()) {
            missing.push_back(kFolder + path);
        } else if (found->second != digest) {
            missing.push_back(kFolder + path + " (with other content)");
        }
    }
    return missing;
}

/// Lets this process read an encrypted backup: with the key in the file that was named, or those
/// that the backup has.
base::Status take_keys(const BackupFolder& backups, uint64_t id, const fs::path& store_key) {
    if (!store_key.empty()) RAMPART_RETURN_IF_ERROR(runtime::read_with_key(store_key));
    RAMPART_TRY(const auto info, backups.info(id));
    std::set<std::string> paths;
    for (const auto& item : info.items) {
        const bool key = item.path == "keys/store" || item.path.starts_with("keys/retired/");
        if (key && item.kind == Kind::kSecret) paths.insert(item.path);
    }
    if (paths.empty()) return base::ok();
    const Scratch scratch;
    RAMPART_RETURN_IF_ERROR(backups.extract(id, paths, scratch.folder));
    for (const auto& path : paths) {
        const auto met = runtime::read_with_key(scratch.folder / path);
        // a retired signing key has its public part there
        if (!met && !met.error().is(runtime::Reason::kBadSecret)) return met;
    }
    return base::ok();
}

/// Says how many they are, and names the first; `missing` is not empty.
std::string describe_missing(const std::vector<std::string>& missing) {
    const bool one = missing.size() == 1;
    return fmt::format(
        "the registry or its audit log names {} {} that the backup does not have: {}{}",
        missing.size(), one ? "file" : "files", missing.front(), one ? "" : ", …");
}

struct Options {
    fs::path store, folder;
    uint64_t id = 0;  // 0: the newest, or all
    size_t keep = 0;  // 0: all
    bool with_keys = false;
    bool incomplete = false;
    fs::path store_key;  // empty: the backup's own, if it is there
};

size_t databases_of(const BackupInfo& info) {
    return static_cast<size_t>(
        std::count_if(info.items.begin(), info.items.end(),
                      [](const auto& item) { return item.kind == Kind::kDatabase; }));
}

json::object to_json(const BackupInfo& info) {
    if (!info.damage.empty()) return {{"id", info.id}, {"damage", info.damage}};
    return {{"id", info.id},
            {"created", base::to_iso8601(info.created)},
            {"bytes", info.bytes},
            {"databases", databases_of(info)},
            {"files", info.items.size() - databases_of(info)},
            {"with_keys", info.with_secrets()}};
}

std::string to_text(const BackupInfo& info) {
    if (!info.damage.empty()) return fmt::format("{:>6}  damaged: {}\n", info.id, info.damage);
    return fmt::format("{:>6}  {}  {:>14} bytes  {:>3} databases  {:>4} files  {}\n", info.id,
                       base::to_iso8601(info.created).substr(0, 19), info.bytes, databases_of(info),
                       info.items.size() - databases_of(info),
                       info.with_secrets() ? "with keys" : "without keys");
}

/// What a backup leaves out.
struct LeftOut {
    std::vector<std::string> secrets, jobs;
};

/// Takes everything; `items`: the databases. Jobs come before them, so that they have what an ended
/// one did. Of those that were asked for meanwhile, what has not ended comes after them: to do it
/// again is no harm, and half of it may be in the databases.
Result<BackupInfo> take_all(const Options& options, std::vector<storage::BackupItem> items,
                            BackupFolder& backups, LeftOut& left_out) {
    RAMPART_TRY(auto before, jobs_in(options.store));
    left_out.jobs = std::move(before.unreadable);
    std::set<std::string> taken;
    for (const auto& job : before.items) taken.insert(job.path);
    items.insert(items.begin(), std::make_move_iterator(before.items.begin()),
                 std::make_move_iterator(before.items.end()));
    const auto rest = [&]() -> Result<std::vector<storage::BackupItem>> {
        RAMPART_TRY(auto found, files_in(options.store, options.with_keys));
        left_out.secrets = std::move(found.secrets);
        RAMPART_TRY(auto after, jobs_in(options.store));
        for (auto& job : after.items) {
            if (!taken.contains(job.path) && !after.ended.contains(job.path))
                found.items.push_back(std::move(job));
        }
        return std::move(found.items);
    };
    return backups.create(options.store, items, runtime::SystemClock().now(), rest);
}

Result<Answer> create(const Options& options) {
    RAMPART_TRY(auto databases, databases_in(options.store));
    RAMPART_TRY(const auto backups,
                BackupFolder::open(options.folder, BackupFolder::Mode::kChange));
    LeftOut left_out;
    RAMPART_TRY(const auto info, take_all(options, std::move(databases), *backups, left_out));
    const auto& secrets = left_out.secrets;
    RAMPART_TRY(const auto missing, missing_from(*backups, info.id));
    size_t dropped = 0;
    if (options.keep > 0 && missing.empty()) {
        RAMPART_TRY(dropped, backups->keep_newest(options.keep));
    }
    Answer answer;
    answer.text = to_text(info);
    auto object = to_json(info);
    object["dropped"] = dropped;
    object["missing"] = json::value_from(missing);
    answer.json = json::serialize(object);
    if (!secrets.empty()) {
        answer.notes.push_back(
            fmt::format("{} secret files are not in it: {}; keep them elsewhere, or give "
                        "--with-keys",
                        secrets.size(), fmt::join(secrets, ", ")));
    }
    if (!left_out.jobs.empty()) {
        answer.notes.push_back(fmt::format("{} files of jobs cannot be read and are not in it: {}",
                                           left_out.jobs.size(), fmt::join(left_out.jobs, ", ")));
    }
    if (!missing.empty()) {
        answer.exit_code = ExitCode::kNo;
        answer.text += fmt::format("BAD  {}\n", describe_missing(missing));
        answer.notes.push_back(
            "the store does not have them either: see `rampart store check`; no earlier backup was "
            "dropped");
    }
    return answer;
}

Result<Answer> list(const Options& options) {
    RAMPART_TRY(const auto backups, BackupFolder::open(options.folder, BackupFolder::Mode::kRead));
    RAMPART_TRY(const auto all, backups->list());
    Answer answer;
    json::array array;
    for (const auto& info : all) {
        answer.text += to_text(info);
        array.push_back(to_json(info));
    }
    answer.json = json::serialize(json::object{{"backups", array}});
    return answer;
}

/// The ones that are meant: the one that was named, or all.
Result<std::vector<uint64_t>> chosen(const BackupFolder& backups, uint64_t id) {
    if (id != 0) return std::vector<uint64_t>{id};
    RAMPART_TRY(const auto all, backups.list());
    std::vector<uint64_t> ids;
    for (const auto& info : all) ids.push_back(info.id);
    if (ids.empty())
        return base::make_error(storage::Reason::kNoBackup, "there is no backup in the folder");
    return ids;
}

/// Why a backup is not whole: bytes that are not as they were written, or files that its registry
/// names and it does not have. nullopt: it is.
Result<std::optional<std::string>> damage_of(const BackupFolder& backups, uint64_t id,
                                             const fs::path& store_key) {
    const auto keys = take_keys(backups, id, store_key);
    if (!keys && !keys.error().is(storage::Reason::kBackupDamaged)) return keys.error();
    if (!keys) return std::optional(keys.error().message);
    const auto read = backups.verify(id);
    if (!read && !read.error().is(storage::Reason::kBackupDamaged)) return read.error();
    if (!read) return std::optional(read.error().message);
    const auto missing = missing_from(backups, id);
    if (!missing && missing.error().code != base::ErrorCode::kDataLoss) return missing.error();
    if (!missing) return std::optional(missing.error().message);
    if (missing->empty()) return std::optional<std::string>();
    return std::optional("incomplete: " + describe_missing(*missing));
}

Result<Answer> verify(const Options& options) {
    RAMPART_TRY(const auto backups, BackupFolder::open(options.folder, BackupFolder::Mode::kRead));
    RAMPART_TRY(const auto ids, chosen(*backups, options.id));
    Answer answer;
    json::array array;
    for (const uint64_t id : ids) {
        RAMPART_TRY(const auto damage, damage_of(*backups, id, options.store_key));
        answer.text += fmt::format("{:>6}  {}\n", id, damage.value_or("whole"));
        array.push_back({{"id", id},
                         {"whole", !damage},
                         {"damage", damage ? json::value(*damage) : json::value()}});
        if (damage) answer.exit_code = ExitCode::kNo;
    }
    answer.json = json::serialize(json::object{{"backups", array}});
    return answer;
}

Result<Answer> restore(const Options& options) {
    RAMPART_TRY(const auto backups, BackupFolder::open(options.folder, BackupFolder::Mode::kRead));
    RAMPART_TRY(const auto ids, chosen(*backups, options.id));
    RAMPART_RETURN_IF_ERROR(take_keys(*backups, ids.back(), options.store_key));
    RAMPART_TRY(const auto missing, missing_from(*backups, ids.back()));
    if (!missing.empty() && !options.incomplete) {
        return base::make_error(Reason::kBackupIncomplete,
                                "backup {}: {}; restore another one that `rampart backup verify` "
                                "finds whole, or with --incomplete what is there",
                                ids.back(), describe_missing(missing));
    }
    RAMPART_TRY(const auto info, backups->restore(ids.back(), options.store));
    RAMPART_TRY(const auto jobs, runtime::read_jobs(options.store / "jobs"));
    const auto unfinished = std::count_if(jobs.records.begin(), jobs.records.end(),
                                          [](const auto& job) { return !job.ended(); });
    Answer answer;
    answer.text = to_text(info);
    auto object = to_json(info);
    object["missing"] = json::value_from(missing);
    object["unfinished_jobs"] = unfinished;
    if (unfinished > 0) {
        answer.notes.push_back(fmt::format(
            "{} requests that had not ended go on when the store is served: see GET /v1/jobs",
            unfinished));
    }
    answer.json = json::serialize(object);
    if (!missing.empty()) {
        answer.notes.push_back(describe_missing(missing) +
                               "; put them back from elsewhere before the store is served: "
                               "`rampart store check` names them all");
    }
    if (!info.with_secrets()) {
        answer.notes.push_back(
            "the backup has no keys: put the store's own back into its keys/ before it is served; "
            "without them the service does not start");
    }
    return answer;
}

void add_key_option(CLI::App& command, Options& options) {
    command.add_option("--store-key", options.store_key,
                       "file of the store's key (keys/store), for backups of encrypted databases "
                       "that were made without keys");
}

}  // namespace

void add_backup_create(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "backup create",
         .summary = "Back up a store, also while a node serves it",
         .example = "rampart backup create --store demo-out/store --to /backup/loans --keep 14",
         .detail =
             "Incremental: files of earlier backups in the folder are not copied again. A crash "
             "leaves earlier backups whole. The running node is not asked. Requests that are jobs "
             "are in it: one that has not ended goes on in a restored store. Exit code 1: the "
             "backup lacks files that the registry names."},
        [options](const Context&) { return create(*options); });
    command.add_option("--store", options->store, "the store folder")->required();
    command.add_option("--to", options->folder, "folder of this store's backups")->required();
    command.add_flag("--with-keys", options->with_keys,
                     "include the folder keys/; then protect the backup like the keys");
    command.add_option("--keep", options->keep,
                       "number of newest backups to keep; older ones are dropped; default: all");
}

void add_backup_list(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add({.name = "backup list",
                               .summary = "List the backups of a folder",
                               .example = "rampart backup list --from /backup/loans"},
                              [options](const Context&) { return list(*options); });
    command.add_option("--from", options->folder, "folder of backups")->required();
}

void add_backup_verify(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command =
        frame.add({.name = "backup verify",
                   .summary = "Read backups and compare every checksum",
                   .example = "rampart backup verify --from /backup/loans --id 7",
                   .detail = "Every model, certificate and evidence file that the registry in the "
                             "backup names has to be in it, too. Exit code 1: a backup is damaged "
                             "or incomplete."},
                  [options](const Context&) { return verify(*options); });
    command.add_option("--from", options->folder, "folder of backups")->required();
    command.add_option("--id", options->id, "id of one backup; default: all")
        ->check(CLI::PositiveNumber);
    add_key_option(command, *options);
}

void add_backup_restore(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "backup restore",
         .summary = "Make a store from a backup",
         .example = "rampart backup restore --from /backup/loans --store /srv/restored",
         .detail =
             "The store is written whole or not at all, and every block is checked. Never serve "
             "it while the original store is served."},
        [options](const Context&) { return restore(*options); });
    add_key_option(command, *options);
    command.add_option("--from", options->folder, "folder of backups")->required();
    command.add_option("--store", options->store, "a new or empty folder")->required();
    command.add_option("--id", options->id, "id of the backup; default: the newest")
        ->check(CLI::PositiveNumber);
    command.add_flag(
        "--incomplete", options->incomplete,
        "restore a backup that lacks models, certificates or evidence that its registry "
        "names");
}

}  // namespace rampart::cli
