#include "rampart/certification/gate_run.hpp"

#include <algorithm>
#include <cmath>

#include "constraint_run.hpp"
#include "earlier_look.hpp"
#include "evaluation.hpp"
#include "measure.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/utf8.hpp"
#include "rampart/certification/reasons.hpp"
#include "run_access.hpp"
#include "selection_plan.hpp"
#include "verify.hpp"

namespace rampart::certification {
namespace {

using base::Result;
using ope::LoggedFeedback;

PublicResult refused(const base::Error& error) {
    return {Verdict::kRefused, error.reason, error.message};
}

/// Plan of a group with control variates of one kind, and its units' values in the development set.
struct PlannedGroup {
    GroupPlan plan;
    std::vector<double> values;
};

/// Plans all groups against the reference and, where there is one, the anchor, with control
/// variates of one kind. The first error of the development set goes to `trouble`; preconditions
/// that the vault itself breaks are reported before it.
std::vector<PlannedGroup> plan_groups(const RunPlan& run, ControlVariateKind kind,
                                      const LoggedFeedback& selection, base::Status& trouble) {
    std::vector<PlannedGroup> out;
    const auto& groups = selection.decisions.groups;
    for (const Against against : {Against::kReference, Against::kAnchor}) {
        if (against == Against::kAnchor && run.identity.anchor_id.empty()) continue;
        for (uint32_t g = 0; g < groups.size(); ++g) {
            PlannedGroup& group = out.emplace_back();
            group.plan.name = plan_name(groups[g].name, against);
            group.plan.index = g;
            group.plan.against = against;
            auto status =
                plan_from_selection(run.config, kind, selection, group.plan, group.values);
            if (!status && trouble) trouble = std::move(status);
        }
    }
    return out;
}

/// Takes, for kBest, the control variates that the development set forecasts to pass more likely.
/// The vault's impacts are not read for that choice.
void choose(const RunPlan& run, PlannedGroup& group, PlannedGroup other) {
    const auto chance = [&](PlannedGroup& g) {
        const auto bets = plan_group_bets(run, g.plan);
        if (!bets || g.values.empty()) return 0.0;
        g.plan.bets = *bets;
        return pass_probability(g.values, g.plan, run.delta);
    };
    if (chance(other) > chance(group)) group = std::move(other);
}

base::Status check_control_variates(const GateConfig& config, const ope::LoggedDecisions& d) {
    for (size_t i = 0; i < d.size(); ++i) {
        const auto control_variates =
            d.control_variates.empty() ? std::nullopt : std::optional(d.control_variates[i]);
        RAMPART_RETURN_IF_ERROR(check_record_control_variates(config, control_variates,
                                                              [&] { return d.record_id[i]; }));
    }
    return base::ok();
}

base::Error bad_anchor(const RunIdentity& identity, const ope::LoggedDecisions& decisions) {
    return base::make_error(
        Reason::kBadAnchor,
        "anchor policy '{}', but {} probabilities of one: name it and "
        "give its probabilities in the development set and the vault, or neither",
        identity.anchor_id, decisions.anchor.size());
}

/// Returns the groups of an earlier look: control variates and bets, without the figures of its
/// vault.
std::vector<PlannedGroup> groups_of(const RunPlan& earlier) {
    std::vector<PlannedGroup> out;
    for (const GroupPlan& group : earlier.groups) out.push_back({group, {}});
    return out;
}

/// Keeps the bets of the earlier look, whatever the range now is: other bets would be another
/// process.
base::Status keep_bets(const RunPlan& earlier, RunPlan& plan) {
    constexpr double kMost = 0.999;  // largest share of the wealth that one value may cost
    for (size_t i = 0; i < plan.groups.size(); ++i) {
        GroupPlan& group = plan.groups[i];
        group.bets = earlier.groups[i].bets;
        const double cost =
            *std::max_element(group.bets.bets.begin(), group.bets.bets.end()) * -group.lo;
        if (!(cost <= kMost)) {
            return base::make_error(
                Reason::kRangeGrew,
                "group {}: a value of the records that came could cost {:.2f} of the "
                "wealth that the bets of the first look have: another candidate, or a new epoch",
                group.name, cost);
        }
        group.bets.cap = std::max(plan.config.bet_cap, cost);
    }
    return base::ok();
}

/// Refuses a look that counts fewer records at the worst than the one before, for any reason.
base::Status check_erased(const RunPlan& earlier, const RunPlan& plan) {
    const auto of_erased = [](const RunPlan& p) { return p.erased - p.unexplained - p.unreadable; };
    bool fewer = of_erased(plan) < of_erased(earlier) || plan.unexplained < earlier.unexplained ||
                 plan.unreadable < earlier.unreadable;
    for (size_t i = 0; i < plan.groups.size(); ++i)
        fewer = fewer || plan.groups[i].erased < earlier.groups[i].erased;
    if (!fewer) return base::ok();
    return base::make_error(Reason::kEarlierRecordsChanged,
                            "fewer records of erased persons, of another schema file or such that "
                            "cannot be read are counted than in the look before: a further look "
                            "needs all of them");
}

PublicResult other_settings() {
    return {Verdict::kRefused, "other_settings",
            "a further look needs the settings, groups, policies and metric of the first, the "
            "bound betting, centres that are no regression, and no constraints: "
            "register a run of its own"};
}

base::Status check_power(const PreparedRun& run) {
    const double wanted = run.plan().config.min_power;
    if (wanted == 0) return base::ok();
    const double power = forecast(run).pass_probability;
    if (power >= wanted) return base::ok();
    return base::make_error(
        Reason::kLowPower,
        "the development set forecasts that all groups and constraints pass with probability "
        "{:.2f}, less than {}: "
        "wait for more "
        "records, or lower gate.min_power to spend a run on it all the same",
        power, wanted);
}

/// Returns IDENTICAL only where the groups have enough persons.
PublicResult enough_to_say(const RunPlan& run, const std::vector<PlannedGroup>& groups,
                           PublicResult fault) {
    if (fault.verdict != Verdict::kIdentical) return fault;
    RunPlan plan;
    plan.config = run.config;
    for (const PlannedGroup& group : groups) plan.groups.push_back(group.plan);
    return too_few_units(plan).value_or(std::move(fault));
}

/// Checks everything about the data that can refuse a run or show that it is needless, in the order
/// of reporting. On success `run` is complete.
Result<std::optional<PublicResult>> prepare(const PrecheckInputs& in, const VaultSource& vault,
                                            PreparedRun& run) {
    const LoggedFeedback& selection = in.selection;
    const RunPlan* earlier = in.earlier != nullptr ? &in.earlier->plan : nullptr;
    RunPlan& plan = RunAccess::plan(run);
    RAMPART_RETURN_IF_ERROR(ope::validate(selection));
    if (plan.identity.anchor_id.empty() != selection.decisions.anchor.empty()) {
        return bad_anchor(plan.identity, selection.decisions);
    }
    RAMPART_RETURN_IF_ERROR(check_split(selection, vault, in.pseudonym_key));
    RAMPART_RETURN_IF_ERROR(check_impacts(plan.config, selection));
    RAMPART_RETURN_IF_ERROR(check_control_variates(plan.config, selection.decisions));
    // an override in the development set may occur in the vault too, even if none did
    if (auto fault = override_fault(plan.config, granted_declines(selection.decisions)))
        return fault;
    if (auto fault = referral_fault(plan.config, selection.decisions)) return fault;
    base::Status trouble = base::ok();
    const bool best =
        plan.config.control_variates == ControlVariateKind::kBest && earlier == nullptr;
    std::vector<PlannedGroup> groups =
        earlier != nullptr
            ? groups_of(*earlier)
            : plan_groups(plan,
                          best ? ControlVariateKind::kPerAction : plan.config.control_variates,
                          selection, trouble);
    const size_t count = groups.size();
    if (best) {
        for (auto& g : plan_groups(plan, ControlVariateKind::kSingle, selection, trouble)) {
            groups.push_back(std::move(g));
        }
    }
    std::vector<GroupPlan> plans;
    for (const PlannedGroup& group : groups) plans.push_back(group.plan);
    VaultMeasure measure(plan.config, vault.names(), plans);
    RAMPART_RETURN_IF_ERROR(measure.read(vault));
    for (size_t i = 0; i < groups.size(); ++i) measure.group(i).finish(groups[i].plan);
    if (auto fault = measure.record_fault()) return enough_to_say(plan, groups, std::move(*fault));
    RAMPART_RETURN_IF_ERROR(trouble);
    measure.finish(plan);
    for (size_t i = 0; i < count; ++i) {
        if (best) choose(plan, groups[i], std::move(groups[count + i]));
        plan.groups.push_back(std::move(groups[i].plan));
        RunAccess::selection_values(run).push_back(std::move(groups[i].values));
    }
    if (auto fault = find_figure_fault(plan)) return fault;
    plan.selection_digest = earlier != nullptr ? earlier->selection_digest : digest_of(selection);
    if (earlier != nullptr) {
        if (vault.names().groups != names_of(*earlier).groups)
            return std::optional(other_settings());
        RAMPART_RETURN_IF_ERROR(check_inclusion(*in.earlier, vault, Compare::kDecisions));
        RAMPART_RETURN_IF_ERROR(check_erased(*earlier, plan));
        RAMPART_RETURN_IF_ERROR(keep_bets(*earlier, plan));
        RunAccess::earlier(run) = *in.earlier;
        return std::optional<PublicResult>{};
    }
    for (GroupPlan& group : plan.groups) {
        RAMPART_TRY(group.bets, plan_group_bets(plan, group));
    }
    RAMPART_TRY(const ConstraintSet set, ConstraintSet::compile(plan.config));
    RAMPART_TRY(plan.constraint_plans, plan_constraints(set, plan, selection, vault));
    RunAccess::constraint_forecast(run) = forecast_constraints(set, plan, selection);
    RAMPART_RETURN_IF_ERROR(check_power(run));
    return std::optional<PublicResult>{};
}

base::Status check_operator_input(const PrecheckInputs& in) {
    const GateConfig& config = in.config;
    const RunIdentity& identity = in.identity;
    RAMPART_RETURN_IF_ERROR(validate(config));
    if (identity.candidate_id.empty() || identity.reference_id.empty()) {
        return base::make_error(Reason::kBadIdentity,
                                "candidate '{}', reference '{}': both must be named",
                                identity.candidate_id, identity.reference_id);
    }
    if (!base::is_utf8(identity.proposed_by) ||
        identity.proposed_by.size() > base::limits::kMaxNameBytes) {
        return base::make_error(Reason::kBadIdentity,
                                "the name of who proposes has {} bytes: give up to {}, in UTF-8",
                                identity.proposed_by.size(), base::limits::kMaxNameBytes);
    }
    if (in.pseudonym_key.size() < 16) {
        return base::make_error(Reason::kShortKey,
                                "the pseudonym key has {} bytes; give at least 16",
                                in.pseudonym_key.size());
    }
    if (!in.ledger.current()) {
        return base::make_error(Reason::kNoEpoch, "no epoch is open: open one with its budget");
    }
    const EpochOpened& epoch = *in.ledger.current();
    if (epoch.delta_epoch != config.delta_epoch || epoch.runs != config.runs_per_epoch ||
        epoch.spending != config.spending) {
        return base::make_error(
            Reason::kBudgetChanged,
            "epoch {} was opened with delta {} over {} runs ({}), the configuration says {} over "
            "{} ({}): "
            "a budget holds for its epoch; restore it or open a new epoch",
            epoch.epoch, epoch.delta_epoch, epoch.runs, to_string(epoch.spending),
            config.delta_epoch, config.runs_per_epoch, to_string(config.spending));
    }
    if (epoch.reserve > 0 && epoch.reserve != config.calibration_level) {
        return base::make_error(
            Reason::kBudgetChanged,
            "epoch {} was opened with {} for the test of logged probabilities, calibration_level "
            "is {}: restore it or open a new epoch",
            epoch.epoch, epoch.reserve, config.calibration_level);
    }
    return base::ok();
}

}  // namespace

bool allows_further_looks(const GateConfig& config) {
    return config.bound == stats::BoundMethod::kBetting &&
           config.control_variates != ControlVariateKind::kRegression &&
           config.named_constraints.empty();
}

bool may_look_again(const RunPlan& earlier, const GateConfig& config, const RunIdentity& identity) {
    RunPlan now = earlier;
    now.config = config;
    now.identity = identity;
    return allows_further_looks(config) && frozen_digest(now) == frozen_digest(earlier);
}

DeltaLedger::RunRequest PreparedRun::request() const {
    return {plan_.identity.candidate_id,
            plan_.identity.reference_id,
            digest_of(plan_),
            plan_.identity.vault_rule,
            plan_.look,
            frozen_digest(plan_),
            plan_.identity.software};
}

Result<PrecheckResult> precheck(const PrecheckInputs& in, const VaultSource& vault) {
    RAMPART_RETURN_IF_ERROR(check_operator_input(in));
    PrecheckResult out;
    const auto delta =
        in.earlier != nullptr ? Result<double>(in.earlier->plan.delta) : in.ledger.next_delta();
    if (!delta) {
        out.result = refused(delta.error());
        return out;
    }
    PreparedRun run = RunAccess::make();
    RunPlan& plan = RunAccess::plan(run);
    plan.config = in.config;
    plan.identity = in.identity;
    plan.delta = *delta;
    if (in.earlier != nullptr) {
        if (!may_look_again(in.earlier->plan, in.config, in.identity)) {
            out.result = other_settings();
            return out;
        }
        plan.look = in.earlier->plan.look + 1;
    }
    auto fault = prepare(in, vault, run);
    if (!fault)
        out.result = refused(fault.error());
    else if (*fault)
        out.result = **fault;
    else
        out.prepared = std::move(run);
    return out;
}

Result<PrecheckResult> precheck(const PrecheckInputs& in, const ope::LoggedDecisions& decisions) {
    RAMPART_RETURN_IF_ERROR(check_operator_input(in));
    auto vault = MemoryVault::from(decisions, in.pseudonym_key);
    if (!vault) return PrecheckResult{refused(vault.error()), {}};
    if (decisions.anchor.empty() != in.identity.anchor_id.empty()) {
        return PrecheckResult{refused(bad_anchor(in.identity, decisions)), {}};
    }
    RAMPART_TRY(PrecheckResult out, precheck(in, *vault));
    if (out.prepared) RunAccess::vault(*out.prepared) = std::move(*vault);
    return out;
}

Forecast forecast(const PreparedRun& run) {
    Forecast out{
        .pass_probability = 1, .groups = {}, .constraints = RunAccess::constraint_forecast(run)};
    for (const GroupForecast& f : out.constraints) out.pass_probability *= f.pass_probability;
    for (size_t g = 0; g < run.plan().groups.size(); ++g) {
        const GroupPlan& group = run.plan().groups[g];
        const auto& values = RunAccess::selection_values(run)[g];
        const stats::Moments sample = stats::moments(values);
        stats::Moments predicted = sample;
        predicted.n = group.units + group.erased;
        const double lower = stats::t_lower_bound(predicted, run.plan().delta);
        const double per_record =
            static_cast<double>(predicted.n) / static_cast<double>(group.records + group.erased);
        GroupForecast f{.name = group.name};
        f.pass_probability = pass_probability(values, group, run.plan().delta);
        f.predicted_lower =
            (sample.mean - 2 * (sample.mean - lower)) * per_record - run.plan().config.margin;
        out.pass_probability *= f.pass_probability;
        out.groups.push_back(std::move(f));
    }
    return out;
}

Result<SealedResult> run(const PreparedRun& run, const RunTicket& ticket,
                         const VaultSource& feedback) {
    RAMPART_RETURN_IF_ERROR(RunAccess::check_ticket(run, ticket));
    if (const auto& earlier = RunAccess::earlier(run))
        RAMPART_RETURN_IF_ERROR(check_inclusion(*earlier, feedback, Compare::kImpacts));
    return evaluate(run.plan(), feedback);
}

Result<SealedResult> run(const PreparedRun& prepared, const RunTicket& ticket,
                         const std::vector<double>& vault_impact,
                         const std::vector<double>& vault_label) {
    RAMPART_RETURN_IF_ERROR(RunAccess::check_ticket(prepared, ticket));
    RAMPART_TRY(const MemoryVault feedback,
                RunAccess::feedback(prepared, vault_impact, vault_label));
    return run(prepared, ticket, feedback);
}

}  // namespace rampart::certification
