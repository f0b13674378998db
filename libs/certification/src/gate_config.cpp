#include "rampart/certification/gate_config.hpp"

#include <cmath>

#include "rampart/base/check.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/certification/constraint_set.hpp"
#include "rampart/certification/reasons.hpp"

namespace rampart::certification {
namespace {

using base::make_error;

template <class T>
base::Status require(bool fits, std::string_view setting, const T& value,
                     std::string_view allowed) {
    if (fits) return base::ok();
    return make_error(Reason::kBadGateConfig, "{} = {}: must {}", setting, value, allowed);
}

base::Status check_impact(const GateConfig& c) {
    RAMPART_RETURN_IF_ERROR(
        require(std::isfinite(c.impact_lo), "impact_lo", c.impact_lo, "be finite"));
    RAMPART_RETURN_IF_ERROR(require(std::isfinite(c.impact_hi) && c.impact_hi > c.impact_lo &&
                                        std::isfinite(c.impact_hi - c.impact_lo),
                                    "impact_hi", c.impact_hi, "be finite and above impact_lo"));
    const double declined = c.declined_impact.value_or(c.impact_lo);
    RAMPART_RETURN_IF_ERROR(require(declined >= c.impact_lo && declined <= c.impact_hi,
                                    "declined_impact", declined, "lie in [impact_lo, impact_hi]"));
    const double at_least = c.at_least.value_or(c.impact_lo);
    RAMPART_RETURN_IF_ERROR(require(at_least >= c.impact_lo && at_least <= c.impact_hi, "at_least",
                                    at_least, "lie in [impact_lo, impact_hi]"));
    const double max_weight = c.max_weight.value_or(1);
    RAMPART_RETURN_IF_ERROR(require(max_weight >= 1 && max_weight <= 1000, "max_weight", max_weight,
                                    "lie in [1, 1000]"));
    RAMPART_RETURN_IF_ERROR(require(std::isfinite(c.margin), "margin", c.margin, "be finite"));
    return require(c.impact_units.size() <= base::limits::kMaxNameBytes, "impact_units",
                   c.impact_units, "be short");
}

}  // namespace

std::string_view to_string(ControlVariateKind kind) {
    switch (kind) {
        case ControlVariateKind::kPerAction:
            return "per_action";
        case ControlVariateKind::kSingle:
            return "single";
        case ControlVariateKind::kNone:
            return "none";
        case ControlVariateKind::kBest:
            return "best";
        case ControlVariateKind::kRegression:
            return "regression";
    }
    RAMPART_CHECK(false, "centres {}", static_cast<int>(kind));
}

std::string_view to_string(Spending spending) {
    switch (spending) {
        case Spending::kEqual:
            return "equal";
        case Spending::kByHistory:
            return "by_history";
    }
    RAMPART_CHECK(false, "spending {}", static_cast<int>(spending));
}

std::string_view to_string(Against against) {
    return against == Against::kReference ? "reference" : "anchor";
}

std::string_view to_string(TrustRegion region) {
    switch (region) {
        case TrustRegion::kBothActions:
            return "both_actions";
        case TrustRegion::kApprovals:
            return "approvals";
    }
    RAMPART_CHECK(false, "trust region {}", static_cast<int>(region));
}

std::string trust_region_text(const GateConfig& c) {
    return fmt::format("{} {}", c.kappa,
                       c.trust_region == TrustRegion::kApprovals ? "s" : "min(s, 1 - s)");
}

namespace {

base::Status check_trust_region(const GateConfig& c) {
    if (c.trust_region == TrustRegion::kBothActions) {
        return require(c.kappa > 0 && c.kappa <= 1, "kappa", c.kappa, "lie in (0, 1]");
    }
    RAMPART_RETURN_IF_ERROR(require(c.declined_impact.has_value(), "trust_region",
                                    to_string(c.trust_region),
                                    "be both_actions unless declined_impact is declared"));
    return require(c.kappa > 0 && c.kappa <= 10, "kappa", c.kappa, "lie in (0, 10]");
}

}  // namespace

base::Status validate(const GateConfig& c) {
    RAMPART_RETURN_IF_ERROR(require(c.delta_epoch > 0 && c.delta_epoch <= 0.5, "delta_epoch",
                                    c.delta_epoch, "lie in (0, 0.5]"));
    RAMPART_RETURN_IF_ERROR(require(c.runs_per_epoch >= 1 && c.runs_per_epoch <= 1000,
                                    "runs_per_epoch", c.runs_per_epoch, "lie in [1, 1000]"));
    RAMPART_RETURN_IF_ERROR(
        require(c.bet_cap > 0 && c.bet_cap < 1, "bet_cap", c.bet_cap, "lie in (0, 1)"));
    RAMPART_RETURN_IF_ERROR(check_trust_region(c));
    RAMPART_RETURN_IF_ERROR(require(c.records_per_person <= 1000, "records_per_person",
                                    c.records_per_person, "be 1000 or less"));
    RAMPART_RETURN_IF_ERROR(require(!c.referrals || c.records_per_person > 0, "referrals",
                                    c.referrals, "be false without records_per_person"));
    RAMPART_RETURN_IF_ERROR(require(c.valid_months <= kMaxValidMonths, "valid_months",
                                    c.valid_months, "be 60 or less"));
    RAMPART_RETURN_IF_ERROR(require(c.min_units >= 2, "min_units", c.min_units, "be 2 or more"));
    RAMPART_RETURN_IF_ERROR(
        require(c.min_outcomes >= 2, "min_outcomes", c.min_outcomes, "be 2 or more"));
    RAMPART_RETURN_IF_ERROR(
        require(c.min_power >= 0 && c.min_power <= 1, "min_power", c.min_power, "lie in [0, 1]"));
    RAMPART_RETURN_IF_ERROR(require(c.max_missing_rate >= 0 && c.max_missing_rate <= 1,
                                    "max_missing_rate", c.max_missing_rate, "lie in [0, 1]"));
    RAMPART_RETURN_IF_ERROR(require(c.calibration_level > 0 && c.calibration_level <= 0.5,
                                    "calibration_level", c.calibration_level, "lie in (0, 0.5]"));
    const double z = c.max_calibration_z.value_or(1);
    RAMPART_RETURN_IF_ERROR(
        require(z > 0 && std::isfinite(z), "max_calibration_z", z, "be positive"));
    RAMPART_RETURN_IF_ERROR(require(!c.max_calibration_z || c.records_per_person == 0,
                                    "max_calibration_z", z,
                                    "be left out with records_per_person: give calibration_level"));
    const double drift = c.max_drift_auc.value_or(0.5);
    RAMPART_RETURN_IF_ERROR(
        require(drift >= 0.5 && drift <= 1, "max_drift_auc", drift, "lie in [0.5, 1]"));
    const double gamma = c.missing_gamma.value_or(0);
    RAMPART_RETURN_IF_ERROR(
        require(gamma >= 0 && std::isfinite(gamma), "missing_gamma", gamma, "be 0 or more"));
    RAMPART_RETURN_IF_ERROR(check_impact(c));
    return ConstraintSet::compile(c).map([](const ConstraintSet&) {});
}

}  // namespace rampart::certification
