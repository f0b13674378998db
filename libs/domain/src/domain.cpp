#include <algorithm>
#include <cmath>
#include <set>

#include "rampart/base/digest.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/base/utf8.hpp"
#include "rampart/domain/application.hpp"
#include "rampart/domain/assignment.hpp"
#include "rampart/domain/decision.hpp"
#include "rampart/domain/erasure.hpp"
#include "rampart/domain/ids.hpp"
#include "rampart/domain/outcome.hpp"
#include "rampart/domain/override.hpp"
#include "rampart/domain/product.hpp"
#include "rampart/domain/reasons.hpp"
#include "rampart/domain/stopped_period.hpp"

namespace rampart::domain {

using base::make_error;
using base::Status;
namespace limits = base::limits;

Status check_id(std::string_view what, std::string_view id) {
    if (id.empty()) return make_error(Reason::kBadId, "{}: is empty", what);
    if (id.size() > limits::kMaxIdBytes) {
        return make_error(Reason::kBadIdLength, "{}: has {} bytes; at most {} are allowed", what,
                          id.size(), limits::kMaxIdBytes);
    }
    const auto allowed = [](char c) { return c > ' ' && c < 127 && c != '/' && c != '\\'; };
    if (!std::all_of(id.begin(), id.end(), allowed)) {
        return make_error(Reason::kBadId,
                          "{}: may hold printable ASCII other than space, '/' and '\\' only", what);
    }
    return base::ok();
}

DecisionId decision_id_of(const ApplicationId& application) {
    return DecisionId("d" +
                      base::sha256("rampart decision" + application.value()).hex().substr(0, 31));
}

namespace {

Status check_feature(const Feature& feature) {
    const auto& [name, value] = feature;
    if (name.empty() || name.size() > limits::kMaxNameBytes) {
        return make_error(base::Reason::kBadFeatureName, "a feature name has 1 to {} bytes, not {}",
                          limits::kMaxNameBytes, name.size());
    }
    if (!base::is_utf8(name))
        return make_error(base::Reason::kBadFeatureName, "a feature name is not UTF-8");
    if (const auto* number = std::get_if<double>(&value); number && !std::isfinite(*number)) {
        return make_error(base::Reason::kBadFeatureValue,
                          "feature '{}' is not a finite number; leave it out if it is missing",
                          name);
    }
    const auto* text = std::get_if<std::string>(&value);
    if (text != nullptr && text->size() > limits::kMaxTextBytes) {
        return make_error(Reason::kBadFeatureValue,
                          "feature '{}' has {} bytes; at most {} are allowed", name, text->size(),
                          limits::kMaxTextBytes);
    }
    if (text != nullptr && !base::is_utf8(*text)) {
        return make_error(base::Reason::kBadFeatureValue, "feature '{}' is not UTF-8", name);
    }
    return base::ok();
}

}  // namespace

Status validate(const Application& application) {
    RAMPART_RETURN_IF_ERROR(check_id("application_id", application.id.value()));
    RAMPART_RETURN_IF_ERROR(check_id("person_id", application.person.value()));
    RAMPART_RETURN_IF_ERROR(base::check_time("event_time", application.event_time));
    if (application.features.size() > limits::kMaxFeatures) {
        return make_error(Reason::kTooManyFeatures, "{} features; at most {} are allowed",
                          application.features.size(), limits::kMaxFeatures);
    }
    std::vector<std::string_view> names;
    names.reserve(application.features.size());
    size_t bytes = 0;
    for (const auto& feature : application.features) {
        RAMPART_RETURN_IF_ERROR(check_feature(feature));
        names.push_back(feature.name);
        const auto* text = std::get_if<std::string>(&feature.value);
        bytes += 16 + feature.name.size() + (text != nullptr ? text->size() : 0);
    }
    if (bytes > limits::kMaxApplicationBytes) {
        return make_error(Reason::kApplicationTooLarge,
                          "features of {} bytes in all; at most {} are allowed", bytes,
                          limits::kMaxApplicationBytes);
    }
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice == names.end()) return base::ok();
    return make_error(base::Reason::kDuplicateFeature, "feature '{}' is given twice", *twice);
}

std::string_view to_string(Action action) {
    return action == Action::kApprove ? "approve" : action == Action::kRefer ? "refer" : "decline";
}

Action drawn_action(double u, double p_approve, double p_refer) {
    if (u < p_approve) return Action::kApprove;
    return u < p_approve + p_refer ? Action::kRefer : Action::kDecline;
}

double probability_of(Action action, double p_approve, double p_refer) {
    if (action == Action::kApprove) return p_approve;
    return action == Action::kRefer ? p_refer : 1 - p_approve - p_refer;
}

