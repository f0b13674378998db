#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/fairness/rate_constraints.hpp"

/// Constraints on the rows of one data set. Every rate is linear in the approval shares of the
/// cells, a cell being the rows of one label and one group of the data:
///   cell = label · groups + group,  a[cell] = weighted share approved, 0 in a cell without rows
namespace rampart::fairness {

struct LinearRate {
    struct Term {
        uint32_t cell;
        double coefficient;
    };
    std::string name;  // "fnr of sex=f"
    double constant = 0;
    std::vector<Term> terms;
    double weight = 0;  // share of all rows that the rate is about
    double at(std::span<const double> approved) const;
};

struct ParityRates {
    ParityConstraint constraint;
    std::vector<LinearRate> rates;  // at least two
};

struct TargetRate {
    RateTarget target;
    LinearRate rate;
};

/// The rates that decisions have.
struct RateValues {
    std::vector<std::vector<double>> rates;  // by parity constraint, then by group compared
    std::vector<double> gaps;                // by parity constraint: max - min
    std::vector<double> targets;             // by target
    double approval = 0, error = 0;          // over all rows
    /// Largest of gap - tolerance and rate - at_most; <= 0: everything is kept. -1 without
    /// constraints.
    double violation = -1;
};

class RateSystem {
  public:
    /// Applies the constraints to the rows. Errors: constraints out of range; parity without two
    /// groups; an attribute that the groups do not have; a group without a row with the label that
    /// a rate speaks of (its rate does not exist), a target among no rows.
    static base::Result<RateSystem> create(const dataset::Dataset& data,
                                           const RateConstraints& constraints);

    size_t groups() const { return groups_; }             // 1 for data without groups
    size_t cells() const { return cell_weight_.size(); }  // 2 · groups
    const std::vector<uint8_t>& cell_of_row() const { return cell_of_row_; }
    const std::vector<double>& cell_weight() const { return cell_weight_; }
    double total_weight() const { return total_weight_; }
    const std::vector<ParityRates>& parity() const { return parity_; }
    const std::vector<TargetRate>& targets() const { return targets_; }

    RateValues values(std::span<const double> approved) const;
    /// Returns the approval shares of decisions P(approve) in [0, 1], [n].
    std::vector<double> approved(const dataset::Dataset& data,
                                 std::span<const double> approve) const;
    /// Returns the same when rows with score >= threshold are approved and the others declined.
    std::vector<double> approved_from(const dataset::Dataset& data, std::span<const double> scores,
                                      double threshold) const;

  private:
    size_t groups_ = 1;
    std::vector<uint8_t> cell_of_row_;  // [n]
    std::vector<double> cell_weight_;   // [cells]
    double total_weight_ = 0;
    std::vector<ParityRates> parity_;
    std::vector<TargetRate> targets_;
};

}  // namespace rampart::fairness
