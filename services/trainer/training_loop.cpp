#include "services/trainer/training_loop.hpp"

#include <algorithm>

#include "rampart/base/log.hpp"
#include "rampart/base/random.hpp"
#include "services/trainer/gate_inputs.hpp"

namespace rampart::trainer {
namespace {

using base::Result;
using base::Status;
using base::TimePoint;
using certification::DeltaLedger;

constexpr base::Logger kLog("trainer");
constexpr std::string_view kTrainer = "trainer", kGate = "gate";

/// Errors that say "not with these data", as opposed to "the store does not work".
bool is_about_data(const base::Error& error) {
    return error.code == base::ErrorCode::kFailedPrecondition || error.code == base::ErrorCode::kInvalidArgument ||
           error.code == base::ErrorCode::kOutOfRange;
}

std::string metric_text(const domain::Product& product) {
    const auto& impact = product.impact;
    const std::string how = impact.measure ? fmt::format("measure '{}'", *impact.measure)
                                           : fmt::format("{} of '{}': {} if 1, {} if 0", impact.units, product.label.name,
                                                         impact.favourable, impact.unfavourable);
    return fmt::format("{} {} months after the decision; {} if declined; range [{}, {}]", how, product.label.horizon_months,
                       impact.declined, impact.lo, impact.hi);
}

certification::RunIdentity identity_of(const domain::Product& product, const training_set::VaultSet& vault,
                                       const std::string& candidate, const std::string& reference) {
    certification::RunIdentity identity;
    identity.candidate_id = candidate;
    identity.reference_id = reference;
    identity.feature_schema_id = vault.schema.digest().hex();
    identity.metric = metric_text(product);
    identity.vault_rule = fmt::format("every decision of the vault as known at {}: label and impact matured", base::to_iso8601(vault.as_known_at));
    if (!vault.rows.empty()) {  // by event time
        identity.period_from = vault.rows.front().event_time;
        identity.period_to = vault.rows.back().event_time;
    }
    return identity;
}

}  // namespace

Result<std::unique_ptr<TrainingLoop>> TrainingLoop::open(const std::filesystem::path& folder, TrainingSettings settings, Surroundings surroundings) {
    RAMPART_RETURN_IF_ERROR(certification::validate(settings.gate));
    RAMPART_RETURN_IF_ERROR(gbdt::validate(settings.recipe.params));
    RAMPART_TRY(auto store, RunStore::open(folder));
    return std::unique_ptr<TrainingLoop>(new TrainingLoop(std::move(store), std::move(settings), std::move(surroundings)));
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
    return around_.joiner.counts().matured >= before + static_cast<uint64_t>(settings_.schedule.every_matured);
}

Status TrainingLoop::finish_started() {
    RAMPART_TRY(const auto started, store_.started());
    if (!started) return base::ok();
    kLog.warning("msg=\"taking an interrupted run up again\" run={}", started->ordinal);
    return execute(*started).map([](const RunRecord&) {});
}

Status TrainingLoop::advance(TimePoint now) {
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
    return now > *served ? store_.serve_until(now) : base::ok();
}

Result<RunRecord> TrainingLoop::run_at(TimePoint t) {
    RAMPART_TRY(const auto development, around_.builder.development_rows(t));
    const auto labelled = std::count_if(development.rows.begin(), development.rows.end(),
                                        [](const auto& row) { return row.approved && row.label; });
    if (labelled < settings_.schedule.min_examples) {
        kLog.info("msg=\"too early to train\" labelled={} wanted={}", labelled, settings_.schedule.min_examples);
        RAMPART_RETURN_IF_ERROR(store_.serve_until(t));
        RunRecord record;
        record.at = t;
        record.verdict = certification::to_string(certification::Verdict::kRefused);
        record.reason = "too_few_examples";
        record.message = fmt::format("{} labelled examples, {} are wanted", labelled, settings_.schedule.min_examples);
        return record;
    }
    return begin(t, "");
}

Result<RunRecord> TrainingLoop::certify(const domain::PolicyId& candidate, TimePoint t) {
    RAMPART_RETURN_IF_ERROR(finish_started());
    return begin(t, candidate.value());
}

Result<RunRecord> TrainingLoop::begin(TimePoint t, std::string candidate) {
    const auto champion = around_.registry.champion();
    if (!champion) return base::failed_precondition("no_champion", "there is no policy in charge to compare a candidate with");
    RAMPART_TRY(const auto last, store_.last_run());
    const StartedRun run{last ? last->ordinal + 1 : 1, t, champion->policy.value(), std::move(candidate), around_.joiner.counts().matured};
    RAMPART_RETURN_IF_ERROR(store_.start(run));
    return execute(run);
}

Result<model::LoadedPolicy> TrainingLoop::candidate_of(const StartedRun& run, const training_set::DevelopmentSet& development,
                                                       const model::LoadedPolicy& reference, RunRecord& record) {
    if (!run.candidate.empty()) return around_.registry.load_model(domain::PolicyId(run.candidate));
    TrainingSettings settings = settings_;
    settings.recipe.seed = base::mix64(settings_.recipe.seed ^ base::mix64(run.ordinal));
    settings.recipe.params.seed = settings.recipe.seed;
    RAMPART_TRY(auto candidate, make_candidate(development, around_.product.impact, reference.policy, run.reference, settings, around_.pool));
    record.figures = std::move(candidate.figures);
    RAMPART_TRY(const auto id, around_.registry.register_model(model::encode_model_file(candidate.policy), run.at, kTrainer));
    return model::LoadedPolicy{std::move(candidate.policy), id};
}

Result<RunRecord> TrainingLoop::execute(const StartedRun& run) {
    RunRecord record;
    record.ordinal = run.ordinal;
    record.at = run.at;
    record.reference = run.reference;
    record.matured = run.matured;
    RAMPART_TRY(const auto reference, around_.registry.load_model(domain::PolicyId(run.reference)));
    RAMPART_TRY(const auto development, around_.builder.development_rows(run.at));
    const auto candidate = candidate_of(run, development, reference, record);
    if (!candidate) {
        if (!is_about_data(candidate.error())) return candidate.error();
        record.verdict = certification::to_string(certification::Verdict::kRefused);
        record.reason = candidate.error().reason;
        record.message = "no candidate: " + candidate.error().message;
    } else {
        record.candidate = candidate->id.value();
        RAMPART_TRY(const auto verdict, gate(run, development, *candidate, reference));
        record.verdict = certification::to_string(verdict.result.verdict);
        record.reason = verdict.result.reason;
        record.message = verdict.result.message;
        record.certificate = verdict.certificate;
        if (verdict.result.verdict == certification::Verdict::kCertified) {
            RAMPART_RETURN_IF_ERROR(promote(run, candidate->id, verdict.certificate));
        }
    }
    kLog.info("run={} at={} verdict={} reason={}", record.ordinal, base::to_iso8601(record.at), record.verdict, record.reason);
    RAMPART_RETURN_IF_ERROR(store_.finish(record));
    return record;
}

Result<DeltaLedger> TrainingLoop::read_ledger() const {
    RAMPART_TRY(const auto entries, around_.registry.ledger_entries());
    return DeltaLedger::open(entries);
}

Status TrainingLoop::write_entry(DeltaLedger& ledger, const std::string& entry, TimePoint t) {
    RAMPART_RETURN_IF_ERROR(around_.registry.append_ledger_entry(ledger.entries().size(), entry, t, kGate));
    return ledger.append(entry);
}

Status TrainingLoop::open_epoch(TimePoint t, std::string note) {
    RAMPART_TRY(auto ledger, read_ledger());
    const auto& gate = settings_.gate;
    RAMPART_TRY(const auto entry, ledger.next_epoch(gate.delta_epoch, gate.runs_per_epoch, gate.spending, std::move(note), t));
    return write_entry(ledger, entry, t);
}

/// A distilled candidate carries no exact copy of the reference to be clipped to. The gate measures how far it
/// strays in what matters here, P(approve), as declines have a known impact.
certification::GateConfig TrainingLoop::gate_config(const model::Policy& candidate) const {
    certification::GateConfig config = settings_.gate;
    const auto it = candidate.provenance().find("training.distilled");
    if (it != candidate.provenance().end() && it->second == "yes") {
        config.trust_region = certification::TrustRegion::kApprovals;
        config.kappa = settings_.distilled_kappa;
    }
    return config;
}

Result<TrainingLoop::Verdict> TrainingLoop::gate(const StartedRun& run, const training_set::DevelopmentSet& development,
                                                 const model::LoadedPolicy& candidate, const model::LoadedPolicy& reference) {
    RAMPART_TRY(auto ledger, read_ledger());
    if (ledger.epoch() == 0) {
        RAMPART_RETURN_IF_ERROR(open_epoch(run.at, "the first epoch"));
        RAMPART_TRY(ledger, read_ledger());
    }
    RAMPART_TRY(auto closed, already_closed(ledger, run, candidate.id.value()));
    if (closed) return std::move(*closed);

    RAMPART_TRY(const auto vault, around_.builder.vault_rows(run.at));
    const auto identity = identity_of(around_.product, vault, candidate.id.value(), run.reference);
    const auto config = gate_config(candidate.policy);
    RAMPART_TRY(const auto selection, selection_feedback(development, candidate.policy, reference.policy));
    RAMPART_TRY(const auto decisions, vault_decisions(vault, candidate.policy, reference.policy));
    RAMPART_TRY(const auto checked, certification::precheck(config, identity, ledger, around_.evidence_key, selection, decisions));
    if (!checked.prepared) return refuse(config, identity, checked.result, run.at);
    return test(run, *checked.prepared, ledger, [&] { return vault_impacts(vault, candidate.policy, reference.policy); });
}

Result<certification::RunTicket> TrainingLoop::ticket_for(const DeltaLedger::RunRequest& request, DeltaLedger& ledger, TimePoint t) {
    if (ledger.open_run()) {
        auto ticket = ledger.ticket(request);
        if (ticket) return ticket;
        // Settings changed between crash and restart: that run can't be finished. Its charge stays.
        RAMPART_TRY(const auto closing, ledger.next_closing(certification::Verdict::kNoSolutionFound, "",
                                                            "abandoned: " + ticket.error().message, t));
        RAMPART_RETURN_IF_ERROR(write_entry(ledger, closing, t));
    }
    RAMPART_TRY(const auto registration, ledger.next_registration(request, t));
    RAMPART_RETURN_IF_ERROR(write_entry(ledger, registration, t));
    return ledger.ticket(request);
}

Result<TrainingLoop::Verdict> TrainingLoop::test(const StartedRun& run, const certification::PreparedRun& prepared, DeltaLedger& ledger,
                                                 const std::function<std::vector<double>()>& read_impacts) {
    RAMPART_TRY(const auto ticket, ticket_for(prepared.request(), ledger, run.at));
    const auto impacts = read_impacts();  // only now, with the charge on the disk
    RAMPART_TRY(const auto sealed, certification::run(prepared, ticket, impacts));
    RAMPART_TRY(const auto files, certification::seal(prepared, ticket, sealed, impacts, run.at, run.at, around_.signing_key));
    const registry::Proof proof{files.certificate, files.evidence, around_.signing_key.public_key()};
    RAMPART_TRY(const auto id, around_.registry.store_certificate(proof, run.at, kGate));
    RAMPART_TRY(const auto closing, ledger.next_closing(sealed.verdict, id.hex(), "", run.at));
    RAMPART_RETURN_IF_ERROR(write_entry(ledger, closing, run.at));
    return Verdict{sealed.published(), id.hex()};
}

Result<TrainingLoop::Verdict> TrainingLoop::refuse(const certification::GateConfig& config, const certification::RunIdentity& identity,
                                                   const certification::PublicResult& result, TimePoint t) {
    RAMPART_TRY(const auto files, certification::seal_refusal(config, identity, result, t, around_.signing_key));
    const registry::Proof proof{files.certificate, files.evidence, around_.signing_key.public_key()};
    RAMPART_TRY(const auto id, around_.registry.store_certificate(proof, t, kGate));
    return Verdict{result, id.hex()};
}

Result<std::optional<TrainingLoop::Verdict>> TrainingLoop::already_closed(const DeltaLedger& ledger, const StartedRun& run,
                                                                         const std::string& candidate) const {
    bool ours = false;
    for (const auto& bytes : ledger.entries()) {
        RAMPART_TRY(const auto entry, certification::decode_ledger_entry(bytes));
        if (const auto* registration = std::get_if<certification::Registration>(&entry.body)) {
            ours = registration->candidate_id == candidate && registration->reference_id == run.reference && registration->at == run.at;
        }
        const auto* closing = std::get_if<certification::Closing>(&entry.body);
        if (ours && closing != nullptr && !closing->certificate.empty()) {
            return std::optional(Verdict{{closing->verdict, "", ""}, closing->certificate});
        }
    }
    return std::optional<Verdict>();
}

Status TrainingLoop::promote(const StartedRun& run, const domain::PolicyId& candidate, const std::string& certificate) {
    RAMPART_TRY(const auto id, base::Digest::from_hex(certificate));
    RAMPART_TRY(const auto file, around_.registry.certificate_file(id));
    RAMPART_TRY(const auto certificates, around_.registry.certificates());
    const auto info = std::find_if(certificates.begin(), certificates.end(), [&](const auto& c) { return c.id == id; });
    if (info == certificates.end() || !info->evidence) {
        return base::data_loss("no_evidence", "certificate {} has no evidence in the registry", certificate);
    }
    RAMPART_TRY(const auto evidence, around_.registry.evidence_file(*info->evidence));
    const registry::Proof proof{file, evidence, around_.signing_key.public_key()};
    return around_.registry.promote(candidate, proof, run.at, kTrainer).map([](const registry::Promotion&) {});
}

}  // namespace rampart::trainer
