#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/domain/decision.hpp"
#include "rampart/model/batch_policy.hpp"
#include "rampart/model/policy.hpp"
#include "rampart/model/two_rows.hpp"

namespace rampart::attribution {

/// P(approve | x) in [0, 1] as a function of the features alone. x: one row, encoded by the
/// policy's schema. Safe to use from many threads if its functions are.
class Probability {
  public:
    using OfRow = std::function<double(std::span<const float>)>;
    /// Sets out[i] to the P of row i of rows [out.size()][width]: that of OfRow, to the bit.
    using OfRows = std::function<void(std::span<const float>, std::span<double>)>;
    /// Sets out[S] to the P of each row between two: that of OfRow, to the bit.
    using OfBetween = std::function<void(const model::TwoRows&, std::span<double>)>;

    /// Makes one from a function of one row.
    template <std::convertible_to<OfRow> Function>
    Probability(Function of_row) : of_row_(std::move(of_row)) {}
    Probability(OfRow of_row, OfRows of_rows, OfBetween of_between)
        : of_row_(std::move(of_row)),
          of_rows_(std::move(of_rows)),
          of_between_(std::move(of_between)) {}

    double operator()(std::span<const float> row) const { return of_row_(row); }
    /// Returns the P of each row of rows [n][width].
    std::vector<double> of(std::span<const float> rows, size_t width) const;
    /// Returns the P of each row between two, [two.count()].
    std::vector<double> between(const model::TwoRows& two) const;

  private:
    OfRow of_row_;
    OfRows of_rows_;        // empty: row by row
    OfBetween of_between_;  // empty: as rows
};

/// A policy, and the same policy laid out to evaluate many rows: several times faster. Where the
/// second is missing, rows are evaluated one by one. Both have to outlive what is made of them.
struct ServedPolicy {
    ServedPolicy(const model::Policy& one, const model::BatchPolicy* rows = nullptr)
        : policy(one), batch(rows) {}
    const model::Policy& policy;
    const model::BatchPolicy* batch;
};

/// Returns the P of the whole policy: every link with its score, calibration, mixture, rule,
/// exploration and trust region. `group` is kept, and read iff the policy is group-aware;
/// `explores` false: without exploration.
Probability served_probability(const ServedPolicy& served, std::optional<size_t> group,
                               bool explores);

/// Returns the P that a decision was drawn by, everything but the features kept: the group, and
/// whether the day's exploration was spent. `row`: the decision's, encoded; `served`: the policy
/// that made it. Errors: failed_precondition "group_unknown"; data_loss "replay_mismatch": this
/// row's P by the policy is not, to the bit, the one that the decision records.
base::Result<Probability> probability_of(const domain::Decision& decision,
                                         const ServedPolicy& served, std::span<const float> row,
                                         std::optional<size_t> group);

}  // namespace rampart::attribution
