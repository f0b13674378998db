#pragma once

#include <optional>

#include "join_store.hpp"

namespace rampart::joiner {

/// An outcome as it lies in a record of its topic, or why it makes no sense.
base::Result<domain::Outcome> decode_outcome(const domain::Product& product,
                                             const streaming::Record& record);

/// What arrives and what matures, applied to a batch: the joiner's rules without its reading and
/// timing.
class Reducer {
  public:
    Reducer(const domain::Product& product, streaming::PartitionId partition, int32_t partitions)
        : product_(product), partition_(partition), partitions_(partitions) {}

    /// One record of the topic of decisions, of this partition, in the order of the log.
    /// `known_from`: the earliest moment at which its content may count as known. nullopt: applied,
    /// a duplicate, a fence or a fenced one; otherwise why it belongs in quarantine. An error: the
    /// store could not be read.
    base::Result<std::optional<base::Error>> decision(JoinBatch& batch,
                                                      const streaming::Record& record,
                                                      base::TimePoint known_from) const;
    /// The same for a record that was found to be no fence and not fenced when it was read.
    base::Result<std::optional<base::Error>> admitted_decision(JoinBatch& batch,
                                                               const streaming::Record& record,
                                                               base::TimePoint known_from) const;
    /// One outcome of this partition. As above.
    base::Result<std::optional<base::Error>> outcome(JoinBatch& batch,
                                                     const domain::Outcome& outcome,
                                                     base::TimePoint known_from) const;

    /// A pending measure whose time has come.
    base::Status matured(JoinBatch& batch, const MaturityKey& key) const;

  private:
    base::Result<domain::Decision> decode(const streaming::Record& record) const;

    const domain::Product& product_;
    const streaming::PartitionId partition_;
    const int32_t partitions_;
};

}  // namespace rampart::joiner
