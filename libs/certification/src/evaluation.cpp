#include "evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "constraint_run.hpp"
#include "measure.hpp"
#include "members.hpp"
#include "rampart/base/bytes.hpp"
#include "rampart/base/check.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/certification/reasons.hpp"
#include "rampart/ope/reasons.hpp"

namespace rampart::certification {
namespace {

using base::make_error;
using base::Result;
using base::Status;

/// Values of one group, from one record at a time in the order of the vault.
class GroupEvaluation {
  public:
    GroupEvaluation(const RunPlan& run, const GroupPlan& plan)
        : run_(&run),
          plan_(&plan),
          model_(impact_model(run.config, plan)),
          sample_({plan.lo, plan.hi}, plan.bets) {}

    void add(const VaultRecord& r) {
        if (unit_ != r.unit) close_unit();
        unit_ = r.unit;
        ope::Record record = estimate_of(r, plan_->against);
        if (r.has_impact) record.impact = r.impact;
        value_ += record_value(run_->config, *plan_, record, model_);
    }

    GroupResult finish() {
        close_unit();
        const size_t erased = plan_->erased;
        for (size_t i = 0; i < erased; ++i) sample_.add(plan_->lo);
        const ope::GroupDesign design{plan_->records + erased, plan_->units + erased, plan_->lo,
                                      plan_->hi};
        GroupResult out{.name = plan_->name, .bound = {}, .passed = false};
        out.bound = ope::bound_value(sample_, design, run_->delta, run_->config.margin);
        out.passed =
            out.bound.sample.n >= 2 && sample_.varied() &&
            std::isfinite(out.bound.sample.variance) &&
            clears(*run_, out.bound.sample, out.bound.log_wealth, {plan_->lo, plan_->hi}) &&
            enough_outcomes(run_->config, *plan_);
        return out;
    }

    void set_gamma(double gamma) { model_.missing_gamma = gamma; }

  private:
    void close_unit() {
        if (unit_) sample_.add(value_);
        value_ = 0;
    }

