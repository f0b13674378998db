#include "constraint_run.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "rampart/certification/reasons.hpp"

namespace rampart::certification {
namespace {

using base::make_error;
using base::Result;
using base::Status;

/// Log in the form that constraints read.
class ConstraintLog {
  public:
    explicit ConstraintLog(const ConstraintSet& set) : set_(set) {}

    /// Appends the source's records, with outcomes or without.
    Status read(const VaultSource& source, bool anchored) {
        anchored_ = anchored;
        std::optional<Pseudonym> unit;
        return source.read([&](std::span<const VaultRecord> block) -> Status {
            for (const VaultRecord& record : block) {
                persons_ += unit != record.unit;  // neighbours
                unit = record.unit;
                add(record, static_cast<uint32_t>(persons_ - 1));
            }
            return base::ok();
        });
    }

    void read(const ope::LoggedFeedback& f) {
        const ope::LoggedDecisions& d = f.decisions;
        anchored_ = !d.anchor.empty();
        std::unordered_map<std::string_view, uint32_t> persons;
        for (size_t i = 0; i < d.size(); ++i) {
            VaultRecord r;
            r.p = d.p_approve[i];
            r.candidate = d.candidate[i];
            r.reference = d.reference[i];
            if (anchored_) r.anchor = d.anchor[i];
            r.approved = d.approved[i] != 0;
            r.overridden = d.is_overridden(i);
            r.has_impact = d.has_impact[i] != 0;
            r.has_label = d.has_label[i] != 0;
            r.conditions = d.conditions[i];
            r.impact = f.impact[i];
            r.label = f.label[i];
            if (!d.referred.empty()) {
                r.p_refer = d.p_refer[i];
                r.candidate_refer = d.candidate_refer[i];
                r.reference_refer = d.reference_refer[i];
                if (anchored_) r.anchor_refer = d.anchor_refer[i];
                r.referral = d.referral(i);
            }
            const auto next = static_cast<uint32_t>(persons.size());
            add(r, persons.try_emplace(d.unit_id[i], next).first->second);
        }
        persons_ = persons.size();
    }

    /// Counts erased persons besides.
    void add_erased(size_t persons) { erased_ = persons; }

    /// Returns the log for a program; valid until the next call.
    constraints::Log of(const constraints::Program& program) {
        constraints::Log out{.person = person_,
                             .persons = persons_,
                             .p_approve = p_,
                             .approved = approved_,
                             .overridden = overridden_,
                             .has_label = has_label_,
                             .has_impact = has_impact_,
                             .candidate = candidate_,
                             .reference = reference_,
                             .p_refer = p_refer_,
                             .candidate_refer = candidate_refer_,
                             .reference_refer = reference_refer_,
                             .referred = referred_};
        if (anchored_) out.anchor = anchor_, out.anchor_refer = anchor_refer_;
        out.erased = erased_;
        members_.clear();
        for (const constraints::Leaf& leaf : program.leaves) {
            const auto condition = set_.condition_of(leaf);
            std::vector<uint8_t>& mask = members_.emplace_back(person_.size(), uint8_t{3});
            for (size_t i = 0; condition && i < mask.size(); ++i) {
                mask[i] = static_cast<uint8_t>(conditions_[i] >> 2 * *condition & 3);
            }
        }
        for (const auto& mask : members_) out.members.emplace_back(mask);
        return out;
    }
    constraints::Outcomes outcomes() const { return {label_, impact_}; }

  private:
    void add(const VaultRecord& r, uint32_t person) {
        person_.push_back(person);
        p_.push_back(r.p);
        candidate_.push_back(r.candidate);
        reference_.push_back(r.reference);
        if (anchored_) anchor_.push_back(r.anchor), anchor_refer_.push_back(r.anchor_refer);
        p_refer_.push_back(r.p_refer);
        candidate_refer_.push_back(r.candidate_refer);
        reference_refer_.push_back(r.reference_refer);
        referred_.push_back(static_cast<uint8_t>(r.referral));
        approved_.push_back(r.approved);
        overridden_.push_back(r.overridden);
        has_label_.push_back(r.has_label);
        has_impact_.push_back(r.has_impact);
        conditions_.push_back(r.conditions);
        label_.push_back(r.label);
        impact_.push_back(r.impact);
    }

