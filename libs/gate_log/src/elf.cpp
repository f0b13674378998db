#include "rampart/gate_log/elf.hpp"

#include <algorithm>
#include <cmath>

#include "rampart/gate_log/reasons.hpp"
#include "rampart/stats/confidence_bound.hpp"

namespace rampart::gate_log {
namespace {

using certification::GateConfig;

/// Returns the impact of the record; NaN: none is known.
double impact_of(const ope::LoggedFeedback& side, size_t i, const GateConfig& config) {
    const bool known = !side.decisions.granted(i) && config.declined_impact;
    return known ? *config.declined_impact : side.impact[i];
}

/// Returns the mean impact of the group in the whole log; NaN: none is known.
double mean_impact(const DecisionFile& log, size_t g, const GateConfig& config) {
    stats::Sum sum;
    size_t n = 0;
    for (const auto* side : {&log.development, &log.vault}) {
        for (const uint32_t i : side->decisions.groups[g].records) {
            const double impact = impact_of(*side, i, config);
            if (std::isnan(impact)) continue;
            sum.add(impact);
            ++n;
        }
    }
    return sum.value() / static_cast<double>(n);
}

ElfGroup test_group(const DecisionFile& log, size_t g, const GateConfig& config,
                    stats::BoundMethod bound) {
    const auto& d = log.vault.decisions;
    ElfGroup out;
    out.name = d.groups[g].name;
    out.records = d.groups[g].records.size();
    out.tau = mean_impact(log, g, config);
    std::vector<double> values;
    for (const uint32_t i : d.groups[g].records) {
        const double p = d.p_approve[i], pi = d.candidate[i];
        if (p > 0) out.largest_weight = std::max(out.largest_weight, pi / p);
        if (p < 1) out.largest_weight = std::max(out.largest_weight, (1 - pi) / (1 - p));
        double impact = impact_of(log.vault, i, config);
        if (std::isnan(impact)) {
            ++out.missing;
            impact = config.impact_lo;
        }
        values.push_back((d.approved[i] != 0 ? pi / p : (1 - pi) / (1 - p)) * impact - out.tau);
    }
    const auto sample = stats::moments(values);
    const stats::Range range{std::min(0.0, out.largest_weight * config.impact_lo) - out.tau,
                             std::max(0.0, out.largest_weight * config.impact_hi) - out.tau};
    out.estimate = sample.mean;
    out.lower = bound == stats::BoundMethod::kStudentT
                    ? stats::t_lower_bound(sample, config.delta_epoch)
                    : stats::hoeffding_lower_bound(sample, range, config.delta_epoch);
    out.passed = out.lower >= 0;
    return out;
}

}  // namespace

base::Result<ElfAnswer> elf_test(const DecisionFile& log, const GateConfig& config,
                                 stats::BoundMethod bound) {
    if (bound != stats::BoundMethod::kStudentT && bound != stats::BoundMethod::kHoeffding) {
        return base::make_error(Reason::kNotInElf, "bound: {}; the paper has student_t, hoeffding",
                                to_string(bound));
    }
    if (!log.vault.decisions.referred.empty() || !log.development.decisions.referred.empty())
        return base::make_error(Reason::kNotInElf, "the log has referrals, the paper two actions");
    ElfAnswer out;
    out.delta = config.delta_epoch;
    for (size_t g = 0; g < log.vault.decisions.groups.size(); ++g)
        out.groups.push_back(test_group(log, g, config, bound));
    out.passed = !out.groups.empty() && std::all_of(out.groups.begin(), out.groups.end(),
                                                    [](const ElfGroup& g) { return g.passed; });
    return out;
}

}  // namespace rampart::gate_log
