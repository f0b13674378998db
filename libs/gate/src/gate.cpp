#include "rampart/gate/gate.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "erased.hpp"
#include "identity.hpp"
#include "rampart/certification/certificate_file.hpp"
#include "rampart/certification/constraint_set.hpp"
#include "rampart/certification/reasons.hpp"
#include "rampart/monitoring/drift.hpp"
#include "rampart/monitoring/reasons.hpp"
#include "rampart/training/covariate_shift.hpp"
#include "rampart/training/gate_inputs.hpp"

namespace rampart::gate {
namespace {

using base::Result;
using base::Status;
using base::TimePoint;
using certification::DeltaLedger;
using certification::LedgerView;
using certification::PolicyPair;

PolicyPair pair_of(const Submission& run) {
    return {run.candidate.id.value(), run.reference.id.value()};
}

}  // namespace

/// A submission laid out for the test, and where the vault's outcomes are.
struct Gate::Inputs : TestInputs {
    certification::ConstraintSet constraints;
    training_set::VaultSet vault;
};

Result<std::unique_ptr<Gate>> Gate::create(GateSettings settings, GateDeps deps) {
    RAMPART_RETURN_IF_ERROR(certification::validate(settings.config));
    return std::unique_ptr<Gate>(new Gate(std::move(settings), std::move(deps)));
}

Protocol Gate::protocol() const {
    return {deps_.store, deps_.signing_key, deps_.evidence_key, deps_.wall_clock,
            settings_.commit_log ? deps_.log_ends : ReadLogEnds()};
}

Result<DeltaLedger> Gate::read_ledger() const { return protocol().read_ledger(); }

Result<std::string> Gate::epoch_entry(const DeltaLedger& ledger, std::string note,
                                      TimePoint t) const {
    const auto& config = settings_.config;
    return ledger.next_epoch(config.delta_epoch, config.runs_per_epoch, config.spending,
                             std::move(note), t, deps_.key_ids, config.calibration_level);
}

Result<uint32_t> Gate::check_new_epoch(const std::string& note, TimePoint at) const {
    RAMPART_TRY(const auto ledger, read_ledger());
    RAMPART_RETURN_IF_ERROR(epoch_entry(ledger, note, at).map([](const std::string&) {}));
    return ledger.epoch() + 1;
}

/// Adds the epoch that the run opens to `ledger`, but stores nothing: it is stored with the charge
/// of its first run. False: the run opens none, or did before a crash.
Result<bool> Gate::begin_epoch(const Submission& run, DeltaLedger& ledger) const {
    if (ledger.epoch() > 0 && run.opens_epoch <= ledger.epoch()) return false;
    RAMPART_TRY(
        const auto entry,
        epoch_entry(ledger, run.opens_epoch > 0 ? run.epoch_note : "the first epoch", run.at));
    RAMPART_RETURN_IF_ERROR(ledger.append(entry));
    return true;
}

Result<std::string> Gate::spending_note() const {
    using certification::Spending;
    RAMPART_TRY(const auto ledger, read_ledger());
    if (!ledger.current()) return std::string();
    const auto& epoch = *ledger.current();
    const bool looks = epoch.spending == Spending::kByHistory && !epoch.counts_looks;
    if (epoch.spending == settings_.config.spending && !looks) return std::string();
    const std::string_view proves =
        looks ? ", which proves its budget while no run is looked at again"
        : epoch.spending == Spending::kEqual
            ? ", which proves its budget up to the first certificate only"
            : "";
    return fmt::format(
        "epoch {} keeps the spending that it was opened with, {}{}; gate.spending = \"{}\" holds "
        "from the next epoch on",
        epoch.epoch, to_string(epoch.spending), proves, to_string(settings_.config.spending));
}

/// Returns the settings of the run's test: the epoch's spending and reserve and, for a distilled
/// candidate, another trust region. It carries no exact copy of the reference to be clipped to, so
/// that the gate measures how far it strays in P(approve), the one that matters where declines have
/// a known impact. Whether it is distilled is known from the trainer, never from the model file.
certification::GateConfig Gate::config_of(const Submission& run, const DeltaLedger& ledger) const {
    certification::GateConfig config = settings_.config;
    config.spending = ledger.current()->spending;
    if (ledger.current()->reserve > 0) config.calibration_level = ledger.current()->reserve;
    config.records_per_person = training::kRecordsPerPerson;
    if (run.distilled) {
        config.trust_region = certification::TrustRegion::kApprovals;
        config.kappa = settings_.distilled_kappa;
    }
    return config;
}

/// Returns the time up to which what was known may have a part in the candidate: that of the last
/// export or, for what a person proposes, of the last reading of figures. A run that is charged
/// already, and was interrupted, goes on with its records: what is read after the charge has no
/// part in a candidate that the charge names.
Result<Gate::ReadUntil> Gate::read_until(const Submission& run, const DeltaLedger& ledger) const {
    RAMPART_TRY(const auto exported, deps_.store.exported_as_known_at());
    if (run.proposed_by == kSchedule) return exported;
    const auto& open = ledger.open_run();
    const bool charged = open && open->candidate_id == run.candidate.id.value() &&
                         open->reference_id == run.reference.id.value() && open->at == run.at;
    const auto charge =
        charged ? std::optional(base::sha256(ledger.open_entry())) : std::optional<base::Digest>();
    RAMPART_TRY(const auto figures, deps_.store.figures_read_at(charge));
    return std::max(exported, figures);
}

/// Returns the event time of the vault's last row that a run of an earlier epoch has read, or whose
/// outcome may have a part in the candidate; nullopt: there is none. Visits the persons of all such
/// rows, one after the other, whether or not the gate's window has them: what is older takes
/// nothing from the test, and costs only the reading.
Result<std::optional<TimePoint>> Gate::last_read(const LedgerView& history,
                                                 const ReadUntil& read_until,
                                                 const PersonVisitor& visit) const {
    std::optional<TimePoint> last;
    const auto read_at = std::max(history.epoch_start(), read_until);  // nullopt is before any time
    if (!read_at) return last;
    const auto look = [&](std::string_view person, TimePoint event_time) {
        last = event_time;
        if (visit) visit(person);
    };
    RAMPART_RETURN_IF_ERROR(deps_.records.visit_vault(*read_at, look));
    return last;
}

/// Returns the vault as known at `t` without records that a run of an earlier epoch has read: an
/// epoch after the first is a new budget, and needs records of its own. So does a candidate that
/// may be fitted to what was read.
Result<Gate::EpochVault> Gate::vault_of_epoch(const LedgerView& history, TimePoint t,
                                              const ReadUntil& read_until) const {
    EpochVault out;
    if (settings_.max_age_months > 0) out.from = base::add_months(t, -settings_.max_age_months);
    RAMPART_TRY(out.vault, deps_.records.vault_rows(t, out.from));
    std::unordered_map<std::string_view, bool> persons;  // whether one was read of before
    const auto note = [&](std::string_view person) {
        if (persons.empty())
            for (const auto& row : out.vault.rows) persons.emplace(row.person.value(), false);
        const auto found = persons.find(person);
        if (found != persons.end()) found->second = true;
    };
    RAMPART_TRY(const auto last, last_read(history, read_until, note));
    if (!last) return out;
    out.unread = *last + base::Duration::micros(1);
    for (const auto& row : out.vault.rows) {
        if (row.event_time < *out.unread) continue;
        const auto found = persons.find(row.person.value());
        if (found->second) ++out.read_before;
        found->second = false;  // counted
    }
    out.vault = training::decided_since(std::move(out.vault), *out.unread);
    out.from = std::max(*out.unread, out.from.value_or(*out.unread));
    return out;
}

/// Adds to those that are counted at the worst the persons of the vault whose first decision the
/// schema file does not explain, since it follows from a file that the lender writes; and
/// unreadable decisions, which may be of the vault, each as of a person of its own. These, and
/// persons without a known group, may be of every group.
void add_set_aside(const training_set::VaultSet& vault, ope::ErasedCounts& erased) {
    for (const auto& one : vault.set_aside) erased.unexplained += one.later ? 0 : 1;
    erased.unreadable = vault.unreadable;
    if (erased.unexplained + erased.unreadable == 0) return;
    erased.records += erased.unexplained + erased.unreadable;
    erased.of_group.resize(vault.group_names.size());
    for (size_t& records : erased.of_group) records += erased.unreadable;
    for (const auto& one : vault.set_aside) {
        if (one.later) continue;
        for (const uint32_t group : one.groups) ++erased.of_group[group];
        if (!one.groups.empty()) continue;
        for (size_t& records : erased.of_group) ++records;
    }
}

/// Counts the records that are missing from both sides: those that erasure took, and of the vault
/// those that are set aside.
Status Gate::add_erased(const Submission& run, std::optional<TimePoint> from, Inputs& in) const {
    using Side = privacy::ErasedRecords::Side;
    RAMPART_TRY(const auto tally, deps_.records.erased());
    const auto& learnt = run.development;
    in.decisions.erased = count_erased(
        tally, {Side::kVault, in.vault.group_names, in.vault.cell_names, from, run.at});
    add_set_aside(in.vault, in.decisions.erased);
    in.selection.decisions.erased = count_erased(
        tally,
        {Side::kDevelopment, learnt.group_names, learnt.cell_names, learnt.extent.from, run.at});
    // a sample would have had as large a part of them as of the others
    in.selection.decisions.erased =
        share_of(std::move(in.selection.decisions.erased), learnt.extent.share());
    return base::ok();
}

/// Says who and what made the candidate, and which decisions of the vault are in the evidence and
/// which are not.
Status Gate::add_origin(const Submission& run, Inputs& in) const {
    const auto &candidate = run.candidate.policy, &reference = run.reference.policy;
    auto& identity = in.identity;
    identity.proposed_by = run.proposed_by;
    identity.software = deps_.software;
    identity.recipe = run.recipe;
    identity.loggers = training::logger_periods(in.vault, candidate, reference);
    if (in.vault.known == 0) return base::ok();
    RAMPART_TRY(const auto tally, deps_.records.erased());
    // all that are erased, whether or not the test would have read them
    const auto erased =
        count_erased(tally, {privacy::ErasedRecords::Side::kVault, in.vault.group_names,
                             in.vault.cell_names, base::kFirstTime, run.at});
    identity.decisions = in.vault.known + erased.records + in.vault.unreadable;
    identity.in_no_group = training::records_in_no_group(in.vault, candidate, reference);
    identity.left_out = training::left_out(in.vault, candidate, reference, erased);
    return base::ok();
}

/// Returns the AUC of the vault's records against all applicants of the last weeks; nullopt: too
/// few applied, or the figure is not asked for.
Result<std::optional<double>> Gate::drift_auc(const training_set::VaultSet& vault,
                                              TimePoint t) const {
    if (!settings_.config.max_drift_auc || vault.rows.empty()) return std::optional<double>();
    const auto after_vault = vault.rows.back().event_time + base::Duration::micros(1);
    const auto from = std::max(t - base::Duration::days(7 * settings_.drift_weeks), after_vault);
    RAMPART_TRY(const auto latest, deps_.records.applicants(from, t));
    const auto drift = training::covariate_shift(vault, latest, deps_.pool);
    if (drift) return std::optional(drift->auc);
    if (drift.error().is(monitoring::Reason::kTooFewRows)) return std::optional<double>();
    return drift.error();
}

/// Returns the reference of the epoch's first run, where it is another than this run's.
Result<std::optional<model::LoadedPolicy>> Gate::anchor_of(
    const LedgerView& history, const model::LoadedPolicy& reference) const {
    if (!settings_.anchor) return std::optional<model::LoadedPolicy>();
    const auto anchor = history.anchor();
    if (!anchor || *anchor == reference.id.value()) return std::optional<model::LoadedPolicy>();
    RAMPART_TRY(auto policy, deps_.store.load_model(domain::PolicyId(std::string(*anchor))));
    return std::optional(std::move(policy));
}

/// Returns the earlier look at the same pair, also where a crash cut a further look off; nullopt:
/// there is none, or it has other settings, or its records were read since, so that this is a run
/// of its own.
Result<std::optional<certification::EarlierLook>> Gate::earlier_look(
    const LedgerView& history, const Submission& run, const Inputs& inputs,
    const std::optional<TimePoint>& unread) const {
    using Found = std::optional<certification::EarlierLook>;
    if (!settings_.look_again) return Found();
    const auto certificate = history.plan_of(pair_of(run));
    if (!certificate) return Found();
    RAMPART_TRY(const auto id, base::Digest::from_hex(*certificate));
    RAMPART_TRY(const auto file, deps_.store.certificate_file(id));
    RAMPART_TRY(const auto read,
                certification::read_certificate(
                    file, deps_.store.signer_of(file, deps_.signing_key.public_key()),
                    {run.candidate.id.value(), run.reference.id.value()}));
    if (!certification::may_look_again(read.plan, inputs.config, inputs.identity)) return Found();
    if (unread && read.plan.identity.period_from < *unread) return Found();  // read since
    RAMPART_TRY(const auto evidence, deps_.store.evidence_file(id));
    return certification::earlier_look(read, evidence).map([](auto look) {
        return Found(std::move(look));
    });
}

Result<Gate::Inputs> Gate::inputs_of(const Submission& run, const DeltaLedger& ledger,
                                     const ReadUntil& read_until) const {
    const auto &candidate = run.candidate.policy, &reference = run.reference.policy;
    RAMPART_TRY(const auto history, LedgerView::of(ledger));
    Inputs in;
    RAMPART_TRY(auto records, vault_of_epoch(history, run.at, read_until));
    in.vault = std::move(records.vault);
    in.identity = identity_of(run, deps_.product, in.vault, settings_.max_age_months);
    in.identity.read_before = records.read_before;
    in.identity.repeats = in.vault.repeats;
    in.identity.later_records = training::later_records(in.vault);
    in.identity.without_exploration = training::decided_without_exploration(in.vault);
    in.identity.stopped = in.vault.omitted_as(training_set::Omission::kStopped);
    RAMPART_RETURN_IF_ERROR(add_origin(run, in));
    if (ledger.epoch() == settings_.acknowledged_epoch)
        in.identity.acknowledged_alarm = settings_.acknowledged_why;
    RAMPART_TRY(in.identity.drift_auc, drift_auc(in.vault, run.at));
    in.config = config_of(run, ledger);
    RAMPART_TRY(in.constraints, certification::ConstraintSet::compile(in.config));
    RAMPART_TRY(in.selection, training::selection_feedback(run.development, candidate, reference,
                                                           in.constraints));
    RAMPART_TRY(in.decisions,
                training::vault_decisions(in.vault, candidate, reference, in.constraints));
    RAMPART_RETURN_IF_ERROR(add_erased(run, records.from, in));
    if (in.config.control_variates == certification::ControlVariateKind::kRegression) {
        RAMPART_RETURN_IF_ERROR(training::add_control_variates(
            {run.development, in.vault, candidate, reference, in.config}, in.selection,
            in.decisions));
    }
    RAMPART_TRY(const auto anchor, anchor_of(history, run.reference));
    if (anchor) {
        in.identity.anchor_id = anchor->id.value();
        training::set_anchor(
            in.selection.decisions,
            training::anchor_probabilities(run.development, candidate, reference, anchor->policy));
        training::set_anchor(in.decisions, training::anchor_probabilities(
                                               in.vault, candidate, reference, anchor->policy));
    }
    RAMPART_TRY(in.earlier, earlier_look(history, run, in, records.unread));
    return in;
}

/// Returns the charge of the next run; before the first epoch and when it is spent, that of the
/// first run of an epoch as configured.
double Gate::delta_of_next_run(const DeltaLedger& ledger) const {
    const auto& config = settings_.config;
    certification::EpochOpened next;
    next.delta_epoch = config.delta_epoch;
    next.runs = config.runs_per_epoch;
    next.spending = config.spending;
    next.reserve = config.calibration_level;
    const auto delta = ledger.next_delta();
    return delta ? *delta : certification::delta_of_run(next, 0, 0);
}

Result<training::GateForecastInputs> Gate::forecast_inputs(TimePoint t) const {
    RAMPART_TRY(const auto ledger, read_ledger());
    RAMPART_TRY(const auto history, LedgerView::of(ledger));
    RAMPART_TRY(const auto exported, deps_.store.exported_as_known_at());
    RAMPART_TRY(const auto records, vault_of_epoch(history, t, exported));
    return training::GateForecastInputs{settings_.config, delta_of_next_run(ledger),
                                        training::persons_by_group(records.vault)};
}

Result<training::GateForecastInputs> Gate::forecast_inputs(
    const training_set::DevelopmentSet& development) const {
    RAMPART_TRY(const auto ledger, read_ledger());
    return training::GateForecastInputs{settings_.config, delta_of_next_run(ledger),
                                        training::expected_vault_persons(development)};
}

Result<bool> Gate::allows_further_look(const PolicyPair& pair) const {
    // where a look would be a run of its own, and charged, a new candidate is worth more
    if (!settings_.look_again || !certification::allows_further_looks(settings_.config))
        return false;
    RAMPART_TRY(const auto ledger, read_ledger());
    if (ledger.open_run()) return false;
    RAMPART_TRY(const auto history, LedgerView::of(ledger));
    const auto plan = history.plan_of(pair);
    RAMPART_TRY(const auto exported, deps_.store.exported_as_known_at());
    RAMPART_TRY(const auto figures, deps_.store.figures_read_at(std::nullopt));
    if (!plan || (!exported && !figures)) return plan.has_value();
    RAMPART_TRY(const auto id, base::Digest::from_hex(*plan));
    RAMPART_TRY(const auto file, deps_.store.certificate_file(id));
    RAMPART_TRY(const auto certificate,
                certification::read_certificate(
                    file, deps_.store.signer_of(file, deps_.signing_key.public_key())));
    const auto& identity = certificate.plan.identity;
    if (figures && identity.proposed_by != kSchedule) return false;
    if (!exported) return true;
    RAMPART_TRY(const auto last, last_read(history, exported));
    return !last || identity.period_from > *last;
}

Result<TestedLog> Gate::log_of(const Submission& run) const {
    RAMPART_TRY(auto ledger, read_ledger());
    if (ledger.open_run()) {
        return base::make_error(certification::Reason::kRunOpen,
                                "a run is open; it has to be finished before a log is exported");
    }
    RAMPART_RETURN_IF_ERROR(begin_epoch(run, ledger).map([](bool) {}));
    RAMPART_TRY(auto inputs, inputs_of(run, ledger, std::nullopt));
    auto vault = std::move(inputs.vault);
    return TestedLog{std::move(static_cast<TestInputs&>(inputs)), std::move(vault)};
}

Result<Answer> Gate::test(const Submission& run) {
    RAMPART_TRY(auto ledger, read_ledger());
    RAMPART_TRY(const auto history, LedgerView::of(ledger));
    if (const auto* answered = history.answered_run(pair_of(run), run.at, run.opens_epoch)) {
        return Answer{{answered->closing->verdict, "", ""},
                      answered->closing->certificate,
                      certification::certificate_name(answered->registration)};
    }
    RAMPART_TRY(const bool opens_epoch, begin_epoch(run, ledger));
    RAMPART_TRY(const auto seen, read_until(run, ledger));
    RAMPART_TRY(const auto inputs, inputs_of(run, ledger, seen));
    const auto outcomes = [&](const certification::RunTicket& ticket) {
        return training::vault_outcomes(ticket, inputs.vault, run.candidate.policy,
                                        run.reference.policy, inputs.constraints);
    };
    RAMPART_TRY(auto answer, protocol().test(inputs, outcomes, ledger, run.at,
                                             opens_epoch && run.opens_epoch > 0));
    if (answer.result.verdict == certification::Verdict::kRefused && seen > history.epoch_start())
        answer.result.message += fmt::format(
            "; what was known until {} has been exported or read, and is not tested on again",
            base::to_iso8601(*seen));
    return answer;
}

}  // namespace rampart::gate
