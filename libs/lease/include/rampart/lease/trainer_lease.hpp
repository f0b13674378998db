#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "rampart/lease/partition_leases.hpp"
#include "rampart/lease/trainer_seat.hpp"

namespace rampart::lease {

/// The right of one store to train for its group, and to charge its error budget: a lease on
/// kTrainer that, other than one on a partition, no other node takes over by itself. Who trained
/// has the ledger. So a store may claim it only where it is the last in the log that had it, which
/// a file in the store says (TrainerSeat), or where there was none; and a copy of a store that
/// trained since has no right any more. Each claim has a higher epoch than all before.
///
/// A topic of leases that was lost, or was not taken along to another cluster, has no lease of the
/// store that trained. There the epoch counts under which it published.
///
/// Thread safe. claim(), keep() and what people ask for may take a ttl where a copy of the store
/// is alive; held(), epoch(), status() and holder() never wait.
class TrainerLease {
  public:
    /// Returns the highest epoch under which a store of the group published what it trained, as
    /// the log has it beside the leases; 0: none did. Asked where the leases name no trainer.
    using Published = std::function<base::Result<uint64_t>()>;
    /// Does no I/O yet. `file`: of the seat. Errors: PartitionLeases::create's.
    static base::Result<std::unique_ptr<TrainerLease>> create(LeaseOptions options, LeaseDeps deps,
                                                              std::filesystem::path file,
                                                              Published published);

    /// Claims it; does nothing where it is held. Fails with failed_precondition
    /// "trainer_elsewhere", naming the node; "trainer_handed_over"; data_loss "bad_seat"; and as
    /// PartitionLeases::claim does, after which the claim may be repeated.
    base::Status claim();
    /// Sends a sign of life, or claims again what is not held. Errors: claim()'s.
    base::Status keep();
    /// Reads the log to its end: ok, if it is held still. To be asked before what cannot be taken
    /// back. Errors: claim()'s.
    base::Status confirm();
    /// Claims it once more while it is held, to be asked before a charge: then a copy of the store
    /// from before has no right any more, and cannot charge the same again. Errors: confirm()'s.
    base::Status renew();
    /// Gives it up until the next claim of this store.
    base::Status release();

    /// Ends the store's right to train, for ever unless it takes it back: claims once more, so
    /// that the log agrees, marks the store, and releases. Returns the seat with which another
    /// store takes over; of an earlier hand-over none will any more. May be repeated.
    base::Result<TrainerSeat> hand_over();
    /// Claims for a store that has handed over, where no other has taken over, or, if `over` is
    /// the epoch of the last claim in the log (of the last that was published, where there is no
    /// claim), for one that others have overtaken; then releases.
    base::Status take_back(std::optional<uint64_t> over);

    bool held() const { return epoch_ != 0; }
    /// Returns the lease's epoch; 0: not held.
    uint64_t epoch() const { return epoch_; }
    /// ok: held, as far as this process knows. Otherwise why not, as of the last call.
    base::Status status() const;
    /// Returns the present holder, as far as this process has read; nullopt: none.
    std::optional<Holder> holder() const { return leases_->holder(kTrainer); }

  private:
    /// What the log says of who trained last.
    struct Last {
        std::optional<Lease> lease;
        uint64_t published = 0;  // without a lease: the highest epoch
        uint64_t epoch() const { return lease ? lease->epoch : published; }
    };
    TrainerLease(std::string group, std::unique_ptr<PartitionLeases> leases,
                 std::filesystem::path file, Published published)
        : group_(std::move(group)),
          leases_(std::move(leases)),
          file_(std::move(file)),
          published_(std::move(published)) {}
    base::Result<Last> look() const;
    base::Status try_claim();
    base::Status take(TrainerSeat& seat, const Last& last);
    base::Status check_own(const TrainerSeat& seat, const Last& last) const;
    base::Status beat();
    base::Status note(base::Status status);

    const std::string group_;
    const std::unique_ptr<PartitionLeases> leases_;
    const std::filesystem::path file_;
    const Published published_;
    std::mutex mutex_;  // one claim, beat or request at a time
    std::atomic<uint64_t> epoch_{0};

    mutable std::mutex status_mutex_;
    base::Status status_ = base::Error{};  // where it is not held
};

}  // namespace rampart::lease
