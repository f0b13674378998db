#include "rampart/lease/partition_leases.hpp"

#include <algorithm>

#include "rampart/base/digest.hpp"
#include "rampart/base/log.hpp"
#include "rampart/lease/reasons.hpp"

namespace rampart::lease {

using base::Duration;
using base::Result;
using base::Status;
using streaming::PartitionId;

namespace {

constexpr base::Logger kLog("lease");
const PartitionId kOnly(0);
constexpr Duration kMinTtl = Duration::micros(100'000);
constexpr Duration kMaxTtl = Duration::hours(1);
constexpr int kClaimTries = 3;
constexpr int kLooksPerTtl = 10;

std::string name_of(PartitionId partition) {
    return partition == kTrainer ? "trainer" : fmt::format("{}", partition);
}

bool is_foreign(const Lease* lease, const std::string& node) {
    return lease != nullptr && !lease->released && lease->node != node;
}

}  // namespace

PartitionLeases::PartitionLeases(LeaseOptions options, LeaseDeps deps)
    : options_(std::move(options)),
      deps_(deps),
      session_(base::random_bytes(16)),
      board_(deps.reader, options_.topic, options_.group) {}

Result<std::unique_ptr<PartitionLeases>> PartitionLeases::create(LeaseOptions options,
                                                                 LeaseDeps deps) {
    RAMPART_RETURN_IF_ERROR(check_name("group", options.group));
    RAMPART_RETURN_IF_ERROR(check_name("node", options.node));
    if (!options.address.empty()) RAMPART_RETURN_IF_ERROR(check_address(options.address));
    if (options.ttl < kMinTtl || kMaxTtl < options.ttl) {
        return base::make_error(Reason::kBadTtl, "a lease of {} ms; {} ms to {} ms are allowed",
                                options.ttl.micros() / 1000, kMinTtl.micros() / 1000,
                                kMaxTtl.micros() / 1000);
    }
    return std::unique_ptr<PartitionLeases>(new PartitionLeases(std::move(options), deps));
}

bool PartitionLeases::is_mine(PartitionId partition, uint64_t epoch) const {
    const Lease* lease = board_.find(partition);
    return lease != nullptr && lease->session == session_ && lease->epoch == epoch &&
           !lease->released;
}

base::Error PartitionLeases::owned_by(PartitionId partition, const Lease& lease) const {
    if (partition == kTrainer) {
        return base::make_error(Reason::kTrainerElsewhere,
                                "the node '{}' trains for group '{}', under epoch {}, and is alive",
                                lease.node, options_.group, lease.epoch);
    }
    return base::make_error(
        Reason::kPartitionOwned,
        "partition {} of group '{}' is owned by the node '{}', which is alive; stop that node, "
        "take "
        "the partition out of its configuration, or out of that of '{}'",
        partition, options_.group, lease.node, options_.node);
}

Result<PartitionLeases::Epochs> PartitionLeases::claim(const std::set<PartitionId>& partitions,
                                                       const Epochs& floors) {
    const std::lock_guard lock(mutex_);
    std::set<PartitionId> wanted;
    for (const PartitionId p : partitions) {
        if (!owned_.contains(p)) wanted.insert(p);
    }
    RAMPART_RETURN_IF_ERROR(board_.refresh());
    const auto won = claim_all(std::move(wanted), floors);
    if (won) owned_.insert(won->begin(), won->end());
    publish();
    if (!won) return won.error();
    note_renewed();
    Epochs epochs;
    for (const PartitionId p : partitions) epochs[p] = owned_.at(p);
    return epochs;
}

Result<PartitionLeases::Epochs> PartitionLeases::claim_all(std::set<PartitionId> wanted,
                                                           const Epochs& floors) {
    Epochs won;
    Status status;
    // Repeats only if a record that the previous run had sent arrived in between. Of the trainer's
    // it may be another store's turn, and to claim after it would end that store's right.
    const int most = wanted.contains(kTrainer) ? 1 : kClaimTries;
    for (int tries = 0; status && !wanted.empty(); ++tries) {
        if (tries == most) {
            status = base::make_error(Reason::kClaimFailed,
                                      "partition {} could not be claimed in {} tries; try again",
                                      name_of(*wanted.begin()), most);
            break;
        }
        status = watch_others(wanted);
        if (!status) break;
        const auto more = try_claim(wanted, floors);
        if (!more) {
            status = more.error();
            break;
        }
        for (const auto& [p, epoch] : *more) {
            kLog.info("msg=\"partition claimed\" partition={} epoch={} node={}", name_of(p), epoch,
                      options_.node);
            wanted.erase(p);
        }
        won.insert(more->begin(), more->end());
    }
    if (status) return won;
    // all or none; a claim that cannot be released expires now
    if (const auto released = write(LeaseRecord::Kind::kRelease, won); !released) {
        kLog.warning("msg=\"claim not released\" reason=\"{}\"", released.error().message);
    }
    return status.error();
}

void PartitionLeases::publish() {
    std::map<PartitionId, Holder> holders;
    std::map<PartitionId, base::TimePoint> signs;
    for (const auto& [p, lease] : board_.leases()) {
        if (lease.signed_at) signs[p] = *lease.signed_at;
        if (!lease.released) holders[p] = {p, lease.node, lease.epoch, lease.address};
    }
    const std::lock_guard lock(view_mutex_);
    owned_view_ = owned_;
    holders_view_ = std::move(holders);
    signs_view_ = std::move(signs);
}

/// Returns when every other holder has been silent for its ttl.
Status PartitionLeases::watch_others(const std::set<PartitionId>& partitions) {
    std::map<PartitionId, streaming::Offset> watched;
    Duration silence;
    for (const PartitionId p : partitions) {
        const Lease* lease = board_.find(p);
        if (!is_foreign(lease, options_.node)) continue;
        watched[p] = lease->last_sign;
        silence = std::max(silence, lease->ttl);
        kLog.info("msg=\"watching the holder\" partition={} holder={} for_ms={}", name_of(p),
                  lease->node, lease->ttl.micros() / 1000);
    }
    if (watched.empty()) return base::ok();
    const Duration begin = deps_.timer.now();
    const Duration step = Duration::micros(std::max<int64_t>(silence.micros() / kLooksPerTtl, 1));
    for (bool over = false; !over;) {
        if (!deps_.timer.wait(step)) {
            return base::make_error(Reason::kStopped,
                                    "stopped while waiting for a lease to expire");
        }
        // the time is taken before the read, so that the check is never too early, however long
        // this process was suspended
        over = deps_.timer.now().micros() - begin.micros() >= silence.micros();
        RAMPART_RETURN_IF_ERROR(board_.refresh());
        for (const auto& [p, last_sign] : watched) {
            const Lease* lease = board_.find(p);
            if (is_foreign(lease, options_.node) && lease->last_sign != last_sign) {
                return owned_by(p, *lease);
            }
        }
    }
    return base::ok();
}

Status PartitionLeases::check_free(const std::set<PartitionId>& partitions) {
    const std::lock_guard lock(mutex_);
    RAMPART_RETURN_IF_ERROR(board_.refresh());
    const Status free = watch_others(partitions);
    publish();
    return free;
}

Status PartitionLeases::write(LeaseRecord::Kind kind, const Epochs& epochs) {
    std::vector<streaming::Record> records;
    const auto now = deps_.clock.now();
    for (const auto& [p, epoch] : epochs) {
        LeaseRecord record{kind,     epoch,           {}, options_.ttl, options_.node,
                           session_, options_.address};
        const Lease* lease = board_.find(p);
        if (kind == LeaseRecord::Kind::kClaim && lease != nullptr) {
            record.replaces = lease->last_sign;
        }
        records.push_back({lease_key(options_.group, p), encode(record), now, {}});
    }
    if (records.empty()) return base::ok();
    return deps_.writer.append_to(options_.topic, kOnly, records).map([](const auto&) {});
}

/// Returns the epochs of `partitions` that were won; on an error, and if another node was faster,
/// none.
Result<PartitionLeases::Epochs> PartitionLeases::try_claim(const std::set<PartitionId>& partitions,
                                                           const Epochs& floors) {
    Epochs claims;
    for (const PartitionId p : partitions) {
        const Lease* lease = board_.find(p);
        const auto floor = floors.find(p);
        claims[p] = 1 + std::max(lease == nullptr ? 0 : lease->epoch,
                                 floor == floors.end() ? 0 : floor->second);
    }
    RAMPART_RETURN_IF_ERROR(write(LeaseRecord::Kind::kClaim, claims));
    RAMPART_RETURN_IF_ERROR(board_.refresh());
    Epochs won;
    const Lease* faster = nullptr;
    PartitionId taken;
    for (const auto& [p, epoch] : claims) {
        if (is_mine(p, epoch)) {
            won[p] = epoch;
        } else if (const Lease* lease = board_.find(p); is_foreign(lease, options_.node)) {
            faster = lease;
            taken = p;
        }
    }
    if (faster != nullptr) {
        RAMPART_RETURN_IF_ERROR(write(LeaseRecord::Kind::kRelease, won));
        return owned_by(taken, *faster);
    }
    // from here on the claim is visible as won, after compaction also to readers that never see the
    // claim
    RAMPART_RETURN_IF_ERROR(write(LeaseRecord::Kind::kBeat, won));
    return won;
}

Result<std::vector<Holder>> PartitionLeases::heartbeat() {
    const std::lock_guard lock(mutex_);
    RAMPART_RETURN_IF_ERROR(board_.refresh());
    for (auto it = owned_.begin(); it != owned_.end();) {
        const auto [p, epoch] = *it;
        if (is_mine(p, epoch)) {
            ++it;
            continue;
        }
        const Lease& lease = *board_.find(p);
        kLog.warning("msg=\"partition lost\" partition={} epoch={} to={} their_epoch={}",
                     name_of(p), epoch, lease.node, lease.epoch);
        lost_.push_back({p, lease.node, lease.epoch, lease.address});
        it = owned_.erase(it);
    }
    publish();
    RAMPART_RETURN_IF_ERROR(write(LeaseRecord::Kind::kBeat, owned_));
    note_renewed();
    return std::exchange(lost_, {});
}

Result<std::optional<Lease>> PartitionLeases::look(PartitionId partition) {
    const std::lock_guard lock(mutex_);
    RAMPART_RETURN_IF_ERROR(board_.refresh());
    publish();
    const Lease* lease = board_.find(partition);
    return lease == nullptr ? std::optional<Lease>() : std::optional(*lease);
}

Status PartitionLeases::release() {
    const std::lock_guard lock(mutex_);
    auto status = write(LeaseRecord::Kind::kRelease, std::exchange(owned_, {}));
    if (status) status = board_.refresh();
    publish();
    return status;
}

void PartitionLeases::note_renewed() {
    const auto now = deps_.timer.now();
    const std::lock_guard lock(view_mutex_);
    renewed_ = now;
}

std::optional<base::Duration> PartitionLeases::age() const {
    const auto now = deps_.timer.now();
    const std::lock_guard lock(view_mutex_);
    if (!renewed_) return std::nullopt;
    return base::Duration::micros(now.micros() - renewed_->micros());
}

std::optional<base::TimePoint> PartitionLeases::last_sign(PartitionId partition) const {
    const std::lock_guard lock(view_mutex_);
    const auto it = signs_view_.find(partition);
    return it == signs_view_.end() ? std::nullopt : std::optional(it->second);
}

PartitionLeases::Epochs PartitionLeases::owned() const {
    const std::lock_guard lock(view_mutex_);
    return owned_view_;
}

std::optional<Holder> PartitionLeases::holder(PartitionId partition) const {
    const std::lock_guard lock(view_mutex_);
    const auto it = holders_view_.find(partition);
    return it == holders_view_.end() ? std::nullopt : std::optional(it->second);
}

}  // namespace rampart::lease
