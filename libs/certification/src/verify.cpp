#include "verify.hpp"

#include <algorithm>
#include <cmath>

#include "constraint_run.hpp"
#include "evaluation.hpp"
#include "evidence.hpp"
#include "figure_list.hpp"
#include "measure.hpp"
#include "members.hpp"
#include "origin.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/certification/reasons.hpp"
#include "wording.hpp"

namespace rampart::certification {
namespace {

using base::make_error;
using base::Status;

Status differs(std::string_view figure) {
    return make_error(Reason::kDoesNotRecompute,
                      "{} does not follow from what the certificate records", figure);
}

/// Compares figures; remembers the first that differs.
class Comparison {
  public:
    explicit Comparison(std::string where) : where_(std::move(where)) {}

    void same(std::string_view figure, double recorded, double recomputed) {
        const double scale = std::max(std::abs(recorded), std::abs(recomputed));
        if (recorded == recomputed) return;
        if (std::isfinite(scale) && std::abs(recorded - recomputed) <= 1e-9 * scale) return;
        note(figure);  // NaN, or infinity against a number, ends here
    }
    template <class T>
    void equal(std::string_view figure, const T& recorded, const T& recomputed) {
        if (!(recorded == recomputed)) note(figure);
    }
    Status status() const { return first_.empty() ? base::ok() : differs(first_); }

