#include "rampart/runtime/jobs.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <condition_variable>
#include <thread>

#include "rampart/base/check.hpp"
#include "rampart/base/log.hpp"
#include "rampart/base/thread_name.hpp"
#include "rampart/base/thread_priority.hpp"
#include "rampart/runtime/metric_list.hpp"
#include "rampart/runtime/reasons.hpp"

namespace rampart::runtime {
namespace {

using Steady = std::chrono::steady_clock;

constexpr base::Logger kLog("jobs");

std::chrono::microseconds chrono_of(base::Duration duration) {
    return std::chrono::microseconds(duration.micros());
}

double seconds_of(base::Duration duration) { return static_cast<double>(duration.micros()) / 1e6; }

class ProcessClock final : public base::Clock {
  public:
    base::TimePoint now() const override {
        const auto since = Steady::now().time_since_epoch();
        return base::TimePoint::from_micros(
            std::chrono::duration_cast<std::chrono::microseconds>(since).count());
    }
};
const ProcessClock kProcessClock{};

}  // namespace

struct RunningJob {
    RunningJob(JobOptions given, Jobs::Work task, const base::Clock& clock)
        : options(std::move(given)), work(std::move(task)), ages(clock) {}

    const JobOptions options;
    const Jobs::Work work;
    const base::Clock& ages;
    const base::TimePoint added = ages.now();
    std::atomic<bool> stop{false};
    mutable std::atomic<int64_t> beat{0};  // when the run last asked whether to stop

    mutable std::mutex mutex;
    std::condition_variable changed;
    bool running = false, ended = false;
    base::TimePoint since = added;  // it began or ended last
    Steady::time_point next = Steady::now();
    std::optional<base::TimePoint> succeeded;
    uint64_t runs = 0, failures = 0, in_a_row = 0;
    base::Status last;
    std::thread thread;

