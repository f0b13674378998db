#include "forecast.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "difference.hpp"
#include "leaf_plan.hpp"
#include "rampart/stats/confidence_bound.hpp"
#include "rampart/stats/distributions.hpp"

namespace rampart::constraints {
namespace {

/// Forecast of an end by the development set: the leaf's mean, the expected distance of the bound
/// below it, and the standard deviation of that bound; of minus the values for an upper end.
struct EndForecast {
    End end{};
    double mean = 0, width = 0, spread = 0;
};

EndForecast forecast_end(const Settings& settings, const LeafPlan& plan, const End& end,
                         double delta, const Sums& sums) {
    stats::Sum n, d;
    for (const double x : sums.n) n.add(x);
    for (const double x : sums.d) d.add(x);
    EndForecast out{.end = end, .mean = n.value() / d.value()};
    std::vector<double> values;
    for (size_t u = 0; u < sums.n.size(); ++u) values.push_back(sums.n[u] - out.mean * sums.d[u]);
    const auto units = static_cast<double>(planned_units(settings, plan)),
               here = static_cast<double>(values.size());
    const double weight = d.value() / here;  // mean weight of a person
    const double error = std::sqrt(stats::moments(values).variance / units) / weight;
    const double need = -std::log(delta);
    const double m = end.upper ? -plan.hi : plan.lo;
    out.width = error * std::sqrt(2 * need) +
                plan.max_weight * (out.mean - m) * need / (3 * units * weight);
    out.spread = error * std::sqrt(1 + units / here);
    return out;
}

std::vector<Known> ranges_of(const Program& program) {
    std::vector<Known> out;
    for (const Leaf& leaf : program.leaves) out.push_back(range_of(leaf, program.impact_range));
    return out;
}

/// Narrows a leaf's range to where its bound is forecast, `deviations` of its standard deviations
/// beyond the expected one.
void narrow(const EndForecast& f, double deviations, Known& leaf) {
    const double bound = f.mean - f.width - deviations * f.spread;
    if (!leaf || !std::isfinite(bound)) return leaf.reset();
    if (f.end.upper) {
        leaf->hi = std::clamp(-bound, leaf->lo, leaf->hi);
    } else {
        leaf->lo = std::clamp(bound, leaf->lo, leaf->hi);
    }
}

/// Returns the number of standard deviations by which all bounds may fail their expectation before
/// the statement does, within 8.
double deviations_allowed(const Program& program, const Statement& statement,
                          std::span<const EndForecast> ends, const Thresholds& thresholds) {
    const auto holds = [&](double deviations) {
        std::vector<Known> leaves = ranges_of(program);
        for (const EndForecast& end : ends) narrow(end, deviations, leaves[end.end.leaf]);
        const Known g = propagate(statement.formula, leaves, thresholds);
        return g && g->lo >= 0;
    };
    double safe = -8, unsafe = 8;
    if (holds(unsafe)) return unsafe;
    if (!holds(safe)) return safe;
    while (unsafe - safe > 1e-4) {
        const double middle = safe + (unsafe - safe) / 2;
        (holds(middle) ? safe : unsafe) = middle;
    }
    return safe;
}

/// Tries thresholds for one end of a tail.
class ThresholdSearch {
  public:
    ThresholdSearch(const Program& program, const Settings& settings, const Log& selection,
                    const Outcomes& outcomes, const Log& vault, size_t leaf)
        : program_(program),
          settings_(settings),
          selection_(selection),
          outcomes_(outcomes),
          vault_(vault) {
        const Leaf& first = program.leaves[leaf];
        for (size_t i = leaf; i < program.leaves.size(); ++i) {
            const Leaf& other = program.leaves[i];
            if (other.tail == first.tail && other.policy == first.policy &&
                other.condition == first.condition)
                leaves_.push_back(i);
        }
        tail_ = *first.tail;
        for (const Statement& statement : program.statements) {
            for (const End& end : statement.needs) {
                if (std::find(leaves_.begin(), leaves_.end(), end.leaf) == leaves_.end()) continue;
                count_ = std::max(count_, statement.needs.size());
                if (std::find(ends_.begin(), ends_.end(), end) == ends_.end()) ends_.push_back(end);
            }
        }
    }

    /// Returns the leaves of the end.
    const std::vector<size_t>& leaves() const { return leaves_; }

    base::Result<double> best() {
        const std::vector<double> seen = impacts();
        constexpr size_t kSteps = 8, kRounds = 4;
        double best = program_.impact_range.lo, value = -std::numeric_limits<double>::infinity();
        std::map<size_t, double> tried;
        size_t from = 0, to = seen.empty() ? 0 : seen.size() - 1;
        for (size_t round = 0; round < kRounds && !seen.empty(); ++round) {
            const size_t first = from, length = to - from;
            for (size_t k = 0; k <= kSteps; ++k) {
                const size_t at = first + length * k / kSteps;
                const auto [known, is_new] = tried.try_emplace(at, 0);
                if (is_new) {
                    RAMPART_TRY(known->second, end_with(seen[at]));
                }
                const double here = known->second;
                // without an end, towards the side on which there is one
                if (here < value || (here == value && !tail_.upper)) continue;
                value = here;
                best = seen[at];
                from = first + length * (k == 0 ? 0 : k - 1) / kSteps;
                to = first + length * std::min(k + 1, kSteps) / kSteps;
            }
        }
        return best;
    }