  private:
    void note(std::string_view figure) {
        if (first_.empty()) first_ = fmt::format("{}{}", where_, figure);
    }
    std::string where_, first_;
};

Status check_parts(const Certificate& c) {
    const bool ran = c.verdict == Verdict::kCertified || c.verdict == Verdict::kNoSolutionFound;
    if (ran != c.ledger.has_value()) return differs("the ledger reference");
    if (ran) {
        if (c.plan.groups.empty() || c.results.size() != c.plan.groups.size())
            return differs("results");
        if (c.plan.constraint_plans.size() != c.plan.config.named_constraints.size() ||
            c.constraint_results.size() != c.plan.config.named_constraints.size())
            return differs("the list of constraints");
        if (!c.reason.empty() || !c.message.empty()) return differs("the reason of a refusal");
        return base::ok();
    }
    const bool bare = c.plan.groups.empty() && c.results.empty() && c.evidence_records == 0 &&
                      c.plan.constraint_plans.empty() && c.constraint_results.empty() &&
                      !c.figures && c.plan.logger_ids.empty() && c.plan.logger_calibration.empty();
    return bare && !c.reason.empty() ? base::ok() : differs("a refusal's content");
}

Status check_ledger_reference(const Certificate& c) {
    const LedgerReference& l = *c.ledger;
    const Registration& r = l.registration;
    Comparison compare("ledger: ");
    const LedgerEntry entry{.sequence = l.sequence, .previous = l.previous, .body = r};
    compare.equal("entry", l.entry, base::sha256(encode(entry)));
    compare.equal("plan digest", r.plan, digest_of(c.plan));
    compare.equal("candidate", r.candidate_id, c.plan.identity.candidate_id);
    compare.equal("reference", r.reference_id, c.plan.identity.reference_id);
    compare.equal("vault rule", r.vault_rule, c.plan.identity.vault_rule);
    compare.equal("epoch", r.epoch, l.epoch.epoch);
    compare.equal("budget", l.epoch.delta_epoch, c.plan.config.delta_epoch);
    compare.equal("runs", l.epoch.runs, c.plan.config.runs_per_epoch);
    compare.equal("spending", l.epoch.spending, c.plan.config.spending);
    if (r.run < 1 || uint64_t{r.run} + l.looks_before > l.epoch.runs ||
        l.certificates_before >= r.run || (l.looks_before > 0 && !l.epoch.counts_looks))
        return differs("ledger: run");
    const double delta = delta_of_run(l.epoch, r.run - 1 + l.looks_before, l.certificates_before);
    const bool paid = l.epoch.reserve == 0 || l.epoch.reserve == c.plan.config.calibration_level;
    compare.equal("reserve", paid, true);
    compare.equal("delta", r.delta, delta);
    compare.equal("look", r.look, c.plan.look);
    compare.equal("frozen", r.frozen, frozen_digest(c.plan));
    compare.equal("delta of the plan", c.plan.delta, delta);
    const bool in_order = r.at <= c.vault_read_at && c.vault_read_at <= c.issued_at;
    compare.equal("times (registered, vault read, issued)", in_order, true);
    return compare.status();
}

/// Checks the bets. At a further look they are the first look's, in the frozen part of the plan.
Status check_kept_bets(Comparison& compare, const RunPlan& plan, const GroupPlan& group) {
    const double cost =
        *std::max_element(group.bets.bets.begin(), group.bets.bets.end()) * -group.lo;
    compare.equal("bets (they could lose everything)", cost <= 0.999, true);
    compare.equal("bet_weights", group.bets.weights, stats::BettingOptions().weights);
    compare.equal("bet_cap", group.bets.cap, std::max(plan.config.bet_cap, cost));
    return compare.status();
}

Status check_group_plan(const RunPlan& plan, const GroupPlan& recorded, const GroupPlan& again,
                        const VaultNames& names) {
    Comparison compare(fmt::format("group {}: ", recorded.name));
    compare.equal("name", recorded.name, plan_name(names.groups[recorded.index], recorded.against));
    compare.equal("records", recorded.records, again.records);
    compare.equal("units", recorded.units, again.units);
    compare.equal("expected_outcomes", recorded.expected, again.expected);
    compare.equal("missing_outcomes", recorded.missing, again.missing);
    compare.equal("overridden", recorded.overridden, again.overridden);
    compare.equal("referred", recorded.referred, again.referred);
    compare.equal("unanswered", recorded.unanswered, again.unanswered);
    compare.equal("by_rule", recorded.by_rule, again.by_rule);
    compare.same("max_trust_ratio", recorded.max_trust_ratio, again.max_trust_ratio);
    compare.same("lo", recorded.lo, again.lo);
    compare.same("hi", recorded.hi, again.hi);
    compare.equal("beyond_range", recorded.beyond_range, again.beyond_range);
    compare.equal("erased", recorded.erased, again.erased);
    compare.equal("erased (more than of all)", recorded.erased <= plan.erased, true);
    if (plan.config.declined_impact && !plan.config.declines_overridden)
        compare.equal("q_decline", recorded.q_decline, *plan.config.declined_impact);
    if (const double records = plan.config.records_per_person; records > 0) {
        // as it was fixed beforehand it cannot be computed, but it must hold what x may count
        const double least = widest_loss(plan.config, recorded.against);
        const bool holds = recorded.lo <= records * std::min(least + plan.config.margin, least) &&
                           recorded.hi >= 0;
        compare.equal("lo and hi (a record may leave them)", holds, true);
    }
    const ope::WeightDiagnostics &w = recorded.weights, &v = again.weights;
    compare.same("mean_weight", w.mean_weight, v.mean_weight);
    compare.same("mean_weight_z", w.mean_weight_z, v.mean_weight_z);
    compare.same("effective_records", w.effective_records, v.effective_records);
    compare.same("max_weight_deviation", w.max_weight_deviation, v.max_weight_deviation);
    compare.same("calibration_z", w.calibration_z, v.calibration_z);
    compare.same("decile_z", w.decile_z, v.decile_z);
    if (plan.look > 0) return check_kept_bets(compare, plan, recorded);
    const auto bets = plan_group_bets(plan, again);
    if (!bets)
        return differs(fmt::format("group {}: bets ({})", recorded.name, bets.error().message));
    for (size_t k = 0; k < stats::kBetCount; ++k) {
        compare.same("bets", recorded.bets.bets[k], bets->bets[k]);
        compare.equal("bet_weights", recorded.bets.weights[k], bets->weights[k]);
    }
    compare.equal("bet_cap", recorded.bets.cap, bets->cap);
    return compare.status();
}

/// Checks the order of groups: all against the reference, then, with an anchor, all against it.
Status check_plan_of_groups(const RunPlan& plan) {
    const size_t sides = plan.identity.anchor_id.empty() ? 1 : 2;
    const size_t groups = plan.groups.size() / sides;
    bool fits = plan.groups.size() == groups * sides && groups > 0 &&
                groups <= base::limits::kMaxGroups && plan.erased <= base::limits::kMaxRows &&
                plan.unexplained <= plan.erased &&
                plan.unreadable <= plan.erased - plan.unexplained;
    for (size_t i = 0; fits && i < plan.groups.size(); ++i) {
        fits = plan.groups[i].index == i % groups && plan.groups[i].erased >= plan.unreadable &&
               plan.groups[i].against == (i < groups ? Against::kReference : Against::kAnchor);
    }
    return fits ? base::ok() : differs("the list of groups");
}

Status check_log_figures(const RunPlan& plan, VaultMeasure& measure) {
    RunPlan again;
    measure.finish(again);
    Comparison compare("");
    const auto same_all = [&](std::string_view figure, const std::vector<double>& a,
                              const std::vector<double>& b) {
        compare.equal("number of loggers", a.size(), b.size());
        for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) compare.same(figure, a[i], b[i]);
    };
    compare.same("calibration_log_wealth", plan.calibration_log_wealth,
                 again.calibration_log_wealth);
    compare.same("calibration_z", plan.calibration_z, again.calibration_z);
    compare.same("decile_z", plan.decile_z, again.decile_z);
    same_all("logger_calibration_z", plan.logger_calibration, again.logger_calibration);
    same_all("logger_decile_z", plan.logger_decile_z, again.logger_decile_z);
    compare.equal("vault_records", plan.vault_records, again.vault_records);
    compare.equal("erased", plan.erased, again.erased);
    compare.equal("unexplained", plan.unexplained, again.unexplained);
    compare.equal("unreadable", plan.unreadable, again.unreadable);
    compare.equal("vault_digest", plan.vault_digest, again.vault_digest);
    return compare.status();
}

Status check_mean_plan(const std::string& where, const constraints::LeafPlan& recorded,
                       const constraints::LeafPlan& again) {
    Comparison compare(where);
    compare.equal("records", recorded.records, again.records);
    compare.equal("units", recorded.units, again.units);
    compare.equal("expected_outcomes", recorded.expected, again.expected);
    compare.equal("missing_outcomes", recorded.missing, again.missing);
    compare.same("lo", recorded.lo, again.lo);
    compare.same("hi", recorded.hi, again.hi);
    compare.same("max_weight", recorded.max_weight, again.max_weight);
    compare.equal("persons", recorded.persons, again.persons);
    compare.equal("beyond_range", recorded.beyond_range, again.beyond_range);
    compare.equal("erased", recorded.erased, again.erased);
    return compare.status();
}

Status check_end_plan(const std::string& where, const constraints::EndPlan& recorded,
                      const constraints::EndPlan& again) {
    Comparison compare(where);
    compare.equal("mean and side", recorded.end, again.end);
    compare.same("delta", recorded.delta, again.delta);
    for (size_t k = 0; k < stats::kBetCount; ++k) {
        compare.same("bets", recorded.bets.bets[k], again.bets.bets[k]);
        compare.equal("bet_weights", recorded.bets.weights[k], again.bets.weights[k]);
    }
    compare.equal("bet_cap", recorded.bets.cap, again.bets.cap);
    return compare.status();
}

Status check_constraint_plan(const ConstraintPlan& recorded, const ConstraintPlan& again) {
    const std::string where = fmt::format("constraint '{}': ", again.name);
    Comparison compare(where);
    const auto &a = recorded.tests, &b = again.tests;
    compare.equal("name", recorded.name, again.name);
    compare.equal("expression", recorded.expression, again.expression);
    compare.equal("means", recorded.means, again.means);
    compare.equal("number of statements", a.statements.size(), b.statements.size());
    RAMPART_RETURN_IF_ERROR(compare.status());
    for (size_t i = 0; i < b.leaves.size(); ++i) {
        RAMPART_RETURN_IF_ERROR(check_mean_plan(where, a.leaves[i], b.leaves[i]));
    }
    for (size_t s = 0; s < b.statements.size(); ++s) {
        if (a.statements[s].size() != b.statements[s].size()) {
            return differs(where + "number of ends");
        }
        for (size_t i = 0; i < b.statements[s].size(); ++i) {
            RAMPART_RETURN_IF_ERROR(check_end_plan(where, a.statements[s][i], b.statements[s][i]));
        }
    }
    return base::ok();
}

/// Recomputes the plans from the development set's figures in them and the evidence.
Status check_constraint_plans(const RunPlan& plan, const VaultSource& vault) {
    RAMPART_TRY(const ConstraintSet set, ConstraintSet::compile(plan.config));
    const auto again = plan_again(set, plan, plan.constraint_plans, vault);
    if (!again) return differs(again.error().message);
    for (size_t k = 0; k < again->size(); ++k) {
        RAMPART_RETURN_IF_ERROR(check_constraint_plan(plan.constraint_plans[k], (*again)[k]));
    }
    return base::ok();
}

Status check_constraint_results(const Certificate& c, const SealedResult& again) {
    if (c.constraint_results.size() != again.constraints.size()) {
        return differs("the list of constraints");
    }
    constexpr double kNone = -std::numeric_limits<double>::infinity();
    for (size_t k = 0; k < again.constraints.size(); ++k) {
        const ConstraintResult &a = c.constraint_results[k], &b = again.constraints[k];
        Comparison compare(fmt::format("result of constraint '{}': ", b.name));
        compare.equal("name", a.name, b.name);
        compare.equal("passed", a.passed, b.passed);
        compare.equal("number of statements", a.statements.size(), b.statements.size());
        RAMPART_RETURN_IF_ERROR(compare.status());
        for (size_t s = 0; s < b.statements.size(); ++s) {
            const auto &x = a.statements[s], &y = b.statements[s];
            compare.equal("number of ends", x.ends.size(), y.ends.size());
            for (size_t i = 0; i < std::min(x.ends.size(), y.ends.size()); ++i) {
                compare.same("estimate", x.ends[i].estimate.value_or(kNone),
                             y.ends[i].estimate.value_or(kNone));
                compare.same("bound", x.ends[i].bound.value_or(kNone),
                             y.ends[i].bound.value_or(kNone));
            }
            compare.same("lower", x.lower.value_or(kNone), y.lower.value_or(kNone));
            compare.same("log_wealth", x.log_wealth.value_or(kNone), y.log_wealth.value_or(kNone));
            compare.equal("statement passed", x.passed, y.passed);
        }
        RAMPART_RETURN_IF_ERROR(compare.status());
    }
    return base::ok();
}

Status check_results(const Certificate& c, const SealedResult& again) {
    for (size_t g = 0; g < c.results.size(); ++g) {
        const GroupResult &a = c.results[g], &b = again.groups[g];
        Comparison compare(fmt::format("result of group {}: ", a.name));
        compare.equal("name", a.name, b.name);
        compare.equal("units", a.bound.sample.n, b.bound.sample.n);
        compare.same("unit_mean", a.bound.sample.mean, b.bound.sample.mean);
        compare.same("unit_variance", a.bound.sample.variance, b.bound.sample.variance);
        compare.same("mean_gain", a.bound.mean_gain, b.bound.mean_gain);
        compare.same("log_wealth", a.bound.log_wealth, b.bound.log_wealth);
        compare.same("lower_betting", a.bound.lower_betting, b.bound.lower_betting);
        compare.same("lower_t_indicative", a.bound.lower_t, b.bound.lower_t);
        compare.same("lower_hoeffding", a.bound.lower_hoeffding, b.bound.lower_hoeffding);
        compare.same("lower_maurer_pontil", a.bound.lower_maurer_pontil,
                     b.bound.lower_maurer_pontil);
        compare.equal("passed", a.passed, b.passed);
        RAMPART_RETURN_IF_ERROR(compare.status());
    }
    if (c.tipping_gamma != again.tipping_gamma) return differs("tipping_gamma");
    RAMPART_RETURN_IF_ERROR(check_constraint_results(c, again));
    return c.verdict == again.verdict ? base::ok() : differs("the verdict");
}

Status check_figures(const Certificate& c, const VaultSource& vault) {
    if (!c.figures) return base::ok();  // an older certificate
    const auto again = validation_figures(c.plan, vault, c.verdict);
    if (!again) return differs(again.error().message);
    const std::string first =
        FigureList::first_difference(FigureList::of(*c.figures), FigureList::of(*again));
    return first.empty() ? base::ok() : differs(fmt::format("figures: {}", first));
}

}  // namespace

