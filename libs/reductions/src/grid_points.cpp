#include <algorithm>
#include <cmath>

#include "rampart/base/random.hpp"
#include "search.hpp"

namespace rampart::reductions {
namespace {

/// Whole numbers by multiplier: of sum 0 by parity constraint, >= 0 by target, those above 0 of sum
/// `size` at most.
class Lattice {
  public:
    Lattice(const fairness::RateSystem& system, size_t most) : system_(system), most_(most) {}

    /// Empty: there are more than `most` of that size.
    std::vector<std::vector<int>> points(int size) {
        found_.clear();
        point_.clear();
        full_ = true;
        parity(0, size);
        if (!full_) found_.clear();
        return std::move(found_);
    }

  private:
    void parity(size_t p, int left) {
        if (p == system_.parity().size()) return target(0, left);
        group(p, system_.parity()[p].rates.size(), 0, left, left);
    }

    /// groups_left of the constraint are still open, whose numbers so far add up to sum.
    void group(size_t p, size_t groups_left, int sum, int up_left, int down_left) {
        if (groups_left == 1) {
            if (-sum > up_left || sum > down_left) return;
            point_.push_back(-sum);
            parity(p + 1, up_left - std::max(0, -sum));
            point_.pop_back();
            return;
        }
        for (int x = -down_left; x <= up_left && full_; ++x) {
            point_.push_back(x);
            group(p, groups_left - 1, sum + x, up_left - std::max(0, x),
                  down_left - std::max(0, -x));
            point_.pop_back();
        }
    }

    void target(size_t t, int left) {
        if (t == system_.targets().size()) {
            full_ = full_ && found_.size() < most_;
            if (full_) found_.push_back(point_);
            return;
        }
        for (int x = 0; x <= left && full_; ++x) {
            point_.push_back(x);
            target(t + 1, left - x);
            point_.pop_back();
        }
    }

    const fairness::RateSystem& system_;
    size_t most_;
    bool full_ = true;
    std::vector<int> point_;
    std::vector<std::vector<int>> found_;
};

/// One of any direction, of a size between 0 and 1.
std::vector<double> random_point(const fairness::RateSystem& system, base::Random& random) {
    std::vector<double> out;
    double size = 0;
    for (const auto& parity : system.parity()) {
        const size_t first = out.size(), groups = parity.rates.size();
        double sum = 0;
        for (size_t k = 0; k < groups; ++k) sum += out.emplace_back(random.uniform(-1, 1));
        for (size_t k = first; k < out.size(); ++k) {
            out[k] -= sum / static_cast<double>(groups);
            size += std::max(0.0, out[k]);
        }
    }
    for (size_t t = 0; t < system.targets().size(); ++t) size += out.emplace_back(random.uniform());
    const double wanted = random.uniform();
    if (size > 0)
        for (double& x : out) x *= wanted / size;
    return out;
}

/// By multiplier what 1 stands for: the rarest group's share of the rows.
std::vector<double> units_of(const fairness::RateSystem& system) {
    std::vector<double> units;
    for (const auto& parity : system.parity()) {
        double least = 1;
        for (const auto& rate : parity.rates) least = std::min(least, rate.weight);
        units.insert(units.end(), parity.rates.size(), least);
    }
    for (const auto& target : system.targets()) units.push_back(target.rate.weight);
    return units;
}

}  // namespace

std::vector<std::vector<double>> grid_points(const fairness::RateSystem& system, size_t count,
                                             double limit, uint64_t seed) {
    const size_t dimensions = multiplier_count(system);
    std::vector<std::vector<int>> lattice{std::vector<int>(dimensions, 0)};
    Lattice finer(system, count);
    int size = 0;
    while (dimensions > 0) {
        auto points = finer.points(size + 1);
        if (points.empty()) break;
        lattice = std::move(points);
        ++size;
    }
    const auto norm = [](const std::vector<int>& point) {
        int sum = 0;
        for (const int x : point) sum += std::abs(x);
        return sum;
    };
    std::stable_sort(lattice.begin(), lattice.end(),
                     [&](const auto& a, const auto& b) { return norm(a) < norm(b); });
    const auto units = units_of(system);
    std::vector<std::vector<double>> out;
    for (const auto& point : lattice) {
        std::vector<double> multipliers;
        for (size_t i = 0; i < point.size(); ++i)
            multipliers.push_back(size == 0 ? 0.0 : limit * units[i] * point[i] / size);
        out.push_back(std::move(multipliers));
    }
    base::Random random(seed);
    while (dimensions > 0 && out.size() < count) {
        auto point = random_point(system, random);
        for (size_t i = 0; i < point.size(); ++i) point[i] *= limit * units[i];
        out.push_back(std::move(point));
    }
    return out;
}

}  // namespace rampart::reductions
