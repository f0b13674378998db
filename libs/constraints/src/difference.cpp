#include "difference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rampart/base/reasons.hpp"
#include "rampart/stats/confidence_bound.hpp"

namespace rampart::constraints {
namespace {

/// Sum of leaves with factors, and a number.
struct Linear {
    std::vector<double> factors;
    double number = 0;
};

Linear scaled(Linear x, double factor) {
    for (double& f : x.factors) f *= factor;
    x.number *= factor;
    return x;
}

Linear plus(Linear x, const Linear& y) {
    for (size_t i = 0; i < x.factors.size(); ++i) x.factors[i] += y.factors[i];
    x.number += y.number;
    return x;
}

std::optional<Linear> linear(const Formula& f, size_t leaves) {
    using Kind = Formula::Kind;
    Linear out{std::vector<double>(leaves, 0)};
    if (f.kind == Kind::kNumber) out.number = f.number;
    if (f.kind == Kind::kLeaf) out.factors[f.leaf] = 1;
    if (f.parts.empty()) return out;
    if (f.kind > Kind::kDivide) return std::nullopt;
    std::vector<Linear> parts;
    for (const Formula& part : f.parts) {
        const auto next = linear(part, leaves);
        if (!next) return std::nullopt;
        parts.push_back(*next);
    }
    const auto is_number = [&](size_t i) { return f.parts[i].kind == Kind::kNumber; };
    switch (f.kind) {
        case Kind::kNegate:
            return scaled(parts[0], -1);
        case Kind::kAdd:
            return plus(parts[0], parts[1]);
        case Kind::kSubtract:
            return plus(parts[0], scaled(parts[1], -1));
        case Kind::kMultiply:
            if (is_number(0)) return scaled(parts[1], f.parts[0].number);
            if (is_number(1)) return scaled(parts[0], f.parts[1].number);
            return std::nullopt;
        case Kind::kDivide:
            if (is_number(1)) return scaled(parts[0], 1 / f.parts[1].number);
            return std::nullopt;
        default:
            return std::nullopt;
    }
}

/// Returns for each person whether records may meet both conditions.
std::vector<uint8_t> meets_both(const Log& log, const Difference& d) {
    std::vector<uint8_t> out(log.persons, 0);
    for (size_t i = 0; i < log.size(); ++i) {
        out[log.person[i]] |= static_cast<uint8_t>((log.members[d.first][i] != 0 ? 1 : 0) |
                                                   (log.members[d.second][i] != 0 ? 2 : 0));
    }
    for (uint8_t& both : out) both = both == 3;
    return out;
}

/// Wealth of betting that a mean is above theta, or for an upper end minus it.
class Side {
  public:
    Side(const Program& program, const Settings& settings, const Plan& plan, const EndPlan& end,
         const Log& vault, const Outcomes& outcomes, std::span<const uint8_t> both)
        : bets_(end.bets) {
        const LeafPlan& leaf = plan.leaves[end.end.leaf];
        lo_ = end.end.upper ? -leaf.hi : leaf.lo;
        hi_ = end.end.upper ? -leaf.lo : leaf.hi;
        weight_ = leaf.max_weight;
        LeafView view = view_of(program, settings, vault, end.end.leaf, leaf);
        std::vector<uint8_t> alone(view.members.begin(), view.members.end());
        for (size_t i = 0; i < alone.size(); ++i) alone[i] *= both[vault.person[i]] == 0;
        view.members = alone;
        sums_ = sums_of(view, leaf, outcomes, end.end.upper);
        // erased persons count twice the worst, and so do those of both conditions
        const size_t erased = view.fixed() ? vault.erased : 0;
        sums_.n.resize(sums_.n.size() - erased);
        sums_.d.resize(sums_.n.size());
        const size_t worst = erased + static_cast<size_t>(std::count(both.begin(), both.end(), 1));
        sums_.n.insert(sums_.n.end(), worst, 2 * weight_ * lo_);
        sums_.d.insert(sums_.d.end(), worst, 2 * weight_);
        values_.resize(sums_.n.size());
    }

    double lo() const { return lo_; }
    double hi() const { return hi_; }

    double log_wealth(double theta) {
        const double slack = 1e-12 * weight_ * (hi_ - lo_);
        for (size_t u = 0; u < values_.size(); ++u) values_[u] = sums_.n[u] - theta * sums_.d[u];
        return stats::log_wealth(values_, -2 * weight_ * (theta - lo_) - slack, bets_, 0);
    }

