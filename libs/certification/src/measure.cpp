#include "measure.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "members.hpp"
#include "rampart/base/bytes.hpp"
#include "rampart/base/check.hpp"

namespace rampart::certification {
namespace {

using ope::LoggedDecisions;

/// Rounding in the policy that clips to the trust region.
constexpr double kTrustTolerance = 1e-9;

template <class... Args>
PublicResult refused(std::string_view reason, fmt::format_string<Args...> format, Args&&... args) {
    return {Verdict::kRefused, std::string(reason),
            fmt::format(format, std::forward<Args>(args)...)};
}

ope::Record record_at(const LoggedDecisions& d, size_t i) {
    return {d.p_approve[i], d.approved[i] != 0, d.candidate[i],
            d.reference[i], std::nullopt,       d.is_overridden(i)};
}

/// What kappa is a multiple of.
double trust_unit(const GateConfig& config, const LoggedDecisions& d, size_t i) {
    const double s = d.reference[i];
    return config.trust_region == TrustRegion::kApprovals ? s : std::min(s, 1 - s);
}

double trust_ratio(const GateConfig& config, const LoggedDecisions& d, size_t i) {
    const double change = std::abs(d.candidate[i] - d.reference[i]);
    return change / std::max(trust_unit(config, d, i), kTrustTolerance);
}

/// Where the logged propensities do not fit the draws; empty if they fit everywhere.
std::string uncalibrated(const RunPlan& plan) {
    const auto fits = [&](double z) { return std::abs(z) <= plan.config.max_calibration_z; };
    if (!fits(plan.calibration_z)) return "over all records";
    for (size_t l = 0; l < plan.logger_ids.size(); ++l) {
        if (!fits(plan.logger_calibration[l])) return "for the policy " + plan.logger_ids[l];
    }
    for (const GroupPlan& group : plan.groups) {
        if (!fits(group.weights.calibration_z)) return "in group " + group.name;
    }
    return "";
}

std::vector<uint32_t> all_records(const LoggedDecisions& d) {
    std::vector<uint32_t> records(d.size());
    for (uint32_t i = 0; i < records.size(); ++i) records[i] = i;
    return records;
}

}  // namespace

ope::ImpactModel impact_model(const GateConfig& config, const GroupPlan& group) {
    return {.lo = config.impact_lo,
            .hi = config.impact_hi,
            .q_approve = group.q_approve,
            .q_decline = group.q_decline,
            .declined = config.declined_impact,
            .declines_overridden = config.declines_overridden,
            .absolute = config.at_least,
            .max_weight = config.max_weight};
}

void measure_group(const GateConfig& config, const LoggedDecisions& vault,
                   const ope::Group& records, GroupPlan& group) {
    group.name = records.name;
    group.expected = group.missing = group.overridden = 0;
    group.max_trust_ratio = 0;
    for (const uint32_t i : records.records) {
        if (outcome_expected(config, vault, i)) {
            ++group.expected;
            group.missing += vault.has_impact[i] == 0;
        }
        group.overridden += vault.is_overridden(i);
        group.max_trust_ratio = std::max(group.max_trust_ratio, trust_ratio(config, vault, i));
    }
    const ope::UnitMap units = ope::map_units(vault, records.records);
    const ope::GroupDesign design = ope::design_group(vault, records.records, units,
                                                      impact_model(config, group), config.margin);
    group.records = design.records;
    group.units = design.units;
    group.lo = design.lo;
    group.hi = design.hi;
    group.weights = ope::diagnose(vault, records.records);
}

void measure_log(const LoggedDecisions& vault, RunPlan& plan) {
    plan.logger_ids = vault.logger_ids;
    plan.calibration_z = ope::calibration_z(vault, all_records(vault));
    std::vector<std::vector<uint32_t>> by_logger(vault.logger_ids.size());
    for (uint32_t i = 0; i < vault.size(); ++i) by_logger[vault.logger[i]].push_back(i);
    plan.logger_calibration.clear();
    for (const auto& records : by_logger) {
        plan.logger_calibration.push_back(ope::calibration_z(vault, records));
    }
}

std::optional<PublicResult> find_override_fault(const GateConfig& config,
                                                const LoggedDecisions& decisions) {
    if (!config.declined_impact || config.declines_overridden) return std::nullopt;
    const auto granted = std::count_if(decisions.overridden.begin(), decisions.overridden.end(),
                                       [&](uint32_t i) { return decisions.approved[i] == 0; });
    if (granted == 0) return std::nullopt;
    return refused("declines_overridden",
                   "people granted {} applications that were drawn as declines, so a decline's "
                   "impact is not {} for sure: set gate.declines_overridden = true, which counts "
                   "what became of these people for the draw",
                   granted, *config.declined_impact);
}

std::optional<PublicResult> find_record_fault(const GateConfig& config,
                                              const LoggedDecisions& vault) {
    if (vault.candidate == vault.reference) {
        return PublicResult{
            Verdict::kIdentical, "identical",
            "candidate and reference decide every vault record alike: there is nothing "
            "to certify"};
    }
    if (auto fault = find_override_fault(config, vault)) return fault;
    const ope::ImpactModel model = impact_model(config, {});
    size_t unsupported = 0, outside = 0;
    for (size_t i = 0; i < vault.size(); ++i) {
        unsupported += !ope::has_support(record_at(vault, i), model);
        const double room = config.kappa * trust_unit(config, vault, i) + kTrustTolerance;
        outside += std::abs(vault.candidate[i] - vault.reference[i]) > room;
    }
    if (unsupported > 0) {
        return refused(
            "no_support",
            "on {} records the candidate differs from the reference where the "
            "logging policy never took the action that matters: keep an exploration floor, "
            "or a candidate that changes nothing there",
            unsupported);
    }
    if (outside > 0) {
        return refused("outside_trust_region",
                       "on {} records the candidate is further from the "
                       "reference s than {}: clip it to the trust region",
                       outside, trust_region_text(config));
    }
    for (const ope::Group& group : vault.groups) {
        const bool changed =
            std::any_of(group.records.begin(), group.records.end(),
                        [&](uint32_t i) { return vault.candidate[i] != vault.reference[i]; });
        if (!changed && !config.at_least && !group.records.empty()) {
            return refused("group_unchanged",
                           "group {}: the candidate changes nothing on its vault "
                           "records, so nothing can be certified there",
                           group.name);
        }
    }
    return std::nullopt;
}

std::optional<PublicResult> find_figure_fault(const RunPlan& plan) {
    const GateConfig& config = plan.config;
    for (const GroupPlan& group : plan.groups) {
        if (group.units < config.min_units) {
            return refused("too_few_units",
                           "group {}: {} persons in the vault, {} are needed: wait for "
                           "more to mature",
                           group.name, group.units, config.min_units);
        }
        const double allowed = config.max_missing_rate * static_cast<double>(group.expected);
        if (static_cast<double>(group.missing) > allowed) {
            return refused("too_many_missing",
                           "group {}: more than a share of {} of the outcomes that "
                           "should have matured are missing: find out why before testing",
                           group.name, config.max_missing_rate);
        }
    }
    const std::string where = uncalibrated(plan);
    if (where.empty()) return std::nullopt;
    // where, but not by how much: the figure depends on the vault's draws
    return refused(
        "propensities_do_not_fit",
        "the approvals drawn do not agree with the logged "
        "probabilities (|z| above {} {}): the log is wrong, or what people did instead was "
        "written over the draws and not reported as overrides",
        config.max_calibration_z, where);
}

base::Result<stats::Bets> plan_group_bets(const RunPlan& plan, const GroupPlan& group) {
    return stats::plan_bets({group.units, group.plan_variance}, group.lo, plan.delta,
                            {.cap = plan.config.bet_cap});
}

base::Status check_impacts(const GateConfig& config, const LoggedDecisions& decisions,
                           const std::vector<double>& impact) {
    RAMPART_RETURN_IF_ERROR(ope::validate_impacts(decisions, impact));
    for (size_t i = 0; i < impact.size(); ++i) {
        if (decisions.has_impact[i] == 0 || !outcome_expected(config, decisions, i)) continue;
        if (!(impact[i] >= config.impact_lo && impact[i] <= config.impact_hi)) {
            return base::invalid_argument(
                "impact_out_of_range",
                "record {}: its impact lies outside the declared range [{}, {}]; "
                "clip it as the metric's definition says",
                decisions.record_id[i], config.impact_lo, config.impact_hi);
        }
    }
    return base::ok();
}

namespace {

/// Of a unit's value, by a bound that has no wealth.
double lower_bound(const RunPlan& plan, const GroupPlan& group, const stats::Moments& sample) {
    switch (plan.config.bound) {
        case Bound::kStudentT:
            return stats::t_lower_bound(sample, plan.delta);
        case Bound::kHoeffding:
            return stats::hoeffding_lower_bound(sample, {group.lo, group.hi}, plan.delta);
        case Bound::kMaurerPontil:
            return stats::maurer_pontil_lower_bound(sample, {group.lo, group.hi}, plan.delta);
        case Bound::kBetting:
            break;
    }
    RAMPART_CHECK(false, "bound {}", static_cast<int>(plan.config.bound));
}

}  // namespace

SealedResult evaluate(const RunPlan& plan, const LoggedDecisions& vault,
                      std::span<const double> impact) {
    SealedResult result;
    bool all = !plan.groups.empty();
    const double needed = -std::log(plan.delta);
    for (size_t g = 0; g < plan.groups.size(); ++g) {
        const GroupPlan& group = plan.groups[g];
        const auto& records = vault.groups[g].records;
        const ope::GroupDesign design{group.records, group.units, group.lo, group.hi};
        const std::vector<double> values =
            ope::unit_values(vault, records, ope::map_units(vault, records), impact,
                             impact_model(plan.config, group), plan.config.margin);
        GroupResult out{.name = group.name, .bound = {}, .passed = false};
        out.bound = ope::bound_value(values, design, group.bets, plan.delta, plan.config.margin);
        const bool varied = out.bound.sample.n >= 2 && out.bound.sample.variance > 0 &&
                            std::isfinite(out.bound.sample.variance);
        const bool clears = plan.config.bound == Bound::kBetting
                                ? out.bound.log_wealth >= needed
                                : lower_bound(plan, group, out.bound.sample) > 0;
        out.passed = varied && clears;
        all = all && out.passed;
        result.groups.push_back(std::move(out));
    }
    result.verdict = all ? Verdict::kCertified : Verdict::kNoSolutionFound;
    return result;
}

base::Digest digest_of(const LoggedDecisions& d, std::span<const double> impact) {
    base::Sha256 hash;
    std::string bytes;
    const auto flush = [&] {
        hash.update(bytes);
        bytes.clear();
    };
    base::append_u64(bytes, d.size());
    for (const std::string& id : d.logger_ids) base::append_field(bytes, id);
    flush();
    for (size_t i = 0; i < d.size(); ++i) {
        base::append_field(bytes, d.record_id[i]);
        base::append_field(bytes, d.unit_id[i]);
        base::append_u32(bytes, d.logger[i]);
        base::append_f64(bytes, d.p_approve[i] + 0.0);  // + 0.0: one zero, not two
        base::append_f64(bytes, d.candidate[i] + 0.0);
        base::append_f64(bytes, d.reference[i] + 0.0);
        base::append_u8(bytes, static_cast<uint8_t>((d.is_overridden(i) ? 4 : 0) |
                                                    d.approved[i] << 1 | d.has_impact[i]));
        if (!impact.empty() && d.has_impact[i] != 0) base::append_f64(bytes, impact[i] + 0.0);
        flush();
    }
    for (const ope::Group& group : d.groups) {
        base::append_field(bytes, group.name);
        base::append_u64(bytes, group.records.size());
        for (const uint32_t i : group.records) base::append_u32(bytes, i);
        flush();
    }
    return hash.finish();
}

base::Digest digest_of(const RunPlan& plan) { return base::sha256(JsonWriter::write(plan)); }

}  // namespace rampart::certification