/// Returns the names of groups in the evidence: the groups against the reference have theirs
/// unchanged.
VaultNames names_of(const RunPlan& plan) {
    VaultNames names{plan.logger_ids, {}, {plan.erased, {}, plan.unexplained, plan.unreadable}};
    for (const GroupPlan& group : plan.groups) {
        if (group.against != Against::kReference) continue;
        names.groups.push_back(group.name);
        if (plan.erased > 0) names.erased.of_group.push_back(group.erased);
    }
    return names;
}

std::optional<base::TimePoint> end_of(const Certificate& c) {
    const auto months = static_cast<int>(c.plan.config.valid_months);
    if (c.verdict != Verdict::kCertified || months == 0) return std::nullopt;
    return base::add_months(c.issued_at, months);
}

Status check_story(const Certificate& c) {
    RAMPART_RETURN_IF_ERROR(check_parts(c));
    if (c.valid_until != end_of(c)) return differs("valid_until");
    const auto charged = c.ledger ? c.ledger->registration.wall_clock : std::nullopt;
    if (charged.has_value() != c.issued_wall_clock.has_value() || charged > c.issued_wall_clock)
        return differs("issued_wall_clock");
    if (auto status = validate(c.plan.config); !status) return differs(status.error().message);
    if (c.ledger) RAMPART_RETURN_IF_ERROR(check_ledger_reference(c));
    if (c.claim != claim_of(c)) return differs("the claim");
    if (c.recipe != recipe_of(c)) return differs("the recipe");
    const auto assumptions = assumptions_of(c);
    const auto same = [](const Assumption& a, const Assumption& b) {
        return a.text == b.text && a.tested == b.tested;
    };
    const bool all = std::equal(assumptions.begin(), assumptions.end(), c.assumptions.begin(),
                                c.assumptions.end(), same);
    return all ? base::ok() : differs("the list of assumptions");
}

