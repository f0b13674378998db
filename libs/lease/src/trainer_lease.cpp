#include "rampart/lease/trainer_lease.hpp"

#include <algorithm>

#include "rampart/base/log.hpp"
#include "rampart/lease/reasons.hpp"

namespace rampart::lease {

using base::Result;
using base::Status;

namespace {

constexpr base::Logger kLog("lease");

std::string own_turns(const TrainerSeat& seat) {
    if (seat.latest() == 0) return "this store never did";
    return fmt::format("this store did under epoch {}", seat.latest());
}

}  // namespace

Result<std::unique_ptr<TrainerLease>> TrainerLease::create(LeaseOptions options, LeaseDeps deps,
                                                           std::filesystem::path file,
                                                           Published published) {
    auto group = options.group;
    RAMPART_TRY(auto leases, PartitionLeases::create(std::move(options), deps));
    return std::unique_ptr<TrainerLease>(new TrainerLease(std::move(group), std::move(leases),
                                                          std::move(file), std::move(published)));
}

Status TrainerLease::status() const {
    if (held()) return base::ok();
    const std::lock_guard lock(status_mutex_);
    return status_;
}

/// Keeps how it stands, and logs it where that is new. A beat that fails loses nothing by itself.
Status TrainerLease::note(Status status) {
    if (!status && held()) return status;
    const std::lock_guard lock(status_mutex_);
    if (!status && (status_ || status_.error().message != status.error().message)) {
        kLog.warning("msg=\"this node does not train\" reason={} what=\"{}\"",
                     status.error().reason, status.error().message);
    } else if (status && !status_) {
        kLog.info("msg=\"this node trains\" group={} epoch={}", group_, epoch());
    }
    status_ = status;
    return status;
}

/// Reads the log to its end.
Result<TrainerLease::Last> TrainerLease::look() const {
    Last last;
    RAMPART_TRY(last.lease, leases_->look(kTrainer));
    if (last.lease) return last;
    RAMPART_TRY(last.published, published_());
    return last;
}

/// Checks that no other store had the lease after this one.
Status TrainerLease::check_own(const TrainerSeat& seat, const Last& last) const {
    if (!last.lease && last.published <= seat.latest()) return base::ok();
    if (!last.lease)
        return base::make_error(Reason::kTrainerElsewhere,
                                "the topic of leases does not say which node trains for group "
                                "'{}', but a node has published under epoch {}; {}",
                                group_, last.published, own_turns(seat));
    if (seat.is_own({last.lease->epoch, last.lease->session})) return base::ok();
    return base::make_error(Reason::kTrainerElsewhere,
                            "the node '{}' trains for group '{}', under epoch {}; {}",
                            last.lease->node, group_, last.lease->epoch, own_turns(seat));
}

/// Claims as the direct successor of the last turn. The store knows of the claim before the log
/// does: a crash in between loses no right. A turn of this process ends: only a copy of this store
/// could come in between, and then the claim fails.
Status TrainerLease::take(TrainerSeat& seat, const Last& last) {
    const uint64_t before = std::max(last.epoch(), seat.latest());
    if (leases_->owned().contains(kTrainer)) RAMPART_RETURN_IF_ERROR(leases_->release());
    seat.claimed = Turn{before + 1, leases_->session()};
    RAMPART_RETURN_IF_ERROR(write_seat(file_, seat));
    RAMPART_TRY(const auto won, leases_->claim({kTrainer}, {{kTrainer, before}}));
    if (won.at(kTrainer) != before + 1) {
        RAMPART_RETURN_IF_ERROR(leases_->release());
        return base::make_error(Reason::kClaimFailed,
                                "another store trained for group '{}' meanwhile", group_);
    }
    seat.held = std::exchange(seat.claimed, std::nullopt);
    RAMPART_RETURN_IF_ERROR(write_seat(file_, seat));
    epoch_ = before + 1;
    return base::ok();
}

Status TrainerLease::try_claim() {
    if (held()) return base::ok();
    RAMPART_TRY(auto seat, read_seat(file_));
    RAMPART_TRY(const auto last, look());
    RAMPART_RETURN_IF_ERROR(check_own(seat, last));
    RAMPART_RETURN_IF_ERROR(check_not_handed_over(file_));
    const Status taken = take(seat, last);
    if (taken || !taken.error().is(Reason::kClaimFailed)) return taken;
    RAMPART_TRY(const auto faster, look());
    RAMPART_RETURN_IF_ERROR(check_own(seat, faster));
    return taken;
}

/// Sends a beat; an error if the lease was lost.
Status TrainerLease::beat() {
    RAMPART_RETURN_IF_ERROR(leases_->heartbeat().map([](const auto&) {}));
    if (leases_->owned().contains(kTrainer)) return base::ok();
    epoch_ = 0;
    RAMPART_TRY(const auto seat, read_seat(file_));
    RAMPART_TRY(const auto last, look());
    const Status lost = check_own(seat, last);
    if (!lost) return lost;
    return base::make_error(Reason::kTrainerElsewhere,
                            "another process of this store trains for group '{}'", group_);
}

Status TrainerLease::claim() {
    const std::lock_guard lock(mutex_);
    return note(try_claim());
}

Status TrainerLease::keep() {
    const std::lock_guard lock(mutex_);
    return note(held() ? beat() : try_claim());
}

Status TrainerLease::confirm() {
    const std::lock_guard lock(mutex_);
    return held() ? note(beat()) : status();
}

Status TrainerLease::renew() {
    const std::lock_guard lock(mutex_);
    if (!held()) return status();
    RAMPART_RETURN_IF_ERROR(note(beat()));
    RAMPART_TRY(auto seat, read_seat(file_));
    RAMPART_TRY(const auto last, look());
    const Status taken = take(seat, last);
    if (!taken) epoch_ = 0;
    return note(taken);
}

Status TrainerLease::release() {
    const std::lock_guard lock(mutex_);
    epoch_ = 0;
    const Status status = leases_->release();
    (void)note(base::make_error(Reason::kStopped, "the lease of the trainer was given up"));
    return status;
}

Result<TrainerSeat> TrainerLease::hand_over() {
    const std::lock_guard lock(mutex_);
    RAMPART_TRY(auto seat, read_seat(file_));
    RAMPART_TRY(const auto last, look());
    RAMPART_RETURN_IF_ERROR(check_own(seat, last));
    RAMPART_RETURN_IF_ERROR(take(seat, last));
    seat.handed_over = true;
    RAMPART_RETURN_IF_ERROR(write_seat(file_, seat));
    epoch_ = 0;
    RAMPART_RETURN_IF_ERROR(leases_->release());
    seat.handed_over = false;
    return seat;
}

Status TrainerLease::take_back(std::optional<uint64_t> over) {
    const std::lock_guard lock(mutex_);
    RAMPART_TRY(auto seat, read_seat(file_));
    RAMPART_TRY(const auto last, look());
    if (over != last.epoch()) RAMPART_RETURN_IF_ERROR(check_own(seat, last));
    seat.handed_over = false;
    RAMPART_RETURN_IF_ERROR(take(seat, last));
    epoch_ = 0;
    return leases_->release();
}

}  // namespace rampart::lease
