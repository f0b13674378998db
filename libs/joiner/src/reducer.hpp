#pragma once

#include <optional>

#include "join_store.hpp"
#include "rampart/wire/record_codec.hpp"

namespace rampart::joiner {

/// Says why an event of the topic of outcomes makes no sense for the product.
base::Status check_event(const domain::Product& product, const wire::OutcomeEvent& event);

/// What arrives and what matures, applied to a batch: the joiner's rules without its reading and
/// timing.
class Reducer {
  public:
    /// `options` have to outlive it.
    Reducer(const JoinerOptions& options, streaming::PartitionId partition)
        : options_(options),
          product_(options.product),
          partition_(partition),
          partitions_(options.partitions) {}

    /// Why a record belongs in quarantine; nullopt: it was applied, or has no effect. An error: the
    /// store could not be read.
    using Verdict = base::Result<std::optional<base::Error>>;

    /// One record of the topic of decisions, of this partition, in the order of the log: a
    /// decision, an erasure or a fence. `arrival`: from when on its content may count as known.
    Verdict decision(JoinBatch& batch, const streaming::Record& record, Arrival arrival) const;
    /// The same for a record that was found to be no fence and not fenced when it was read.
    Verdict admitted_decision(JoinBatch& batch, const streaming::Record& record,
                              Arrival arrival) const;
    /// One event of this partition from the topic of outcomes. As above.
    Verdict event(JoinBatch& batch, const wire::OutcomeEvent& event, Arrival arrival) const;

    /// A pending measure whose time has come, and with it all others of its decision that have
    /// matured at `now`, since its state is written again; returns how many. None: it was among
    /// those that matured with another one of this batch.
    base::Result<size_t> matured(JoinBatch& batch, const MaturityKey& key,
                                 base::TimePoint now) const;

  private:
    Verdict apply(JoinBatch& batch, const domain::Outcome& report, Arrival arrival) const;
    Verdict apply(JoinBatch& batch, const domain::Override& taken, Arrival arrival) const;
    Verdict erasure(JoinBatch& batch, const streaming::Record& record) const;
    base::Status mature_measure(JoinBatch& batch, const MaturityKey& key) const;
    base::Status forget(JoinBatch& batch, const std::string& id, const JoinState& state) const;
    std::optional<base::Error> check_draw(const JoinState& state,
                                          const domain::Decision& decision) const;
    base::Result<bool> is_withheld(const JoinState& state) const;

    const JoinerOptions& options_;
    const domain::Product& product_;
    const streaming::PartitionId partition_;
    const int32_t partitions_;
};

}  // namespace rampart::joiner