namespace {

Status check_reasons(const Decision& d) {
    if (d.reasons.size() > limits::kMaxReasons) {
        return make_error(Reason::kTooManyReasons,
                          "decision {}: {} reasons; at most {} are allowed", d.id, d.reasons.size(),
                          limits::kMaxReasons);
    }
    for (const auto& reason : d.reasons) {
        if (reason.empty() || reason.size() > limits::kMaxReasonBytes || !base::is_utf8(reason)) {
            return make_error(Reason::kBadReason,
                              "decision {}: a reason is a UTF-8 text of 1 to {} bytes, this has {}",
                              d.id, limits::kMaxReasonBytes, reason.size());
        }
    }
    return base::ok();
}

/// Checks the window as far as that goes without the key, which the person's offset comes from.
Status check_window(const Decision& d) {
    if (!d.draw_window) return base::ok();
    const auto& [product, days, number] = *d.draw_window;
    RAMPART_RETURN_IF_ERROR(check_id("draw_window.product", product));
    if (days < 1 || days > kMaxCoolOffDays) {
        return make_error(Reason::kBadDraw, "decision {}: a cool-off of {} days is not 1 to {}",
                          d.id, days, kMaxCoolOffDays);
    }
    const int64_t first = window_number(d.decided_at, days, base::Duration());
    if (number != first && number != first + 1) {
        return make_error(Reason::kBadDraw,
                          "decision {}: window {} of {} days does not hold {}; {} or {} does", d.id,
                          number, days, base::to_iso8601(d.decided_at), first, first + 1);
    }
    return base::ok();
}

Status check_request_id(std::string_view id) {
    const auto allowed = [](char c) { return c > ' ' && c < 127; };
    if (id.size() <= limits::kMaxIdBytes && std::all_of(id.begin(), id.end(), allowed))
        return base::ok();
    return make_error(Reason::kBadId,
                      "request_id: has {} bytes; up to {} of printable ASCII other than space are "
                      "allowed",
                      id.size(), limits::kMaxIdBytes);
}

Status check_arm(const Decision& d) {
    if (!d.arm) return base::ok();
    RAMPART_RETURN_IF_ERROR(check_id("arm.assignment", d.arm->assignment));
    RAMPART_RETURN_IF_ERROR(check_id("arm.key_id", d.arm->key_id));
    if (d.arm->number >= kMaxArms || !(d.arm->draw >= 0 && d.arm->draw < 1)) {
        return make_error(Reason::kBadArm,
                          "decision {}: arm {} with draw {}; arms are 0 to {}, a draw is in [0, 1)",
                          d.id, d.arm->number, d.arm->draw, kMaxArms - 1);
    }
    return base::ok();
}

Status check_probabilities(const Decision& d) {
    const auto probability = [](double p) { return p >= 0 && p <= 1; };  // false for NaN
    if (!probability(d.score) || !probability(d.p_exploit) || !probability(d.p_approve)) {
        return make_error(base::Reason::kBadProbability,
                          "decision {}: score {}, p_exploit {} and p_approve {} must lie in [0, 1]",
                          d.id, d.score, d.p_exploit, d.p_approve);
    }
    if (!probability(d.p_refer) || d.p_refer > 1 - d.p_approve) {
        return make_error(base::Reason::kBadProbability,
                          "decision {}: p_refer {} must lie in [0, 1 - p_approve], p_approve is {}",
                          d.id, d.p_refer, d.p_approve);
    }
    if (!(d.propensity > 0 && d.propensity <= 1)) {
        return make_error(base::Reason::kBadPropensity,
                          "decision {}: propensity {} is not in (0, 1]", d.id, d.propensity);
    }
    if (d.exploration_spent && d.p_approve != d.p_exploit) {
        return make_error(base::Reason::kBadProbability,
                          "decision {}: p_approve {} is not p_exploit {}, although the day's "
                          "exploration is spent",
                          d.id, d.p_approve, d.p_exploit);
    }
    return base::ok();
}

}  // namespace

int64_t window_number(base::TimePoint time, int cool_off_days, base::Duration offset) {
    const int64_t length = base::Duration::days(cool_off_days).micros();
    const int64_t shifted = time.micros() + offset.micros();
    return shifted / length - (shifted % length < 0 ? 1 : 0);
}

