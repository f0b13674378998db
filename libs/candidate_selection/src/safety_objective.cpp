#include "rampart/candidate_selection/safety_objective.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "rampart/candidate_selection/reasons.hpp"
#include "rampart/ope/value_bound.hpp"
#include "rampart/stats/distributions.hpp"

namespace rampart::candidate_selection {
namespace {

using base::make_error;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kStep = 0x1p-12;  // the estimate is linear on either side: any step measures it

ope::Record record_of(const ope::LoggedFeedback& feedback, uint32_t i) {
    const auto& d = feedback.decisions;
    ope::Record record{.p = d.p_approve[i],
                       .approved = d.approved[i] != 0,
                       .candidate = d.reference[i],
                       .reference = d.reference[i],
                       .impact = std::nullopt,
                       .overridden = d.is_overridden(i)};
    if (d.has_impact[i] != 0) record.impact = feedback.impact[i];
    if (d.referred.empty()) return record;
    record.p_refer = d.p_refer[i];
    record.candidate_refer = record.reference_refer = d.reference_refer[i];
    record.referral = d.referral(i);
    return record;
}

/// Sums of the units' values, and the largest and smallest value that a unit can have.
struct Sums {
    double sum = 0, squares = 0;
    double highest = -kInfinity, lowest = kInfinity;

