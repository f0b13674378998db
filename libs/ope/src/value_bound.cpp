#include "rampart/ope/value_bound.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_map>

namespace rampart::ope {
namespace {

/// Converts a bound per unit to one per record. The number of records is known before the test, so
/// this is exact; the margin, which every record's value contains, is subtracted again.
double per_record(double unit_bound, const GroupDesign& design, double margin) {
    return unit_bound * static_cast<double>(design.units) / static_cast<double>(design.records) -
           margin;
}

}  // namespace

Record record_at(const LoggedDecisions& d, size_t i, bool against_anchor) {
    Record out{d.p_approve[i], d.approved[i] != 0,
               d.candidate[i], against_anchor ? d.anchor[i] : d.reference[i],
               std::nullopt,   d.is_overridden(i)};
    if (!d.control_variates.empty()) out.control_variates = d.control_variates[i];
    if (d.referred.empty()) return out;
    out.p_refer = d.p_refer[i];
    out.candidate_refer = d.candidate_refer[i];
    out.reference_refer = against_anchor ? d.anchor_refer[i] : d.reference_refer[i];
    out.referral = d.referral(i);
    return out;
}

UnitMap map_units(const LoggedDecisions& decisions, std::span<const uint32_t> records) {
    UnitMap map;
    map.unit_of.reserve(records.size());
    std::unordered_map<std::string_view, uint32_t> numbers;
    numbers.reserve(records.size());
    for (const uint32_t i : records) {
        const auto next = static_cast<uint32_t>(numbers.size());
        map.unit_of.push_back(numbers.try_emplace(decisions.unit_id[i], next).first->second);
    }
    map.units = numbers.size();
    return map;
}

GroupDesign design_group(const LoggedDecisions& decisions, std::span<const uint32_t> records,
                         const UnitMap& units, const ImpactModel& model, double margin) {
    std::vector<double> lo(units.units, 0), hi(units.units, 0);
    for (size_t k = 0; k < records.size(); ++k) {
        const Interval range = change_range(record_at(decisions, records[k]), model);
        lo[units.unit_of[k]] += range.lo + margin;
        hi[units.unit_of[k]] += range.hi + margin;
    }
    GroupDesign design{.records = records.size(), .units = units.units};
    // a smaller lower end is always valid, and bets need one below zero
    design.lo = -1e-9 * (model.hi - model.lo);
    design.hi = 0;
    for (const double x : lo) design.lo = std::min(design.lo, x);
    for (const double x : hi) design.hi = std::max(design.hi, x);
    return design;
}

std::vector<double> unit_values(const LoggedDecisions& decisions, std::span<const uint32_t> records,
                                const UnitMap& units, std::span<const double> impact,
                                const ImpactModel& model, double margin, bool against_anchor) {
    std::vector<double> values(units.units, 0);
    for (size_t k = 0; k < records.size(); ++k) {
        const uint32_t i = records[k];
        Record record = record_at(decisions, i, against_anchor);
        if (decisions.has_impact[i] != 0) record.impact = impact[i];
        values[units.unit_of[k]] += impact_change(record, model) + margin;
    }
    return values;
}

ValueBound bound_value(const stats::BettingSample& unit_values, const GroupDesign& design,
                       double delta, double margin) {
    ValueBound out;
    out.sample = unit_values.moments();
    const stats::Range range{design.lo, design.hi};
    out.mean_gain = per_record(out.sample.mean, design, margin);
    out.log_wealth = unit_values.log_wealth();
    out.lower_betting = per_record(unit_values.lower_bound(delta), design, margin);
    out.lower_t = per_record(stats::t_lower_bound(out.sample, delta), design, margin);
    out.lower_hoeffding =
        per_record(stats::hoeffding_lower_bound(out.sample, range, delta), design, margin);
    out.lower_maurer_pontil =
        per_record(stats::maurer_pontil_lower_bound(out.sample, range, delta), design, margin);
    return out;
}

}  // namespace rampart::ope