  private:
    const stats::Bets& bets_;
    Sums sums_;
    std::vector<double> values_;
    double lo_ = 0, hi_ = 0, weight_ = 0;
};

/// Returns the sum of D that is expected of the vault.
double total_weight(const Plan& plan, const Difference& d, const End& end) {
    return static_cast<double>(d.persons) * plan.leaves[end.leaf].person_weight;
}

/// Returns the most that a person can count against an end at the mean of the development set.
double largest_loss(const Plan& plan, const End& end) {
    const LeafPlan& l = plan.leaves[end.leaf];
    const double above = end.upper ? l.hi - l.selection_mean : l.selection_mean - l.lo;
    const double scale = l.max_weight * (l.hi - l.lo);
    return std::clamp(l.max_weight * above, 1e-6 * scale, scale);
}

/// Returns the standard error of a L1 - b L2 that is expected of the vault.
double standard_error(const Plan& plan, const Difference& d) {
    const auto variance_of = [&](size_t leaf, double factor) {
        const LeafPlan& l = plan.leaves[leaf];
        // a variance of 0 in the development set says that it is small, not that it is 0
        const double scale = l.max_weight * (l.hi - l.lo);
        const double variance =
            std::max(l.selection_variance, 1e-6 * scale * scale) * l.person_units;
        return factor * factor * variance / (l.person_weight * l.person_weight);
    };
    return std::sqrt((variance_of(d.first, d.a) + variance_of(d.second, d.b)) /
                     static_cast<double>(d.persons));
}

/// Points of m between which W is bounded: W1 at the upper one, W2 at the lower one.
struct Piece {
    double from = 0, to = 0;
    double second_at_from = 0, first_at_to = 0;
    double bound() const { return first_at_to + second_at_from; }
};

}  // namespace

std::optional<Difference> difference_of(const Program& program, size_t statement) {
    const auto form = linear(program.statements[statement].formula, program.leaves.size());
    if (!form || !std::isfinite(form->number)) return std::nullopt;
    Difference out{.statement = statement, .e = form->number};
    size_t above = 0, below = 0;
    for (size_t i = 0; i < form->factors.size(); ++i) {
        const double f = form->factors[i];
        if (f == 0) continue;
        if (!std::isfinite(f)) return std::nullopt;
        (f > 0 ? out.first : out.second) = i;
        (f > 0 ? out.a : out.b) = std::abs(f);
        ++(f > 0 ? above : below);
    }
    if (above != 1 || below != 1 || program.statements[statement].needs.size() != 2)
        return std::nullopt;
    return out;
}

const Difference* difference_in(const Plan& plan, size_t statement) {
    for (const Difference& d : plan.differences) {
        if (d.statement == statement) return &d;
    }
    return nullptr;
}

std::vector<Difference> choose_differences(const Program& program, const Settings& settings,
                                           const Log& selection, const Log& vault,
                                           const Plan& plan) {
    std::vector<Difference> out;
    if (settings.bound != stats::BoundMethod::kBetting) return out;
    const auto range_in_vault = [&](size_t i) {
        LeafPlan leaf = plan.leaves[i];
        measure(view_of(program, settings, vault, i, leaf), leaf);
        return Interval{leaf.lo, leaf.hi};
    };
    for (size_t s = 0; s < program.statements.size(); ++s) {
        auto d = difference_of(program, s);
        if (!d) continue;
        const auto both = meets_both(selection, *d);
        if (std::find(both.begin(), both.end(), 1) != both.end()) continue;
        const Interval first = range_in_vault(d->first), second = range_in_vault(d->second);
        const bool open = d->a * first.lo + d->e < d->b * second.hi;  // the ranges do not say it
        if (!open || !(first.hi > first.lo) || !(second.hi > second.lo)) continue;
        d->persons = vault.persons + vault.erased;
        out.push_back(*d);
    }
    return out;
}

base::Status check_differences(const Program& program, const Settings& settings, const Log& vault,
                               const Plan& plan) {
    for (const Difference& d : plan.differences) {
        const auto form = d.statement < program.statements.size()
                              ? difference_of(program, d.statement)
                              : std::nullopt;
        const bool known = settings.bound == stats::BoundMethod::kBetting && form &&
                           difference_in(plan, d.statement) == &d && form->first == d.first &&
                           form->second == d.second && form->a == d.a && form->b == d.b &&
                           form->e == d.e && d.persons == vault.persons + vault.erased;
        const auto usable = [&](size_t leaf) {
            const LeafPlan& l = plan.leaves[leaf];
            return l.person_weight > 0 && std::isfinite(l.person_weight) && l.person_units > 0 &&
                   std::isfinite(l.person_units) && l.hi > l.lo;
        };
        if (known && usable(d.first) && usable(d.second)) continue;
        return base::make_error(base::Reason::kBadRange,
                                "the plan has statement {} as {} mean {} - {} mean {} + {}, which "
                                "is not the constraint's, or figures of them are missing",
                                d.statement, d.a, d.first, d.b, d.second, d.e);
    }
    return base::ok();
}

base::Status plan_difference(const Settings& settings, const Plan& plan, const Difference& d,
                             std::vector<EndPlan>& ends) {
    const double error = standard_error(plan, d);
    for (EndPlan& end : ends) {
        end.delta = settings.delta;
        // a bet of sqrt(2 ln(1 / delta)) / error for one unit of a L1 - b L2, so that the wealth of
        // one side falls in m as that of the other rises
        const double weight = total_weight(plan, d, end.end) / (end.end.upper ? d.b : d.a);
        RAMPART_TRY(end.bets, stats::plan_bets({2, weight * weight * error * error / 2},
                                               -2 * largest_loss(plan, end.end), end.delta,
                                               {.cap = settings.bet_cap}));
    }
    return base::ok();
}

double deviations_allowed(const Settings& settings, const Plan& plan, const Difference& d,
                          size_t selection_persons) {
    const LeafPlan &first = plan.leaves[d.first], &second = plan.leaves[d.second];
    const double gain = d.a * first.selection_mean - d.b * second.selection_mean + d.e;
    const double error = standard_error(plan, d), need = -std::log(settings.delta);
    double width = error * std::sqrt(2 * need);
    for (const End end : {End{d.first, false}, End{d.second, true}}) {
        width += (end.upper ? d.b : d.a) * 2 * largest_loss(plan, end) * need /
                 (3 * total_weight(plan, d, end));
    }
    const double spread = error * std::sqrt(1 + static_cast<double>(d.persons) /
                                                    static_cast<double>(selection_persons));
    return std::clamp((gain - width) / spread, -8.0, 8.0);
}

double smallest_log_wealth(const Program& program, const Settings& settings, const Plan& plan,
                           const Difference& d, const Log& vault, const Outcomes& outcomes) {
    const auto both = meets_both(vault, d);
    const std::vector<EndPlan>& ends = plan.statements[d.statement];
    const bool in_order = !ends[0].end.upper;
    Side first(program, settings, plan, ends[in_order ? 0 : 1], vault, outcomes, both);
    Side second(program, settings, plan, ends[in_order ? 1 : 0], vault, outcomes, both);
    // a smaller limit of L2 is always valid; this one is beyond all rounding
    const auto limit = [&](double m) {
        const double scale = d.a * std::abs(m) + std::abs(d.e) + d.b * std::abs(second.lo());
        return (d.a * m + d.e - 1e-12 * scale) / d.b;
    };
    const auto first_at = [&](double m) { return first.log_wealth(m); };
    const auto second_at = [&](double m) { return second.log_wealth(-limit(m)); };
    const double from = first.lo(), range = first.hi() - first.lo();
    // beyond it L2 is below its limit for certain
    const double to = std::min(first.hi(), (-d.b * second.lo() - d.e) / d.a) + 1e-9 * range;
    if (!(to > from)) return std::nan("");  // nothing to test: the plan is of another constraint
    std::vector<Piece> pieces{{from, to, second_at(from), first_at(to)}};
    const auto less = [](const Piece& x, const Piece& y) { return x.bound() > y.bound(); };
    constexpr size_t kMostPieces = 400;
    while (pieces.size() < kMostPieces && pieces.front().to - pieces.front().from > 1e-7 * range) {
        std::pop_heap(pieces.begin(), pieces.end(), less);
        Piece& piece = pieces.back();
        const double middle = piece.from + (piece.to - piece.from) / 2;
        const Piece upper{middle, piece.to, second_at(middle), piece.first_at_to};
        piece = {piece.from, middle, piece.second_at_from, first_at(middle)};
        std::push_heap(pieces.begin(), pieces.end(), less);
        pieces.push_back(upper);
        std::push_heap(pieces.begin(), pieces.end(), less);
    }
    for (const Piece& piece : pieces) {
        if (std::isnan(piece.bound())) return std::nan("");
    }
    return pieces.front().bound();
}

}  // namespace rampart::constraints
