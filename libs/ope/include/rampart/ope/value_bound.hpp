#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/ope/estimator.hpp"
#include "rampart/ope/logged_feedback.hpp"
#include "rampart/stats/betting.hpp"
#include "rampart/stats/betting_sample.hpp"
#include "rampart/stats/confidence_bound.hpp"

namespace rampart::ope {

/// The independent units (persons) of a group of records.
struct UnitMap {
    std::vector<uint32_t> unit_of;  // unit number of each record, by first appearance
    size_t units = 0;
};
UnitMap map_units(const LoggedDecisions& decisions, std::span<const uint32_t> records);

/// Properties of a group's test values that are known before an impact is read. A unit's value is
/// the sum over its records of Z + margin; its range is the sum of their ranges.
struct GroupDesign {
    size_t records = 0, units = 0;
    double lo = 0, hi = 0;  // smallest and largest possible value of a unit
};
GroupDesign design_group(const LoggedDecisions& decisions, std::span<const uint32_t> records,
                         const UnitMap& units, const ImpactModel& model, double margin);

/// Returns a decision in the form of an estimate's input, without an impact.
Record record_at(const LoggedDecisions& decisions, size_t i, bool against_anchor = false);

/// Returns the units' values, in order of first appearance. `impact` is indexed like the decisions.
/// against_anchor: compare the candidate with the anchor, not with the reference.
std::vector<double> unit_values(const LoggedDecisions& decisions, std::span<const uint32_t> records,
                                const UnitMap& units, std::span<const double> impact,
                                const ImpactModel& model, double margin,
                                bool against_anchor = false);

/// Estimate and bounds of a group. Lower bounds and mean are of the gain PER RECORD, with the
/// margin subtracted, in the units of the impact; log_wealth is against "gain at most -margin";
/// certify iff it reaches ln(1/delta).
struct ValueBound {
    stats::Moments sample;     // over the units' values, margin included
    double mean_gain = 0;      // per record
    double log_wealth = 0;     // betting, at theta = 0 of the units' values
    double lower_betting = 0;  // per record
    double lower_t = 0;        // per record; indicative: invalid if harm is rare and severe
    double lower_hoeffding = 0;
    double lower_maurer_pontil = 0;
};
ValueBound bound_value(const stats::BettingSample& unit_values, const GroupDesign& design,
                       double delta, double margin);

}  // namespace rampart::ope
