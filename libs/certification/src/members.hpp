#pragma once

#include "json_archive.hpp"
#include "rampart/certification/certificate_file.hpp"

/// The members of every record that a ledger or a certificate stores, in their canonical order.
namespace rampart::certification {

template <>
struct EnumValues<Verdict> {
    static constexpr Verdict kAll[] = {Verdict::kCertified, Verdict::kNoSolutionFound,
                                       Verdict::kRefused, Verdict::kIdentical};
};
template <>
struct EnumValues<stats::BoundMethod> {
    static constexpr stats::BoundMethod kAll[] = {
        stats::BoundMethod::kBetting, stats::BoundMethod::kStudentT, stats::BoundMethod::kHoeffding,
        stats::BoundMethod::kMaurerPontil};
};
template <>
struct EnumValues<ControlVariateKind> {
    static constexpr ControlVariateKind kAll[] = {
        ControlVariateKind::kPerAction, ControlVariateKind::kSingle, ControlVariateKind::kNone,
        ControlVariateKind::kBest, ControlVariateKind::kRegression};
};
template <>
struct EnumValues<Against> {
    static constexpr Against kAll[] = {Against::kReference, Against::kAnchor};
};
template <>
struct EnumValues<LabelsOf> {
    static constexpr LabelsOf kAll[] = {LabelsOf::kGranted, LabelsOf::kAllApplicants};
};
template <>
struct EnumValues<TrustRegion> {
    static constexpr TrustRegion kAll[] = {TrustRegion::kBothActions, TrustRegion::kApprovals};
};
template <>
struct EnumValues<Spending> {
    static constexpr Spending kAll[] = {Spending::kEqual, Spending::kByHistory};
};

template <class A>
void members(A& a, KeyIds& k) {
    a("draw", k.draw);
    a("evidence", k.evidence);
    a("signing", k.signing);
    a("split", k.split);
}

template <class A>
void members(A& a, EpochOpened& e) {
    a("epoch", e.epoch);
    a("delta_epoch", e.delta_epoch);
    a("runs", e.runs);
    a("spending", e.spending);
    a.unless_default("counts_looks", e.counts_looks);
    a.unless_default("reserve", e.reserve);
    a("note", e.note);
    a("at", e.at);
    a.unless_default("keys", e.keys);
}

template <class A>
void members(A& a, LogEnd& e) {
    a("partition", e.partition);
    a("next", e.next);
    a("chain", e.chain);
    a.unless_default("begin", e.begin);
}

template <class A>
void members(A& a, Registration& r) {
    a("epoch", r.epoch);
    a("run", r.run);
    a("delta", r.delta);
    a("spent_before", r.spent_before);
    a("candidate", r.candidate_id);
    a("reference", r.reference_id);
    a("plan", r.plan);
    a("vault_rule", r.vault_rule);
    a("at", r.at);
    a.unless_default("look", r.look);
    a("frozen", r.frozen);
    a.unless_default("wall_clock", r.wall_clock);
    a.unless_default("log", r.log);
    a.unless_default("software", r.software);
}

template <class A>
void members(A& a, Closing& c) {
    a("epoch", c.epoch);
    a("run", c.run);
    a("verdict", c.verdict);
    a("certificate", c.certificate);
    a("note", c.note);
    a("at", c.at);
}

template <class A>
void members(A& a, NamedConstraint& c) {
    a("name", c.name);
    a("expression", c.expression);
}

template <class A>
void members(A& a, GateConfig& c) {
    a("delta_epoch", c.delta_epoch);
    a("runs_per_epoch", c.runs_per_epoch);
    a("spending", c.spending);
    a("bound", c.bound);
    a("bet_cap", c.bet_cap);
    a("trust_region", c.trust_region);
    a("kappa", c.kappa);
    a("margin", c.margin);
    a("min_units", c.min_units);
    a("min_outcomes", c.min_outcomes);
    a("max_missing_rate", c.max_missing_rate);
    a.unless_default("max_calibration_z", c.max_calibration_z);
    if (!c.max_calibration_z) a("calibration_level", c.calibration_level);
    a("impact_lo", c.impact_lo);
    a("impact_hi", c.impact_hi);
    a("declined_impact", c.declined_impact);
    a("impact_units", c.impact_units);
    a.unless_default("declines_overridden", c.declines_overridden);
    a.unless_default("centres", c.control_variates);
    a.unless_default("at_least", c.at_least);
    a.unless_default("max_weight", c.max_weight);
    a.unless_default("min_power", c.min_power);
    a.unless_default("missing_gamma", c.missing_gamma);
    a.unless_default("max_drift_auc", c.max_drift_auc);
    a.unless_default("constraints", c.named_constraints);
    a.unless_default("labels_of", c.labels_of);
    a.unless_default("records_per_person", c.records_per_person);
    a.unless_default("referrals", c.referrals);
    a.unless_default("valid_months", c.valid_months);
}

template <class A>
void members(A& a, LeftOut& l) {
    a("reason", l.reason);
    a("group", l.group);
    a("records", l.records);
}

template <class A>
void members(A& a, LoggerPeriod& l) {
    a("id", l.id);
    a("first", l.first);
    a("last", l.last);
    a("records", l.records);
}

template <class A>
void members(A& a, RunIdentity& i) {
    a("candidate", i.candidate_id);
    a("reference", i.reference_id);
    a.unless_default("anchor", i.anchor_id);
    a("feature_schema", i.feature_schema_id);
    a.unless_default("reference_feature_schema", i.reference_schema_id);
    a("metric", i.metric);
    a("vault_rule", i.vault_rule);
    a("period_from", i.period_from);
    a("period_to", i.period_to);
    a.unless_default("drift_auc", i.drift_auc);
    a.unless_default("missed_in_training", i.missed_in_training);
    a.unless_default("read_before", i.read_before);
    a.unless_default("repeats", i.repeats);
    a.unless_default("later_records", i.later_records);
    a.unless_default("without_exploration", i.without_exploration);
    a.unless_default("stopped", i.stopped);
    a.unless_default("acknowledged_alarm", i.acknowledged_alarm);
    a.unless_default("proposed_by", i.proposed_by);
    a.unless_default("software", i.software);
    a.unless_default("training_recipe", i.recipe);
    a.unless_default("logger_periods", i.loggers);
    a.unless_default("decisions", i.decisions);
    a.unless_default("in_no_group", i.in_no_group);
    a.unless_default("left_out", i.left_out);
}

template <class A>
void diagnostics_members(A& a, ope::WeightDiagnostics& w) {
    a("mean_weight", w.mean_weight);
    a("mean_weight_z", w.mean_weight_z);
    a("effective_records", w.effective_records);
    a("max_weight_deviation", w.max_weight_deviation);
    a("calibration_z", w.calibration_z);
    a("decile_z", w.decile_z);
}

template <class A>
void members(A& a, GroupPlan& g) {
    a("name", g.name);
    a("group", g.index);
    a("against", g.against);
    a("records", g.records);
    a("units", g.units);
    a("expected_outcomes", g.expected);
    a("missing_outcomes", g.missing);
    a.unless_default("overridden", g.overridden);
    a.unless_default("referred", g.referred);
    a.unless_default("unanswered", g.unanswered);
    a.unless_default("by_rule", g.by_rule);
    a.unless_default("beyond_range", g.beyond_range);
    a.unless_default("erased", g.erased);
    a("max_trust_ratio", g.max_trust_ratio);
    a("lo", g.lo);
    a("hi", g.hi);
    diagnostics_members(a, g.weights);
    a("q_approve", g.q_approve);
    a("q_decline", g.q_decline);
    a.unless_default("q_refer", g.q_refer);
    a("plan_variance", g.plan_variance);
    a("selection_units", g.selection_units);
    a("bets", g.bets.bets);
    a("bet_weights", g.bets.weights);
    a("bet_cap", g.bets.cap);
}

}  // namespace rampart::certification

