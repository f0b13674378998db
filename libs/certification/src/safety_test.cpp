#include "rampart/certification/safety_test.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_set>

#include "measure.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/stats/distributions.hpp"
#include "run_access.hpp"

namespace rampart::certification {
namespace {

using base::Result;
using ope::LoggedDecisions;
using ope::LoggedFeedback;

PublicResult refused(const base::Error& error) {
    return {Verdict::kRefused, error.reason, error.message};
}

std::string pseudonym(std::string_view key, std::string_view kind, const std::string& id) {
    std::string message(kind);
    message += '\0';
    message += id;
    const base::Digest digest = base::hmac_sha256(key, message);
    return base::to_hex({reinterpret_cast<const char*>(digest.bytes.data()), 16});
}

/// The vault under pseudonyms, sorted by them. Fills source: where each record came from.
LoggedDecisions pseudonymise(const LoggedDecisions& d, std::string_view key,
                             std::vector<uint32_t>& source) {
    const size_t n = d.size();
    std::vector<std::string> ids(n);
    for (size_t i = 0; i < n; ++i) ids[i] = pseudonym(key, "record", d.record_id[i]);
    source.resize(n);
    std::iota(source.begin(), source.end(), 0u);
    std::sort(source.begin(), source.end(),
              [&](uint32_t a, uint32_t b) { return ids[a] < ids[b]; });
    LoggedDecisions out;
    out.logger_ids = d.logger_ids;
    std::vector<uint32_t> place(n);
    for (uint32_t i = 0; i < n; ++i) {
        const uint32_t from = source[i];
        place[from] = i;
        out.record_id.push_back(ids[from]);
        out.unit_id.push_back(pseudonym(key, "unit", d.unit_id[from]));
        out.p_approve.push_back(d.p_approve[from]);
        out.approved.push_back(d.approved[from]);
        out.has_impact.push_back(d.has_impact[from]);
        out.candidate.push_back(d.candidate[from]);
        out.reference.push_back(d.reference[from]);
        out.logger.push_back(d.logger[from]);
    }
    for (const uint32_t i : d.overridden) out.overridden.push_back(place[i]);
    std::sort(out.overridden.begin(), out.overridden.end());
    for (const ope::Group& group : d.groups) {
        ope::Group moved{group.name, {}};
        for (const uint32_t i : group.records) moved.records.push_back(place[i]);
        std::sort(moved.records.begin(), moved.records.end());
        out.groups.push_back(std::move(moved));
    }
    return out;
}

/// Groups are the same in both, and no person is in both.
base::Status check_split(const LoggedDecisions& selection, const LoggedDecisions& vault) {
    if (vault.groups.empty()) {
        return base::invalid_argument("no_groups", "there is no protected group to certify for");
    }
    const auto same_name = [](const ope::Group& a, const ope::Group& b) {
        return a.name == b.name;
    };
    if (!std::equal(vault.groups.begin(), vault.groups.end(), selection.groups.begin(),
                    selection.groups.end(), same_name)) {
        return base::invalid_argument(
            "different_groups", "D_c and the vault must have the same groups in the same order");
    }
    const std::unordered_set<std::string_view> persons(selection.unit_id.begin(),
                                                       selection.unit_id.end());
    size_t shared = 0;
    for (const std::string& unit : vault.unit_id) shared += persons.contains(unit);
    if (shared == 0) return base::ok();
    return base::failed_precondition(
        "person_in_both",
        "{} vault records are of persons who are in D_c as well: the split "
        "must be by person and for ever",
        shared);
}

/// Mean impact of an action in D_c, and how many outcomes it rests on.
struct Centre {
    double mean = 0;
    size_t outcomes = 0;
};
Centre centre_of(const GateConfig& config, const LoggedFeedback& selection, const ope::Group& group,
                 bool approved) {
    stats::Sum sum;
    size_t n = 0;
    for (const uint32_t i : group.records) {
        if ((selection.decisions.approved[i] != 0) != approved) continue;
        if (!outcome_expected(config, selection.decisions, i)) {
            sum.add(*config.declined_impact);  // not granted
        } else if (selection.decisions.has_impact[i] != 0) {
            sum.add(selection.impact[i]);
        } else {
            continue;
        }
        ++n;
    }
    return {n > 0 ? sum.value() / static_cast<double>(n) : 0, n};
}

/// Sets the centres by the means of D_c. A mean may leave the range by a rounding error, and the
/// range computed from it would be too short.
void set_centres(const GateConfig& config, Centres kind, const Centre& approve,
                 const Centre& decline, GroupPlan& plan) {
    const auto within = [&](double x) { return std::clamp(x, config.impact_lo, config.impact_hi); };
    const bool known_decline = config.declined_impact && !config.declines_overridden;
    switch (kind) {
        case Centres::kNone:
            plan.q_approve = plan.q_decline = within(0);
            break;
        case Centres::kSingle: {
            const auto n1 = static_cast<double>(approve.outcomes);
            const auto n0 = static_cast<double>(decline.outcomes);
            plan.q_approve = plan.q_decline =
                within((n1 * approve.mean + n0 * decline.mean) / (n1 + n0));
            break;
        }
        case Centres::kPerAction:
        case Centres::kBest:
            plan.q_approve = within(approve.mean);
            plan.q_decline = within(decline.mean);
    }
    if (known_decline) plan.q_decline = *config.declined_impact;
}

/// Centres and variance of a group, from D_c; keeps the units' values for the forecast.
base::Status plan_from_selection(const GateConfig& config, Centres kind,
                                 const LoggedFeedback& selection, const ope::Group& group,
                                 GroupPlan& plan, std::vector<double>& values) {
    const Centre approve = centre_of(config, selection, group, true);
    const Centre decline = centre_of(config, selection, group, false);
    const bool known_decline = config.declined_impact && !config.declines_overridden;
    const bool enough = approve.outcomes >= config.min_outcomes &&
                        (known_decline || decline.outcomes >= config.min_outcomes);
    if (!enough) {
        return base::failed_precondition(
            "too_few_selection_outcomes",
            "group {}: D_c has {} outcomes of approvals and {} of declines; "
            "{} are needed of each action whose impact is not known",
            group.name, approve.outcomes, decline.outcomes, config.min_outcomes);
    }
    set_centres(config, kind, approve, decline, plan);
    const ope::UnitMap units = ope::map_units(selection.decisions, group.records);
    values = ope::unit_values(selection.decisions, group.records, units, selection.impact,
                              impact_model(config, plan), config.margin);
    plan.selection_units = units.units;
    plan.plan_variance = stats::moments(values).variance;
    if (plan.plan_variance > 0 && std::isfinite(plan.plan_variance)) return base::ok();
    return base::failed_precondition(
        "no_plan_variance",
        "group {}: the change of impact does not vary in D_c, so that bets "
        "cannot be planned: the candidate changes nothing there",
        group.name);
}

/// P(the best of the constant bets alone reaches ln(1/delta)), its log wealth taken as normal with
/// mean and variance of D_c, and the uncertainty of that mean included.
double pass_probability(std::span<const double> values, const GroupPlan& group, double delta) {
    const double lo = std::min(group.lo, *std::min_element(values.begin(), values.end()));
    const auto n = static_cast<double>(group.units), n_c = static_cast<double>(values.size());
    double best = 0;
    std::vector<double> logs(values.size());
    for (size_t k = 0; k < stats::kBetCount; ++k) {
        const double bet = std::min(group.bets.bets[k], group.bets.cap / -lo);
        for (size_t i = 0; i < values.size(); ++i) logs[i] = std::log1p(bet * values[i]);
        const stats::Moments growth = stats::moments(logs);
        const double spread = std::sqrt(growth.variance * n * (1 + n / n_c));
        const double excess = n * growth.mean + std::log(group.bets.weights[k]) + std::log(delta);
        const double p = spread > 0 ? stats::normal_cdf(excess / spread) : 0;
        best = std::max(best, p);  // NaN loses
    }
    return best;
}

/// A group's plan with centres of one kind, and its units' values in D_c.
struct PlannedGroup {
    GroupPlan plan;
    std::vector<double> values;
};

/// Plans the group with the configured centres; of kBest with those that D_c forecasts to pass more
/// likely, which is no choice by the vault's impacts: they are not read.
Result<PlannedGroup> plan_group(const RunPlan& run, const LoggedFeedback& selection,
                                const LoggedDecisions& vault, size_t g) {
    const bool best = run.config.centres == Centres::kBest;
    PlannedGroup chosen;
    double chance = -1;
    for (const Centres kind : best ? std::vector{Centres::kPerAction, Centres::kSingle}
                                   : std::vector{run.config.centres}) {
        PlannedGroup group;
        RAMPART_RETURN_IF_ERROR(plan_from_selection(
            run.config, kind, selection, selection.decisions.groups[g], group.plan, group.values));
        measure_group(run.config, vault, vault.groups[g], group.plan);
        double forecast = 0;
        if (best) {
            if (auto bets = plan_group_bets(run, group.plan)) {
                group.plan.bets = *bets;
                forecast = pass_probability(group.values, group.plan, run.delta);
            }
        }
        if (forecast > chance) {
            chance = forecast;
            chosen = std::move(group);
        }
    }
    return chosen;
}

/// Everything about the data that can refuse a run or show that it is needless, in the order in
/// which it is told. On success `run` is complete.
base::Result<std::optional<PublicResult>> prepare(const LoggedFeedback& selection,
                                                  const LoggedDecisions& vault,
                                                  std::string_view key, PreparedRun& run) {
    RunPlan& plan = RunAccess::plan(run);
    RAMPART_RETURN_IF_ERROR(ope::validate(vault));
    RAMPART_RETURN_IF_ERROR(ope::validate(selection));
    RAMPART_RETURN_IF_ERROR(check_split(selection.decisions, vault));
    RAMPART_RETURN_IF_ERROR(check_impacts(plan.config, selection.decisions, selection.impact));
    // what happens in D_c may happen in the vault, whether or not it did
    if (auto fault = find_override_fault(plan.config, selection.decisions)) return fault;
    if (auto fault = find_record_fault(plan.config, vault)) return fault;
    RunAccess::vault(run) = pseudonymise(vault, key, RunAccess::source(run));
    measure_log(run.vault(), plan);
    for (size_t g = 0; g < vault.groups.size(); ++g) {
        RAMPART_TRY(auto group, plan_group(plan, selection, run.vault(), g));
        RunAccess::selection_values(run).push_back(std::move(group.values));
        plan.groups.push_back(std::move(group.plan));
    }
    if (auto fault = find_figure_fault(plan)) return fault;
    for (GroupPlan& group : plan.groups) {
        RAMPART_TRY(group.bets, plan_group_bets(plan, group));
    }
    if (plan.config.min_power > 0) {
        const double power = forecast(run).pass_probability;
        if (!(power >= plan.config.min_power)) {
            return base::failed_precondition(
                "low_power",
                "D_c forecasts that all groups pass with probability {:.2f}, less than {}: wait "
                "for "
                "more records, or lower gate.min_power to spend a run on it all the same",
                power, plan.config.min_power);
        }
    }
    plan.selection_digest = digest_of(selection.decisions, selection.impact);
    plan.vault_digest = digest_of(run.vault(), {});
    return std::optional<PublicResult>{};
}

base::Status check_operator_input(const GateConfig& config, const RunIdentity& identity,
                                  const DeltaLedger& ledger, std::string_view key) {
    RAMPART_RETURN_IF_ERROR(validate(config));
    if (identity.candidate_id.empty() || identity.reference_id.empty()) {
        return base::invalid_argument("bad_identity",
                                      "candidate '{}', reference '{}': both must be named",
                                      identity.candidate_id, identity.reference_id);
    }
    if (key.size() < 16) {
        return base::invalid_argument(
            "short_key", "the pseudonym key has {} bytes; give at least 16", key.size());
    }
    if (!ledger.current()) {
        return base::failed_precondition("no_epoch", "no epoch is open: open one with its budget");
    }
    const EpochOpened& epoch = *ledger.current();
    if (epoch.delta_epoch != config.delta_epoch || epoch.runs != config.runs_per_epoch ||
        epoch.spending != config.spending) {
        return base::failed_precondition(
            "budget_changed",
            "epoch {} was opened with delta {} over {} runs ({}), the configuration says {} over "
            "{} ({}): "
            "a budget holds for its epoch; restore it or open a new epoch",
            epoch.epoch, epoch.delta_epoch, epoch.runs, to_string(epoch.spending),
            config.delta_epoch, config.runs_per_epoch, to_string(config.spending));
    }
    return base::ok();
}

}  // namespace

DeltaLedger::RunRequest PreparedRun::request() const {
    return {plan_.identity.candidate_id, plan_.identity.reference_id, digest_of(plan_),
            plan_.identity.vault_rule};
}

Result<PrecheckResult> precheck(const GateConfig& config, const RunIdentity& identity,
                                const DeltaLedger& ledger, std::string_view pseudonym_key,
                                const LoggedFeedback& selection, const LoggedDecisions& vault) {
    RAMPART_RETURN_IF_ERROR(check_operator_input(config, identity, ledger, pseudonym_key));
    PrecheckResult out;
    const auto delta = ledger.next_delta();
    if (!delta) {
        out.result = refused(delta.error());
        return out;
    }
    PreparedRun run = RunAccess::make();
    RunPlan& plan = RunAccess::plan(run);
    plan.config = config;
    plan.identity = identity;
    plan.delta = *delta;
    auto fault = prepare(selection, vault, pseudonym_key, run);
    if (!fault)
        out.result = refused(fault.error());
    else if (*fault)
        out.result = **fault;
    else
        out.prepared = std::move(run);
    return out;
}

Forecast forecast(const PreparedRun& run) {
    Forecast out{.pass_probability = 1, .groups = {}};
    for (size_t g = 0; g < run.plan().groups.size(); ++g) {
        const GroupPlan& group = run.plan().groups[g];
        const auto& values = RunAccess::selection_values(run)[g];
        const stats::Moments sample = stats::moments(values);
        stats::Moments predicted = sample;
        predicted.n = group.units;
        const double lower = stats::t_lower_bound(predicted, run.plan().delta);
        const double per_record =
            static_cast<double>(group.units) / static_cast<double>(group.records);
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
                         const std::vector<double>& vault_impact) {
    RAMPART_RETURN_IF_ERROR(RunAccess::check_ticket(run, ticket));
    RAMPART_TRY(const auto impact, RunAccess::in_vault_order(run, vault_impact));
    RAMPART_RETURN_IF_ERROR(check_impacts(run.plan().config, run.vault(), impact));
    return evaluate(run.plan(), run.vault(), impact);
}

}  // namespace rampart::certification