Status validate(const Decision& d) {
    RAMPART_RETURN_IF_ERROR(check_id("decision_id", d.id.value()));
    RAMPART_RETURN_IF_ERROR(validate(d.application));
    RAMPART_RETURN_IF_ERROR(base::check_time("decided_at", d.decided_at));
    RAMPART_RETURN_IF_ERROR(check_id("policy_id", d.policy.value()));
    RAMPART_RETURN_IF_ERROR(check_id("draw_key_id", d.draw_key_id));
    RAMPART_RETURN_IF_ERROR(check_window(d));
    RAMPART_RETURN_IF_ERROR(check_reasons(d));
    RAMPART_RETURN_IF_ERROR(check_request_id(d.request_id));
    RAMPART_RETURN_IF_ERROR(check_arm(d));
    RAMPART_RETURN_IF_ERROR(check_probabilities(d));
    if (!(d.draw >= 0 && d.draw < 1) || d.action != drawn_action(d.draw, d.p_approve, d.p_refer)) {
        return make_error(Reason::kBadDraw,
                          "decision {}: draw {}, p_approve {} and p_refer {} do not give '{}'",
                          d.id, d.draw, d.p_approve, d.p_refer, to_string(d.action));
    }
    if (d.propensity != probability_of(d.action, d.p_approve, d.p_refer)) {
        return make_error(base::Reason::kBadPropensity,
                          "decision {}: propensity {} is not the probability of '{}'", d.id,
                          d.propensity, to_string(d.action));
    }
    return base::ok();
}

Status validate(const Outcome& outcome) {
    RAMPART_RETURN_IF_ERROR(check_id("decision_id", outcome.decision.value()));
    RAMPART_RETURN_IF_ERROR(check_id("measure", outcome.measure));
    RAMPART_RETURN_IF_ERROR(base::check_time("observed_at", outcome.observed_at));
    if (!std::isfinite(outcome.value)) {
        return make_error(Reason::kBadOutcomeValue,
                          "measure '{}': the value is not a finite number", outcome.measure);
    }
    if (outcome.censored && outcome.value != 0) {
        return make_error(Reason::kCensoredWithValue,
                          "measure '{}': a censored outcome has no value, not {}; leave "
                          "one of the two out",
                          outcome.measure, outcome.value);
    }
    return base::ok();
}

Status validate(const Override& taken) {
    RAMPART_RETURN_IF_ERROR(check_id("decision_id", taken.decision.value()));
    RAMPART_RETURN_IF_ERROR(check_id("actor", taken.actor));
    RAMPART_RETURN_IF_ERROR(base::check_time("at", taken.at));
    return check_id("reason", taken.reason);
}

Status validate(const Erasure& erasure) {
    RAMPART_RETURN_IF_ERROR(check_id("decision_id", erasure.decision.value()));
    return base::check_time("at", erasure.at);
}

const Measure* Product::find_measure(std::string_view wanted) const {
    if (label.name == wanted) return &label;
    const auto it = std::find_if(measures.begin(), measures.end(),
                                 [&](const Measure& m) { return m.name == wanted; });
    return it == measures.end() ? nullptr : &*it;
}

std::vector<Measure> Product::all_measures() const {
    std::vector<Measure> all{label};
    all.insert(all.end(), measures.begin(), measures.end());
    return all;
}

namespace {

Status validate(const Measure& measure) {
    RAMPART_RETURN_IF_ERROR(check_id("measure name", measure.name));
    if (!(measure.lo < measure.hi) || !std::isfinite(measure.lo) || !std::isfinite(measure.hi)) {
        return make_error(base::Reason::kBadRange,
                          "measure '{}': range [{}, {}] must be finite with lo < hi", measure.name,
                          measure.lo, measure.hi);
    }
    if (measure.horizon_months < 1 || measure.horizon_months > 600) {
        return make_error(Reason::kBadHorizon, "measure '{}': horizon_months {} is not in 1 to 600",
                          measure.name, measure.horizon_months);
    }
    if (measure.grace.micros() < 0) {
        return make_error(Reason::kBadGrace, "measure '{}': grace is negative", measure.name);
    }
    return base::ok();
}

Status validate(const Impact& impact) {
    if (!(impact.lo < impact.hi) || !std::isfinite(impact.lo) || !std::isfinite(impact.hi)) {
        return make_error(base::Reason::kBadRange,
                          "impact: range [{}, {}] must be finite with lo < hi", impact.lo,
                          impact.hi);
    }
    for (const auto& [name, value] : {std::pair{"favourable", impact.favourable},
                                      {"unfavourable", impact.unfavourable},
                                      {"declined", impact.declined}}) {
        if (!(value >= impact.lo && value <= impact.hi)) {
            return make_error(Reason::kImpactOutsideRange,
                              "impact: {} = {} is outside the declared range [{}, {}]", name, value,
                              impact.lo, impact.hi);
        }
    }
    return base::ok();
}

}  // namespace

