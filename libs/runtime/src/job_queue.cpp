#include "rampart/runtime/job_queue.hpp"

#include <algorithm>
#include <chrono>

#include "rampart/base/check.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/log.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/runtime/metric_list.hpp"
#include "rampart/runtime/reasons.hpp"

namespace rampart::runtime {
namespace {

using base::Result;
using base::Status;
namespace fs = std::filesystem;

constexpr base::Logger kLog("jobs");
constexpr unsigned kMode = 0600;  // a request may name a person
constexpr auto kIdle = std::chrono::seconds(1);

/// Returns the record as it may be shown.
JobRecord shown(JobRecord record) {
    record.request.clear();
    record.kept.clear();
    return record;
}

base::Digest digest_of(std::string_view kind, std::string_view request) {
    base::Sha256 hash;
    hash.update_field(kind);
    hash.update_field(request);
    return hash.finish();
}

/// Removes what a write that was cut off left: it may have a request.
Status remove_unfinished(const fs::path& folder) {
    std::error_code failure;
    std::vector<fs::path> left;
    for (auto it = fs::directory_iterator(folder, failure);
         !failure && it != fs::directory_iterator(); it.increment(failure)) {
        if (it->path().filename().string().find(".tmp.") != std::string::npos)
            left.push_back(it->path());
    }
    for (const auto& path : left)
        if (!failure) fs::remove(path, failure);
    if (!failure) return base::ok();
    return base::make_error(base::Reason::kIoError, "cannot tidy '{}': {}", folder.string(),
                            failure.message());
}

Status make_folder(const fs::path& folder) {
    std::error_code failure;
    fs::create_directories(folder, failure);
    if (!failure) fs::permissions(folder, fs::perms::owner_all, failure);
    if (!failure) return base::ok();
    return base::make_error(base::Reason::kIoError, "cannot make the folder '{}': {}",
                            folder.string(), failure.message());
}

}  // namespace

Status JobTask::rewrite(std::string request) {
    auto next = record_;
    next.request = std::move(request);
    RAMPART_RETURN_IF_ERROR(queue_.save(next));
    record_ = std::move(next);
    return base::ok();
}

Status JobTask::keep(std::string kept, uint64_t done) {
    auto next = record_;
    next.kept = std::move(kept);
    next.done = done;
    RAMPART_RETURN_IF_ERROR(queue_.save(next));
    record_ = std::move(next);
    queue_.put(record_);
    return base::ok();
}

JobQueue::JobQueue(JobQueueOptions options, const base::Clock& clock, Metrics& metrics)
    : options_(std::move(options)), clock_(clock) {
    for (const auto& kind : options_.kinds) {
        const Labels labels{{"kind", kind}};
        counts_[kind] = {&metrics.counter(metric::kRequestJobsDone, labels),
                         &metrics.counter(metric::kRequestJobsFailed, labels),
                         &metrics.counter(metric::kRequestJobsRefused, labels)};
    }
    metrics.collect([this](Samples& out) { write(out); });
}

Result<std::unique_ptr<JobQueue>> JobQueue::open(JobQueueOptions options, const base::Clock& clock,
                                                 Metrics& metrics) {
    RAMPART_RETURN_IF_ERROR(make_folder(options.folder));
    RAMPART_RETURN_IF_ERROR(remove_unfinished(options.folder));
    std::unique_ptr<JobQueue> queue(new JobQueue(std::move(options), clock, metrics));
    RAMPART_RETURN_IF_ERROR(queue->load());
    queue->forget_old();
    return queue;
}

/// Reads the folder. What ran when a process ended waits again, before all that came after it.
Status JobQueue::load() {
    RAMPART_TRY(auto found, read_jobs(options_.folder));
    for (auto& record : found.records) {
        if (record.phase == JobPhase::kRunning) record.phase = JobPhase::kWaiting;
        const auto asked = digest_of(record.kind, record.request);
        const uint64_t serial = std::max(record.serial, next_serial_);
        next_serial_ = serial + 1;
        record.serial = serial;
        const bool known = counts_.contains(record.kind);
        if (!known && !record.ended())
            found.unreadable.emplace_back(
                record.id, base::make_error(Reason::kBadJobRecord,
                                            "the file '{}' has a job of the kind '{}', which this "
                                            "release does not know",
                                            job_file(record.id), record.kind));
        else
            entries_[serial] = {std::move(record), asked, true, true};
    }
    for (const auto& [id, error] : found.unreadable) {
        kLog.error("msg=\"{}\" reason={} job={}", error.message, error.reason, id);
        JobRecord record;
        record.id = id;
        record.serial = next_serial_++;
        record.phase = JobPhase::kFailed;
        record.error = error;
        const uint64_t serial = record.serial;
        entries_[serial] = {std::move(record), {}, true, false};
    }
    return base::ok();
}

Status JobQueue::save(const JobRecord& record) const {
    return base::write_file_atomically(options_.folder / job_file(record.id), encode_job(record),
                                       kMode);
}

/// Puts the record into memory, where its job is still known.
void JobQueue::put(const JobRecord& record) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(record.serial);
    if (found != entries_.end()) found->second.record = record;
    changed_.notify_all();
}

