#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "rampart/certification/gate_run.hpp"
#include "rampart/ope/logged_feedback.hpp"
#include "rampart/training_set/training_set_builder.hpp"

namespace rampart::training {

/// Counts decisions that are left out, by reason and group.
class LeftOutCounts {
  public:
    /// `group_names` must outlive the counts.
    explicit LeftOutCounts(const std::vector<std::string>& group_names)
        : group_names_(group_names) {}

    /// Counts one decision; `groups`: indices of the names, empty: none is known.
    void add(training_set::Omission why, std::span<const uint32_t> groups);
    /// Counts decisions in whichever groups they are or may be.
    void add(training_set::Omission why, const ope::ErasedCounts& counts);

    /// Returns what was counted: by reason, first all and then each group with at least one, in the
    /// order of the names, and kUnknownGroup.
    std::vector<certification::LeftOut> list() const;

  private:
    struct Count {
        size_t all = 0, unknown = 0;
        std::vector<size_t> of_group;
    };
    Count& count_of(training_set::Omission why);
    const std::vector<std::string>& group_names_;
    std::map<training_set::Omission, Count> counts_;
};

}  // namespace rampart::training
