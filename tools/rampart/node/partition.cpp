// partition list, resume, move: what a node holds.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>

#include "frame/commands.hpp"
#include "frame/node_access.hpp"
#include "frame/reasons.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/base/result.hpp"
#include "rampart/runtime/reasons.hpp"
#include "rampart/runtime/store_keys.hpp"
#include "rampart/storage/database.hpp"
#include "rampart/storage/derived_database.hpp"
#include "rampart/storage/encryption.hpp"
#include "rampart/storage/folder.hpp"
#include "services/rampartd/reasons.hpp"
#include "services/rampartd/settings.hpp"

namespace rampart::cli {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using base::Result;
using base::Status;

base::Error io_error(std::string_view what, const fs::path& path, const std::error_code& failure) {
    return base::make_error(base::Reason::kIoError, "cannot {} '{}': {}", what, path.string(),
                            failure.message());
}

/// The folders of the partition that hold a database which a node with these roles keeps.
Result<std::vector<fs::path>> databases_of(const fs::path& folder, const rampartd::Roles& roles) {
    std::vector<fs::path> found;
    std::error_code failure;
    bool other = false;
    for (const auto& entry : fs::directory_iterator(folder, failure)) {
        if (storage::is_set_aside(entry.path()) || !storage::is_database(entry.path())) continue;
        const bool joins = entry.path().filename() == "joins";
        const bool kept = roles.has(joins ? rampartd::Role::kJoin : rampartd::Role::kDecide);
        if (kept) found.push_back(entry.path());
        other = other || !kept;
    }
    if (!failure && found.empty() && other)
        return base::make_error(rampartd::Reason::kRoleNotHere,
                                "what is at '{}' is of no use to the other node: its roles are {}",
                                folder.string(), to_string(roles));
    if (failure || found.empty()) {
        return base::make_error(Reason::kNoPartition, "there is no partition at '{}'",
                                folder.string());
    }
    std::sort(found.begin(), found.end());
    return found;
}

/// Copies a database that no process holds: makes a checkpoint at `beside` on its file system, and
/// copies it to the file system of `to`.
Status copy_database(const fs::path& from, const fs::path& beside, const fs::path& to) {
    std::error_code failure;
    RAMPART_TRY(const auto families, storage::families_in(from));
    {
        storage::OpenOptions as_it_is;
        as_it_is.create = false;
        as_it_is.schema.version = storage::Schema::kAnyVersion;
        RAMPART_TRY(const auto database, storage::Database::open(from, families, as_it_is));
        RAMPART_RETURN_IF_ERROR(database->checkpoint(beside));
    }
    RAMPART_RETURN_IF_ERROR(storage::copy_database_files(beside, to));  // with the keys there
    fs::remove_all(beside, failure);
    return base::ok();
}

uint64_t bytes_of(const fs::path& folder) {
    uint64_t bytes = 0;
    std::error_code failure;
    for (const auto& entry : fs::recursive_directory_iterator(folder, failure)) {
        if (entry.is_regular_file()) bytes += entry.file_size();
    }
    return bytes;
}

/// Refuses to write plain files where they are to be encrypted, or were: a store without the key
/// of its databases gives copies none.
Status check_key_there(std::span<const fs::path> databases, const rampartd::Settings& target) {
    std::error_code failure;
    const auto key = runtime::store_key_file(target.store);
    if (fs::exists(key, failure)) return base::ok();
    if (target.privacy.encrypt_databases)
        return base::make_error(runtime::Reason::kKeyMissing,
                                "{}: missing, the key of encrypted databases: start the node of "
                                "that store once, which makes its keys, and stop it",
                                key.string());
    for (const auto& database : databases) {
        RAMPART_TRY(const auto files, storage::files_at_rest(database));
        if (!files.by_key.empty())
            return base::make_error(rampartd::Reason::kDatabasesEncrypted,
                                    "'{}' is encrypted, and databases of '{}' are not: set "
                                    "privacy.encrypt_databases = true there",
                                    database.string(), target.store.string());
    }
    return base::ok();
}

struct MovedPartition {
    fs::path from, to;
    uint64_t bytes = 0;
};

/// Takes the databases away; with the last one of the partition, its folder.
Status take_away(std::span<const fs::path> databases) {
    std::error_code failure;
    const auto folder = databases.front().parent_path();
    for (const auto& database : databases) {
        fs::remove(storage::beyond_log_mark(database), failure);
        fs::remove_all(database, failure);
        if (failure) return io_error("remove", database, failure);
    }
    bool more = false;
    for (const auto& entry : fs::directory_iterator(folder, failure))
        more = more || (!storage::is_set_aside(entry.path()) && storage::is_database(entry.path()));
    if (!failure && !more) fs::remove_all(folder, failure);
    return failure ? io_error("remove", folder, failure) : Status();
}

/// Copies the databases of a partition from one store to another by checkpoint, and takes them away
/// where they were; those of a role that the other node does not have stay. Each step leaves either
/// store whole, so that it may be run again after a crash. Neither node may be running on its
/// partition: failed_precondition "database_in_use". not_found "no_partition"; failed_precondition
/// "role_not_here"; already_exists "partition_there"; those of check_key_there().
Result<MovedPartition> move_partition(const fs::path& from_config, const fs::path& to_config,
                                      int32_t partition) {
    RAMPART_TRY(const auto source, rampartd::load_settings(from_config));
    RAMPART_TRY(const auto target, rampartd::load_settings(to_config));
    const auto folder = [&](const rampartd::Settings& settings) {
        return settings.store / "partitions" / std::to_string(partition);
    };
    MovedPartition moved{folder(source), folder(target), 0};
    RAMPART_TRY(const auto databases, databases_of(moved.from, target.log.roles));
    std::error_code failure;
    if (fs::exists(moved.to, failure)) {
        return base::make_error(Reason::kPartitionThere,
                                "'{}' is there already; if it is left over, remove it: its state "
                                "comes from the log",
                                moved.to.string());
    }
    RAMPART_RETURN_IF_ERROR(check_key_there(databases, target));
    // Neither lies in the folder of the partition, where what a killed move leaves would be taken
    // for one of its databases.
    const fs::path outgoing = moved.from.string() + ".outgoing";
    const fs::path incoming = moved.to.string() + ".incoming";
    for (const auto& place : {outgoing, incoming}) {
        fs::remove_all(place, failure);  // rest of an earlier try
        fs::create_directories(place, failure);
        if (failure) return io_error("make", place, failure);
    }
    for (const auto& database : databases) {
        const auto name = database.filename();
        RAMPART_RETURN_IF_ERROR(copy_database(database, outgoing / name, incoming / name));
        if (!fs::exists(storage::beyond_log_mark(database), failure)) continue;
        fs::copy_file(storage::beyond_log_mark(database), storage::beyond_log_mark(incoming / name),
                      failure);
        if (failure) return io_error("copy to", incoming, failure);
    }
    fs::remove_all(outgoing, failure);
    // There under its name, and only then away here: after a crash in between both have it, and
    // the node that is configured for it reads on from the log.
    fs::rename(incoming, moved.to, failure);
    if (failure) return io_error("rename to", moved.to, failure);
    RAMPART_RETURN_IF_ERROR(base::sync_tree(moved.to.parent_path()));
    RAMPART_RETURN_IF_ERROR(take_away(databases));
    moved.bytes = bytes_of(moved.to);
    return moved;
}

struct Options : NodeOptions {
    fs::path to;
    std::string topic, partition;
    bool accept_gap = false;
    int32_t number = 0;
};

/// Returns the member as text; empty where there is none.
std::string member_text(const json::object& object, const char* name) {
    const auto* value = object.if_contains(name);
    return value == nullptr ? "" : text_of(*value);
}

Result<Answer> list(const Options& options) {
    RAMPART_TRY(const auto document, ask_node(options.config, "/v1/partitions"));
    Answer answer;
    answer.json = json::serialize(document);
    answer.text = fmt::format("{:<10}{:<9}{:>6}  {:<18}{}\n", "partition", "role", "fence",
                              "state hash", "next");
    for (const auto& item : document.at("partitions").as_array()) {
        const auto& one = item.as_object();
        std::string next;
        for (const auto& entry : one.at("next").as_object()) {
            next += fmt::format("{}{}:{}", next.empty() ? "" : " ", std::string(entry.key()),
                                json::serialize(entry.value()));
        }
        if (member_text(one, "role") == "stopped") answer.exit_code = ExitCode::kNo;
        answer.text += fmt::format("{:<10}{:<9}{:>6}  {:<18}{}\n", member_text(one, "partition"),
                                   member_text(one, "role"), member_text(one, "fence"),
                                   member_text(one, "state_hash").substr(0, 16), next);
        if (one.contains("why")) answer.text += fmt::format("  {}\n", member_text(one, "why"));
    }
    for (const auto& item : document.at("stopped").as_array()) {
        const auto& one = item.as_object();
        answer.exit_code = ExitCode::kNo;
        answer.text += fmt::format("\nSTOPPED  topic '{}', partition {}: {}\n  {}\n",
                                   member_text(one, "topic"), member_text(one, "partition"),
                                   member_text(one, "reason"), member_text(one, "message"));
    }
    return answer;
}

/// Returns the partition as the node takes it: a number, or "all".
Result<json::value> partition_of(const std::string& text) {
    if (text == "all") return json::value(text);
    int32_t number = 0;
    const char* end = text.data() + text.size();
    const auto [last, failure] = std::from_chars(text.data(), end, number);
    if (failure == std::errc() && last == end && number >= 0) return json::value(number);
    return base::make_error(base::Reason::kBadUsage,
                            "PARTITION '{}' is neither the number of a partition nor 'all'",
                            text.substr(0, 32));
}

Result<Answer> resume(const Options& options) {
    if (!options.accept_gap) {
        return base::make_error(Reason::kGapNotAccepted,
                                "to continue means that the records missing from the log are lost "
                                "to this store; give --accept-gap to accept that");
    }
    RAMPART_TRY(const auto partition, partition_of(options.partition));
    RAMPART_TRY(const auto document, tell_node(options.config, "/v1/partitions/resume",
                                               {{"topic", options.topic},
                                                {"partition", partition},
                                                {"reason", options.reason}}));
    Answer answer;
    answer.json = json::serialize(document);
    if (document.at("index_accepted").as_bool()) answer.text = "the index of decisions goes on\n";
    if (document.at("keys_accepted").as_bool())
        answer.text = "the keys of persons go on as asked\n";
    for (const auto& item : document.at("accepted").as_array()) {
        const auto& one = item.as_object();
        answer.text += fmt::format(
            "topic '{}', partition {}, state of partition {}: goes on at {} "
            "(stood at {})\n",
            member_text(one, "topic"), member_text(one, "partition"), member_text(one, "holder"),
            member_text(one, "to"), member_text(one, "from"));
    }
    return answer;
}

Result<Answer> move(const Options& options) {
    RAMPART_TRY(const auto moved, move_partition(options.config, options.to, options.number));
    Answer answer;
    answer.text = fmt::format("partition {}: {} to {} ({} bytes)\n", options.number,
                              moved.from.string(), moved.to.string(), moved.bytes);
    answer.json = json::serialize(json::object{{"partition", options.number},
                                               {"from", moved.from.string()},
                                               {"to", moved.to.string()},
                                               {"bytes", moved.bytes}});
    return answer;
}

}  // namespace

