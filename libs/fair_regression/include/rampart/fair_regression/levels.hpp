#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/fair_regression/loss.hpp"

/// Predictions as levels (Agarwal et al. 2019, sections 4.1 and 4.2).
///
/// With a = 1/N and the grid Z = {a, 2a, …, 1}, a prediction u in [0, 1] has the level k =
/// floor(u/a), 0 … N, a byte; h_f(x, z_j) = [f(x) >= z_j] = [k >= j]. Labels are rounded to a cover
/// Y~ of at most 2N + 1 of them, each at most a/2 away. The discretised loss of a row (eq. 5) is a
/// number in a table, l_a = l(y~, min(1, (k + 1/2) a)), |l - l_a| <= L·a (eq. 6); and P(k >= j |
/// group), j = 1 … N, is all that parity asks about. So a predictor costs one pass over n bytes,
/// and nothing of size n x N is ever made.
namespace rampart::fair_regression {

inline constexpr int kMaxLevels = 255;

/// Rows to learn from or to judge on.
struct RegressionRows {
    std::span<const double> label;       // [n] in [0, 1]: see unit_labels
    std::span<const int32_t> group;      // [n] in 0 … groups - 1; empty when groups = 1
    size_t groups = 1;                   // 1 … limits::kMaxGroups, none empty
    std::span<const float> weight = {};  // [n] finite, > 0; empty: all 1

    size_t size() const { return label.size(); }
    size_t group_of(size_t row) const {
        return group.empty() ? 0 : static_cast<size_t>(group[row]);
    }
    double weight_of(size_t row) const {
        return weight.empty() ? 1.0 : static_cast<double>(weight[row]);
    }
};
/// Checks the rows. Errors: no_rows, too_many_rows, bad_size, bad_groups, bad_group, bad_weight,
/// "empty_group", "label_outside_range".
base::Status validate(const RegressionRows& rows);
/// Returns the shares of [groups] by weight, of sum 1.
std::vector<double> group_shares(const RegressionRows& rows);
/// Returns by [groups] the mean loss, undiscretised, of predictions [n]; below 0 counts as 0, above
/// 1 as 1.
std::vector<double> group_losses(const RegressionRows& rows, const RegressionLoss& loss,
                                 std::span<const double> predictions);

/// Returns the level of each prediction; below 0 counts as 0, above 1 as 1. `levels`: N, 1 …
/// kMaxLevels.
std::vector<uint8_t> levels_of(std::span<const double> predictions, int levels);
/// The prediction that stands for a level, and the one that is made: the middle of its interval, at
/// most 1.
double middle_of(int level, int levels);

/// What a predictor does to rows; linear in the weights of a mixture.
struct LevelSummary {
    double loss = 0;            // mean of l_a
    std::vector<double> tails;  // [groups x N]: P(k >= j | group) at group · N + j - 1
};

/// Multipliers of parity are signed, [groups x N] as the tails: positive where a group's tail is to
/// shrink. Immutable after creation; keeps copies.
class LevelRows {
  public:
    /// Builds the tables. levels: N. Errors: those of validate(rows); out_of_range "bad_levels".
    static base::Result<LevelRows> create(const RegressionRows& rows, const RegressionLoss& loss,
                                          int levels);

    size_t rows() const { return cell_.size(); }
    int levels() const { return levels_; }
    size_t groups() const { return shares_.size(); }
    size_t labels() const { return cover_.size(); }  // |Y~|
    std::span<const double> shares() const { return shares_; }
    std::span<const double> cover() const { return cover_; }  // Y~, ascending
    /// Returns by row: group · labels() + position of its label in the cover.
    std::span<const uint32_t> cells() const { return cell_; }
    double middle(int level) const { return middle_of(level, levels_); }
    /// |l - l_a| of every row and prediction, at most: L / N.
    double bound() const { return bound_; }

    LevelSummary summary(std::span<const uint8_t> levels) const;
    /// Returns the summary of a constant predictor, which has no disparity.
    LevelSummary constant(int level) const;
    /// Returns gamma (section 4.2), [groups x N]: P(k >= j | group) - P(k >= j).
    std::vector<double> disparities(std::span<const double> tails) const;

    /// Returns g_lambda (appendix F.2), [groups · labels() x (N + 1)]: the share in the Lagrangian
    /// of a row of that cell and level, l_a + sum over j <= k of (lambda_{group,j} / p_group - sum
    /// over groups of lambda_j). Its mean over the rows is loss + sum of lambda · gamma.
    std::vector<double> costs(std::span<const double> multipliers) const;
    /// Returns for each of [groups · labels()] the level of least cost of each cell; ties: the
    /// lowest.
    std::vector<uint8_t> best_levels(std::span<const double> costs) const;
    /// The mean over the rows.
    double mean(std::span<const double> costs, std::span<const uint8_t> levels) const;

  private:
    LevelRows() = default;
    double weight_of(size_t row) const {
        return weight_.empty() ? 1.0 : static_cast<double>(weight_[row]);
    }

    int levels_ = 1;
    double bound_ = 0, total_ = 0;
    std::vector<double> cover_, shares_;
    std::vector<uint32_t> cell_;
    std::vector<float> weight_;
    std::vector<double> loss_;  // [labels x (N + 1)]
};

}  // namespace rampart::fair_regression
