#include "rampart/candidate_selection/elf.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rampart/base/random.hpp"
#include "rampart/stats/betting.hpp"

namespace rampart::candidate_selection {
namespace {

using base::invalid_argument;

/// The records `rows` of a log, as a log of their own; groups keep their order.
ElfSample part_of(const ElfSample& sample, std::span<const uint32_t> rows) {
    ElfSample out;
    const auto& from = sample.log.decisions;
    auto& to = out.log.decisions;
    std::vector<uint32_t> position(from.size(), std::numeric_limits<uint32_t>::max());
    for (const uint32_t i : rows) {
        position[i] = static_cast<uint32_t>(to.size());
        to.record_id.emplace_back();  // one record a person: no ids are needed any more
        to.p_approve.push_back(from.p_approve[i]);
        to.approved.push_back(from.approved[i]);
        to.has_impact.push_back(from.has_impact[i]);
        to.reference.push_back(from.reference[i]);
        out.log.impact.push_back(sample.log.impact[i]);
        out.label.push_back(sample.label[i]);
    }
    for (const auto& group : from.groups) {
        to.groups.push_back({group.name, {}});
        for (const uint32_t i : group.records) {
            if (position[i] != std::numeric_limits<uint32_t>::max())
                to.groups.back().records.push_back(position[i]);
        }
        std::sort(to.groups.back().records.begin(), to.groups.back().records.end());
    }
    out.impact_range = sample.impact_range;
    return out;
}

/// D_c as the search sees it, and D_f.
struct Parts {
    ElfSample selection, test;
    std::unique_ptr<ParametricPolicy> selection_policy, test_policy;
};

/// D_c's rows; thinned to `most` by taking the first of each group in proportion.
std::vector<uint32_t> selection_rows(const ElfSample& sample, size_t most) {
    std::vector<uint32_t> rows;
    for (uint32_t i = 0; i < sample.tested.size(); ++i) {
        if (sample.tested[i] == 0) rows.push_back(i);
    }
    if (most == 0 || rows.size() <= most) return rows;
    const double share = static_cast<double>(most) / static_cast<double>(rows.size());
    std::vector<uint8_t> keep(sample.tested.size(), 0);
    for (const auto& group : sample.log.decisions.groups) {
        const auto mine = std::count_if(group.records.begin(), group.records.end(),
                                        [&](uint32_t i) { return sample.tested[i] == 0; });
        auto want = static_cast<size_t>(std::ceil(share * static_cast<double>(mine)));
        for (const uint32_t i : group.records) {
            if (want == 0) break;
            if (sample.tested[i] != 0) continue;
            keep[i] = 1;
            --want;
        }
    }
    std::erase_if(rows, [&](uint32_t i) { return keep[i] == 0; });
    return rows;
}

Parts split(const ElfSample& sample, const ParametricPolicy& policy, size_t most) {
    Parts out;
    const auto chosen = selection_rows(sample, most);
    std::vector<uint32_t> tested;
    for (uint32_t i = 0; i < sample.tested.size(); ++i) {
        if (sample.tested[i] != 0) tested.push_back(i);
    }
    out.selection = part_of(sample, chosen);
    out.test = part_of(sample, tested);
    out.selection_policy = policy.on(chosen);
    out.test_policy = policy.on(tested);
    return out;
}

/// Centres: the group's mean impact by action in D_c, the mean of all where an action is missing.
ope::ImpactModel centred(const ElfSample& selection, size_t g) {
    const auto range = selection.impact_range[g];
    double sum[2] = {0, 0}, count[2] = {0, 0};
    for (const uint32_t i : selection.log.decisions.groups[g].records) {
        const int action = selection.log.decisions.approved[i] != 0 ? 1 : 0;
        sum[action] += selection.log.impact[i];
        ++count[action];
    }
    const double mean = (sum[0] + sum[1]) / (count[0] + count[1]);
    ope::ImpactModel model;
    model.lo = range.lo;
    model.hi = range.hi;
    model.q_approve = count[1] > 0 ? sum[1] / count[1] : mean;
    model.q_decline = count[0] > 0 ? sum[0] / count[0] : mean;
    return model;
}

base::Result<std::vector<Constraint>> constraints_of(const ElfSample& sample, const Parts& parts,
                                                     const ElfOptions& options) {
    const auto& all = sample.log.decisions;
    const auto& held = parts.test.log.decisions;
    std::vector<Constraint> out;
    for (size_t g = 0; g < all.groups.size(); ++g) {
        const auto& group = parts.selection.log.decisions.groups[g];
        if (options.paper_compat) {
            stats::Sum sum;
            for (const uint32_t i : all.groups[g].records) sum.add(sample.log.impact[i]);
            const double tau = sum.value() / static_cast<double>(all.groups[g].records.size());
            RAMPART_TRY(auto c, importance_constraint(
                                    parts.selection.log, group, sample.impact_range[g], tau,
                                    static_cast<double>(held.size()), options.delta));
            out.push_back(std::move(c));
        } else {
            RAMPART_TRY(auto c,
                        paired_constraint(parts.selection.log, group, centred(parts.selection, g),
                                          0, static_cast<double>(held.groups[g].records.size()),
                                          options.delta));
            out.push_back(std::move(c));
        }
    }
    if (options.accuracy_floor) {
        out.push_back(accuracy_constraint(
            parts.selection.label, parts.selection.log.decisions.reference, *options.accuracy_floor,
            static_cast<double>(held.size()), options.delta));
    }
    return out;
}

ObjectiveConfig objective_config(const ElfOptions& options) {
    ObjectiveConfig config;
    config.bound = options.bound;
    config.safety = options.paper_compat ? Safety::kInflation : Safety::kPower;
    config.failing = options.paper_compat ? Failing::kSumOfBounds : Failing::kWorstSignal;
    config.power = options.power;
    config.xi = options.paper_compat ? options.xi : 0;
    return config;
}

/// U of a sample of g-hat by t or Hoeffding: minus the lower bound of -g-hat.
double upper_bound(const std::vector<double>& gains, stats::Range gain_range,
                   const ElfOptions& options) {
    const auto sample = stats::moments(gains);
    return options.bound == Bound::kStudentT
               ? -stats::t_lower_bound(sample, options.delta)
               : -stats::hoeffding_lower_bound(sample, gain_range, options.delta);
}

ElfTest finish(std::string name, const std::vector<double>& gains, double upper) {
    ElfTest out{std::move(name), gains.size(), -stats::moments(gains).mean, upper, upper <= 0};
    out.passed = out.passed && std::isfinite(upper);
    return out;
}

ElfTest paired_test(const Parts& parts, const Constraint& constraint, size_t g,
                    std::span<const double> selected, std::span<const double> pi,
                    const ElfOptions& options) {
    const auto& decisions = parts.test.log.decisions;
    const auto model = centred(parts.selection, g);
    std::vector<double> gains;
    stats::Range range{0, 0};
    for (const uint32_t i : decisions.groups[g].records) {
        const ope::Record record{.p = decisions.p_approve[i],
                                 .approved = decisions.approved[i] != 0,
                                 .candidate = pi[i],
                                 .reference = decisions.reference[i],
                                 .impact = parts.test.log.impact[i],
                                 .overridden = false};
        gains.push_back(ope::impact_change(record, model));
        const auto reach = ope::change_range(record, model);
        range = {std::min(range.lo, reach.lo), std::max(range.hi, reach.hi)};
    }
    if (options.bound != Bound::kBetting) {
        return finish(constraint.name, gains, upper_bound(gains, range, options));
    }
    // bets from D_c's variance of this candidate; the range is a function of D_f's x alone
    std::vector<double> planned;
    for (size_t k = 0; k < constraint.rows.size(); ++k) {
        const double d = selected[constraint.rows[k]] -
                         parts.selection.log.decisions.reference[constraint.rows[k]];
        planned.push_back(d > 0 ? constraint.more[k] * d : constraint.less[k] * -d);
    }
    const auto bets =
        stats::plan_bets({gains.size(), stats::moments(planned).variance}, range.lo, options.delta);
    const double need = -std::log(options.delta);
    const double upper = bets ? need - stats::log_wealth(gains, range.lo, *bets, 0)
                              : std::numeric_limits<double>::infinity();
    return finish(constraint.name, gains, upper);
}

/// g-hat of constraints that are linear in pi over all of D_f (importance, accuracy).
ElfTest linear_test(const Constraint& test, std::span<const double> pi,
                    std::span<const double> reference, const ElfOptions& options) {
    std::vector<double> gains;
    for (size_t k = 0; k < test.rows.size(); ++k) {
        const double d = pi[test.rows[k]] - reference[test.rows[k]];
        gains.push_back(-(test.offset[k] + test.more[k] * d));
    }
    return finish(test.name, gains,
                  upper_bound(gains, {-test.range->hi, -test.range->lo}, options));
}

base::Status check(const ElfSample& sample, const ParametricPolicy& policy,
                   const ElfOptions& options) {
    const auto& d = sample.log.decisions;
    const size_t n = d.size();
    const bool shaped = d.p_approve.size() == n && d.approved.size() == n &&
                        d.has_impact.size() == n && d.reference.size() == n &&
                        sample.log.impact.size() == n && sample.label.size() == n &&
                        sample.tested.size() == n && policy.rows() == n &&
                        sample.impact_range.size() == d.groups.size();
    if (!shaped || n == 0)
        return invalid_argument("bad_elf",
                                "the columns of the sample differ in length, or are empty");
    for (size_t i = 0; i < n; ++i) {
        if (!(d.p_approve[i] > 0 && d.p_approve[i] < 1) || d.reference[i] != d.p_approve[i] ||
            d.has_impact[i] == 0 || !std::isfinite(sample.log.impact[i])) {
            return invalid_argument(
                "bad_elf", "record {}: needs an impact, and beta = reference = {} in (0, 1)",
                d.record_id[i], d.p_approve[i]);
        }
    }
    for (const auto& group : d.groups) {
        size_t held = 0;
        for (const uint32_t i : group.records) {
            if (i >= n)
                return invalid_argument("bad_elf", "group '{}': record {} of {}", group.name, i, n);
            held += sample.tested[i] != 0;
        }
        if (held < 2 || group.records.size() - held < 2) {
            return invalid_argument(
                "bad_elf",
                "group '{}': {} records tested of {}; at least two have to stand on "
                "either side",
                group.name, held, group.records.size());
        }
    }
    if (!(options.kappa > 0 && options.kappa <= 1)) {
        return invalid_argument("bad_elf", "kappa: {} has to lie in (0, 1]", options.kappa);
    }
    if (options.paper_compat && options.bound == Bound::kBetting) {
        return invalid_argument("bad_elf",
                                "bound: the paper has t and Hoeffding; name one of them");
    }
    if (!options.paper_compat && options.accuracy_floor) {
        return invalid_argument("bad_elf", "accuracy_floor: a constraint of paper_compat only");
    }
    return base::ok();
}

}  // namespace

std::vector<uint8_t> stratified_split(std::span<const ope::Group> groups, size_t records,
                                      double tested_share, uint64_t seed) {
    constexpr uint8_t kOpen = 2;
    std::vector<uint8_t> out(records, kOpen);
    const base::Random seeds(seed);
    for (size_t g = 0; g < groups.size(); ++g) {
        std::vector<uint32_t> rows;
        for (const uint32_t i : groups[g].records) {
            if (out[i] == kOpen) rows.push_back(i);
        }
        base::Random random = seeds.fork(g);
        random.shuffle(std::span(rows));
        const auto held =
            static_cast<size_t>(std::llround(tested_share * static_cast<double>(rows.size())));
        for (size_t k = 0; k < rows.size(); ++k) out[rows[k]] = k < held ? 1 : 0;
    }
    std::replace(out.begin(), out.end(), kOpen, uint8_t{0});
    return out;
}

base::Result<ElfResult> run_elf(const ElfSample& sample, const ParametricPolicy& policy,
                                const ElfOptions& options, const Cancelled& cancelled) {
    RAMPART_RETURN_IF_ERROR(check(sample, policy, options));
    const Parts parts = split(sample, policy, options.max_selection_rows);
    RAMPART_TRY(auto constraints, constraints_of(sample, parts, options));
    const auto& reference = parts.selection.log.decisions.reference;
    RAMPART_TRY(const auto objective,
                SafetyObjective::create(reference, error_rate(parts.selection.label),
                                        std::move(constraints), objective_config(options)));
    std::vector<double> pi(reference.size());
    const auto approve = [&](const ParametricPolicy& on, std::span<const double> theta,
                             std::span<const double> beta, std::vector<double>& out) {
        on.approve(theta, out);
        if (!options.paper_compat) into_trust_region(beta, options.kappa, out);
    };
    const auto cost = [&](std::span<const double> theta) {
        approve(*parts.selection_policy, theta, reference, pi);
        return objective.cost(pi);
    };
    auto starts = options.starts;
    if (starts.empty()) starts.emplace_back(policy.dimension(), 0.0);
    if (std::any_of(starts.begin(), starts.end(),
                    [&](const auto& s) { return s.size() != policy.dimension(); })) {
        return invalid_argument("bad_elf", "starts: each needs {} numbers", policy.dimension());
    }
    RAMPART_TRY(auto found, minimise(cost, starts, {}, options.search, cancelled));

    ElfResult out;
    out.candidate = std::move(found.x);
    out.evaluations = found.evaluations;
    approve(*parts.selection_policy, out.candidate, reference, pi);
    out.predicted = objective.predict(pi);
    const auto& held = parts.test.log.decisions;
    std::vector<double> tested(held.size());
    approve(*parts.test_policy, out.candidate, held.reference, tested);
    for (size_t g = 0; g < held.groups.size(); ++g) {
        const Constraint& c = objective.constraints()[g];
        if (!options.paper_compat) {
            out.tests.push_back(paired_test(parts, c, g, pi, tested, options));
            continue;
        }
        // tau is in the prediction's constraint; the same one here
        const auto& all = sample.log.decisions.groups[g].records;
        stats::Sum sum;
        for (const uint32_t i : all) sum.add(sample.log.impact[i]);
        RAMPART_TRY(const auto test,
                    importance_constraint(parts.test.log, held.groups[g], sample.impact_range[g],
                                          sum.value() / static_cast<double>(all.size()),
                                          static_cast<double>(held.size()), options.delta));
        out.tests.push_back(linear_test(test, tested, held.reference, options));
    }
    if (options.accuracy_floor) {
        const auto test =
            accuracy_constraint(parts.test.label, held.reference, *options.accuracy_floor,
                                static_cast<double>(held.size()), options.delta);
        out.tests.push_back(linear_test(test, tested, held.reference, options));
    }
    const bool passed =
        std::all_of(out.tests.begin(), out.tests.end(), [](const ElfTest& t) { return t.passed; });
    if (passed && !out.tests.empty()) out.theta = out.candidate;
    return out;
}

}  // namespace rampart::candidate_selection