namespace {

/// Checks what the lines are, before what they say.
Status check_root(const Certificate& c, std::string_view bytes) {
    RAMPART_TRY(const base::MerkleTree leaves, read_leaves(bytes));
    if (leaves.leaves() != c.evidence_records) {
        return make_error(Reason::kOtherEvidence,
                          "the evidence has {} records, the certificate speaks of {}: the "
                          "file is cut off or belongs to another certificate",
                          leaves.leaves(), c.evidence_records);
    }
    if (leaves.root() != c.evidence_root) {
        return make_error(Reason::kOtherEvidence,
                          "the evidence's Merkle root is not the certificate's: the file "
                          "was changed or belongs to another certificate");
    }
    return base::ok();
}

}  // namespace

base::Result<std::vector<VaultRecord>> read_records(const Certificate& c, std::string_view bytes) {
    RAMPART_RETURN_IF_ERROR(check_root(c, bytes));
    RAMPART_RETURN_IF_ERROR(check_plan_of_groups(c.plan));
    return read_evidence(bytes, names_of(c.plan), form_of(c.plan));
}

Status check_evidence(const Certificate& c, std::string_view bytes) {
    if (!c.ledger) return check_root(c, bytes);
    RAMPART_TRY(auto evidence, read_records(c, bytes));
    RAMPART_RETURN_IF_ERROR(check_origin(c.plan, evidence));
    const VaultNames names = names_of(c.plan);
    const MemoryVault vault(names, std::move(evidence));
    VaultMeasure measure(c.plan.config, names, c.plan.groups);
    if (auto status = measure.read(vault); !status) {
        return base::Error{base::ErrorCode::kDataLoss, status.error().reason,
                           fmt::format("evidence: {}", status.error().message)};
    }
    auto fault = measure.record_fault();
    for (size_t i = 0; i < c.plan.groups.size(); ++i) {
        GroupPlan again = c.plan.groups[i];
        measure.group(i).finish(again);
        RAMPART_RETURN_IF_ERROR(check_group_plan(c.plan, c.plan.groups[i], again, names));
    }
    RAMPART_RETURN_IF_ERROR(check_log_figures(c.plan, measure));
    if (!fault) fault = find_figure_fault(c.plan);
    if (fault) return differs(fmt::format("the right to a test ({})", fault->reason));
    RAMPART_RETURN_IF_ERROR(check_constraint_plans(c.plan, vault));
    const auto again = evaluate(c.plan, vault);
    if (!again) return differs(again.error().message);
    RAMPART_RETURN_IF_ERROR(check_results(c, *again));
    return check_figures(c, vault);
}

}  // namespace rampart::certification