JobQueue::Entry* JobQueue::same_as(const base::Digest& asked) {
    for (auto& [serial, entry] : entries_)
        if (entry.readable && !entry.record.ended() && entry.asked == asked) return &entry;
    return nullptr;
}

bool JobQueue::has_room(size_t bytes) const {
    size_t waiting = 0, held = 0;
    for (const auto& [serial, entry] : entries_) {
        if (entry.record.phase != JobPhase::kWaiting) continue;
        ++waiting;
        held += entry.record.request.size();
    }
    return waiting < options_.most_waiting &&
           (held == 0 || held + bytes <= options_.most_waiting_bytes);
}

Result<JobRecord> JobQueue::submit(const std::string& kind, std::string request, uint64_t total) {
    const auto counts = counts_.find(kind);
    RAMPART_CHECK(counts != counts_.end(), "'{}' is no kind of a job", kind);
    const auto asked = digest_of(kind, request);
    std::unique_lock lock(mutex_);
    while (const Entry* same = same_as(asked)) {
        if (same->durable) return shown(same->record);
        changed_.wait(lock);
    }
    if (!has_room(request.size())) {
        counts->second.refused->add();
        return base::make_error(Reason::kTooManyJobs,
                                "too many jobs wait ({} at most); nothing was done",
                                options_.most_waiting);
    }
    JobRecord record;
    record.id = base::to_hex(base::random_bytes(16));
    record.kind = kind;
    record.serial = next_serial_++;
    record.total = total;
    record.asked_at = clock_.now();
    record.request = std::move(request);
    entries_[record.serial] = {record, asked, false, true};
    lock.unlock();
    const Status saved = save(record);
    lock.lock();
    if (saved) {
        entries_.at(record.serial).durable = true;
    } else {
        entries_.erase(record.serial);
    }
    changed_.notify_all();
    if (!saved) return saved.error();
    return shown(std::move(record));
}

Result<JobRecord> JobQueue::find(const std::string& id) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [serial, entry] : entries_)
        if (entry.durable && entry.record.id == id) return shown(entry.record);
    return base::make_error(Reason::kUnknownJob,
                            "there is no job '{}', or it ended so long ago that it is forgotten",
                            id.substr(0, 64));
}

Result<JobRecord> JobQueue::wait(const std::string& id, base::Duration longest) {
    const auto until =
        std::chrono::steady_clock::now() + std::chrono::microseconds(longest.micros());
    std::unique_lock lock(mutex_);
    if (callers_ < options_.most_callers) {
        ++callers_;
        changed_.wait_until(lock, until, [&] {
            const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const auto& one) {
                return one.second.record.id == id;
            });
            return stopping_ || found == entries_.end() || found->second.record.ended();
        });
        --callers_;
    }
    lock.unlock();
    return find(id);
}

std::vector<JobRecord> JobQueue::list(size_t most) const {
    const std::lock_guard lock(mutex_);
    std::vector<JobRecord> latest;
    for (auto it = entries_.rbegin(); it != entries_.rend() && latest.size() < most; ++it) {
        if (!it->second.durable) continue;
        const auto& record = it->second.record;
        latest.push_back({.id = record.id,
                          .kind = record.kind,
                          .serial = record.serial,
                          .phase = record.phase,
                          .done = record.done,
                          .total = record.total,
                          .begun = record.begun,
                          .asked_at = record.asked_at,
                          .begun_at = record.begun_at,
                          .ended_at = record.ended_at,
                          .request = {},
                          .kept = {},
                          .result = {},
                          .error = record.error});
    }
    return latest;
}

std::map<std::string, JobQueue::Summary> JobQueue::summary() const {
    std::map<std::string, Summary> kinds;
    for (const auto& kind : options_.kinds) kinds[kind];
    const std::lock_guard lock(mutex_);
    const auto now = clock_.now();
    for (const auto& [serial, entry] : entries_) {
        const auto& record = entry.record;
        auto& kind = kinds[record.kind];
        kind.waiting += record.phase == JobPhase::kWaiting;
        kind.running += record.phase == JobPhase::kRunning;
        kind.failed += record.phase == JobPhase::kFailed;
        if (record.ended()) continue;
        const auto age = static_cast<double>((now - record.asked_at).micros()) / 1e6;
        kind.oldest = std::max(kind.oldest, age);
    }
    return kinds;
}

