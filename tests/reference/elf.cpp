#include "reference/elf.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rampart/base/random.hpp"
#include "rampart/stats/betting.hpp"
#include "reference/elf_constraints.hpp"
#include "reference/reasons.hpp"

namespace rampart::reference {
namespace {

using base::make_error;
using candidate_selection::Constraint;
using candidate_selection::Failing;
using candidate_selection::ObjectiveConfig;
using candidate_selection::paired_constraint;
using candidate_selection::Safety;
using candidate_selection::SafetyObjective;

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

/// Some records, and the policies on them.
struct Part {
    ElfSample sample;
    std::unique_ptr<ParametricPolicy> policy;

    const ope::LoggedDecisions& decisions() const { return sample.log.decisions; }
};

Part make_part(const ElfSample& sample, const ParametricPolicy& policy,
               std::span<const uint32_t> rows) {
    return {part_of(sample, rows), policy.on(rows)};
}

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

std::vector<uint32_t> tested_rows(const ElfSample& sample) {
    std::vector<uint32_t> rows;
    for (uint32_t i = 0; i < sample.tested.size(); ++i) {
        if (sample.tested[i] != 0) rows.push_back(i);
    }
    return rows;
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

/// tau of the paper: the mean impact in the whole log, taken for a constant.
double logged_mean(const ElfSample& sample, size_t g) {
    const auto& records = sample.log.decisions.groups[g].records;
    stats::Sum sum;
    for (const uint32_t i : records) sum.add(sample.log.impact[i]);
    return sum.value() / static_cast<double>(records.size());
}

/// g-hat of every constraint on a part of the sample, centred by that part's own impacts.
base::Result<std::vector<Constraint>> constraints_of(const ElfSample& sample, const Part& part,
                                                     const Part& test, const ElfOptions& options) {
    const auto held = static_cast<double>(test.decisions().size());
    std::vector<Constraint> out;
    for (size_t g = 0; g < sample.log.decisions.groups.size(); ++g) {
        const auto& group = part.decisions().groups[g];
        auto made =
            options.paper_compat
                ? importance_constraint(part.sample.log, group, sample.impact_range[g],
                                        logged_mean(sample, g), held, options.delta)
                : paired_constraint(part.sample.log, group, centred(part.sample, g), 0,
                                    static_cast<double>(test.decisions().groups[g].records.size()),
                                    options.delta);
        if (!made) return base::Error(std::move(made).error());
        out.push_back(*std::move(made));
    }
    if (options.accuracy_floor) {
        out.push_back(accuracy_constraint(part.sample.label, part.decisions().reference,
                                          *options.accuracy_floor, held, options.delta));
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
    return options.bound == stats::BoundMethod::kStudentT
               ? -stats::t_lower_bound(sample, options.delta)
               : -stats::hoeffding_lower_bound(sample, gain_range, options.delta);
}

ElfTest finish(std::string name, const std::vector<double>& gains, double upper, double delta) {
    const auto sample = stats::moments(gains);
    ElfTest out{std::move(name),
                gains.size(),
                -sample.mean,
                upper,
                -stats::t_lower_bound(sample, delta),
                false};
    out.passed = std::isfinite(upper) && upper <= 0;
    return out;
}

/// What was chosen on D_c: the last part that the search saw, its objective, and the policy there.
struct Chosen {
    const Part& part;
    const SafetyObjective& objective;
    std::span<const double> pi;
};

ElfTest paired_test(const Chosen& chosen, const Part& test, size_t g, std::span<const double> pi,
                    const ElfOptions& options) {
    const auto& decisions = test.decisions();
    const auto model = centred(chosen.part.sample, g);
    const Constraint& constraint = chosen.objective.constraints()[g];
    std::vector<double> gains;
    stats::Range range{0, 0};
    for (const uint32_t i : decisions.groups[g].records) {
        const ope::Record record{.p = decisions.p_approve[i],
                                 .approved = decisions.approved[i] != 0,
                                 .candidate = pi[i],
                                 .reference = decisions.reference[i],
                                 .impact = test.sample.log.impact[i],
                                 .overridden = false};
        gains.push_back(ope::impact_change(record, model));
        const auto reach = ope::change_range(record, model);
        range = {std::min(range.lo, reach.lo), std::max(range.hi, reach.hi)};
    }
    if (options.bound != stats::BoundMethod::kBetting) {
        return finish(constraint.name, gains, upper_bound(gains, range, options), options.delta);
    }
    // bets from D_c's variance of this candidate; the range is a function of D_f's x alone
    std::vector<double> planned;
    for (size_t k = 0; k < constraint.rows.size(); ++k) {
        const double d =
            chosen.pi[constraint.rows[k]] - chosen.objective.reference()[constraint.rows[k]];
        planned.push_back(d > 0 ? constraint.more[k] * d : constraint.less[k] * -d);
    }
    const auto bets =
        stats::plan_bets({gains.size(), stats::moments(planned).variance}, range.lo, options.delta);
    const double upper =
        bets ? -std::log(options.delta) - stats::log_wealth(gains, range.lo, *bets, 0)
             : std::numeric_limits<double>::infinity();
    return finish(constraint.name, gains, upper, options.delta);
}

/// g-hat of constraints that are linear in pi over all of D_f (importance, accuracy).
ElfTest linear_test(const Constraint& test, std::span<const double> pi,
                    std::span<const double> reference, const ElfOptions& options) {
    std::vector<double> gains;
    for (size_t k = 0; k < test.rows.size(); ++k) {
        const double d = pi[test.rows[k]] - reference[test.rows[k]];
        gains.push_back(-(test.offset[k] + test.more[k] * d));
    }
    return finish(test.name, gains, upper_bound(gains, {-test.range->hi, -test.range->lo}, options),
                  options.delta);
}

base::Result<std::vector<ElfTest>> run_tests(const ElfSample& sample, const Chosen& chosen,
                                             const Part& test, std::span<const double> pi,
                                             const ElfOptions& options) {
    std::vector<ElfTest> out;
    if (!options.paper_compat) {
        for (size_t g = 0; g < test.decisions().groups.size(); ++g) {
            out.push_back(paired_test(chosen, test, g, pi, options));
        }
        return out;
    }
    RAMPART_TRY(const auto constraints, constraints_of(sample, test, test, options));
    for (const auto& c : constraints)
        out.push_back(linear_test(c, pi, test.decisions().reference, options));
    return out;
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
        return make_error(Reason::kBadElf,
                          "the columns of the sample differ in length, or are empty");
    for (size_t i = 0; i < n; ++i) {
        if (!(d.p_approve[i] > 0 && d.p_approve[i] < 1) || d.reference[i] != d.p_approve[i] ||
            d.has_impact[i] == 0 || !std::isfinite(sample.log.impact[i])) {
            return make_error(Reason::kBadElf,
                              "record {}: needs an impact, and beta = reference = {} in (0, 1)",
                              d.record_id[i], d.p_approve[i]);
        }
    }
    for (const auto& group : d.groups) {
        size_t held = 0;
        for (const uint32_t i : group.records) {
            if (i >= n)
                return make_error(Reason::kBadElf, "group '{}': record {} of {}", group.name, i, n);
            held += sample.tested[i] != 0;
        }
        if (held < 2 || group.records.size() - held < 2) {
            return make_error(Reason::kBadElf,
                              "group '{}': {} records tested of {}; at least two have to stand on "
                              "either side",
                              group.name, held, group.records.size());
        }
    }
    if (!(options.kappa > 0 && options.kappa <= 1)) {
        return make_error(Reason::kBadElf, "kappa: {} has to lie in (0, 1]", options.kappa);
    }
    if (options.bound == stats::BoundMethod::kMaurerPontil) {
        return make_error(Reason::kBadElf, "bound: name betting, t or Hoeffding");
    }
    if (options.paper_compat && options.bound == stats::BoundMethod::kBetting) {
        return make_error(Reason::kBadElf,
                          "bound: the paper has t and Hoeffding; name one of them");
    }
    for (const auto& start : options.starts) {
        if (start.size() != policy.dimension()) {
            return make_error(Reason::kBadElf, "starts: each needs {} numbers", policy.dimension());
        }
    }
    if (!options.paper_compat && options.accuracy_floor) {
        return make_error(Reason::kBadElf, "accuracy_floor: a constraint of paper_compat only");
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
                                const ElfOptions& options, const numeric::Cancelled& cancelled) {
    RAMPART_RETURN_IF_ERROR(check(sample, policy, options));
    const Part test = make_part(sample, policy, tested_rows(sample));
    const auto approve = [&](const Part& part, std::span<const double> theta) {
        std::vector<double> pi(part.decisions().size());
        part.policy->approve(theta, pi);
        if (!options.paper_compat) into_trust_region(part.decisions().reference, options.kappa, pi);
        return pi;
    };
    const auto all = selection_rows(sample, 0);
    auto rows = selection_rows(sample, options.max_selection_rows);
    auto starts = options.starts;
    if (starts.empty()) starts.emplace_back(policy.dimension(), 0.0);
    numeric::CmaEsOptions search = options.search;
    ElfResult out;
    for (;;) {
        const Part part = make_part(sample, policy, rows);
        RAMPART_TRY(auto constraints, constraints_of(sample, part, test, options));
        RAMPART_TRY(
            const auto objective,
            SafetyObjective::create(part.decisions().reference, error_rate(part.sample.label),
                                    std::move(constraints), objective_config(options)));
        const auto cost = [&](std::span<const double> theta) {
            return objective.cost(approve(part, theta));
        };
        RAMPART_TRY(auto found, numeric::minimise(cost, starts, {}, search, cancelled));
        out.evaluations += found.evaluations;
        out.candidate = std::move(found.x);
        if (rows.size() < all.size() && options.refine_evaluations > 0) {
            rows = all;
            starts = {out.candidate};
            search.max_evaluations = options.refine_evaluations;
            search.scale /= 4;
            for (double& s : search.scales) s /= 4;
            continue;
        }
        const auto pi = approve(part, out.candidate);
        out.predicted = objective.predict(pi);
        RAMPART_TRY(out.tests, run_tests(sample, {part, objective, pi}, test,
                                         approve(test, out.candidate), options));
        break;
    }
    const bool passed =
        std::all_of(out.tests.begin(), out.tests.end(), [](const ElfTest& t) { return t.passed; });
    if (passed && !out.tests.empty()) out.theta = out.candidate;
    return out;
}

}  // namespace rampart::reference