  private:
    /// Returns the different impacts of the development set, ascending. The upper end of a cvar
    /// needs numbers just above them.
    std::vector<double> impacts() const {
        const LeafView view = view_of(program_, settings_, selection_, leaves_[0], {});
        const Interval range = program_.impact_range;
        const bool above = tail_.statistic == Statistic::kCvar && tail_.upper;
        std::vector<double> out;
        for (size_t i = 0; i < selection_.size(); ++i) {
            if (!view.may_belong(i)) continue;
            const double impact =
                view.impact_matters(i) ? outcomes_.impact[i] : *settings_.declined_impact;
            if (!(impact >= range.lo && impact <= range.hi)) continue;
            out.push_back(above ? std::min(range.hi, impact + 1e-6 * (range.hi - range.lo))
                                : impact);
        }
        std::sort(out.begin(), out.end());
        out.erase(std::unique(out.begin(), out.end()), out.end());
        return out;
    }

    /// Returns the end that can be expected with a threshold, or minus it for an upper one.
    base::Result<double> end_with(double threshold) {
        constexpr double kDeviations = 1.3;  // holds in nine of ten cases
        std::vector<Known> known = ranges_of(program_);
        for (const size_t i : leaves_) {
            LeafPlan plan{.threshold = threshold};
            const LeafView view = view_of(program_, settings_, selection_, i, plan);
            RAMPART_RETURN_IF_ERROR(plan_leaf(view, outcomes_, plan));
            measure(view_of(program_, settings_, vault_, i, plan), plan);
            for (const End& end : ends_) {
                if (end.leaf != i) continue;
                const Sums sums = sums_of(view, plan, outcomes_, end.upper);
                narrow(forecast_end(settings_, plan, end,
                                    settings_.delta / static_cast<double>(count_), sums),
                       kDeviations, known[i]);
            }
        }
        const std::vector<double> thresholds(program_.leaves.size(), threshold);
        const Known end = propagate(formula(), known, {program_.impact_range, thresholds});
        if (!end) return -std::numeric_limits<double>::infinity();
        return tail_.upper ? -end->hi : end->lo;
    }

    /// Returns the tail with this end only.
    Formula formula() const {
        const bool cvar = tail_.statistic == Statistic::kCvar;
        Formula out{.kind = cvar ? Formula::Kind::kCvar : Formula::Kind::kQuantile,
                    .number = tail_.alpha,
                    .parts = std::vector<Formula>(cvar ? 3 : 2)};
        for (const size_t i : leaves_) {
            const bool share = program_.leaves[i].value == Leaf::Value::kIndicator;
            out.parts[tail_.upper ? (cvar && share ? 2 : 1) : 0] = {.kind = Formula::Kind::kLeaf,
                                                                    .leaf = i};
        }
        return out;
    }

    const Program& program_;
    const Settings& settings_;
    const Log& selection_;
    const Outcomes& outcomes_;
    const Log& vault_;
    std::vector<size_t> leaves_;
    Tail tail_;
    std::vector<End> ends_;
    size_t count_ = 1;  // most ends of a statement
};

}  // namespace

std::vector<double> thresholds_of(const Program& program, const Plan& plan) {
    std::vector<double> out;
    for (size_t i = 0; i < program.leaves.size(); ++i) {
        out.push_back(plan.leaves[i].threshold.value_or(program.leaves[i].threshold));
    }
    return out;
}

base::Status choose_thresholds(const Program& program, const Settings& settings,
                               const Log& selection, const Outcomes& outcomes, const Log& vault,
                               Plan& plan) {
    for (size_t i = 0; i < program.leaves.size(); ++i) {
        if (!program.leaves[i].tail || plan.leaves[i].threshold) continue;
        ThresholdSearch search(program, settings, selection, outcomes, vault, i);
        RAMPART_TRY(const double threshold, search.best());
        for (const size_t leaf : search.leaves()) plan.leaves[leaf].threshold = threshold;
    }
    return base::ok();
}

double pass_probability(const Program& program, const Settings& settings, const Plan& plan,
                        const Log& selection, const Outcomes& selection_outcomes) {
    SumsCache sums(program, settings, plan, selection, selection_outcomes);
    const std::vector<double> thresholds = thresholds_of(program, plan);
    double least = 1;
    for (size_t s = 0; s < program.statements.size(); ++s) {
        std::vector<EndForecast> ends;
        const Difference* difference = difference_in(plan, s);
        for (const EndPlan& end : plan.statements[s]) {
            if (difference != nullptr) break;
            ends.push_back(forecast_end(settings, plan.leaves[end.end.leaf], end.end, end.delta,
                                        sums.of(end.end)));
        }
        const double allowed =
            difference != nullptr
                ? deviations_allowed(settings, plan, *difference, selection.persons)
                : deviations_allowed(program, program.statements[s], ends,
                                     {program.impact_range, thresholds});
        if (allowed <= -8) return 0;
        least = std::min(least, stats::normal_cdf(allowed));
    }
    return least;
}

}  // namespace rampart::constraints