Status validate(const Product& product) {
    RAMPART_RETURN_IF_ERROR(check_id("product name", product.name));
    std::set<std::string> names;
    for (const auto& measure : product.all_measures()) {
        RAMPART_RETURN_IF_ERROR(validate(measure));
        if (!names.insert(measure.name).second) {
            return make_error(Reason::kDuplicateMeasure, "measure '{}' is declared twice",
                              measure.name);
        }
    }
    if (product.label.lo != 0 || product.label.hi != 1) {
        return make_error(base::Reason::kBadRange, "label '{}': a label's range is [0, 1]",
                          product.label.name);
    }
    if (product.impact.measure) {
        const Measure* measure = product.find_measure(*product.impact.measure);
        if (measure == nullptr) {
            return make_error(Reason::kUnknownMeasure, "impact: measure '{}' is not declared",
                              *product.impact.measure);
        }
        if (measure->lo < product.impact.lo || measure->hi > product.impact.hi) {
            return make_error(Reason::kImpactOutsideRange,
                              "impact: the range of measure '{}' is not inside [{}, {}]",
                              measure->name, product.impact.lo, product.impact.hi);
        }
    }
    return validate(product.impact);
}

Status check_outcome(const Product& product, const Outcome& outcome) {
    RAMPART_RETURN_IF_ERROR(validate(outcome));
    const Measure* measure = product.find_measure(outcome.measure);
    if (measure == nullptr) {
        return make_error(Reason::kUnknownMeasure, "measure '{}' is not declared by product '{}'",
                          outcome.measure, product.name);
    }
    if (outcome.censored) return base::ok();
    if (outcome.value < measure->lo || outcome.value > measure->hi) {
        return make_error(Reason::kOutcomeOutsideRange,
                          "measure '{}': value {} is outside its declared range [{}, {}]",
                          measure->name, outcome.value, measure->lo, measure->hi);
    }
    if (measure == &product.label && outcome.value != 0 && outcome.value != 1) {
        return make_error(base::Reason::kBadLabel, "label '{}' is 0 or 1, not {}", measure->name,
                          outcome.value);
    }
    return base::ok();
}

Status validate(const Assignment& assignment) {
    RAMPART_RETURN_IF_ERROR(check_id("assignment", assignment.id));
    RAMPART_RETURN_IF_ERROR(base::check_time("from", assignment.from));
    const auto& arms = assignment.arms;
    if (arms.size() < 2 || arms.size() > kMaxArms) {
        return make_error(Reason::kBadAssignment, "assignment {}: {} arms; 2 to {} are allowed",
                          assignment.id, arms.size(), kMaxArms);
    }
    std::set<PolicyId> policies;
    double sum = 0;
    for (const auto& [policy, share] : arms) {
        RAMPART_RETURN_IF_ERROR(check_id("arms.policy", policy.value()));
        if (!(share > 0 && share < 1)) {
            return make_error(Reason::kBadAssignment,
                              "assignment {}: the share of {} is {}, not between 0 and 1",
                              assignment.id, policy, share);
        }
        if (!policies.insert(policy).second) {
            return make_error(Reason::kBadAssignment, "assignment {}: {} has two arms",
                              assignment.id, policy);
        }
        sum += share;
    }
    if (!(std::abs(sum - 1) <= kShareTolerance)) {
        return make_error(Reason::kBadAssignment, "assignment {}: the shares sum to {}, not to 1",
                          assignment.id, sum);
    }
    return base::ok();
}

std::string_view to_string(StopKind kind) {
    switch (kind) {
        case StopKind::kExplorationOff:
            return "exploration_off";
        case StopKind::kRulesOnly:
            return "rules_only";
        case StopKind::kReferAll:
            return "refer_all";
    }
    return "unknown";
}

std::optional<StopKind> stop_kind_of(std::string_view name) {
    for (const StopKind kind : kStopKinds) {
        if (to_string(kind) == name) return kind;
    }
    return std::nullopt;
}

bool is_stopped(std::span<const StoppedPeriod> periods, base::TimePoint decided_at) {
    return std::any_of(periods.begin(), periods.end(), [&](const StoppedPeriod& period) {
        return period.from <= decided_at && (!period.to || decided_at < *period.to);
    });
}

std::optional<double> impact_of_approval(const Impact& impact, std::optional<double> label,
                                         std::optional<double> measured) {
    if (impact.measure) return measured;
    if (!label) return std::nullopt;
    return *label == 1 ? impact.favourable : impact.unfavourable;
}

}  // namespace rampart::domain
