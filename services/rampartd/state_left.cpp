#include "services/rampartd/state_left.hpp"

#include <algorithm>
#include <charconv>

#include "rampart/base/digest.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/privacy/at_rest.hpp"
#include "rampart/runtime/job_record.hpp"
#include "services/rampartd/api/privacy_routes.hpp"
#include "services/rampartd/reasons.hpp"

namespace rampart::rampartd {

namespace fs = std::filesystem;
using base::Result;
using base::Status;
using streaming::PartitionId;

namespace {

base::Error cannot_look(const fs::path& path, const std::error_code& failure) {
    return base::make_error(base::Reason::kIoError,
                            "cannot look at '{}', where persons may be that no erasure would "
                            "reach: {}",
                            path.string(), failure.message());
}

/// Returns the folders in `path` that are not empty, in order; none where there is no `path`.
Result<std::vector<fs::path>> folders_in(const fs::path& path) {
    std::vector<fs::path> found;
    std::error_code failure;
    const bool there = fs::exists(path, failure);
    if (failure) return cannot_look(path, failure);
    if (!there) return found;
    fs::directory_iterator at(path, failure);
    for (; !failure && at != fs::directory_iterator(); at.increment(failure)) {
        std::error_code why;
        const bool folder = at->is_directory(why);
        const bool empty = !why && folder && fs::is_empty(at->path(), why);
        if (why) return cannot_look(at->path(), why);
        if (folder && !empty) found.push_back(at->path());
    }
    if (failure) return cannot_look(path, failure);
    std::sort(found.begin(), found.end());
    return found;
}

/// Returns the partition whose folder has this name; -1: none has.
PartitionId named(const std::string& name) {
    int32_t number = -1;
    const char* end = name.data() + name.size();
    const auto [last, failure] = std::from_chars(name.data(), end, number);
    return PartitionId(failure == std::errc() && last == end ? number : -1);
}

bool has(const std::vector<PartitionId>& partitions, PartitionId one) {
    return std::find(partitions.begin(), partitions.end(), one) != partitions.end();
}

/// Returns why this node does not open the joined state, or else the index, of the partition;
/// empty: it does.
std::string reason_to_leave(const LogSettings& log, bool joins, PartitionId partition) {
    const Role role = joins ? Role::kJoin : Role::kDecide;
    if (!log.roles.has(role))
        return fmt::format("this node does not {}, its roles are {}", to_string(role),
                           to_string(log.roles));
    if (has(joins ? log.held() : log.own, partition)) return "";
    return fmt::format("{} partition {}",
                       joins ? "neither log.own nor log.follow has" : "log.own does not have",
                       partition);
}

}  // namespace

Status check_nothing_left(const fs::path& store, const LogSettings& log) {
    if (log.broker == LogSettings::Broker::kLocal) return base::ok();
    RAMPART_TRY(const auto partitions, folders_in(store / "partitions"));
    for (const auto& folder : partitions) {
        const PartitionId partition = named(folder.filename().string());
        if (partition.value() < 0)
            return base::make_error(Reason::kStateLeft,
                                    "'{}' is no folder of a partition (a move that was cut off "
                                    "leaves .incoming and .outgoing), so no erasure would reach "
                                    "the persons in it",
                                    folder.string());
        RAMPART_TRY(const auto databases, folders_in(folder));
        for (const auto& database : databases) {
            const auto name = database.filename().string();
            const bool joins = name.substr(0, name.find('.')) == "joins";
            const auto why = reason_to_leave(log, joins, partition);
            if (why.empty()) continue;
            return base::make_error(Reason::kStateLeft,
                                    "'{}' is left over, and no erasure would reach the persons in "
                                    "it: {}",
                                    database.string(), why);
        }
    }
    return base::ok();
}

Status check_no_erasure_left(const fs::path& store, const Roles& roles) {
    if (roles.train) return base::ok();
    const auto left = [&](const std::string& what) {
        return base::make_error(
            Reason::kErasureLeft,
            "{} has not ended, and this node would not go on with it: its roles "
            "are {}",
            what, to_string(roles));
    };
    const auto folder = store / "privacy" / "register";
    std::error_code failure;
    const bool there = fs::exists(folder, failure);
    if (failure) return cannot_look(folder, failure);
    if (there) {
        RAMPART_TRY(const auto known, privacy::read_register(folder));
        if (!known.begun.empty())
            return left(fmt::format("the erasure of person {} in '{}', begun before,",
                                    base::to_hex(known.begun.front().person.value()),
                                    folder.string()));
    }
    RAMPART_TRY(const auto jobs, runtime::read_jobs(store / "jobs"));
    for (const auto& [id, error] : jobs.unreadable) return error.with_context("job " + id);
    for (const auto& job : jobs.records)
        if (!job.ended() && job.kind == PrivacyRoutes::kErasure)
            return left(fmt::format("the erasure of job {}", job.id));
    return base::ok();
}

}  // namespace rampart::rampartd
