#include "rampart/retraining/training_loop.hpp"

#include <algorithm>

#include "rampart/base/log.hpp"
#include "rampart/base/random.hpp"
#include "rampart/training/covariate_shift.hpp"
#include "rampart/training/gate_inputs.hpp"

namespace rampart::retraining {
namespace {

using base::Result;
using base::Status;
using base::TimePoint;
using certification::DeltaLedger;

constexpr base::Logger kLog("trainer");
constexpr std::string_view kTrainer = "trainer", kGate = "gate";

/// Errors that say "not with these data", as opposed to "the store does not work".
bool is_about_data(const base::Error& error) {
    return error.code == base::ErrorCode::kFailedPrecondition ||
           error.code == base::ErrorCode::kInvalidArgument ||
           error.code == base::ErrorCode::kOutOfRange;
}

std::string metric_text(const domain::Product& product) {
    const auto& impact = product.impact;
    const std::string how =
        impact.measure ? fmt::format("measure '{}'", *impact.measure)
                       : fmt::format("{} of '{}': {} if 1, {} if 0", impact.units,
                                     product.label.name, impact.favourable, impact.unfavourable);
    return fmt::format("{} {} months after the decision; {} if declined; range [{}, {}]", how,
                       product.label.horizon_months, impact.declined, impact.lo, impact.hi);
}

/// The constraints of its training that a candidate misses; empty: none.
std::string missed_in_training(const model::Policy& candidate) {
    const auto found = candidate.provenance().find(std::string(training::kMissedConstraintsKey));
    return found == candidate.provenance().end() ? std::string() : found->second;
}

void say_missed(const std::string& missed, RunRecord& record) {
    if (missed.empty()) return;
    record.message += fmt::format("{}the candidate misses constraints of its training: {}",
                                  record.message.empty() ? "" : "; ", missed);
    kLog.warning("run={} missed_in_training=\"{}\"", record.ordinal, missed);
}

certification::RunIdentity identity_of(const domain::Product& product,
                                       const training_set::VaultSet& vault, int max_age_months,
                                       const std::string& candidate, const std::string& reference) {
    certification::RunIdentity identity;
    identity.candidate_id = candidate;
    identity.reference_id = reference;
    identity.feature_schema_id = vault.schema.digest().hex();
    identity.metric = metric_text(product);
    identity.vault_rule = fmt::format(
        "decisions of the vault, from the epoch's first record on, whose label and impact had "
        "matured as known at {}",
        base::to_iso8601(vault.as_known_at));
    if (max_age_months > 0)
        identity.vault_rule += fmt::format(", not older than {} months", max_age_months);
    if (!vault.rows.empty()) {  // by event time
        identity.period_from = vault.rows.front().event_time;
        identity.period_to = vault.rows.back().event_time;
    }
    return identity;
}

}  // namespace

Result<std::unique_ptr<TrainingLoop>> TrainingLoop::open(const std::filesystem::path& folder,
                                                         TrainingSettings settings,
                                                         Surroundings surroundings) {
    RAMPART_RETURN_IF_ERROR(certification::validate(settings.gate));
    RAMPART_RETURN_IF_ERROR(gbdt::validate(settings.recipe.params));
    RAMPART_TRY(auto store, RunStore::open(folder));
    return std::unique_ptr<TrainingLoop>(
        new TrainingLoop(std::move(store), std::move(settings), std::move(surroundings)));
}

std::vector<TimePoint> TrainingLoop::due_months(TimePoint after, TimePoint until) const {
    std::vector<TimePoint> due;
    const int every = settings_.schedule.every_months;
    if (every == 0) return due;
    TimePoint month = base::parse_iso8601(base::month_of(after) + "-01").value();
    for (; month <= until; month = base::add_months(month, 1)) {
        const std::string name = base::month_of(month);
        const int months = std::stoi(name.substr(0, 4)) * 12 + std::stoi(name.substr(5)) - 1;
        if (month > after && months % every == 0) due.push_back(month);
    }
    return due;
}

Result<bool> TrainingLoop::due_by_count() const {
    if (settings_.schedule.every_matured == 0) return false;
    RAMPART_TRY(const auto last, store_.last_run());
    const uint64_t before = last ? last->matured : 0;
    return around_.joiner.counts().matured >=
           before + static_cast<uint64_t>(settings_.schedule.every_matured);
}

Status TrainingLoop::finish_started() {
    RAMPART_TRY(const auto started, store_.started());
    if (!started) return base::ok();
    kLog.warning("msg=\"taking an interrupted run up again\" run={}", started->ordinal);
    return execute(*started).map([](const RunRecord&) {});
}

Status TrainingLoop::advance(TimePoint time) {
    const TimePoint now =
        std::max(time, around_.joiner.clock().value_or(time));  // time never goes back
    RAMPART_RETURN_IF_ERROR(finish_started());
    RAMPART_TRY(const auto served, store_.served_until());
    if (!served) {
        RAMPART_RETURN_IF_ERROR(around_.joiner.advance(now).map([](size_t) {}));
        return store_.serve_until(now);
    }
    for (const TimePoint due : due_months(*served, now)) {
        RAMPART_RETURN_IF_ERROR(around_.joiner.advance(due).map([](size_t) {}));
        RAMPART_RETURN_IF_ERROR(run_at(due).map([](const RunRecord&) {}));
    }
    RAMPART_RETURN_IF_ERROR(around_.joiner.advance(now).map([](size_t) {}));
    RAMPART_TRY(const bool by_count, due_by_count());
    if (by_count) RAMPART_RETURN_IF_ERROR(run_at(now).map([](const RunRecord&) {}));
    return store_.serve_until(now);
}

/// The last candidate did not pass and its reference still decides: what has matured since may show
/// it. Costs nothing; a new candidate is made only where that does not pass.
Result<std::optional<RunRecord>> TrainingLoop::look_again(TimePoint t) {
    // where a look would be a run of its own, and charged, a new candidate is worth more
    if (!settings_.look_again || !certification::allows_further_looks(settings_.gate))
        return std::optional<RunRecord>();
    RAMPART_TRY(const auto last, store_.last_run());
    const auto champion = around_.registry.champion();
    if (!last || !champion || last->at >= t || last->reference != champion->policy.value())
        return std::optional<RunRecord>();
    RAMPART_TRY(const auto ledger, read_ledger());
    if (ledger.open_run() || ledger.closed_run(last->candidate, last->reference) == nullptr)
        return std::optional<RunRecord>();
    RAMPART_TRY(auto record, begin(t, last->candidate));
    return std::optional(std::move(record));
}

Result<RunRecord> TrainingLoop::run_at(TimePoint t) {
    RAMPART_TRY(auto looked, look_again(t));
    if (looked && looked->verdict == certification::to_string(certification::Verdict::kCertified)) {
        RAMPART_RETURN_IF_ERROR(store_.serve_until(t));
        return std::move(*looked);
    }
    RAMPART_TRY(const auto development, around_.builder.development_rows(t));
    const auto labelled = std::count_if(development.rows.begin(), development.rows.end(),
                                        [](const auto& row) { return row.teaches(); });
    if (labelled < settings_.schedule.min_examples) {
        kLog.info("msg=\"too early to train\" labelled={} wanted={}", labelled,
                  settings_.schedule.min_examples);
        RAMPART_RETURN_IF_ERROR(store_.serve_until(t));
        RunRecord record;
        record.at = t;
        record.verdict = certification::to_string(certification::Verdict::kRefused);
        record.reason = "too_few_examples";
        record.message = fmt::format("{} labelled examples, {} are wanted", labelled,
                                     settings_.schedule.min_examples);
        return record;
    }
    return begin(t, "");
}

Status TrainingLoop::check_fits(const model::Policy& policy) const {
    return training::check_fits(policy, around_.builder.schema(), around_.builder.cell_names(),
                                settings_.group_aware);
}

Result<RunRecord> TrainingLoop::certify(const domain::PolicyId& candidate, TimePoint t,
                                        const std::string& new_epoch) {
    RAMPART_RETURN_IF_ERROR(finish_started());
    RAMPART_TRY(const auto loaded, around_.registry.load_model(candidate));
    RAMPART_RETURN_IF_ERROR(check_fits(loaded.policy));
    const auto champion = around_.registry.champion();
    if (champion && t < champion->at) {
        return base::failed_precondition(
            "before_promotion",
            "the present champion decides since {}; a candidate can't be compared with it as of {}",
            base::to_iso8601(champion->at), base::to_iso8601(t));
    }
    return begin(t, candidate.value(), new_epoch);
}

Result<RunRecord> TrainingLoop::begin(TimePoint t, std::string candidate,
                                      const std::string& new_epoch) {
    const auto champion = around_.registry.champion();
    if (!champion)
        return base::failed_precondition(
            "no_champion", "there is no policy in charge to compare a candidate with");
    RAMPART_TRY(const auto last, store_.last_run());
    StartedRun run;
    run.ordinal = last ? last->ordinal + 1 : 1;
    run.at = t;
    run.reference = champion->policy.value();
    run.on_request = !candidate.empty();
    run.candidate = std::move(candidate);
    run.matured = around_.joiner.counts().matured;
    if (!new_epoch.empty()) {
        RAMPART_TRY(const auto ledger, read_ledger());
        RAMPART_RETURN_IF_ERROR(epoch_entry(ledger, new_epoch, t).map([](const std::string&) {}));
        run.opens_epoch = ledger.epoch() + 1;
        run.epoch_note = new_epoch;
    }
    RAMPART_RETURN_IF_ERROR(store_.start(run));
    return execute(std::move(run));
}

/// What the gate will ask of this run's candidate: counts of the vault's people, none of their
/// outcomes.
Result<training::GateOutlook> TrainingLoop::outlook_of(const StartedRun& run) const {
    RAMPART_TRY(const auto ledger, read_ledger());
    const auto& gate = settings_.gate;
    const auto delta = ledger.next_delta();  // none before the first epoch, or when it is spent
    RAMPART_TRY(const auto vault, vault_of_epoch(ledger, run.at));
    return training::GateOutlook{
        gate,
        delta ? *delta
              : certification::delta_of_run(gate.delta_epoch, gate.runs_per_epoch, gate.spending, 0,
                                            0),
        training::persons_by_group(vault)};
}

Result<model::LoadedPolicy> TrainingLoop::candidate_of(
    StartedRun& run, const training_set::DevelopmentSet& development,
    const model::LoadedPolicy& reference) {
    if (!run.candidate.empty()) return around_.registry.load_model(domain::PolicyId(run.candidate));
    training::Recipe recipe = settings_.recipe;
    recipe.seed = base::mix64(settings_.recipe.seed ^ base::mix64(run.ordinal));
    recipe.params.seed = recipe.seed;
    std::optional<training::GateOutlook> outlook;
    if (recipe.selection != "none") {
        RAMPART_TRY(outlook, outlook_of(run));
    }
    RAMPART_TRY(auto candidate,
                training::make_candidate(development, around_.product.impact, reference.policy,
                                         run.reference, recipe, around_.pool,
                                         outlook ? &*outlook : nullptr));
    RAMPART_TRY(const auto id, around_.registry.register_model(
                                   model::encode_model_file(candidate.policy), run.at, kTrainer));
    // From here on the run is about this model, whatever becomes known before a restart.
    run.candidate = id.value();
    run.distilled = candidate.distilled;
    run.figures = std::move(candidate.figures);
    RAMPART_RETURN_IF_ERROR(store_.start(run));
    return model::LoadedPolicy{std::move(candidate.policy), id};
}

/// Makes or loads the candidate and takes it to the gate; fills verdict and reasons in.
Status TrainingLoop::judge(StartedRun& run, RunRecord& record) {
    RAMPART_TRY(const auto reference, around_.registry.load_model(domain::PolicyId(run.reference)));
    RAMPART_RETURN_IF_ERROR(check_fits(reference.policy));
    RAMPART_TRY(const auto development, around_.builder.development_rows(run.at));
    RAMPART_TRY(const auto candidate, candidate_of(run, development, reference));
    RAMPART_RETURN_IF_ERROR(check_fits(candidate.policy));
    RAMPART_TRY(const auto verdict, gate(run, development, candidate, reference));
    record.verdict = certification::to_string(verdict.result.verdict);
    record.reason = verdict.result.reason;
    record.message = verdict.result.message;
    record.certificate = verdict.certificate;
    RAMPART_TRY(const auto ledger, read_ledger());
    const auto spending = say_spending(ledger);
    record.message += (record.message.empty() || spending.empty() ? "" : "; ") + spending;
    const auto missed = missed_in_training(candidate.policy);
    say_missed(missed, record);
    if (verdict.result.verdict != certification::Verdict::kCertified) return base::ok();
    const auto promoted = promote(run, candidate.id, verdict.certificate);
    if (promoted || !is_about_data(promoted.error())) return promoted;
    // e.g. somebody rolled back meanwhile: the certificate stands, but it no longer opens the door
    record.reason = promoted.error().reason;
    record.message = "certified, but not promoted: " + promoted.error().message;
    say_missed(missed, record);
    return base::ok();
}

Result<RunRecord> TrainingLoop::execute(StartedRun run) {
    RunRecord record;
    record.ordinal = run.ordinal;
    record.at = run.at;
    record.reference = run.reference;
    record.matured = run.matured;
    const auto judged = judge(run, record);
    if (!judged) {
        if (!is_about_data(judged.error())) return judged.error();
        // Fail closed, and go on: a run that can't be made with these data must not block the next.
        record.verdict = certification::to_string(certification::Verdict::kRefused);
        record.reason = judged.error().reason;
        record.message = judged.error().message;
    }
    record.candidate = run.candidate;
    record.figures = run.figures;
    kLog.info("run={} at={} verdict={} reason={}", record.ordinal, base::to_iso8601(record.at),
              record.verdict, record.reason);
    RAMPART_RETURN_IF_ERROR(store_.finish(record, !run.on_request));
    return record;
}

Result<DeltaLedger> TrainingLoop::read_ledger() const {
    RAMPART_TRY(const auto entries, around_.registry.ledger_entries());
    return DeltaLedger::open(entries);
}

/// Stores the entry and, in the same write, the epoch in front of it that is not stored yet.
Status TrainingLoop::write_entry(DeltaLedger& ledger, const std::string& entry, TimePoint t) {
    RAMPART_TRY(const auto stored, around_.registry.ledger_entries());
    std::vector<std::string> added(
        ledger.entries().begin() +
            static_cast<ptrdiff_t>(std::min(stored.size(), ledger.entries().size())),
        ledger.entries().end());
    const size_t position = ledger.entries().size() - added.size();
    added.push_back(entry);
    RAMPART_RETURN_IF_ERROR(around_.registry.append_ledger_entries(position, added, t, kGate));
    return ledger.append(entry);
}

Result<std::string> TrainingLoop::epoch_entry(const DeltaLedger& ledger, std::string note,
                                              TimePoint t) const {
    const auto& gate = settings_.gate;
    return ledger.next_epoch(gate.delta_epoch, gate.runs_per_epoch, gate.spending, std::move(note),
                             t, around_.key_ids);
}

/// Adds the epoch that the run opens to `ledger`, but stores nothing: that is done with the charge
/// of its first run. False: the run opens none, or did before a crash.
Result<bool> TrainingLoop::begin_epoch(const StartedRun& run, DeltaLedger& ledger) const {
    if (ledger.epoch() > 0 && run.opens_epoch <= ledger.epoch()) return false;
    RAMPART_TRY(
        const auto entry,
        epoch_entry(ledger, run.opens_epoch > 0 ? run.epoch_note : "the first epoch", run.at));
    RAMPART_RETURN_IF_ERROR(ledger.append(entry));
    return true;
}

/// An epoch keeps the spending that it was opened with; what that does not prove is said with each
/// run.
std::string TrainingLoop::say_spending(const DeltaLedger& ledger) const {
    using certification::Spending;
    if (!ledger.current()) return "";
    const auto& epoch = *ledger.current();
    const bool looks = epoch.spending == Spending::kByHistory && !epoch.counts_looks;
    if (epoch.spending == settings_.gate.spending && !looks) return "";
    const std::string_view proves =
        looks ? ", which proves its budget while no run is looked at again"
        : epoch.spending == Spending::kEqual
            ? ", which proves its budget up to the first certificate only"
            : "";
    return fmt::format(
        "epoch {} keeps the spending that it was opened with, {}{}; gate.spending = \"{}\" holds "
        "from the next epoch on",
        epoch.epoch, to_string(epoch.spending), proves, to_string(settings_.gate.spending));
}

/// A distilled candidate carries no exact copy of the reference to be clipped to. The gate measures
/// how far it strays in what matters here, P(approve), as declines have a known impact. Only the
/// trainer's own word counts.
certification::GateConfig TrainingLoop::gate_config(const StartedRun& run,
                                                    const DeltaLedger& ledger) const {
    certification::GateConfig config = settings_.gate;
    config.spending = ledger.current()->spending;
    if (run.distilled) {
        config.trust_region = certification::TrustRegion::kApprovals;
        config.kappa = settings_.distilled_kappa;
    }
    return config;
}

/// An epoch after the first is a new budget, so it gets records that no run of an earlier epoch has
/// read: those decided after the last that had matured when such a run was charged.
Result<training_set::VaultSet> TrainingLoop::vault_of_epoch(const DeltaLedger& ledger,
                                                            TimePoint t) const {
    RAMPART_TRY(auto vault, around_.builder.vault_rows(t));
    if (settings_.max_age_months > 0)
        vault = training::decided_since(vault, base::add_months(t, -settings_.max_age_months));
    std::optional<TimePoint> charged;
    for (const auto& bytes : ledger.entries()) {
        RAMPART_TRY(const auto entry, certification::decode_ledger_entry(bytes));
        const auto* run = std::get_if<certification::Registration>(&entry.body);
        if (run != nullptr && run->epoch < ledger.epoch())
            charged = std::max(charged.value_or(run->at), run->at);
    }
    if (!charged) return vault;
    RAMPART_TRY(const auto read, around_.builder.vault_rows(*charged));
    if (read.rows.empty()) return vault;
    return training::decided_since(vault, read.rows.back().event_time + base::Duration::micros(1));
}

/// Of the vault's records against everybody who applied in the last weeks; nullopt: too few did, or
/// nobody wants to know.
Result<std::optional<double>> TrainingLoop::drift_auc(const training_set::VaultSet& vault,
                                                      TimePoint t) const {
    if (!settings_.gate.max_drift_auc || vault.rows.empty()) return std::optional<double>();
    const auto after_vault = vault.rows.back().event_time + base::Duration::micros(1);
    const auto from = std::max(t - base::Duration::days(7 * settings_.drift_weeks), after_vault);
    RAMPART_TRY(const auto latest, around_.builder.applicants(from, t));
    const auto drift = training::drift_of_x(vault, latest, around_.pool);
    if (drift) return std::optional(drift->auc);
    if (drift.error().reason == "too_few_rows") return std::optional<double>();
    return drift.error();
}

Status TrainingLoop::abandon_open_run(DeltaLedger& ledger, std::string_view why, TimePoint t) {
    RAMPART_TRY(const auto closing, ledger.next_closing(certification::Verdict::kNoSolutionFound,
                                                        "", fmt::format("abandoned: {}", why), t));
    return write_entry(ledger, closing, t);
}

Result<TrainingLoop::Verdict> TrainingLoop::gate(const StartedRun& run,
                                                 const training_set::DevelopmentSet& development,
                                                 const model::LoadedPolicy& candidate,
                                                 const model::LoadedPolicy& reference) {
    RAMPART_TRY(auto ledger, read_ledger());
    RAMPART_TRY(auto closed, already_closed(ledger, run, candidate.id.value()));
    if (closed) return std::move(*closed);
    RAMPART_TRY(const bool opens_epoch, begin_epoch(run, ledger));
    RAMPART_TRY(const auto vault, vault_of_epoch(ledger, run.at));
    auto identity = identity_of(around_.product, vault, settings_.max_age_months,
                                candidate.id.value(), run.reference);
    RAMPART_TRY(identity.drift_auc, drift_auc(vault, run.at));
    identity.missed_in_training = missed_in_training(candidate.policy);
    const auto config = gate_config(run, ledger);
    RAMPART_TRY(const auto constraints, certification::ConstraintSet::compile(config));
    RAMPART_TRY(auto selection, training::selection_feedback(development, candidate.policy,
                                                             reference.policy, constraints));
    RAMPART_TRY(auto decisions,
                training::vault_decisions(vault, candidate.policy, reference.policy, constraints));
    if (config.centres == certification::Centres::kRegression) {
        RAMPART_RETURN_IF_ERROR(training::add_centres(
            development, vault, candidate.policy, reference.policy, config, selection, decisions));
    }
    RAMPART_TRY(const auto anchor, anchor_of(ledger, run.reference));
    if (anchor) {
        identity.anchor_id = anchor->id.value();
        selection.decisions.anchor = training::anchor_probabilities(
            development, candidate.policy, reference.policy, anchor->policy);
        decisions.anchor = training::anchor_probabilities(vault, candidate.policy, reference.policy,
                                                          anchor->policy);
    }
    RAMPART_TRY(auto earlier, earlier_plan(ledger, run, candidate.id.value()));
    // with other settings it is a run of its own, and charged
    if (earlier && !certification::may_look_again(*earlier, config, identity)) earlier.reset();
    const auto check = [&] {
        return certification::precheck(config, identity, ledger, around_.evidence_key, selection,
                                       decisions, earlier ? &*earlier : nullptr);
    };
    RAMPART_TRY(auto checked, check());
    if (ledger.open_run() && !(checked.prepared && ledger.ticket(checked.prepared->request()))) {
        // A run that crashed and can't be finished as it was registered. Its charge stays; this one
        // is a new run.
        RAMPART_RETURN_IF_ERROR(abandon_open_run(
            ledger, "settings or data are not those it was registered for", run.at));
        RAMPART_TRY(checked, check());
    }
    if (!checked.prepared) {
        if (opens_epoch && run.opens_epoch > 0)
            checked.result.message += "; no new epoch was opened";
        return refuse(config, identity, checked.result, run.at);
    }
    return test(run, *checked.prepared, ledger, [&](const certification::RunTicket& ticket) {
        return training::vault_outcomes(ticket, vault, candidate.policy, reference.policy,
                                        constraints);
    });
}

/// The plan of the look before at the same candidate, or of an open look that a crash cut off.
Result<std::optional<certification::RunPlan>> TrainingLoop::earlier_plan(
    const DeltaLedger& ledger, const StartedRun& run, const std::string& candidate) const {
    std::string certificate;
    uint32_t run_number = 0;
    if (!settings_.look_again) return std::optional<certification::RunPlan>();
    for (const auto& bytes : ledger.entries()) {
        RAMPART_TRY(const auto entry, certification::decode_ledger_entry(bytes));
        if (std::holds_alternative<certification::EpochOpened>(entry.body)) certificate.clear();
        if (const auto* registration = std::get_if<certification::Registration>(&entry.body)) {
            const bool ours = registration->candidate_id == candidate &&
                              registration->reference_id == run.reference;
            run_number = ours ? registration->run : 0;
            if (ours && registration->look == 0) certificate.clear();
        }
        const auto* closing = std::get_if<certification::Closing>(&entry.body);
        if (closing == nullptr || closing->run != run_number) continue;
        certificate = closing->verdict == certification::Verdict::kNoSolutionFound
                          ? closing->certificate
                          : "";
    }
    if (certificate.empty()) return std::optional<certification::RunPlan>();
    RAMPART_TRY(const auto id, base::Digest::from_hex(certificate));
    RAMPART_TRY(const auto file, around_.registry.certificate_file(id));
    RAMPART_TRY(auto read, certification::read_certificate(file, around_.signing_key.public_key(),
                                                           {candidate, run.reference}));
    return std::optional(std::move(read.plan));
}

/// The policy in charge when the epoch's first run was charged, where it is another than the
/// reference.
Result<std::optional<model::LoadedPolicy>> TrainingLoop::anchor_of(
    const DeltaLedger& ledger, const std::string& reference) const {
    if (!settings_.anchor) return std::optional<model::LoadedPolicy>();
    std::string anchor;
    for (const auto& bytes : ledger.entries()) {
        RAMPART_TRY(const auto entry, certification::decode_ledger_entry(bytes));
        if (std::holds_alternative<certification::EpochOpened>(entry.body)) anchor.clear();
        const auto* registration = std::get_if<certification::Registration>(&entry.body);
        if (registration != nullptr && anchor.empty()) anchor = registration->reference_id;
    }
    if (anchor.empty() || anchor == reference) return std::optional<model::LoadedPolicy>();
    RAMPART_TRY(auto policy, around_.registry.load_model(domain::PolicyId(anchor)));
    return std::optional(std::move(policy));
}

Result<TrainingLoop::Verdict> TrainingLoop::test(
    const StartedRun& run, const certification::PreparedRun& prepared, DeltaLedger& ledger,
    const std::function<training::VaultOutcomes(const certification::RunTicket&)>& read_outcomes) {
    const auto request = prepared.request();
    if (!ledger.open_run()) {
        RAMPART_TRY(const auto registration, ledger.next_registration(request, run.at));
        RAMPART_RETURN_IF_ERROR(write_entry(ledger, registration, run.at));
    }
    RAMPART_TRY(const auto ticket, ledger.ticket(request));
    const auto outcomes = read_outcomes(ticket);  // only now, with the charge on the disk
    const auto sealed = certification::run(prepared, ticket, outcomes.impact, outcomes.label);
    if (!sealed) {
        if (!is_about_data(sealed.error())) return sealed.error();
        RAMPART_RETURN_IF_ERROR(abandon_open_run(ledger, sealed.error().message, run.at));
        return Verdict{{certification::Verdict::kNoSolutionFound, sealed.error().reason,
                        sealed.error().message},
                       ""};
    }
    RAMPART_TRY(const auto files,
                certification::seal(prepared, ticket, *sealed, outcomes.impact, run.at, run.at,
                                    around_.signing_key, outcomes.label));
    const registry::Proof proof{files.certificate, files.evidence,
                                around_.signing_key.public_key()};
    RAMPART_TRY(const auto id, around_.registry.store_certificate(proof, run.at, kGate));
    RAMPART_TRY(const auto closing, ledger.next_closing(sealed->verdict, id.hex(), "", run.at));
    RAMPART_RETURN_IF_ERROR(write_entry(ledger, closing, run.at));
    return Verdict{sealed->published(), id.hex()};
}

Result<TrainingLoop::Verdict> TrainingLoop::refuse(const certification::GateConfig& config,
                                                   const certification::RunIdentity& identity,
                                                   const certification::PublicResult& result,
                                                   TimePoint t) {
    RAMPART_TRY(const auto files,
                certification::seal_refusal(config, identity, result, t, around_.signing_key));
    const registry::Proof proof{files.certificate, files.evidence,
                                around_.signing_key.public_key()};
    RAMPART_TRY(const auto id, around_.registry.store_certificate(proof, t, kGate));
    return Verdict{result, id.hex()};
}

Result<std::optional<TrainingLoop::Verdict>> TrainingLoop::already_closed(
    const DeltaLedger& ledger, const StartedRun& run, const std::string& candidate) const {
    bool ours = false;
    for (const auto& bytes : ledger.entries()) {
        RAMPART_TRY(const auto entry, certification::decode_ledger_entry(bytes));
        if (const auto* registration = std::get_if<certification::Registration>(&entry.body)) {
            ours = registration->candidate_id == candidate &&
                   registration->reference_id == run.reference && registration->at == run.at &&
                   registration->epoch >= run.opens_epoch;
        }
        const auto* closing = std::get_if<certification::Closing>(&entry.body);
        if (ours && closing != nullptr && !closing->certificate.empty()) {
            return std::optional(Verdict{{closing->verdict, "", ""}, closing->certificate});
        }
    }
    return std::optional<Verdict>();
}

Status TrainingLoop::promote(const StartedRun& run, const domain::PolicyId& candidate,
                             const std::string& certificate) {
    RAMPART_TRY(const auto id, base::Digest::from_hex(certificate));
    RAMPART_TRY(const auto file, around_.registry.certificate_file(id));
    RAMPART_TRY(const auto certificates, around_.registry.certificates());
    const auto info = std::find_if(certificates.begin(), certificates.end(),
                                   [&](const auto& c) { return c.id == id; });
    if (info == certificates.end() || !info->evidence) {
        return base::data_loss("no_evidence", "certificate {} has no evidence in the registry",
                               certificate);
    }
    RAMPART_TRY(const auto evidence, around_.registry.evidence_file(*info->evidence));
    const registry::Proof proof{file, evidence, around_.signing_key.public_key()};
    return around_.registry.promote(candidate, proof, run.at, kTrainer)
        .map([](const registry::Promotion&) {});
}

}  // namespace rampart::retraining
