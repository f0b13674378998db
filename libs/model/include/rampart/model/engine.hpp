#pragma once

#include <memory>
#include <span>

#include "rampart/model/ensemble.hpp"
#include "rampart/model/instruction_set.hpp"

namespace rampart::model {

/// An ensemble laid out to score one row fast. Gives exactly what Ensemble::predict_raw gives, to
/// the last bit: leaf values are summed in tree order.
///
/// With AVX2 no tree is walked. A row becomes bytes: for each feature, how many of its thresholds
/// lie below the value. A tree, or the upper part of one with more than 32 leaves, is asked all its
/// questions at once, by one comparison of 32 bytes; a question answered "right" closes the leaves
/// to its left, and the row's leaf is the first that stays open. No branch depends on the row but
/// those for missing values and from a large tree's upper part into a lower one.
///
/// Without AVX2, and for ensembles that do not fit that form (thresholds of more than 255 features,
/// more than 254 of a feature counting as another one, or categories past 4,096 codes), eight trees
/// are walked at a time, so that the memory accesses of one hide behind the others'.
///
/// Immutable, safe to use from many threads, allocates nothing in predict_raw. Copies share what
/// was laid out. Keeps no reference to the ensemble it was made of.
class Engine {
  public:
    /// The ensemble has to be valid (model::validate), the instruction set supported.
    explicit Engine(const Ensemble& ensemble, InstructionSet set = fastest_supported());
    /// row: [d] as validated.
    double predict_raw(std::span<const float> row) const;
    size_t trees() const;
    /// scores[t]: after the first t + 1 trees, as Ensemble::predict_raw(row, t + 1). At most
    /// trees() of them; trees beyond are not looked at.
    void predict_prefixes(std::span<const float> row, std::span<double> scores) const;

    struct Layout;  // of the source

  private:
    std::shared_ptr<const Layout> layout_;
};

}  // namespace rampart::model
