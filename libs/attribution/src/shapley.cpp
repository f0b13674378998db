#include "rampart/attribution/shapley.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "rampart/base/random.hpp"

namespace rampart::attribution {
namespace {

constexpr double kRounding = 1e-10;  // P is in [0, 1]; sums of 4,096 terms are far better

/// One reference row, and the units in which the applicant differs from it.
struct Game {
    const Probability& p;
    std::span<const float> row, reference;
    std::span<const Unit> units;
    std::vector<size_t> players{};

    void put(std::vector<float>& x, size_t player, std::span<const float> from) const {
        for (const size_t j : units[players[player]].features) x[j] = from[j];
    }
};

/// Rows whose P are evaluated many at a time; where each goes to has to stay in its place.
class Rows {
  public:
    explicit Rows(const Game& game) : p_(game.p), width_(game.row.size()) {}

    void add(std::span<const float> row, double& to) {
        rows_.insert(rows_.end(), row.begin(), row.end());
        to_.push_back(&to);
        if (to_.size() == kAtOnce) evaluate();
    }
    void evaluate() {
        const auto values = p_.of(rows_, width_);
        for (size_t i = 0; i < values.size(); ++i) *to_[i] = values[i];
        rows_.clear();
        to_.clear();
    }

  private:
    static constexpr size_t kAtOnce = 1024;  // they stay in a processor's own memory
    const Probability& p_;
    const size_t width_;
    std::vector<float> rows_{};
    std::vector<double*> to_{};
};

/// Returns the weight |S|! (n - |S| - 1)! / n! by the size of S, [n].
std::vector<double> weights_of(size_t n) {
    std::vector<double> weights(n);
    double binomial = 1;  // n - 1 over s
    for (size_t s = 0; s < n; ++s) {
        weights[s] = 1 / (static_cast<double>(n) * binomial);
        binomial = binomial * static_cast<double>(n - 1 - s) / static_cast<double>(s + 1);
    }
    return weights;
}

/// Adds the exact values against the game's row, times `share`, to `lowered`.
void add_enumerated(const Game& game, double share, std::vector<double>& lowered) {
    const size_t n = game.players.size();
    std::vector<std::vector<size_t>> parts;
    for (const size_t player : game.players) parts.push_back(game.units[player].features);
    const auto value = game.p.between({game.row, game.reference, parts});
    const auto weights = weights_of(n);
    for (size_t player = 0; player < n; ++player) {
        double sum = 0;
        for (size_t set = 0; set < value.size(); ++set) {
            if ((set >> player & 1) != 0) continue;
            sum += weights[static_cast<size_t>(std::popcount(set))] *
                   (value[set | size_t{1} << player] - value[set]);
        }
        lowered[game.players[player]] += share * sum;
    }
}

/// The order of one walk from the row to the reference, and P before each step and at the end.
struct Walk {
    std::vector<size_t> order{};
    std::vector<double> p{};  // [order.size() + 1]
};

/// Adds the walk's rows to those that are evaluated.
void add_walk(const Game& game, Walk& walk, Rows& rows) {
    std::vector<float> x(game.row.begin(), game.row.end());
    walk.p.resize(walk.order.size() + 1);
    rows.add(x, walk.p[0]);
    for (size_t i = 0; i < walk.order.size(); ++i) {
        game.put(x, walk.order[i], game.reference);
        rows.add(x, walk.p[i + 1]);
    }
}

/// Adds sampled values and the squares of their standard errors, both times `share`.
void add_sampled(const Game& game, double share, base::Random random, std::vector<double>& lowered,
                 std::vector<double>& variance) {
    const size_t n = game.players.size();
    std::vector<size_t> order(n);
    std::iota(order.begin(), order.end(), size_t{0});
    std::vector<Walk> walks(2 * kPairs);  // each, and the next one in reverse
    for (size_t i = 0; i < walks.size(); ++i) {
        if (i % 2 == 0)
            random.shuffle(std::span(order));
        else
            std::reverse(order.begin(), order.end());
        walks[i].order = order;
    }
    Rows rows(game);
    for (auto& walk : walks) add_walk(game, walk, rows);
    rows.evaluate();
    std::vector<double> sum(n), squares(n), raised(n);
    for (size_t i = 0; i < walks.size(); ++i) {
        if (i % 2 == 0) std::fill(raised.begin(), raised.end(), 0.0);
        for (size_t step = 0; step < n; ++step)
            raised[walks[i].order[step]] += walks[i].p[step + 1] - walks[i].p[step];
        for (size_t player = 0; i % 2 == 1 && player < n; ++player) {
            sum[player] += raised[player] / 2;
            squares[player] += raised[player] * raised[player] / 4;
        }
    }
    constexpr auto kN = static_cast<double>(kPairs);
    for (size_t i = 0; i < n; ++i) {
        const double mean = sum[i] / kN;
        lowered[game.players[i]] += share * mean;
        const double spread = std::max(0.0, squares[i] / kN - mean * mean) / (kN - 1);
        variance[game.players[i]] += share * share * spread;
    }
}

}  // namespace

bool ShapleyValues::lowers(size_t unit) const {
    return lowered[unit] > std::max(kRounding, 2 * error[unit]);
}

ShapleyValues shapley_values(const Probability& p, std::span<const float> row,
                             const ReferenceSet& set, std::span<const Unit> units, uint64_t seed) {
    ShapleyValues out;
    out.lowered.resize(units.size());
    out.error.resize(units.size());
    out.p = p(row);
    const double share = 1 / static_cast<double>(set.size());
    for (const double one : p.of(set.rows, set.width)) out.reference += share * one;
    for (size_t i = 0; i < set.size(); ++i) {
        Game game{p, row, set.row(i), units};
        for (size_t unit = 0; unit < units.size(); ++unit)
            if (differs(row, set.row(i), units[unit])) game.players.push_back(unit);
        if (game.players.size() <= kExactUnits) {
            add_enumerated(game, share, out.lowered);
        } else {
            out.exact = false;
            add_sampled(game, share, base::Random(seed).fork(i), out.lowered, out.error);
        }
    }
    for (double& one : out.error) one = std::sqrt(one);
    return out;
}

}  // namespace rampart::attribution
