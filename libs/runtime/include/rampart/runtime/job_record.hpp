#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"

namespace rampart::runtime {

enum class JobPhase : uint8_t { kWaiting = 0, kRunning = 1, kDone = 2, kFailed = 3 };
/// Returns "waiting", "running", "done" or "failed".
std::string_view to_string(JobPhase phase);

/// A piece of work that was asked for, as its file has it.
struct JobRecord {
    std::string id;       // 32 hex digits, random
    std::string kind;     // "erasure"
    uint64_t serial = 0;  // jobs begin in this order
    JobPhase phase = JobPhase::kWaiting;
    uint64_t done = 0, total = 0;  // steps
    uint64_t begun = 0;            // how often: more than once after a crash
    base::TimePoint asked_at;
    std::optional<base::TimePoint> begun_at, ended_at;  // begun_at: the last time
    std::string request;               // what the work needs; empty once it has ended
    std::string kept;                  // what an interrupted run has left for the next; likewise
    std::string result;                // once the job is done
    std::optional<base::Error> error;  // once it has failed

    bool ended() const { return phase == JobPhase::kDone || phase == JobPhase::kFailed; }
    bool operator==(const JobRecord&) const = default;
};

/// Returns the content of the record's file, with a checksum.
std::string encode_job(const JobRecord& record);
/// Fails with data_loss "bad_job_record".
base::Result<JobRecord> decode_job(std::string_view id, std::string_view bytes);

/// The name of the file of a job in its folder.
std::string job_file(std::string_view id);

/// The jobs of a folder.
struct JobsAtRest {
    std::vector<JobRecord> records;                               // by serial
    std::vector<std::pair<std::string, base::Error>> unreadable;  // by id
};
/// Reads the folder, also while a process works on it; none where it is not there. Fails if the
/// folder cannot be read.
base::Result<JobsAtRest> read_jobs(const std::filesystem::path& folder);

}  // namespace rampart::runtime