void add_partition_list(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "partition list",
         .summary = "List the partitions that a running node owns, and those that stopped",
         .example = "rampart partition list --config rampartd.toml",
         .detail = "Exit code 1: a partition is stopped."},
        [options](const Context&) { return list(*options); });
    add_node_options(command, *options);
}

void add_partition_resume(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "partition resume",
         .summary = "Continue a partition that stopped at a gap in the log",
         .example = "rampart partition resume 3 --topic decisions --accept-gap --reason 'retention "
                    "was 7 days' --config rampartd.toml",
         .detail = "Read ops/runbooks/partitions.md first. The node must be running; its audit log "
                   "records principal and reason."},
        [options](const Context&) { return resume(*options); });
    command
        .add_option("PARTITION", options->partition,
                    "number of the partition, or 'all' for the whole topic")
        ->required();
    add_change_options(command, *options);
    command.add_option("--topic", options->topic, "topic, as 'partition list' names it")
        ->required();
    command.add_flag("--accept-gap", options->accept_gap,
                     "accept that the missing records are lost to this store");
}

void add_partition_move(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "partition move",
         .summary = "Move a partition's state from one node's store to another's",
         .example = "rampart partition move 3 --config a/rampartd.toml --to b/rampartd.toml",
         .detail =
             "Neither node may be running. Before they start again, remove the partition from "
             "log.own of the one and add it to log.own of the other; until then no node decides "
             "it. Instead, the other node can rebuild the state from the log."},
        [options](const Context&) { return move(*options); });
    command.add_option("PARTITION", options->number, "number of the partition")->required();
    command
        .add_option("--config", options->config, "rampartd.toml of the node that has the partition")
        ->required();
    command.add_option("--to", options->to, "rampartd.toml of the node that gets the partition")
        ->required();
}

}  // namespace rampart::cli