namespace rampart::constraints {

template <class A>
void members(A& a, LeafPlan& l) {
    a.unless_default("threshold", l.threshold);
    a("q_approve", l.q_approve);
    a("q_decline", l.q_decline);
    a.unless_default("q_refer", l.q_refer);
    a("selection_units", l.selection_units);
    a("selection_share", l.selection_share);
    a("selection_mean", l.selection_mean);
    a("selection_variance", l.selection_variance);
    a.unless_default("person_weight", l.person_weight);
    a.unless_default("person_units", l.person_units);
    a.unless_default("selection_known", l.selection_known);
    a("records", l.records);
    a("units", l.units);
    a("expected_outcomes", l.expected);
    a("missing_outcomes", l.missing);
    a.unless_default("persons", l.persons);
    a.unless_default("beyond_range", l.beyond_range);
    a.unless_default("erased", l.erased);
    a("lo", l.lo);
    a("hi", l.hi);
    a("max_weight", l.max_weight);
}

template <class A>
void members(A& a, Difference& d) {
    a("statement", d.statement);
    a("above", d.first);
    a("below", d.second);
    a("a", d.a);
    a("b", d.b);
    a("e", d.e);
    a("persons", d.persons);
}

template <class A>
void members(A& a, EndPlan& e) {
    a("mean", e.end.leaf);
    a("upper", e.end.upper);
    a("delta", e.delta);
    a("bets", e.bets.bets);
    a("bet_weights", e.bets.weights);
    a("bet_cap", e.bets.cap);
}

}  // namespace rampart::constraints

