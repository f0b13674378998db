#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "rampart/attribution/cited.hpp"

/// The claim of the reasons of a decline (ADR 38), and Shapley values, by their definitions.
/// Nothing here calls what is tested: rows are mixed, sets enumerated and values summed up anew.
namespace rampart::reasons_test {

using OfRow = std::function<double(std::span<const float>)>;  // P(approve)

/// An applicant and the row that is compared with: restoring some of the units.
class Mixtures {
  public:
    Mixtures(const OfRow& p, std::span<const float> row, std::span<const float> reference,
             std::span<const attribution::Unit> units);

    double none() const { return of({}); }
    /// Returns P with these units, by number, as the reference row has them.
    double of(const std::vector<size_t>& restored) const;
    /// Returns the numbers of the units in which the two differ.
    const std::vector<size_t>& differing() const { return differing_; }
    /// Returns P of each set of the differing units; bit k of a set is differing()[k].
    const std::vector<double>& of_all_sets() const;

  private:
    const OfRow& p_;
    const std::span<const float> row_, reference_;
    const std::span<const attribution::Unit> units_;
    std::vector<size_t> differing_;
    mutable std::vector<double> all_;
};

/// Returns the mean over the reference rows of each unit's Shapley value: over the sets of the
/// others, |S|! (n - |S| - 1)! / n! times what restoring the unit adds.
std::vector<double> shapley_by_definition(const OfRow& p, std::span<const float> row,
                                          std::span<const float> reference_rows,
                                          std::span<const attribution::Unit> units);

/// A decline and what was said of it.
struct Said {
    const attribution::Cited& cited;
    double u = 0;          // its draw
    double p_exploit = 0;  // P without exploration
};

/// Returns what is wrong with the part of the claim that the cited units alone can break; empty: it
/// holds. That is all of it where not every set was looked at.
std::string broken_by_its_units(const Mixtures& mixtures, const Said& said);

/// Returns what is wrong with the whole claim, over every set of at most four units that lower P:
/// `lowered` as of shapley_by_definition(). Empty: it holds.
std::string broken(const Mixtures& mixtures, const std::vector<double>& lowered, const Said& said);

}  // namespace rampart::reasons_test