    const RunPlan* run_;
    const GroupPlan* plan_;
    ope::ImpactModel model_;
    stats::BettingSample sample_;
    std::optional<Pseudonym> unit_;
    double value_ = 0;
};

/// Checks that an impact fits has_impact and lies in the declared range where it matters.
Status check_impact(const GateConfig& config, const VaultRecord& r) {
    const auto id = [&] {
        return base::to_hex({reinterpret_cast<const char*>(r.id.data()), r.id.size()});
    };
    if (r.has_impact ? !std::isfinite(r.impact) : !std::isnan(r.impact)) {
        return make_error(ope::Reason::kBadImpact,
                          "record {}: has_impact is {}, so its impact must be {}", id(),
                          r.has_impact, r.has_impact ? "a finite number" : "NaN (missing)");
    }
    if (!r.has_impact || !outcome_expected(config, r) ||
        (r.impact >= config.impact_lo && r.impact <= config.impact_hi)) {
        return base::ok();
    }
    return make_error(ope::Reason::kImpactOutOfRange,
                      "record {}: its impact lies outside the declared range [{}, {}]; "
                      "clip it as the metric's definition says",
                      id(), config.impact_lo, config.impact_hi);
}

/// Checks that a label fits has_label.
Status check_label(const VaultRecord& r) {
    if (r.has_label ? r.label == 0 || r.label == 1 : std::isnan(r.label)) return base::ok();
    return make_error(base::Reason::kBadLabel,
                      "record {}: has_label is {}, so its label must be {}",
                      base::to_hex({reinterpret_cast<const char*>(r.id.data()), r.id.size()}),
                      r.has_label, r.has_label ? "0 or 1" : "NaN (missing)");
}

}  // namespace

bool clears(const RunPlan& plan, const stats::Moments& sample, double log_wealth,
            stats::Range range) {
    switch (plan.config.bound) {
        case stats::BoundMethod::kBetting:
            return log_wealth >= -std::log(plan.delta);
        case stats::BoundMethod::kStudentT:
            return stats::t_lower_bound(sample, plan.delta) > 0;
        case stats::BoundMethod::kHoeffding:
            return stats::hoeffding_lower_bound(sample, range, plan.delta) > 0;
        case stats::BoundMethod::kMaurerPontil:
            return stats::maurer_pontil_lower_bound(sample, range, plan.delta) > 0;
    }
    RAMPART_CHECK(false, "bound {}", static_cast<int>(plan.config.bound));
}

Result<SealedResult> evaluate_groups(const RunPlan& plan, const VaultSource& feedback,
                                     std::optional<double> gamma) {
    std::vector<GroupEvaluation> groups;
    for (const GroupPlan& group : plan.groups) {
        groups.emplace_back(plan, group);
        if (gamma) groups.back().set_gamma(*gamma);
    }
    size_t granted_declines = 0;
    const auto see = [&](std::span<const VaultRecord> block) -> Status {
        for (const VaultRecord& record : block) {
            granted_declines += record.overridden && !record.approved;
            RAMPART_RETURN_IF_ERROR(check_impact(plan.config, record));
            RAMPART_RETURN_IF_ERROR(check_label(record));
            for (size_t i = 0; i < groups.size(); ++i) {
                if ((record.groups >> plan.groups[i].index & 1) != 0) groups[i].add(record);
            }
        }
        return base::ok();
    };
    RAMPART_RETURN_IF_ERROR(feedback.read(see));
    SealedResult result;
    bool all = !groups.empty() && !override_fault(plan.config, granted_declines);
    for (GroupEvaluation& group : groups) {
        result.groups.push_back(group.finish());
        all = all && result.groups.back().passed;
    }
    result.verdict = all ? Verdict::kCertified : Verdict::kNoSolutionFound;
    return result;
}

namespace {

/// Returns the largest Gamma with which all groups pass, by bisection: wealth falls as Gamma grows.
Result<double> tipping_gamma(const RunPlan& plan, const VaultSource& feedback) {
    const double whole = plan.config.impact_hi - plan.config.impact_lo;
    const auto passes = [&](double gamma) {
        return evaluate_groups(plan, feedback, gamma).map([](const SealedResult& r) {
            return r.verdict == Verdict::kCertified;
        });
    };
    RAMPART_TRY(const bool always, passes(whole));
    if (always) return whole;
    double passing = 0, failing = whole;
    for (int i = 0; i < 8; ++i) {
        const double middle = (passing + failing) / 2;
        RAMPART_TRY(const bool pass, passes(middle));
        (pass ? passing : failing) = middle;
    }
    return passing;
}

}  // namespace

Result<SealedResult> evaluate(const RunPlan& plan, const VaultSource& feedback) {
    // the records must be those that were registered
    VaultMeasure measure(plan.config, feedback.names(), {});
    RAMPART_RETURN_IF_ERROR(measure.read(feedback));
    RunPlan again;
    measure.finish(again);
    if (again.vault_digest != plan.vault_digest) {
        return base::make_error(
            Reason::kVaultChanged,
            "the vault's records are no longer those that the run was registered for: abandon the "
            "run and register another");
    }
    RAMPART_TRY(SealedResult result, evaluate_groups(plan, feedback));
    const bool missing = std::any_of(plan.groups.begin(), plan.groups.end(),
                                     [](const GroupPlan& g) { return g.missing > 0; });
    if (plan.config.missing_gamma && missing) {
        RAMPART_TRY(result.tipping_gamma, tipping_gamma(plan, feedback));
    }
    RAMPART_TRY(const ConstraintSet set, ConstraintSet::compile(plan.config));
    RAMPART_TRY(result.constraints, evaluate_constraints(set, plan, feedback));
    for (const ConstraintResult& constraint : result.constraints) {
        if (!constraint.passed) result.verdict = Verdict::kNoSolutionFound;
    }
    return result;
}

Status check_impacts(const GateConfig& config, const ope::LoggedFeedback& selection) {
    const ope::LoggedDecisions& d = selection.decisions;
    for (size_t i = 0; i < selection.impact.size(); ++i) {
        if (d.has_impact[i] == 0 || !outcome_expected(config, d, i)) continue;
        if (selection.impact[i] >= config.impact_lo && selection.impact[i] <= config.impact_hi) {
            continue;
        }
        return make_error(ope::Reason::kImpactOutOfRange,
                          "record {}: its impact lies outside the declared range [{}, {}]; "
                          "clip it as the metric's definition says",
                          d.record_id[i], config.impact_lo, config.impact_hi);
    }
    return base::ok();
}

size_t granted_declines(const ope::LoggedDecisions& d) {
    return static_cast<size_t>(std::count_if(d.overridden.begin(), d.overridden.end(),
                                             [&](uint32_t i) { return d.approved[i] == 0; }));
}

namespace {

void append_referral(std::string& bytes, const ope::LoggedDecisions& d, size_t i) {
    if (d.referred.empty()) return;
    for (const auto* column : {&d.p_refer, &d.candidate_refer, &d.reference_refer}) {
        base::append_f64(bytes, (*column)[i] + 0.0);
    }
    if (!d.anchor_refer.empty()) base::append_f64(bytes, d.anchor_refer[i] + 0.0);
    base::append_u8(bytes, d.referred[i]);
}

}  // namespace

base::Digest digest_of(const ope::LoggedFeedback& selection) {
    const ope::LoggedDecisions& d = selection.decisions;
    base::Sha256 hash;
    std::string bytes;
    base::append_u64(bytes, d.size());
    for (const std::string& id : d.logger_ids) base::append_field(bytes, id);
    for (size_t i = 0; i < d.size(); ++i) {
        base::append_field(bytes, d.record_id[i]);
        base::append_field(bytes, d.unit_id[i]);
        base::append_u32(bytes, d.logger[i]);
        base::append_f64(bytes, d.p_approve[i] + 0.0);  // + 0.0: one zero, not two
        base::append_f64(bytes, d.candidate[i] + 0.0);
        base::append_f64(bytes, d.reference[i] + 0.0);
        if (!d.anchor.empty()) base::append_f64(bytes, d.anchor[i] + 0.0);
        base::append_u8(bytes, static_cast<uint8_t>((d.referred.empty() ? 0 : 8) |
                                                    (d.is_overridden(i) ? 4 : 0) |
                                                    d.approved[i] << 1 | d.has_impact[i]));
        if (d.has_impact[i] != 0) base::append_f64(bytes, selection.impact[i] + 0.0);
        if (!d.control_variates.empty()) {
            base::append_f64(bytes, d.control_variates[i].approve + 0.0);
            base::append_f64(bytes, d.control_variates[i].decline + 0.0);
        }
        append_referral(bytes, d, i);
        if (!d.has_label.empty()) {
            base::append_u8(bytes, d.has_label[i]);
            base::append_u64(bytes, d.conditions[i]);
            if (d.has_label[i] != 0) base::append_f64(bytes, selection.label[i] + 0.0);
        }
        hash.update(bytes);
        bytes.clear();
    }
    for (const ope::Group& group : d.groups) {
        base::append_field(bytes, group.name);
        base::append_u64(bytes, group.records.size());
        for (const uint32_t i : group.records) base::append_u32(bytes, i);
        hash.update(bytes);
        bytes.clear();
    }
    if (d.erased.records > 0) base::append_u64(bytes, d.erased.records);
    for (const size_t persons : d.erased.of_group) base::append_u64(bytes, persons);
    hash.update(bytes);
    return hash.finish();
}

std::string plan_name(const std::string& group, Against against) {
    return against == Against::kReference ? group : fmt::format("{}, against the anchor", group);
}

base::Digest frozen_digest(const RunPlan& plan) {
    RunPlan frozen;
    frozen.config = plan.config;
    frozen.config.valid_months = 0;
    frozen.identity = plan.identity;
    frozen.identity.vault_rule.clear();
    frozen.identity.period_from = frozen.identity.period_to = base::TimePoint();
    frozen.identity.drift_auc.reset();
    forget_counts(frozen.identity);
    frozen.identity.proposed_by.clear();
    frozen.identity.software.clear();
    frozen.identity.recipe.clear();
    frozen.delta = plan.delta;
    frozen.selection_digest = plan.selection_digest;
    for (const GroupPlan& group : plan.groups) {
        GroupPlan& kept = frozen.groups.emplace_back();
        kept.name = group.name;
        kept.index = group.index;
        kept.against = group.against;
        kept.q_approve = group.q_approve;
        kept.q_decline = group.q_decline;
        kept.q_refer = group.q_refer;
        kept.plan_variance = group.plan_variance;
        kept.selection_units = group.selection_units;
        if (plan.config.records_per_person > 0) {  // fixed at the first look
            kept.lo = group.lo;
            kept.hi = group.hi;
        }
        kept.bets.bets = group.bets.bets;
        kept.bets.weights = group.bets.weights;
    }
    return digest_of(frozen);
}

base::Digest digest_of(const RunPlan& plan) { return base::sha256(JsonWriter::write(plan)); }

}  // namespace rampart::certification
