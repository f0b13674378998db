#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/runtime/metrics.hpp"

namespace rampart::runtime {

/// Work that a process repeats for as long as it runs, on a thread of its own.
struct JobOptions {
    std::string name;                                     // "join"; a label of the metrics
    base::Duration every = base::Duration::seconds(1);    // pause after a success; > 0
    base::Duration longest = base::Duration::seconds(1);  // longest pause after failures in a row
    /// A run that has not called JobRun::stopping() for so long is stuck. > 0
    base::Duration stuck_after = base::Duration::seconds(600);
    bool vital = false;       // only a new process helps where it is stuck
    bool background = false;  // with base::lower_priority()
};

/// A job, seen from outside. Ages are in seconds.
struct JobState {
    std::string name;
    bool running = false;
    bool stuck = false;
    bool vital = false;
    double every = 0;  // pause after a success, in seconds
    double age = 0;    // since it ended or began last, or was added
    double since_added = 0;
    std::optional<double> since_success;  // since a run succeeded; nullopt: none has
    std::optional<double> next;           // until the next run; nullopt: it is running
    uint64_t runs = 0, failures = 0;      // ended runs; those that failed
    uint64_t in_a_row = 0;                // failures of the same reason since a success
    base::Status last{};                  // how the last run that ended went
};

struct RunningJob;

/// What a run of a job asks its owner.
class JobRun {
  public:
    JobRun(const JobRun&) = delete;
    JobRun& operator=(const JobRun&) = delete;

    /// True: return soon, to a point from which the work can go on in another process. Shows that
    /// the run is not stuck: to be called at least once a minute.
    bool stopping() const;

  private:
    friend class Jobs;
    explicit JobRun(const RunningJob& job) : job_(job) {}
    const RunningJob& job_;
};

/// The repeated work of a process. A job never waits for another one; after a failure it pauses for
/// twice as long each time, up to JobOptions::longest. A failure is logged when its reason changes
/// and at the 1st, 2nd, 4th, 8th, … in a row. Metrics: metric::kJob…, by task. The jobs have to
/// outlive the metrics' last prometheus_text(). Thread safe.
class Jobs {
  public:
    using Work = std::function<base::Status(const JobRun&)>;

    /// `ages`, by which ages are taken, and whether a run is stuck, has to run on evenly and to
    /// outlive this; null: a steady clock of the process. Pauses are always by the latter.
    explicit Jobs(Metrics& metrics, const base::Clock* ages = nullptr);
    /// Stops all, and waits until their runs end, however long that takes.
    ~Jobs();
    Jobs(const Jobs&) = delete;
    Jobs& operator=(const Jobs&) = delete;

    /// Starts a job; its first run begins at once. A second one of a name is a defect
    /// (RAMPART_CHECK).
    void add(JobOptions options, Work work);

    /// Returns the jobs in the order in which they were added.
    std::vector<JobState> states() const;
    /// unavailable "job_stuck": a vital job is stuck. `vital` false: any job.
    base::Status check_stuck(bool vital) const;

    /// Asks a job to stop, without waiting; nothing where there is none of the name.
    void request_stop(std::string_view name);
    /// Asks all jobs to stop and waits up to `timeout`. Returns the names of those that still run.
    std::vector<std::string> stop(base::Duration timeout);

  private:
    void write(Samples& out) const;

    Metrics& metrics_;
    const base::Clock& ages_;
    mutable std::mutex mutex_;
    std::vector<std::unique_ptr<RunningJob>> jobs_;
};

}  // namespace rampart::runtime
