#include "rampart/decision_log/owned_partition.hpp"

#include "rampart/base/check.hpp"
#include "rampart/base/log.hpp"
#include "rampart/decision_log/reasons.hpp"
#include "rampart/storage/reasons.hpp"
#include "rampart/wire/fence.hpp"

namespace rampart::decision_log {

using base::Status;

namespace {

constexpr base::Logger kLog("decision_log");
// At most a fifth of the time for which commits wait goes to what fails.
constexpr int kPauseFactor = 4;
using Steady = std::chrono::steady_clock;

}  // namespace

uint64_t exploration_share(uint64_t per_day, streaming::PartitionId partition, int32_t partitions) {
    const auto n = static_cast<uint64_t>(partitions);
    return per_day / n + (static_cast<uint64_t>(partition.value()) < per_day % n ? 1 : 0);
}

OwnedPartition::OwnedPartition(std::unique_ptr<DecisionIndex> index, uint64_t exploration_per_day)
    : index_(std::move(index)), exploration_per_day_(exploration_per_day) {}

Status OwnedPartition::take(uint64_t epoch, const std::string& node, base::TimePoint now,
                            std::string_view topic, streaming::Writer& writer) {
    RAMPART_CHECK(epoch >= 1, "partition {} taken without an epoch", id());
    const auto fenced = [&](const Fence& fence) {
        return base::make_error(Reason::kFenced,
                                "partition {} has a fence of epoch {} by the node '{}', "
                                "and was claimed under {}; claim "
                                "it again",
                                id(), fence.epoch, fence.node, epoch);
    };
    if (const Fence before = index_->fence(); before.epoch >= epoch) return fenced(before);
    const auto record = wire::fence_record(epoch, node, now);
    RAMPART_RETURN_IF_ERROR(writer.append_to(topic, id(), {&record, 1}));
    RAMPART_RETURN_IF_ERROR(index_->catch_up());
    if (const Fence now_there = index_->fence(); now_there != Fence{epoch, node}) {
        return fenced(now_there);
    }
    epoch_ = epoch;
    return base::ok();
}

Status OwnedPartition::status() const {
    const Status damage = index_->damage();
    const std::lock_guard lock(mutex_);
    if (!given_up_ && !rebuilding_ && !damage) return rebuilding();
    return trouble_;
}

bool OwnedPartition::is_rebuilding() const {
    const Status damage = index_->damage();
    const std::lock_guard lock(mutex_);
    return !given_up_ && (rebuilding_ || !damage);
}

Status OwnedPartition::rebuilding() const {
    return base::make_error(Reason::kPartitionRebuilding,
                            "the index of decisions of partition {} is being made anew from the "
                            "log; try again in a while",
                            id());
}

bool OwnedPartition::given_up() const {
    const std::lock_guard lock(mutex_);
    return given_up_;
}

bool OwnedPartition::is_behind() const {
    const std::lock_guard lock(mutex_);
    return !trouble_ && !given_up_ && !rebuilding_ && !is_gap(trouble_.error());
}

void OwnedPartition::fell_behind(const base::Error& why) {
    const std::lock_guard lock(mutex_);
    if (!given_up_ && !rebuilding_) trouble_ = why;
}

bool OwnedPartition::may_try() const {
    const std::lock_guard lock(mutex_);
    return Steady::now() >= retry_at_;
}

Status OwnedPartition::catch_up() {
    if (given_up() || is_rebuilding()) return status();
    const auto since = Steady::now();
    const Status caught_up = index_->catch_up();
    const auto until = Steady::now();
    const std::lock_guard lock(mutex_);
    retry_at_ = caught_up ? until : until + kPauseFactor * (until - since);
    if (given_up_) return trouble_;
    if (!caught_up && (trouble_ || trouble_.error() != caught_up.error())) {
        kLog.error("msg=\"partition stopped\" partition={} reason={} what=\"{}\"", id(),
                   caught_up.error().reason, caught_up.error().message);
    }
    trouble_ = caught_up;
    return trouble_;
}

Status OwnedPartition::begin(size_t records) {
    const auto since = Steady::now();
    Status begun = index_->damage();
    if (begun) {
        const auto at_end = index_->catch_up_some(records);
        begun = !at_end ? Status(at_end.error()) : *at_end ? base::ok() : rebuilding();
    }
    const bool damaged = !index_->damage();
    const auto until = Steady::now();
    const std::lock_guard lock(mutex_);
    retry_at_ = begun ? until : until + kPauseFactor * (until - since);
    begun_ = begun || begun.error().code != base::ErrorCode::kUnavailable ||
             begun.error().is(Reason::kPartitionRebuilding);
    rebuilding_ = damaged || (!begun && begun.error().is(Reason::kPartitionRebuilding));
    trouble_ = rebuilding_ ? rebuilding() : begun;
    return trouble_;
}

/// Says why rebuilding does not go on, once.
void OwnedPartition::refuse(const base::Error& why) {
    const std::lock_guard lock(mutex_);
    if (given_up_ || (!trouble_ && trouble_.error() == why)) return;
    trouble_ = why;
    kLog.error(
        "msg=\"partition is not made anew\" partition={} reason={} what=\"{}\" "
        "runbook=ops/runbooks/damage.md",
        id(), why.reason, why.message);
}

bool OwnedPartition::mend(size_t records, const std::function<Status()>& take) {
    if (!is_rebuilding()) return false;
    {
        const std::lock_guard lock(mutex_);
        if (!rebuilding_) trouble_ = rebuilding();
        rebuilding_ = true;
    }
    if (const Status renewed = index_->renew(); !renewed) {
        // who reads the old one is soon done
        if (!renewed.error().is(storage::Reason::kInUse)) refuse(renewed.error());
        return false;
    }
    const auto at_end = index_->catch_up_some(records);
    if (!at_end) {
        // what is damaged again is set aside with the next turn, or refused
        if (index_->damage()) refuse(at_end.error());
        return false;
    }
    if (*at_end && epoch_ == 0) {
        if (const Status taken = take(); !taken) {
            refuse(taken.error());
            return false;
        }
    }
    const std::lock_guard lock(mutex_);
    if (given_up_) return false;
    rebuilding_ = !*at_end;
    trouble_ = *at_end ? base::ok() : rebuilding();
    if (*at_end) {
        kLog.info("msg=\"partition made anew from the log\" partition={} decisions={}", id(),
                  index_->counts().decisions);
    }
    return rebuilding_;
}

bool OwnedPartition::give_up(const std::string& to) {
    const std::lock_guard lock(mutex_);
    if (given_up_) return false;
    given_up_ = true;
    trouble_ = base::make_error(
        Reason::kFenced,
        "partition {} was taken over by {}; this node decides nothing for it any more", id(),
        to.empty() ? "another node" : "the node '" + to + "'");
    kLog.error("msg=\"partition given up\" partition={} epoch={} to={}", id(), epoch_, to);
    return true;
}

}  // namespace rampart::decision_log
