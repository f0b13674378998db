#include "node/partition_move.hpp"

#include <algorithm>

#include "frame/reasons.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/storage/database.hpp"
#include "rampart/storage/derived_database.hpp"
#include "rampart/storage/folder.hpp"
#include "services/rampartd/settings.hpp"

namespace rampart::cli {
namespace {

namespace fs = std::filesystem;
using base::Result;
using base::Status;

base::Error io_error(std::string_view what, const fs::path& path, const std::error_code& failure) {
    return base::make_error(base::Reason::kIoError, "cannot {} '{}': {}", what, path.string(),
                            failure.message());
}

/// The folders of the partition that hold a database.
Result<std::vector<fs::path>> databases_of(const fs::path& folder) {
    std::vector<fs::path> found;
    std::error_code failure;
    for (const auto& entry : fs::directory_iterator(folder, failure)) {
        if (storage::is_set_aside(entry.path())) continue;
        if (storage::is_database(entry.path())) found.push_back(entry.path());
    }
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
    fs::copy(beside, to, fs::copy_options::recursive, failure);
    if (failure) return io_error("copy to", to, failure);
    RAMPART_RETURN_IF_ERROR(base::sync_tree(to));
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

}  // namespace

Result<MovedPartition> move_partition(const fs::path& from_config, const fs::path& to_config,
                                      int32_t partition) {
    RAMPART_TRY(const auto source, rampartd::load_settings(from_config));
    RAMPART_TRY(const auto target, rampartd::load_settings(to_config));
    const auto folder = [&](const rampartd::Settings& settings) {
        return settings.store / "partitions" / std::to_string(partition);
    };
    MovedPartition moved{folder(source), folder(target), 0};
    RAMPART_TRY(const auto databases, databases_of(moved.from));
    std::error_code failure;
    if (fs::exists(moved.to, failure)) {
        return base::make_error(Reason::kPartitionThere,
                                "'{}' is there already; if it is left over, remove it: its state "
                                "comes from the log",
                                moved.to.string());
    }
    // Neither lies in the folder of the partition, where what a killed move leaves would be taken
    // for one of its databases.
    const fs::path outgoing = moved.from.string() + ".outgoing";
    const fs::path incoming = moved.to.string() + ".incoming";
    for (const auto& place : {outgoing, incoming}) {
        fs::remove_all(place, failure);  // of an earlier try
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
    fs::remove_all(moved.from, failure);
    if (failure) return io_error("remove", moved.from, failure);
    moved.bytes = bytes_of(moved.to);
    return moved;
}

}  // namespace rampart::cli