    void loop(Metrics& metrics, const JobRun& run);
    bool begin();
    base::Status run_once(const JobRun& run) const;
    void request_stop();
    void end(base::Status status);
    JobState state() const;
};

bool JobRun::stopping() const {
    job_.beat.store(job_.ages.now().micros(), std::memory_order_relaxed);
    return job_.stop.load(std::memory_order_relaxed);
}

/// Waits for the next run; false: there is none, the job is to stop.
bool RunningJob::begin() {
    std::unique_lock lock(mutex);
    changed.wait_until(lock, next, [&] { return stop.load(); });
    if (stop) return false;
    running = true;
    since = ages.now();
    beat = since.micros();
    return true;
}

/// Runs it; what it throws is a failure like any other.
base::Status RunningJob::run_once(const JobRun& run) const {
    try {
        return work(run);
    } catch (const std::exception& e) {
        return base::make_error(Reason::kJobThrew, "job '{}' failed: {}", options.name, e.what());
    }
}

void RunningJob::request_stop() {
    const std::lock_guard lock(mutex);
    stop = true;
    changed.notify_all();
}

void RunningJob::end(base::Status status) {
    const std::lock_guard lock(mutex);
    running = false;
    since = ages.now();
    ++runs;
    auto pause = chrono_of(options.every);
    if (status) {
        if (in_a_row > 0) kLog.info("msg=\"goes on\" job={} failures={}", options.name, in_a_row);
        in_a_row = 0;
        succeeded = since;
    } else if (!stop) {
        const bool other = last || last.error().reason != status.error().reason;
        in_a_row = other ? 1 : in_a_row + 1;
        ++failures;
        if (std::has_single_bit(in_a_row))
            kLog.error("msg=\"{}\" reason={} job={} failures={}", status.error().message,
                       status.error().reason, options.name, in_a_row);
        const auto longest = std::max(pause, chrono_of(options.longest));
        for (uint64_t i = 0; i < in_a_row && pause < longest; ++i) pause *= 2;
        pause = std::min(pause, longest);
    }
    last = std::move(status);
    next = Steady::now() + pause;
}

void RunningJob::loop(Metrics& metrics, const JobRun& run) {
    base::name_this_thread("job-" + options.name);
    if (options.background) base::lower_priority();
    const Labels labels{{"task", options.name}};  // "job" is Prometheus' own
    auto& runs_total = metrics.counter(metric::kJobRuns, labels);
    auto& failures_total = metrics.counter(metric::kJobFailures, labels);
    while (begin()) {
        auto status = run_once(run);
        runs_total.add();
        if (!status && !stop) failures_total.add();
        end(std::move(status));
    }
    const std::lock_guard lock(mutex);
    ended = true;
    changed.notify_all();
}

JobState RunningJob::state() const {
    const std::lock_guard lock(mutex);
    const auto now = ages.now();
    JobState state;
    state.name = options.name;
    state.vital = options.vital;
    state.running = running;
    const auto last_beat = base::TimePoint::from_micros(beat.load());
    state.stuck = running && now - last_beat > options.stuck_after;
    state.every = seconds_of(options.every);
    state.age = seconds_of(now - since);
    state.since_added = seconds_of(now - added);
    if (succeeded) state.since_success = seconds_of(now - *succeeded);
    if (!running)
        state.next = std::max(0.0, std::chrono::duration<double>(next - Steady::now()).count());
    state.runs = runs;
    state.failures = failures;
    state.in_a_row = in_a_row;
    state.last = last;
    return state;
}

Jobs::Jobs(Metrics& metrics, const base::Clock* ages)
    : metrics_(metrics), ages_(ages != nullptr ? *ages : kProcessClock) {
    metrics.collect([this](Samples& out) { write(out); });
}

Jobs::~Jobs() {
    for (const auto& job : jobs_) job->request_stop();
    for (const auto& job : jobs_) job->thread.join();
}

void Jobs::add(JobOptions options, Work work) {
    RAMPART_CHECK(options.every > base::Duration() && options.stuck_after > base::Duration(),
                  "job '{}': its times are not positive", options.name);
    const std::lock_guard lock(mutex_);
    for (const auto& job : jobs_) {
        RAMPART_CHECK(job->options.name != options.name, "job '{}' is added twice", options.name);
    }
    auto job = std::make_unique<RunningJob>(std::move(options), std::move(work), ages_);
    job->thread = std::thread([this, raw = job.get()] { raw->loop(metrics_, JobRun(*raw)); });
    jobs_.push_back(std::move(job));
}

std::vector<JobState> Jobs::states() const {
    const std::lock_guard lock(mutex_);
    std::vector<JobState> states;
    for (const auto& job : jobs_) states.push_back(job->state());
    return states;
}

base::Status Jobs::check_stuck(bool vital) const {
    for (const auto& job : states()) {
        if (!job.stuck || (vital && !job.vital)) continue;
        return base::make_error(Reason::kJobStuck,
                                "job '{}' has run for {:.0f} s without a sign of life", job.name,
                                job.age);
    }
    return base::ok();
}

void Jobs::write(Samples& out) const {
    for (const auto& job : states()) {
        const Labels labels{{"task", job.name}};
        // where none has succeeded: not the age of the last run, which begins anew with each
        out.add(metric::kJobAge, job.since_success.value_or(job.since_added), labels);
        out.add(metric::kJobInterval, job.every, labels);
        out.add(metric::kJobRunning, job.running ? 1 : 0, labels);
        out.add(metric::kJobStuck, job.stuck ? 1 : 0, labels);
    }
}

void Jobs::request_stop(std::string_view name) {
    const std::lock_guard lock(mutex_);
    for (const auto& job : jobs_)
        if (job->options.name == name) job->request_stop();
}

std::vector<std::string> Jobs::stop(base::Duration timeout) {
    const auto until = Steady::now() + chrono_of(timeout);
    const std::lock_guard lock(mutex_);
    for (const auto& job : jobs_) job->request_stop();
    std::vector<std::string> left;
    for (const auto& job : jobs_) {
        std::unique_lock held(job->mutex);
        if (!job->changed.wait_until(held, until, [&] { return job->ended; }))
            left.push_back(job->options.name);
    }
    return left;
}

}  // namespace rampart::runtime