/// Drops jobs that ended too long ago or are too many, the oldest first.
void JobQueue::forget_old() {
    std::vector<std::string> dropped;
    {
        const std::lock_guard lock(mutex_);
        size_t kept = 0, bytes = 0;
        const auto oldest = clock_.now() - options_.keep;
        for (auto it = entries_.end(); it != entries_.begin();) {
            --it;
            const auto& record = it->second.record;
            if (!record.ended() || !it->second.readable) continue;
            bytes += record.result.size();
            const bool many =
                ++kept > options_.most_kept || (kept > 1 && bytes > options_.most_kept_bytes);
            if (!many && record.ended_at.value_or(record.asked_at) >= oldest) continue;
            dropped.push_back(record.id);
            it = entries_.erase(it);
        }
    }
    std::error_code ignored;  // read at the next start, and dropped then
    for (const auto& id : dropped) fs::remove(options_.folder / job_file(id), ignored);
}

/// Waits for the next job of a kind; nullopt: there is none.
std::optional<JobRecord> JobQueue::take(const std::string& kind, const JobRun& run) {
    std::unique_lock lock(mutex_);
    const auto next = [&]() -> Entry* {
        for (auto& [serial, entry] : entries_)
            if (entry.durable && entry.record.kind == kind &&
                entry.record.phase == JobPhase::kWaiting)
                return &entry;
        return nullptr;
    };
    changed_.wait_for(lock, kIdle, [&] { return stopping_ || next() != nullptr; });
    auto* entry = next();
    if (entry == nullptr || stopping_ || run.stopping()) return std::nullopt;
    entry->record.phase = JobPhase::kRunning;
    ++entry->record.begun;
    entry->record.begun_at = clock_.now();
    return entry->record;
}

Status JobQueue::work(const std::string& kind, const Work& work, const JobRun& run) {
    forget_old();
    const auto taken = take(kind, run);
    if (!taken) return base::ok();
    auto waiting = *taken;
    waiting.phase = JobPhase::kWaiting;
    if (const Status begun = save(*taken); !begun) {
        put(waiting);
        return begun;
    }
    JobTask task(*this, *taken, run);
    const auto result = [&]() -> Result<std::string> {
        try {
            return work(task);
        } catch (const std::exception& e) {
            return base::make_error(Reason::kJobThrew, "the job failed: {}", e.what());
        }
    }();
    const Status ended = end(task.record_, result, run);
    if (!ended) {
        waiting = task.record_;
        waiting.phase = JobPhase::kWaiting;
        put(waiting);
    }
    return ended;
}

/// Puts down how a job went; an error while the process is to end is no end of the job.
Status JobQueue::end(JobRecord record, Result<std::string> result, const JobRun& run) {
    if (!result && run.stopping()) {
        record.phase = JobPhase::kWaiting;
        put(record);
        return base::ok();
    }
    record.phase = result ? JobPhase::kDone : JobPhase::kFailed;
    record.ended_at = clock_.now();
    record.request.clear();
    record.kept.clear();
    if (result) {
        record.done = record.total;
        record.result = std::move(*result);
    } else {
        record.error = result.error();
    }
    RAMPART_RETURN_IF_ERROR(save(record));
    put(record);
    const auto& counts = counts_.at(record.kind);
    (result ? counts.done : counts.failed)->add();
    kLog.info("msg=\"the job has ended\" job={} kind={} state={} reason={}", record.id, record.kind,
              to_string(record.phase), record.error ? record.error->reason : "-");
    return base::ok();
}

void JobQueue::begin_stop() {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
}

Status JobQueue::check() const {
    const std::lock_guard lock(mutex_);
    for (const auto& [serial, entry] : entries_)
        if (!entry.readable) return *entry.record.error;
    return base::ok();
}

void JobQueue::write(Samples& out) const {
    const auto kinds = summary();
    for (const auto& kind : options_.kinds) {
        const auto& one = kinds.at(kind);
        const Labels labels{{"kind", kind}};
        out.add(metric::kRequestJobsWaiting, static_cast<double>(one.waiting), labels);
        out.add(metric::kRequestJobsRunning, static_cast<double>(one.running), labels);
        out.add(metric::kRequestJobsOldest, one.oldest, labels);
    }
    const auto unreadable = kinds.find("");
    const size_t files = unreadable == kinds.end() ? 0 : unreadable->second.failed;
    out.add(metric::kRequestJobsUnreadable, static_cast<double>(files));
}

}  // namespace rampart::runtime
