#include "partition_joiner.hpp"

#include <algorithm>
#include <limits>

#include "rampart/base/log.hpp"
#include "rampart/joiner/reasons.hpp"
#include "rampart/streaming/partition_list.hpp"
#include "rampart/streaming/reasons.hpp"

namespace rampart::joiner {

using base::Result;
using base::Status;
using base::TimePoint;
using storage::Sync;

namespace {
constexpr base::Logger kLog("joiner");
constexpr size_t kMaturedPerWrite = 1000;  // decisions
constexpr int64_t kNever = std::numeric_limits<int64_t>::min();
}  // namespace

Result<std::vector<streaming::PartitionId>> held_of(int32_t partitions,
                                                    std::vector<streaming::PartitionId> held) {
    if (partitions < 1 || partitions > kMaxPartitions) {
        return base::make_error(streaming::Reason::kBadPartitions,
                                "{} partitions; 1 to {} are allowed", partitions, kMaxPartitions);
    }
    if (streaming::names_none(held)) return std::vector<streaming::PartitionId>();
    if (held.empty()) {
        for (int32_t p = 0; p < partitions; ++p) held.emplace_back(p);
    }
    std::sort(held.begin(), held.end());
    const bool twice = std::adjacent_find(held.begin(), held.end()) != held.end();
    if (twice || held.front().value() < 0 || held.back().value() >= partitions) {
        return base::make_error(streaming::Reason::kBadPartitions,
                                "the partitions to hold have to be different ones of 0 to {}",
                                partitions - 1);
    }
    return held;
}

PartitionJoiner::PartitionJoiner(const JoinerOptions& options, StoreIdentity identity,
                                 JoinStore store)
    : identity_(std::move(identity)),
      store_(std::move(store)),
      reducer_(options, identity_.partition) {}

Result<std::unique_ptr<PartitionJoiner>> PartitionJoiner::open(const std::filesystem::path& folder,
                                                               const JoinerOptions& options,
                                                               const StoreIdentity& identity) {
    RAMPART_TRY(auto store, JoinStore::open(folder, identity, options.memory, options.environment));
    std::unique_ptr<PartitionJoiner> joiner(
        new PartitionJoiner(options, identity, std::move(store)));
    const auto loaded = joiner->load();
    if (!loaded && joiner->store_.db().damage()) return loaded.error();
    return joiner;
}

Status PartitionJoiner::load() {
    RAMPART_TRY(totals_.counts, store_.counts());
    RAMPART_TRY(totals_.hash, store_.hash());
    RAMPART_TRY(totals_.fence, store_.fence());
    RAMPART_TRY(clock_, store_.clock());
    RAMPART_TRY(maturing_, store_.maturing());
    RAMPART_TRY(first_pending_, store_.first_pending());
    RAMPART_TRY(rebuilding_, store_.rebuilding());
    // Stores of an earlier release do not have the mark.
    return totals_.counts.gaps_accepted > 0 ? mark_beyond_log() : base::ok();
}

Status PartitionJoiner::mend(const std::function<Status()>& allowed) {
    const auto renewed = store_.renew(identity_, allowed);
    const std::lock_guard lock(mutex_);
    const Status status = renewed.map([](bool) {});
    if (!status && (mended_ || mended_.error() != status.error())) {
        kLog.error(
            "msg=\"joined state is not made anew\" partition={} reason={} what=\"{}\" "
            "runbook=ops/runbooks/damage.md",
            id(), status.error().reason, status.error().message);
    }
    mended_ = status;
    if (!renewed || !*renewed) return status;
    totals_ = {};
    clock_.reset();
    bookmarks_.clear();
    first_pending_.reset();
    maturing_.reset();
    verified_.clear();
    rebuilding_ = true;
    return status;
}

Status PartitionJoiner::whole() const {
    const std::lock_guard lock(mutex_);
    RAMPART_RETURN_IF_ERROR(mended_);
    if (!rebuilding_) return store_.db().damage();
    return base::make_error(Reason::kStateRebuilding,
                            "the joined state of partition {} was damaged, and is being made anew "
                            "from the log; try again in a while",
                            id());
}

bool PartitionJoiner::is_newly_damaged() const {
    const std::lock_guard lock(mutex_);
    return mended_ && !store_.db().damage();
}

bool PartitionJoiner::rebuilding() const {
    const std::lock_guard lock(mutex_);
    return rebuilding_;
}

Status PartitionJoiner::become_whole() {
    JoinBatch batch = begin();
    batch.put_whole();
    RAMPART_RETURN_IF_ERROR(commit(batch, Sync::kAlways));
    const std::lock_guard lock(mutex_);
    rebuilding_ = false;
    kLog.info("msg=\"joined state made anew from the log\" partition={} decisions={}", id(),
              totals_.counts.decisions);
    return base::ok();
}

Counts PartitionJoiner::counts() const {
    const std::lock_guard lock(mutex_);
    return totals_.counts;
}

StateHash PartitionJoiner::hash() const {
    const std::lock_guard lock(mutex_);
    return totals_.hash;
}

uint64_t PartitionJoiner::fence() const {
    const std::lock_guard lock(mutex_);
    return totals_.fence;
}

std::optional<TimePoint> PartitionJoiner::clock() const {
    const std::lock_guard lock(mutex_);
    return clock_;
}

Arrival PartitionJoiner::arrival(std::optional<TimePoint> appended_at, bool* late) const {
    constexpr auto kNext = base::Duration::micros(1);
    const auto now = clock();
    const auto least = now ? *now + kNext : TimePoint::from_micros(kNever);
    if (!appended_at) return least;
    const TimePoint said = *appended_at + kNext;
    if (late != nullptr) *late = said < least;
    return {std::max(said, least), true};
}

Status PartitionJoiner::commit(JoinBatch& batch, Sync sync) {
    RAMPART_TRY(const auto totals, batch.commit(sync));
    if (const auto& first = batch.first_pending()) {
        first_pending_ = std::min(first_pending_.value_or(*first), *first);
    }
    const std::lock_guard lock(mutex_);
    if (const auto late = totals.counts.appended_late - totals_.counts.appended_late; late > 0) {
        kLog.warning(
            "msg=\"records came after the clock had passed their append time, and are known from "
            "it on\" partition={} records={} runbook=ops/runbooks/kafka.md",
            id(), late);
    }
    totals_ = totals;
    for (const auto& [source, bookmark] : batch.moved()) bookmarks_[source] = bookmark;
    return base::ok();
}

Sync PartitionJoiner::clock_sync() const {
    return totals_.counts.gaps_accepted > 0 ? Sync::kAlways : Sync::kNever;
}

/// Matures what is due, up to kMaturedPerWrite; false: that was all, and the clock is at `now`.
/// With a decision's first measure its later ones mature: until then a part is ahead of the clock.
Result<bool> PartitionJoiner::advance_some(TimePoint now, size_t& matured) {
    JoinBatch batch = begin();
    size_t due = 0;
    std::optional<TimePoint> next_pending;
    const std::string from = maturity_key({*first_pending_, "", ""});
    // From the first that can be pending on: those before it are gone, but cost time until
    // compaction.
    const auto visit = [&](std::string_view bytes, std::string_view) -> Result<bool> {
        RAMPART_TRY(const auto key, parse_maturity_key(bytes));
        if (key.maturity > now || due == kMaturedPerWrite) {
            next_pending = key.maturity;
            return false;
        }
        RAMPART_TRY(const size_t together, reducer_.matured(batch, key, now));
        matured += together;
        due += together > 0 ? 1 : 0;
        return true;
    };
    RAMPART_RETURN_IF_ERROR(store_.db().scan(kPending, {from, ""}, visit));
    const bool more = next_pending && *next_pending <= now;
    const auto maturing = more ? std::optional(now) : std::nullopt;
    if (!more) batch.put_clock(now);
    if (maturing != maturing_) batch.put_maturing(maturing);
    RAMPART_RETURN_IF_ERROR(commit(batch, due > 0 ? Sync::kAlways : clock_sync()));
    first_pending_ = next_pending;
    maturing_ = maturing;
    return more;
}

Result<size_t> PartitionJoiner::advance(TimePoint now) {
    const auto before = clock();
    now = std::max({now, before.value_or(now), maturing_.value_or(now)});
    size_t matured = 0;
    if (first_pending_ && *first_pending_ <= now) {
        bool more = true;
        while (more) {
            RAMPART_TRY(more, advance_some(now, matured));
        }
    } else if (before != now || maturing_) {
        JoinBatch batch = begin();
        batch.put_clock(now);
        if (maturing_) batch.put_maturing(std::nullopt);
        RAMPART_RETURN_IF_ERROR(commit(batch, clock_sync()));
        maturing_.reset();
    }
    const std::lock_guard lock(mutex_);
    clock_ = now;
    return matured;
}

Status PartitionJoiner::finish_advance() {
    return maturing_ ? advance(*maturing_).map([](size_t) {}) : base::ok();
}

Result<streaming::Bookmark> PartitionJoiner::bookmark(const Source& source) {
    const std::lock_guard lock(mutex_);
    const auto it = bookmarks_.find(source);
    if (it != bookmarks_.end()) return it->second;
    RAMPART_TRY(auto stored, store_.bookmark(source));
    return bookmarks_.emplace(source, std::move(stored)).first->second;
}

}  // namespace rampart::joiner
