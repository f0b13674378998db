#pragma once

#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/fair_regression/params.hpp"

/// The game of both algorithms of Agarwal et al. 2019: predictors, of which only a cost and m rates
/// matter, against multipliers of lower_i <= mean rate_i <= upper_i.
///   L(h, lambda) = cost + sum of lambda_i · rate_i - sum of max(lambda_i lower_i, lambda_i
///   upper_i)
/// Multipliers are signed: > 0 presses on an upper bound, < 0 on a lower one.
namespace rampart::fair_regression {

struct GameColumn {
    double cost = 0;
    std::vector<double> rates;  // [m]
};

struct GameBounds {
    std::vector<double> lower, upper;  // [m]; infinite: none
    size_t size() const { return upper.size(); }
};

/// Mixture of the columns, with what proves it.
struct GameMixture {
    std::vector<double> weights;      // [columns], of sum 1: a vertex
    std::vector<double> multipliers;  // [m]
    double cost = 0, violation = 0;
    double value = 0;  // value of the program: cost + price · violation
};

class Game {
  public:
    /// The predictor of least cost (or 0 · cost) + sum of multipliers · rates that can be found.
    using Respond = std::function<base::Result<GameColumn>(std::span<const double> multipliers,
                                                           bool with_cost)>;

    Game(GameBounds bounds, GameParams params, Respond respond)
        : bounds_(std::move(bounds)), params_(params), respond_(std::move(respond)) {}

    void add(GameColumn column) { columns_.push_back(std::move(column)); }
    const std::vector<GameColumn>& columns() const { return columns_; }
    int calls() const { return calls_; }
    void set_gap(double gap) { params_.optimality_gap = gap; }

    double lagrangian(const GameColumn& column, std::span<const double> multipliers,
                      bool with_cost = true) const;
    /// Returns the largest excess of rates over their bounds: <= 0 when all hold.
    double violation(std::span<const double> rates) const;

    /// The best mixture of the columns there are, violation priced.
    base::Result<GameMixture> mixture(double price, bool with_cost) const;
    /// The cheapest mixture of those with the least violation, which is 0 where it can be.
    base::Result<GameMixture> best_mixture() const;

    /// Asks about these multipliers (with cost).
    base::Status begin(const std::vector<double>& multipliers);
    /// Counts a question that its owner asks; false when there is none left.
    bool take_call() { return calls_ < params_.max_oracle_calls && ++calls_ > 0; }
    /// Column generation; true when the program's value is known as well as asked for. Without cost
    /// it looks for the least violation, and ends as soon as there is none. `trusting`: answers are
    /// taken for minima, so that the bounds' distance alone ends it, without probes after it.
    base::Result<bool> generate_columns(bool with_cost, bool trusting = false);
    /// Exponentiated gradient; true when it came as near as asked for. Leaves the plain average.
    base::Result<bool> exponentiated_gradient(double step_divisor);

    const std::vector<double>& average() const { return average_; }
    const std::vector<RegressionRound>& rounds() const { return rounds_; }
    /// The largest least Lagrangian of the columns, over all multipliers asked about.
    double lower_bound(bool with_cost, std::vector<double>* at = nullptr) const;

  private:
    struct Asked {
        std::vector<double> multipliers;
        bool with_cost;
        mutable double least =
            std::numeric_limits<double>::infinity();  // least value of the first `seen`
        mutable size_t seen = 0;                      // columns
    };
    base::Result<bool> ask(const std::vector<double>& multipliers, bool with_cost);
    base::Result<bool> price_out(const GameMixture& master, bool with_cost);
    base::Result<bool> probe(const GameMixture& master, bool with_cost);
    void note(double upper, double average_upper, bool with_cost, double step);

    GameBounds bounds_;
    GameParams params_;
    Respond respond_;
    std::vector<GameColumn> columns_;
    std::vector<Asked> asked_;
    std::vector<RegressionRound> rounds_;
    std::vector<double> average_;
    int calls_ = 0;
};

}  // namespace rampart::fair_regression
