#include "game.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "rampart/base/check.hpp"
#include "rampart/fair_regression/reasons.hpp"
#include "rampart/numeric/linear_program.hpp"
#include "rampart/reductions/reasons.hpp"

namespace rampart::fair_regression {
namespace {

constexpr double kPrice = 1e4;   // price of violations, in loss: outweighs what any mixture saves
constexpr double kRoom = 1e-8;   // so that the second program has an inside
constexpr double kLeast = 1e-9;  // weights below are rounding
constexpr double kAlike = 1e-12;

/// Columns: the weights, then the violation. Rows: sum of weights; one a bound.
numeric::LinearProgram program_of(const std::vector<GameColumn>& columns, const GameBounds& bounds,
                                  bool with_cost) {
    numeric::LinearProgram program;
    numeric::LinearProgram::Row all{1, 1, {}};
    for (size_t k = 0; k < columns.size(); ++k)
        all.terms.push_back({program.add({0, 1, with_cost ? columns[k].cost : 0}), 1.0});
    program.rows.push_back(std::move(all));
    const uint32_t violation = program.add({0, numeric::kNoBound, 0});
    const auto row_of = [&](size_t i, double lower, double upper, double sign) {
        numeric::LinearProgram::Row row{lower, upper, {}};
        for (size_t k = 0; k < columns.size(); ++k)
            row.terms.push_back({static_cast<uint32_t>(k), columns[k].rates[i]});
        row.terms.push_back({violation, sign});
        program.rows.push_back(std::move(row));
    };
    for (size_t i = 0; i < bounds.size(); ++i) {
        if (std::isfinite(bounds.upper[i])) row_of(i, -numeric::kNoBound, bounds.upper[i], -1);
        if (std::isfinite(bounds.lower[i])) row_of(i, bounds.lower[i], numeric::kNoBound, 1);
    }
    return program;
}

base::Result<numeric::LinearSolution> optimum(const numeric::LinearProgram& program) {
    RAMPART_TRY(auto solution, solve(program));
    if (solution.status == numeric::LinearStatus::kOptimal) return solution;
    return base::make_error(reductions::Reason::kNoMixture,
                            "the mixture of predictors has no optimum");
}

/// One bound of one rate, as exponentiated gradient takes it.
struct Side {
    size_t rate;
    double sign, bound;  // sign · rate <= bound
};

std::vector<Side> sides_of(const GameBounds& bounds) {
    std::vector<Side> sides;
    for (size_t i = 0; i < bounds.size(); ++i) {
        if (std::isfinite(bounds.upper[i])) sides.push_back({i, 1, bounds.upper[i]});
        if (std::isfinite(bounds.lower[i])) sides.push_back({i, -1, -bounds.lower[i]});
    }
    return sides;
}

/// bound · exp(theta) / (1 + sum exp theta).
std::vector<double> softmax(const std::vector<double>& theta, double bound) {
    const double top = std::max(0.0, *std::max_element(theta.begin(), theta.end()));
    double sum = std::exp(-top);
    std::vector<double> out;
    for (const double t : theta) {
        out.push_back(std::exp(t - top));
        sum += out.back();
    }
    for (double& o : out) o *= bound / sum;
    return out;
}

}  // namespace

base::Status validate(const GameParams& params) {
    const auto check = [](std::string_view field, double value, double lo, double hi) {
        if (value >= lo && value <= hi) return base::ok();
        return base::Status(base::make_error(
            Reason::kBadGameParameter, "{} is {}; allowed are {} to {}", field, value, lo, hi));
    };
    RAMPART_RETURN_IF_ERROR(check("max_oracle_calls", params.max_oracle_calls, 1, 100'000));
    RAMPART_RETURN_IF_ERROR(check("multiplier_bound", params.multiplier_bound, 1e-6, 1e6));
    RAMPART_RETURN_IF_ERROR(check("optimality_gap", params.optimality_gap, 0, 1));
    RAMPART_RETURN_IF_ERROR(check("smoothing", params.smoothing, 0, 0.99));
    return check("probes", params.probes, 0, 4);
}

double Game::lagrangian(const GameColumn& column, std::span<const double> multipliers,
                        bool with_cost) const {
    double sum = with_cost ? column.cost : 0;
    for (size_t i = 0; i < multipliers.size(); ++i) {
        const double l = multipliers[i];
        if (l > 0) sum += l * (column.rates[i] - bounds_.upper[i]);
        if (l < 0) sum += l * (column.rates[i] - bounds_.lower[i]);
    }
    return sum;
}

double Game::violation(std::span<const double> rates) const {
    double most = -std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < rates.size(); ++i)
        most = std::max({most, rates[i] - bounds_.upper[i], bounds_.lower[i] - rates[i]});
    return most;
}

double Game::lower_bound(bool with_cost, std::vector<double>* at) const {
    double best = -std::numeric_limits<double>::infinity();
    for (const auto& asked : asked_) {
        if (asked.with_cost != with_cost) continue;
        for (; asked.seen < columns_.size(); ++asked.seen)
            asked.least = std::min(asked.least,
                                   lagrangian(columns_[asked.seen], asked.multipliers, with_cost));
        if (asked.least <= best) continue;
        best = asked.least;
        if (at != nullptr) *at = asked.multipliers;
    }
    return best;
}

base::Result<GameMixture> Game::mixture(double price, bool with_cost) const {
    RAMPART_CHECK(!columns_.empty());
    auto program = program_of(columns_, bounds_, with_cost);
    program.columns[columns_.size()].cost = price;
    RAMPART_TRY(const auto solution, optimum(program));
    GameMixture out;
    out.value = solution.objective;
    out.violation = solution.primal[columns_.size()];
    out.weights.assign(solution.primal.begin(),
                       solution.primal.begin() + static_cast<std::ptrdiff_t>(columns_.size()));
    for (double& w : out.weights)
        if (w < kLeast) w = 0;
    const double sum = std::accumulate(out.weights.begin(), out.weights.end(), 0.0);
    for (size_t k = 0; k < out.weights.size(); ++k) {
        out.weights[k] /= sum;
        out.cost += out.weights[k] * columns_[k].cost;
    }
    out.multipliers.resize(bounds_.size());
    size_t row = 1;
    for (size_t i = 0; i < bounds_.size(); ++i) {
        if (std::isfinite(bounds_.upper[i]))
            out.multipliers[i] += std::max(0.0, -solution.dual[row++]);
        if (std::isfinite(bounds_.lower[i]))
            out.multipliers[i] += std::min(0.0, -solution.dual[row++]);
    }
    return out;
}

base::Result<GameMixture> Game::best_mixture() const {
    RAMPART_TRY(auto tightest, mixture(1, false));
    auto program = program_of(columns_, bounds_, true);
    program.columns[columns_.size()].upper = std::max(0.0, tightest.violation) + kRoom;
    RAMPART_TRY(const auto solution, optimum(program));
    auto& weights = tightest.weights;
    weights.assign(solution.primal.begin(),
                   solution.primal.begin() + static_cast<std::ptrdiff_t>(columns_.size()));
    for (double& w : weights)
        if (w < kLeast) w = 0;
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    tightest.cost = 0;
    for (size_t k = 0; k < weights.size(); ++k) {
        weights[k] /= sum;
        tightest.cost += weights[k] * columns_[k].cost;
    }
    tightest.value = tightest.cost;
    return tightest;
}

base::Result<bool> Game::ask(const std::vector<double>& multipliers, bool with_cost) {
    for (const auto& asked : asked_)
        if (asked.with_cost == with_cost && asked.multipliers == multipliers) return false;
    if (calls_ >= params_.max_oracle_calls) return false;
    ++calls_;
    RAMPART_TRY(auto column, respond_(multipliers, with_cost));
    asked_.push_back({.multipliers = multipliers, .with_cost = with_cost});
    columns_.push_back(std::move(column));
    return true;
}

base::Status Game::begin(const std::vector<double>& multipliers) {
    RAMPART_RETURN_IF_ERROR(ask(multipliers, true));
    return base::ok();
}

void Game::note(double upper, double average_upper, bool with_cost, double step) {
    rounds_.push_back({lower_bound(with_cost), upper, average_upper, step, calls_});
}

/// Step 2: whether there is an answer that pays at the program's multipliers.
base::Result<bool> Game::price_out(const GameMixture& master, bool with_cost) {
    const auto pays = [&] {
        return lagrangian(columns_.back(), master.multipliers, with_cost) <
               master.value - std::max(kAlike, params_.optimality_gap / 8);
    };
    std::vector<double> centre;
    lower_bound(with_cost, &centre);
    if (!centre.empty() && params_.smoothing > 0) {
        auto smoothed = master.multipliers;
        for (size_t i = 0; i < smoothed.size(); ++i)
            smoothed[i] += params_.smoothing * (centre[i] - smoothed[i]);
        RAMPART_TRY(const bool answered, ask(smoothed, with_cost));
        if (answered && pays()) return true;
    }
    RAMPART_TRY(const bool answered, ask(master.multipliers, with_cost));
    return answered && pays();
}

/// Step 4.
base::Result<bool> Game::probe(const GameMixture& master, bool with_cost) {
    constexpr double kFactors[] = {2, 0.5, 5, 0.8};
    if (!with_cost) return false;  // without a cost, a multiple asks the same
    for (int i = 0; i < params_.probes; ++i) {
        auto multipliers = master.multipliers;
        for (double& l : multipliers) l *= kFactors[i];
        RAMPART_TRY(const bool answered, ask(multipliers, with_cost));
        if (answered && lagrangian(columns_.back(), master.multipliers, with_cost) <
                            master.value - std::max(kAlike, params_.optimality_gap / 8))
            return true;
    }
    return false;
}

base::Result<bool> Game::generate_columns(bool with_cost, bool trusting) {
    while (true) {
        RAMPART_TRY(const auto master, mixture(with_cost ? kPrice : 1, with_cost));
        if (!with_cost && master.value <= kRoom) return true;
        note(master.value, master.value, with_cost, 0);
        if (trusting && with_cost && master.value - lower_bound(true) <= params_.optimality_gap)
            return true;
        const int before = calls_;
        RAMPART_TRY(const bool paid, price_out(master, with_cost));
        if (paid) continue;
        const bool near =
            master.value - lower_bound(with_cost) <= std::max(params_.optimality_gap, kRoom);
        RAMPART_TRY(const bool found, probe(master, with_cost));
        if (found) continue;
        // an answer that pays too little to go on may still have made the mixture better
        RAMPART_TRY(const auto last, mixture(with_cost ? kPrice : 1, with_cost));
        note(last.value, last.value, with_cost, 0);
        if (near || calls_ == before || calls_ >= params_.max_oracle_calls)
            return last.value - lower_bound(with_cost) <= std::max(params_.optimality_gap, kRoom);
    }
}

base::Result<bool> Game::exponentiated_gradient(double step_divisor) {
    const auto sides = sides_of(bounds_);
    const size_t own = columns_.size();
    std::vector<double> theta(sides.size()), mean_multipliers(sides.size());
    GameColumn mean{0, std::vector<double>(bounds_.size())};
    const auto net = [&](const std::vector<double>& by_side) {
        std::vector<double> out(bounds_.size());
        for (size_t s = 0; s < sides.size(); ++s) out[sides[s].rate] += sides[s].sign * by_side[s];
        return out;
    };
    double step = params_.paper_steps
                      ? params_.optimality_gap / (step_divisor * params_.multiplier_bound)
                      : 2 / params_.multiplier_bound;
    double best_gap = std::numeric_limits<double>::infinity(), checked_gap = best_gap;
    double next_check = 5;
    std::vector<size_t> answers;
    bool converged = false;
    for (int t = 1; calls_ < params_.max_oracle_calls && !converged; ++t) {
        const auto lambda = softmax(theta, params_.multiplier_bound);
        ++calls_;
        RAMPART_TRY(auto column, respond_(net(lambda), true));
        asked_.push_back({.multipliers = net(lambda), .with_cost = true});
        const double share = 1.0 / t;
        mean.cost += share * (column.cost - mean.cost);
        for (size_t i = 0; i < mean.rates.size(); ++i)
            mean.rates[i] += share * (column.rates[i] - mean.rates[i]);
        for (size_t s = 0; s < sides.size(); ++s) {
            mean_multipliers[s] += share * (lambda[s] - mean_multipliers[s]);
            theta[s] += step * (sides[s].sign * column.rates[sides[s].rate] - sides[s].bound);
        }
        columns_.push_back(std::move(column));
        answers.push_back(columns_.size() - 1);
        if (params_.paper_steps) RAMPART_RETURN_IF_ERROR(ask(net(mean_multipliers), true));
        const double upper =
            mean.cost + params_.multiplier_bound * std::max(0.0, violation(mean.rates));
        note(upper, upper, true, step);
        const double gap = upper - rounds_.back().lower;
        best_gap = std::min(best_gap, gap);
        converged = gap <= std::max(params_.optimality_gap, kRoom);
        if (!params_.paper_steps && t >= next_check) {
            if (best_gap > 0.8 * checked_gap) step *= 0.8;
            checked_gap = best_gap;
            next_check = 1.6 * t;
        }
    }
    average_.assign(columns_.size(), 0);
    RAMPART_CHECK(own <= columns_.size());
    for (const size_t k : answers) average_[k] = 1.0 / static_cast<double>(answers.size());
    return converged;
}

}  // namespace rampart::fair_regression
