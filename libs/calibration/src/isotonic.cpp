#include <algorithm>
#include <queue>

#include "curves.hpp"

namespace rampart::calibration {
namespace {

/// Neighbouring scores that get one value.
struct Pool {
    double first = 0, last = 0;
    double hits = 0, weight = 0;
    double mean() const { return hits / weight; }
    void take(const Pool& next) {
        last = next.last;
        hits += next.hits;
        weight += next.weight;
    }
};

std::vector<Pool> pool_violators(const std::vector<ScoreCell>& cells) {
    std::vector<Pool> pools;
    for (const auto& cell : cells) {
        pools.push_back({cell.score, cell.score, cell.hits, cell.weight});
        while (pools.size() > 1 && pools[pools.size() - 2].mean() >= pools.back().mean()) {
            const Pool last = pools.back();
            pools.pop_back();
            pools.back().take(last);
        }
    }
    return pools;
}

size_t points_of(const Pool& pool) { return pool.first == pool.last ? 1 : 2; }

/// How much the squared error grows when two pools get one value.
double price(const Pool& a, const Pool& b) {
    const double apart = a.mean() - b.mean();
    return a.weight * b.weight / (a.weight + b.weight) * apart * apart;
}

/// A union of neighbours that may be made; void once either has changed since.
struct Offer {
    double price = 0;
    size_t left = 0, right = 0;
    size_t left_changes = 0, right_changes = 0;
    bool operator<(const Offer& other) const {  // the cheapest on top, then the leftmost
        return price != other.price ? price > other.price : left > other.left;
    }
};

/// Unites neighbours, the cheapest first. Means stay in order, so that the result is monotone.
std::vector<Pool> thinned(std::vector<Pool> pools, size_t max_points) {
    size_t points = 0;
    for (const auto& pool : pools) points += points_of(pool);
    if (points <= max_points) return pools;
    const size_t n = pools.size();
    std::vector<size_t> next(n), previous(n), changes(n, 0);
    std::priority_queue<Offer> offers;
    const auto offer = [&](size_t left, size_t right) {
        offers.push({price(pools[left], pools[right]), left, right, changes[left], changes[right]});
    };
    for (size_t i = 0; i < n; ++i) {
        next[i] = i + 1;
        previous[i] = i - 1;  // the first one's is never read
        if (i + 1 < n) offer(i, i + 1);
    }
    constexpr size_t kGone = static_cast<size_t>(-1);
    while (points > max_points && !offers.empty()) {
        const Offer best = offers.top();
        offers.pop();
        if (changes[best.left] != best.left_changes || changes[best.right] != best.right_changes)
            continue;
        points -= points_of(pools[best.left]) + points_of(pools[best.right]);
        pools[best.left].take(pools[best.right]);
        points += points_of(pools[best.left]);
        ++changes[best.left];
        changes[best.right] = kGone;
        next[best.left] = next[best.right];
        if (next[best.left] < n) {
            previous[next[best.left]] = best.left;
            offer(best.left, next[best.left]);
        }
        if (best.left > 0) offer(previous[best.left], best.left);
    }
    std::vector<Pool> kept;
    for (size_t i = 0; i < n; i = next[i]) kept.push_back(pools[i]);
    return kept;
}

}  // namespace

model::PolylineMap fit_isotonic(const CalibrationCells& cells, size_t max_points) {
    model::PolylineMap map;
    for (const auto& pool : thinned(pool_violators(cells.cells), max_points)) {
        const double y = std::clamp(pool.mean(), cells.lowest, cells.highest);
        map.x.push_back(pool.first);
        map.y.push_back(y);
        if (pool.last == pool.first) continue;
        map.x.push_back(pool.last);
        map.y.push_back(y);
    }
    return map;
}

}  // namespace rampart::calibration