namespace rampart::certification {

template <class A>
void members(A& a, ConstraintPlan& c) {
    a("name", c.name);
    a("expression", c.expression);
    a("means", c.means);
    a("mean_plans", c.tests.leaves);
    a("statements", c.tests.statements);
    a.unless_default("differences", c.tests.differences);
}

template <class A>
void members(A& a, ConstraintResult::End& e) {
    a("estimate", e.estimate);
    a("bound", e.bound);
}

template <class A>
void members(A& a, ConstraintResult::Statement& s) {
    a("ends", s.ends);
    a("lower", s.lower);
    a.unless_default("log_wealth", s.log_wealth);
    a("passed", s.passed);
}

template <class A>
void members(A& a, ConstraintResult& c) {
    a("name", c.name);
    a("statements", c.statements);
    a("passed", c.passed);
}

template <class A>
void members(A& a, RunPlan& p) {
    a("config", p.config);
    a("identity", p.identity);
    a("delta", p.delta);
    a.unless_default("look", p.look);
    a("loggers", p.logger_ids);
    a.unless_default("calibration_log_wealth", p.calibration_log_wealth);
    a("calibration_z", p.calibration_z);
    a("decile_z", p.decile_z);
    a("logger_calibration_z", p.logger_calibration);
    a("logger_decile_z", p.logger_decile_z);
    a("groups", p.groups);
    a.unless_default("constraint_plans", p.constraint_plans);
    a("selection_digest", p.selection_digest);
    a("vault_records", p.vault_records);
    a.unless_default("erased", p.erased);
    a.unless_default("unexplained", p.unexplained);
    a.unless_default("unreadable", p.unreadable);
    a("vault_digest", p.vault_digest);
}

template <class A>
void members(A& a, GroupResult& g) {
    a("name", g.name);
    a("passed", g.passed);
    a("units", g.bound.sample.n);
    a("unit_mean", g.bound.sample.mean);
    a("unit_variance", g.bound.sample.variance);
    a("mean_gain", g.bound.mean_gain);
    a("log_wealth", g.bound.log_wealth);
    a("lower_betting", g.bound.lower_betting);
    a("lower_t_indicative", g.bound.lower_t);
    a("lower_hoeffding", g.bound.lower_hoeffding);
    a("lower_maurer_pontil", g.bound.lower_maurer_pontil);
}

template <class A>
void members(A& a, Assumption& s) {
    a("text", s.text);
    a("tested", s.tested);
}

template <class A>
void members(A& a, LedgerReference& l) {
    a("epoch", l.epoch);
    a("registration", l.registration);
    a("sequence", l.sequence);
    a("previous", l.previous);
    a("entry", l.entry);
    a("certificates_before", l.certificates_before);
    a.unless_default("looks_before", l.looks_before);
}

template <class A>
void members(A& a, EffectInterval& e) {
    a("name", e.name);
    a("lower", e.lower);
    a("upper", e.upper);
    a("smallest_seen", e.smallest_seen);
}

template <class A>
void members(A& a, ApprovalRate& r) {
    a("rate", r.rate);
    a("lower", r.lower);
    a("upper", r.upper);
    a.unless_default("highest", r.highest);
    a.unless_default("ratio", r.ratio);
    a.unless_default("ratio_lower", r.ratio_lower);
    a.unless_default("ratio_upper", r.ratio_upper);
}

template <class A>
void members(A& a, GroupApproval& g) {
    a("name", g.name);
    a("candidate", g.candidate);
    a("reference", g.reference);
}

template <class A>
void members(A& a, Sensitivity& s) {
    a.unless_default("declined_from", s.declined_from);
    a.unless_default("declined_to", s.declined_to);
    a.unless_default("odds_factor", s.odds_factor);
    a.unless_default("tipping_gamma", s.tipping_gamma);
}

template <class A>
void members(A& a, PartEffect& p) {
    a("part", p.part);
    a("group", p.group);
    a("records", p.records);
    a("persons", p.persons);
    a.unless_default("estimate", p.estimate);
    a.unless_default("lower", p.lower);
    a.unless_default("upper", p.upper);
}

template <class A>
void members(A& a, ValidationFigures& f) {
    a("effect_delta", f.effect_delta);
    a("effects", f.effects);
    a("rate_delta", f.rate_delta);
    a("approvals", f.approvals);
    a.unless_default("sensitivity", f.sensitivity);
    a.unless_default("parts", f.parts);
    a.unless_default("ungrouped_records", f.ungrouped_records);
    a.unless_default("ungrouped_persons", f.ungrouped_persons);
}

inline constexpr std::string_view kCertificateFormat = "rampart-certificate-2";

/// The payload: a certificate with its format's name in front.
struct CertificatePayload {
    std::string format{kCertificateFormat};
    Certificate certificate;
};

template <class A>
void members(A& a, CertificatePayload& p) {
    Certificate& c = p.certificate;
    a("format", p.format);
    a("claim", c.claim);
    a("verdict", c.verdict);
    a("reason", c.reason);
    a("message", c.message);
    a("plan", c.plan);
    a("ledger", c.ledger);
    a("results", c.results);
    a.unless_default("constraint_results", c.constraint_results);
    a.unless_default("tipping_gamma", c.tipping_gamma);
    a.unless_default("figures", c.figures);
    a("evidence_records", c.evidence_records);
    a("evidence_root", c.evidence_root);
    a("recipe", c.recipe);
    a("assumptions", c.assumptions);
    a("vault_read_at", c.vault_read_at);
    a("issued_at", c.issued_at);
    a.unless_default("valid_until", c.valid_until);
    a.unless_default("issued_wall_clock", c.issued_wall_clock);
    a.unless_default("finished_by", c.finished_by);
}

}  // namespace rampart::certification