    void add(double value) {
        sum += value;
        squares += value * value;
    }
    void reach(double high, double low) {
        highest = std::max(highest, high);
        lowest = std::min(lowest, low);
    }
};

/// The bounds that use ranges read these columns; a t bound is spared the passes.
bool needs_range(const Constraint& c, stats::BoundMethod bound) {
    return bound != stats::BoundMethod::kStudentT && !c.range;
}

struct Deviation {
    double more = 0, less = 0;
};

Deviation deviation(double pi, double reference) {
    const double d = pi - reference;
    return {std::max(d, 0.0), std::max(-d, 0.0)};
}

/// Four sums at a time, so that no addition waits for the one before.
Sums sum_rows(const Constraint& c, std::span<const double> pi, std::span<const double> reference,
              bool ranges) {
    constexpr size_t kLanes = 4;
    Sums lane[kLanes];
    for (size_t k = 0; k < c.rows.size(); ++k) {
        Sums& out = lane[k % kLanes];
        const auto d = deviation(pi[c.rows[k]], reference[c.rows[k]]);
        out.add(c.offset[k] + c.more[k] * d.more + c.less[k] * d.less);
        if (!ranges) continue;
        out.reach(c.offset[k] + c.highest_more[k] * d.more + c.highest_less[k] * d.less,
                  c.offset[k] + c.lowest_more[k] * d.more + c.lowest_less[k] * d.less);
    }
    Sums out = lane[0];
    for (size_t l = 1; l < kLanes; ++l) {
        out.sum += lane[l].sum;
        out.squares += lane[l].squares;
        out.reach(lane[l].highest, lane[l].lowest);
    }
    return out;
}

Sums sum_units(const Constraint& c, std::span<const double> pi, std::span<const double> reference,
               bool ranges) {
    std::vector<double> value(c.units, 0), high(ranges ? c.units : 0, 0), low(high);
    for (size_t k = 0; k < c.rows.size(); ++k) {
        const auto d = deviation(pi[c.rows[k]], reference[c.rows[k]]);
        const uint32_t u = c.unit[k];
        value[u] += c.offset[k] + c.more[k] * d.more + c.less[k] * d.less;
        if (!ranges) continue;
        high[u] += c.offset[k] + c.highest_more[k] * d.more + c.highest_less[k] * d.less;
        low[u] += c.offset[k] + c.lowest_more[k] * d.more + c.lowest_less[k] * d.less;
    }
    Sums out;
    for (size_t u = 0; u < c.units; ++u) {
        out.add(value[u]);
        if (ranges) out.reach(high[u], low[u]);
    }
    return out;
}

size_t units_of(const Constraint& c) { return c.unit.empty() ? c.rows.size() : c.units; }

/// The mean has to exceed L / (n bet) + bet V / 2 for a bet's wealth to reach 1/delta, to second
/// order; the bet is the one that the test will place (stats::plan_bets).
double betting_width(double variance, double highest, double n, double delta, double cap) {
    const double budget = std::log(1 / delta);
    const double bet = std::min(cap / highest, std::sqrt(2 * budget / (n * variance)));
    return budget / (n * bet) + bet * variance / 2;
}

base::Status check_constraint(const Constraint& c, size_t rows, stats::BoundMethod bound) {
    const auto bad = [&](std::string_view what) {
        return make_error(Reason::kBadObjective, "constraint '{}': {}", c.name, what);
    };
    const size_t n = c.rows.size();
    const auto column = [&](const std::vector<double>& v) {
        return v.size() == n &&
               std::all_of(v.begin(), v.end(), [](double x) { return std::isfinite(x); });
    };
    if (!column(c.offset) || !column(c.more) || !column(c.less)) {
        return bad("offset, more and less need one finite number an entry");
    }
    if (needs_range(c, bound) && (!column(c.highest_more) || !column(c.highest_less) ||
                                  !column(c.lowest_more) || !column(c.lowest_less))) {
        return bad(
            "this bound needs the range of the estimate: `range`, or one finite number an entry");
    }
    if (c.range && !(c.range->lo < c.range->hi && std::isfinite(c.range->hi - c.range->lo))) {
        return bad("its range is empty or infinite");
    }
    if (std::any_of(c.rows.begin(), c.rows.end(), [&](uint32_t r) { return r >= rows; })) {
        return bad("a row lies past the end of the reference");
    }
    if (!c.unit.empty() &&
        (c.unit.size() != n ||
         std::any_of(c.unit.begin(), c.unit.end(), [&](uint32_t u) { return u >= c.units; }))) {
        return bad("unit needs one number below `units` an entry");
    }
    if (units_of(c) < 2)
        return bad("the development set has fewer than two of its units; nothing can be predicted");
    if (!(c.test_units >= 2 && std::isfinite(c.test_units))) {
        return bad("fewer than two units are expected in the test");
    }
    if (!(c.delta > 0 && c.delta < 0.5)) return bad("delta has to lie in (0, 1/2)");
    return base::ok();
}

base::Status check_config(const ObjectiveConfig& c) {
    if (!(c.inflation >= 1 && std::isfinite(c.inflation))) {
        return make_error(Reason::kBadObjective, "inflation: {} has to be 1 or more", c.inflation);
    }
    if (!(c.power > 0.5 && c.power < 1)) {
        return make_error(Reason::kBadObjective, "power: {} has to lie in (1/2, 1)", c.power);
    }
    if (!(c.xi >= 0 && std::isfinite(c.xi))) {
        return make_error(Reason::kBadObjective, "xi: {} has to be 0 or more", c.xi);
    }
    if (!(c.bet_cap > 0 && c.bet_cap < 1)) {
        return make_error(Reason::kBadObjective, "bet_cap: {} has to lie in (0, 1)", c.bet_cap);
    }
    return base::ok();
}

}  // namespace

base::Result<Constraint> paired_constraint(const ope::LoggedFeedback& feedback,
                                           const ope::Group& group, const ope::ImpactModel& model,
                                           double margin, double test_units, double delta) {
    if (model.absolute || model.max_weight) {
        return make_error(
            Reason::kBadObjective,
            "absolute or max_weight: a paired constraint takes neither; leave them out");
    }
    Constraint c;
    c.name = group.name;
    std::copy_if(group.records.begin(), group.records.end(), std::back_inserter(c.rows),
                 [&](uint32_t i) {  // a rule refers, and no candidate changes that
                     const auto& d = feedback.decisions;
                     return d.referred.empty() || d.p_refer[i] < 1;
                 });
    c.offset.assign(c.rows.size(), -margin);
    for (const uint32_t i : c.rows) {
        ope::Record record = record_of(feedback, i);
        if (!ope::has_support(record, model)) {
            return make_error(Reason::kBadObjective,
                              "record {}: its logger's propensity {} leaves no choice",
                              feedback.decisions.record_id[i], record.p);
        }
        record.candidate = record.reference + kStep;
        const double up = record.candidate - record.reference;
        const auto more = ope::change_range(record, model);
        c.more.push_back(-ope::impact_change(record, model) / up);
        c.highest_more.push_back(-more.lo / up);
        c.lowest_more.push_back(-more.hi / up);
        record.candidate = record.reference - kStep;
        const double down = record.reference - record.candidate;
        const auto less = ope::change_range(record, model);
        c.less.push_back(-ope::impact_change(record, model) / down);
        c.highest_less.push_back(-less.lo / down);
        c.lowest_less.push_back(-less.hi / down);
    }
    c.units = c.rows.size();
    if (!feedback.decisions.unit_id.empty()) {
        auto units = ope::map_units(feedback.decisions, c.rows);
        c.units = units.units;
        if (c.units < c.rows.size()) c.unit = std::move(units.unit_of);
    }
    c.test_units = test_units;
    c.delta = delta;
    return c;
}

base::Result<SafetyObjective> SafetyObjective::create(std::vector<double> reference, Loss loss,
                                                      std::vector<Constraint> constraints,
                                                      const ObjectiveConfig& config) {
    const size_t rows = reference.size();
    if (rows == 0 || loss.offset.size() != rows || loss.slope.size() != rows) {
        return make_error(Reason::kBadObjective,
                          "{} rows of the reference, {} and {} of the loss: they have to "
                          "be as many, and not none",
                          rows, loss.offset.size(), loss.slope.size());
    }
    if (constraints.empty()) {
        return make_error(Reason::kBadObjective, "no constraint: name at least one group");
    }
    RAMPART_RETURN_IF_ERROR(check_config(config));
    SafetyObjective out;
    for (size_t i = 0; i < rows; ++i) {
        if (!(reference[i] >= 0 && reference[i] <= 1) ||
            !std::isfinite(loss.offset[i] + loss.slope[i])) {
            return make_error(Reason::kBadObjective,
                              "row {}: reference {} has to lie in [0, 1] and the loss to be "
                              "finite",
                              i, reference[i]);
        }
        out.worst_loss_ +=
            (loss.offset[i] + std::max(0.0, loss.slope[i])) / static_cast<double>(rows);
    }
    for (const auto& c : constraints) {
        RAMPART_RETURN_IF_ERROR(check_constraint(c, rows, config.bound));
        out.t_quantiles_.push_back(stats::student_t_quantile(1 - c.delta, c.test_units - 1));
    }
    out.power_quantile_ = stats::normal_quantile(config.power);
    out.reference_ = std::move(reference);
    out.loss_ = std::move(loss);
    out.constraints_ = std::move(constraints);
    out.config_ = config;
    return out;
}

PredictedBound SafetyObjective::predict_bound(size_t j, std::span<const double> pi) const {
    const Constraint& c = constraints_[j];
    const bool ranges = needs_range(c, config_.bound);
    const Sums sums =
        c.unit.empty() ? sum_rows(c, pi, reference_, ranges) : sum_units(c, pi, reference_, ranges);
    const double m = static_cast<double>(units_of(c)), n = c.test_units;
    PredictedBound out;
    out.mean = sums.sum / m;
    const double variance = std::max(0.0, (sums.squares - sums.sum * out.mean) / (m - 1));
    const double error = std::sqrt(variance / n);
    out.error = std::sqrt(variance / m);
    const double highest = c.range ? c.range->hi : sums.highest;
    const double lowest = c.range ? c.range->lo : sums.lowest;
    // nothing changes, or rounding is all that is left of it: no bound, and no signal
    const bool nothing =
        !(variance > 1e-24 * (1 + out.mean * out.mean)) || !std::isfinite(variance);
    if (nothing || (config_.bound == stats::BoundMethod::kBetting && !(highest > 0))) {
        out.upper = kInfinity;
        out.signals = t_quantiles_[j] + power_quantile_ * std::sqrt(1 + n / m);
        if (std::isnan(out.mean))
            out.signals = out.chance = std::numeric_limits<double>::quiet_NaN();
        return out;
    }
    double width = 0;
    switch (config_.bound) {
        case stats::BoundMethod::kStudentT:
            width = error * t_quantiles_[j];
            break;
        // Maurer and Pontil's is predicted by the wider of the two that use the range
        case stats::BoundMethod::kHoeffding:
        case stats::BoundMethod::kMaurerPontil:
            width = (highest - lowest) * std::sqrt(std::log(1 / c.delta) / (2 * n));
            break;
        case stats::BoundMethod::kBetting:
            width = betting_width(variance, highest, n, c.delta, config_.bet_cap);
            break;
    }
    const double both = std::sqrt(variance / n + variance / m);
    out.upper = config_.safety == Safety::kInflation ? out.mean + config_.inflation * width
                                                     : out.mean + width + power_quantile_ * both;
    out.chance = stats::normal_cdf(-(out.mean + width + config_.xi / 4) / both);
    out.signals = (out.upper + config_.xi / 4) / error;
    return out;
}

Prediction SafetyObjective::predict(std::span<const double> pi) const {
    Prediction out;
    for (size_t i = 0; i < pi.size(); ++i) out.loss += loss_.offset[i] + loss_.slope[i] * pi[i];
    out.loss /= static_cast<double>(pi.size());
    out.passes = true;
    out.chance = 1;
    double sum = 0, worst = -kInfinity;
    for (size_t j = 0; j < constraints_.size(); ++j) {
        out.bounds.push_back(predict_bound(j, pi));
        const PredictedBound& bound = out.bounds.back();
        out.passes = out.passes && bound.upper <= -config_.xi / 4;
        out.chance *= bound.chance;
        sum += bound.upper;
        worst = std::isnan(bound.signals) ? bound.signals : std::max(worst, bound.signals);
    }
    out.cost = out.passes ? out.loss
                          : worst_loss_ + (config_.failing == Failing::kSumOfBounds ? sum : worst);
    return out;
}

double SafetyObjective::cost(std::span<const double> pi) const { return predict(pi).cost; }

}  // namespace rampart::candidate_selection
