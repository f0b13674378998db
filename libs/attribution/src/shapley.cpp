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
    std::vector<double> value(size_t{1} << n);
    std::vector<float> x(game.row.begin(), game.row.end());
    // by Gray code, so that neighbours differ in one unit
    value[0] = game.p(x);
    for (size_t i = 1, set = 0; i < value.size(); ++i) {
        const auto player = static_cast<size_t>(std::countr_zero(i));
        set ^= size_t{1} << player;
        game.put(x, player, (set >> player & 1) != 0 ? game.reference : game.row);
        value[set] = game.p(x);
    }
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

/// Adds what each player raises P by when restored in this order.
void walk(const Game& game, std::span<const size_t> order, std::vector<double>& raised) {
    std::vector<float> x(game.row.begin(), game.row.end());
    double before = game.p(x);
    for (const size_t player : order) {
        game.put(x, player, game.reference);
        const double after = game.p(x);
        raised[player] += after - before;
        before = after;
    }
}

/// Adds sampled values and the squares of their standard errors, both times `share`.
void add_sampled(const Game& game, double share, base::Random random, std::vector<double>& lowered,
                 std::vector<double>& variance) {
    const size_t n = game.players.size();
    std::vector<size_t> order(n);
    std::iota(order.begin(), order.end(), size_t{0});
    std::vector<double> sum(n), squares(n);
    for (size_t pair = 0; pair < kPairs; ++pair) {
        random.shuffle(std::span(order));
        std::vector<double> raised(n);
        walk(game, order, raised);
        std::reverse(order.begin(), order.end());
        walk(game, order, raised);
        for (size_t i = 0; i < n; ++i) {
            sum[i] += raised[i] / 2;
            squares[i] += raised[i] * raised[i] / 4;
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
    for (size_t i = 0; i < set.size(); ++i) {
        Game game{p, row, set.row(i), units};
        for (size_t unit = 0; unit < units.size(); ++unit)
            if (differs(row, set.row(i), units[unit])) game.players.push_back(unit);
        out.reference += share * p(set.row(i));
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