    const ConstraintSet& set_;
    bool anchored_ = false;
    size_t persons_ = 0, erased_ = 0;
    std::vector<uint32_t> person_;
    std::vector<double> p_, candidate_, reference_, anchor_, label_, impact_;
    std::vector<double> p_refer_, candidate_refer_, reference_refer_, anchor_refer_;
    std::vector<uint8_t> approved_, overridden_, has_label_, has_impact_, referred_;
    std::vector<uint64_t> conditions_;
    std::vector<std::vector<uint8_t>> members_;
};

/// Returns the texts of a constraint and its means.
ConstraintPlan titled(const ConstraintSet& set, size_t k) {
    const constraints::Program& program = set.programs()[k];
    ConstraintPlan out{.name = set.names()[k],
                       .expression = constraints::text(program.constraint),
                       .means = {},
                       .tests = {}};
    for (const constraints::Leaf& leaf : program.leaves) {
        out.means.push_back(constraints::text(leaf));
    }
    return out;
}

base::Error named(const base::Error& error, const std::string& name) {
    return error.with_context(fmt::format("constraint '{}'", name));
}

std::optional<double> finite(double x) {
    return std::isfinite(x) ? std::optional(x + 0.0) : std::nullopt;
}

ConstraintResult result_of(const ConstraintPlan& plan, const constraints::ConstraintResult& from) {
    ConstraintResult out{.name = plan.name, .statements = {}, .passed = from.passed};
    for (const constraints::StatementResult& statement : from.statements) {
        ConstraintResult::Statement& s = out.statements.emplace_back();
        for (const constraints::EndResult& end : statement.ends) {
            s.ends.push_back({finite(end.estimate), finite(end.bound)});
        }
        s.lower = finite(statement.lower);
        if (statement.log_wealth) s.log_wealth = finite(*statement.log_wealth);
        s.passed = statement.passed;
    }
    return out;
}

}  // namespace

Result<std::vector<ConstraintPlan>> plan_constraints(const ConstraintSet& set, const RunPlan& run,
                                                     const ope::LoggedFeedback& selection,
                                                     const VaultSource& vault) {
    std::vector<ConstraintPlan> out;
    if (set.empty()) return out;
    if (selection.decisions.has_label.size() != selection.decisions.size()) {
        return make_error(
            Reason::kNoConditions,
            "there are constraints, but the development set does not say who meets their "
            "conditions: give conditions and labels of both sets");
    }
    ConstraintLog development(set), log(set);
    development.read(selection);
    RAMPART_RETURN_IF_ERROR(log.read(vault, !run.identity.anchor_id.empty()));
    log.add_erased(run.erased);
    const constraints::Settings settings = settings_of(run.config, run.delta);
    for (size_t k = 0; k < set.programs().size(); ++k) {
        const constraints::Program& program = set.programs()[k];
        auto plan = constraints::plan(program, settings, development.of(program),
                                      development.outcomes(), log.of(program));
        if (!plan) return named(plan.error(), set.names()[k]);
        out.push_back(titled(set, k));
        out.back().tests = std::move(*plan);
    }
    return out;
}

Result<std::vector<ConstraintPlan>> plan_again(const ConstraintSet& set, const RunPlan& run,
                                               const std::vector<ConstraintPlan>& plans,
                                               const VaultSource& vault) {
    std::vector<ConstraintPlan> out;
    if (plans.size() != set.programs().size()) {
        return make_error(Reason::kBadPlan, "{} plans for {} constraints", plans.size(),
                          set.programs().size());
    }
    if (set.empty()) return out;
    ConstraintLog log(set);
    RAMPART_RETURN_IF_ERROR(log.read(vault, !run.identity.anchor_id.empty()));
    log.add_erased(run.erased);
    const constraints::Settings settings = settings_of(run.config, run.delta);
    for (size_t k = 0; k < plans.size(); ++k) {
        const constraints::Program& program = set.programs()[k];
        out.push_back(titled(set, k));
        out.back().tests = plans[k].tests;
        auto status = constraints::complete(program, settings, log.of(program), out.back().tests);
        if (!status) return named(status.error(), set.names()[k]);
    }
    return out;
}

Result<std::vector<ConstraintResult>> evaluate_constraints(const ConstraintSet& set,
                                                           const RunPlan& run,
                                                           const VaultSource& feedback) {
    std::vector<ConstraintResult> out;
    if (set.empty()) return out;
    if (run.constraint_plans.size() != set.programs().size()) {
        return make_error(Reason::kBadPlan, "{} plans for {} constraints",
                          run.constraint_plans.size(), set.programs().size());
    }
    ConstraintLog log(set);
    RAMPART_RETURN_IF_ERROR(log.read(feedback, !run.identity.anchor_id.empty()));
    log.add_erased(run.erased);
    const constraints::Settings settings = settings_of(run.config, run.delta);
    for (size_t k = 0; k < set.programs().size(); ++k) {
        const constraints::Program& program = set.programs()[k];
        const ConstraintPlan& plan = run.constraint_plans[k];
        out.push_back(result_of(plan, constraints::evaluate(program, settings, plan.tests,
                                                            log.of(program), log.outcomes())));
    }
    return out;
}

std::vector<GroupForecast> forecast_constraints(const ConstraintSet& set, const RunPlan& run,
                                                const ope::LoggedFeedback& selection) {
    std::vector<GroupForecast> out;
    if (set.empty()) return out;
    ConstraintLog log(set);
    log.read(selection);
    log.add_erased(selection.decisions.erased.records);  // as many are in the vault
    const constraints::Settings settings = settings_of(run.config, run.delta);
    for (size_t k = 0; k < set.programs().size(); ++k) {
        const constraints::Program& program = set.programs()[k];
        out.push_back({.name = set.names()[k],
                       .pass_probability = constraints::pass_probability(
                           program, settings, run.constraint_plans[k].tests, log.of(program),
                           log.outcomes())});
    }
    return out;
}

}  // namespace rampart::certification
