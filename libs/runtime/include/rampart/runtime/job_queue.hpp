#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/result.hpp"
#include "rampart/runtime/job_record.hpp"
#include "rampart/runtime/jobs.hpp"
#include "rampart/runtime/metrics.hpp"

namespace rampart::runtime {

struct JobQueueOptions {
    std::filesystem::path folder;  // made if it is not there; only its owner can read it
    std::vector<std::string> kinds;
    size_t most_waiting = 100;              // further ones are refused
    size_t most_waiting_bytes = 32u << 20;  // that their requests have; one alone may have more
    size_t most_callers = 2;                // in wait() at a time; a further one returns at once
    size_t most_kept = 1000;                // jobs that have ended; the oldest is dropped first
    size_t most_kept_bytes = 16u << 20;     // that their results have; the newest may have more
    base::Duration keep = base::Duration::days(7);  // after its end
};

class JobQueue;

/// What the work of a job asks and says. Used by one thread.
class JobTask {
  public:
    JobTask(const JobTask&) = delete;
    JobTask& operator=(const JobTask&) = delete;

    const std::string& request() const { return record_.request; }
    /// What an interrupted run of this job kept; empty: nothing.
    const std::string& kept() const { return record_.kept; }
    /// False: a process ended while it ran this job.
    bool first_time() const { return record_.begun <= 1; }
    /// True: return soon, with an error. The job goes on in another process.
    bool stopping() const { return run_.stopping(); }
    /// Makes the request another one, with the same meaning; durable when it returns.
    base::Status rewrite(std::string request);
    /// Leaves something for the next run, in case this one is interrupted; durable when it returns.
    /// `done`: of JobRecord::total.
    base::Status keep(std::string kept, uint64_t done);

  private:
    friend class JobQueue;
    JobTask(JobQueue& queue, JobRecord record, const JobRun& run)
        : queue_(queue), record_(std::move(record)), run_(run) {}
    JobQueue& queue_;
    JobRecord record_;
    const JobRun& run_;
};

/// Work that was asked for and may take long: accepted durably, done once, in the order of each
/// kind, and answered by its id until it is forgotten. What a process that ended has left is taken
/// up again by the next one: so the work of a kind has to come to the same result when it is
/// repeated, with what it kept.
///
/// A job is one file. It has the request only until the job ends; from then on its result or its
/// error, which must not say more of a person than may stay. A file that cannot be read is a failed
/// job, "bad_job_record", and stays until people take it away. Metrics: metric::kRequestJobs…, by
/// kind. Thread safe; no lock is held while it writes a file.
class JobQueue {
  public:
    /// Returns the result, or why it fails.
    using Work = std::function<base::Result<std::string>(JobTask&)>;

    /// Reads what is there. `clock`, by which jobs get their times and are forgotten, and `metrics`
    /// have to outlive the queue, and the queue the last prometheus_text(). Fails if the folder
    /// cannot be read or made.
    static base::Result<std::unique_ptr<JobQueue>> open(JobQueueOptions options,
                                                        const base::Clock& clock, Metrics& metrics);

    /// Accepts a job of a known kind (RAMPART_CHECK); it is durable when this returns. Where the
    /// same request waits or runs already, returns that job. Fails with resource_exhausted
    /// "too_many_jobs".
    base::Result<JobRecord> submit(const std::string& kind, std::string request, uint64_t total);
    /// Waits until the job has ended, `longest` is over or begin_stop() was called, and returns it,
    /// without request and what it kept, as all that follow. not_found "unknown_job".
    base::Result<JobRecord> wait(const std::string& id, base::Duration longest);
    base::Result<JobRecord> find(const std::string& id) const;
    /// Returns the latest jobs, `most` at most, the last first, without results; those that cannot
    /// be read are among them.
    std::vector<JobRecord> list(size_t most) const;

    struct Summary {
        size_t waiting = 0, running = 0, failed = 0;  // failed: of those that are kept
        double oldest = 0;  // seconds since the oldest that has not ended was asked for
    };
    /// Returns a line for each kind; files that cannot be read are of the kind "".
    std::map<std::string, Summary> summary() const;

    /// Does the next job of a kind, one at a time; waits up to a second for one. Made to be the
    /// work of a repeated job (Jobs). Fails where the file of a job cannot be written: the job goes
    /// on with the next call.
    base::Status work(const std::string& kind, const Work& work, const JobRun& run);

    /// Begins no job any more, and ends each wait().
    void begin_stop();
    /// data_loss "bad_job_record": a job's file cannot be read.
    base::Status check() const;

  private:
    friend class JobTask;
    struct Entry {
        JobRecord record;
        base::Digest asked{};  // digest of kind and request
        bool durable = false;
        bool readable = true;
    };
    struct Counts {
        Counter *done, *failed, *refused;
    };
    JobQueue(JobQueueOptions options, const base::Clock& clock, Metrics& metrics);
    base::Status load();
    base::Status save(const JobRecord& record) const;
    base::Status end(JobRecord record, base::Result<std::string> result, const JobRun& run);
    void put(const JobRecord& record);
    void forget_old();
    bool has_room(size_t bytes) const;
    Entry* same_as(const base::Digest& asked);
    std::optional<JobRecord> take(const std::string& kind, const JobRun& run);
    void write(Samples& out) const;

    const JobQueueOptions options_;
    const base::Clock& clock_;
    std::map<std::string, Counts> counts_;  // by kind
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::map<uint64_t, Entry> entries_;  // by serial
    size_t callers_ = 0;
    uint64_t next_serial_ = 1;
    bool stopping_ = false;
};

}  // namespace rampart::runtime
