#include "rampart/attribution/cited.hpp"

#include <algorithm>
#include <cmath>

#include "rampart/base/check.hpp"

namespace rampart::attribution {
namespace {

constexpr size_t kMostTried = 20;  // candidates; 6,195 sets of at most four of them

/// Returns a Shapley value in steps of 1e-10, so that rounding decides no tie.
double in_steps(double value) { return std::round(value * 1e10); }

/// A set of units and what restoring it gives; units ascending.
struct Found {
    std::vector<size_t> units{};
    double p = 0;
    double shapley = 0;  // sum over the units

    bool better_than(const Found& other) const {
        return p != other.p ? p > other.p : in_steps(shapley) > in_steps(other.shapley);
    }
};

class Search {
  public:
    Search(const Probability& p, std::span<const float> row, std::span<const float> reference,
           std::span<const Unit> units, const ShapleyValues& values, double u)
        : p_(p), row_(row), reference_(reference), units_(units), values_(values), u_(u) {
        for (size_t unit = 0; unit < units.size(); ++unit)
            if (values.lowers(unit) && differs(row, reference, units[unit]))
                candidates_.push_back(unit);
    }

    /// Returns the set to cite; empty where none raises P. `p_reference` decides where the greedy
    /// search reaches nothing: above u a decline is not by the draw alone whatever sets there are.
    Found run(double p_reference) {
        exact_ = candidates_.size() <= kExactUnits;
        if (exact_) return smallest();
        auto found = greedy();
        exact_ = found.p <= u_ && p_reference <= u_ && candidates_.size() <= kMostTried;
        return exact_ ? smallest() : found;
    }
    bool exact() const { return exact_; }  // every set was looked at

    Found made(std::vector<size_t> units) const {
        std::vector<float> x(row_.begin(), row_.end());
        Found found{std::move(units)};
        for (const size_t unit : found.units) {
            x = restored(x, reference_, units_[unit]);
            found.shapley += values_.lowered[unit];
        }
        found.p = p_(x);
        return found;
    }

  private:
    Found smallest() const {
        Found best{{}, values_.p, 0};
        for (size_t size = 1; size <= std::min(kMostCited, candidates_.size()); ++size) {
            Found of_size{{}, -1, 0};
            std::vector<size_t> chosen;
            try_all(size, 0, chosen, of_size);
            // a larger set has to raise P further
            if (of_size.p > best.p) best = std::move(of_size);
            if (best.p > u_) break;
        }
        return best;
    }
    void try_all(size_t size, size_t from, std::vector<size_t>& chosen, Found& best) const {
        if (chosen.size() == size) {
            auto found = made(chosen);
            if (found.better_than(best)) best = std::move(found);
            return;
        }
        for (size_t i = from; i < candidates_.size(); ++i) {
            chosen.push_back(candidates_[i]);
            try_all(size, i + 1, chosen, best);
            chosen.pop_back();
        }
    }
    Found greedy() const {
        Found now{{}, values_.p, 0};
        while (now.units.size() < kMostCited && now.p <= u_) {
            Found best{{}, -1, 0};
            for (const size_t unit : candidates_) {
                if (std::binary_search(now.units.begin(), now.units.end(), unit)) continue;
                auto found = made(with(now.units, unit));
                if (found.better_than(best)) best = std::move(found);
            }
            now = std::move(best);
        }
        if (now.p <= values_.p) return {{}, values_.p, 0};
        return without_the_needless(std::move(now));
    }
    static std::vector<size_t> with(std::vector<size_t> units, size_t unit) {
        units.insert(std::upper_bound(units.begin(), units.end(), unit), unit);
        return units;
    }
    /// Takes units out for as long as the rest does as much.
    Found without_the_needless(Found found) const {
        for (bool changed = true; changed;) {
            changed = false;
            for (size_t i = 0; i < found.units.size(); ++i) {
                auto units = found.units;
                units.erase(units.begin() + static_cast<ptrdiff_t>(i));
                auto less = made(std::move(units));
                if (found.p > u_ ? less.p <= u_ : less.p < found.p) continue;
                found = std::move(less);
                changed = true;
                break;
            }
        }
        return found;
    }

    const Probability& p_;
    const std::span<const float> row_, reference_;
    const std::span<const Unit> units_;
    const ShapleyValues& values_;
    const double u_;
    std::vector<size_t> candidates_;
    bool exact_ = false;
};

/// Puts the strongest single restoration first, the others by Shapley value.
void order(const Search& search, const ShapleyValues& values, std::vector<size_t>& units) {
    if (units.empty()) return;
    std::stable_sort(units.begin(), units.end(), [&](size_t a, size_t b) {
        return in_steps(values.lowered[a]) > in_steps(values.lowered[b]);
    });
    size_t strongest = 0;
    double most = -1;
    for (size_t i = 0; i < units.size(); ++i) {
        const double alone = search.made({units[i]}).p;
        if (alone <= most) continue;
        most = alone;
        strongest = i;
    }
    std::rotate(units.begin(), units.begin() + static_cast<ptrdiff_t>(strongest),
                units.begin() + static_cast<ptrdiff_t>(strongest) + 1);
}

}  // namespace

std::string_view to_string(DeclinedBy by) {
    switch (by) {
        case DeclinedBy::kFeatures:
            return "features";
        case DeclinedBy::kFeaturesAndDraw:
            return "features_and_draw";
        case DeclinedBy::kDraw:
            return "draw";
        case DeclinedBy::kExploration:
            return "exploration";
    }
    RAMPART_CHECK(false, "declined by {}", static_cast<int>(by));
}

Cited cited_reasons(const Probability& p, std::span<const float> row,
                    std::span<const float> reference, std::span<const Unit> units,
                    const ShapleyValues& values, double p_exploit, double u) {
    Cited cited;
    cited.p_reference = p(reference);
    cited.p_restored = values.p;
    if (u < p_exploit) {
        cited.by = DeclinedBy::kExploration;
        return cited;
    }
    Search search(p, row, reference, units, values, u);
    auto found = search.run(cited.p_reference);
    cited.exact = search.exact();
    cited.p_restored = found.p;
    cited.reaches = found.p > u;
    // where not every set was looked at, one may reach u
    const bool approvable = cited.reaches || cited.p_reference > u || !cited.exact;
    if (values.p > 0) cited.by = approvable ? DeclinedBy::kFeaturesAndDraw : DeclinedBy::kDraw;
    cited.others = !cited.reaches && cited.p_reference > found.p;
    cited.units = std::move(found.units);
    order(search, values, cited.units);
    return cited;
}

}  // namespace rampart::attribution
