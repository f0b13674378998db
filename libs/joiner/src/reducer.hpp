#pragma once

#include <optional>

#include "join_store.hpp"

namespace rampart::joiner {

/// What arrives and what matures, applied to a batch: the joiner's rules without its reading and
/// timing.
class Reducer {
  public:
    explicit Reducer(const domain::Product& product) : product_(product) {}

    /// One record of the topic of decisions or of outcomes. `known_from`: the earliest moment at
    /// which its content may count as known. nullopt: applied or a duplicate; otherwise why it
    /// belongs in quarantine. An error: the store could not be read.
    base::Result<std::optional<base::Error>> decision(JoinBatch& batch,
                                                      const streaming::Record& record,
                                                      base::TimePoint known_from) const;
    base::Result<std::optional<base::Error>> outcome(JoinBatch& batch,
                                                     const streaming::Record& record,
                                                     base::TimePoint known_from) const;

    /// A pending measure whose time has come.
    base::Status matured(JoinBatch& batch, const MaturityKey& key) const;

  private:
    const domain::Product& product_;
};

}  // namespace rampart::joiner
