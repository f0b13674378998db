#include "rampart/gate_log/run_log.hpp"

#include <algorithm>
#include <set>

#include "rampart/certification/ledger_view.hpp"
#include "rampart/gate_log/reasons.hpp"

namespace rampart::gate_log {
namespace {

using base::Result;
using base::Status;
using certification::DeltaLedger;

/// Returns the secret behind the pseudonyms in evidence; the same for all looks with a key.
std::string evidence_key(const LogRun& run, const base::SigningKey& key) {
    if (!run.evidence_key.empty()) return run.evidence_key;
    return base::hmac_sha256(key.to_pem(), "rampart gate log evidence").hex();
}

/// Returns a file of an earlier run, which must be there.
Result<std::string> kept(Result<std::string> file) {
    if (file || file.error().code != base::ErrorCode::kNotFound) return file;
    return base::make_error(Reason::kNoEarlierCertificate, "a run of an earlier epoch: {}",
                            file.error().message);
}

/// Beginning of a run's vault rule: up to when it has read the vault.
constexpr std::string_view kUntil = "decisions of the log's vault until ";

certification::RunIdentity identity_of(const DecisionFile& log, const LogSettings& settings,
                                       const LogRun& run) {
    const auto& config = settings.gate.config;
    certification::RunIdentity identity;
    identity.candidate_id = run.candidate;
    identity.reference_id = run.reference;
    if (log.anchor) identity.anchor_id = "anchor";
    identity.feature_schema_id = log.columns.hex();
    identity.metric =
        fmt::format("{} as reported in the log; {}; range [{}, {}]", config.impact_units,
                    config.declined_impact ? fmt::format("{} if declined", *config.declined_impact)
                                           : std::string("declines have their own"),
                    config.impact_lo, config.impact_hi);
    identity.vault_rule = log.vault.impact.empty()
                              ? std::string("decisions of the log's vault, ")
                              : fmt::format("{}{}, ", kUntil, base::to_iso8601(log.period_to));
    if (log.read_until)
        identity.vault_rule += fmt::format("later than {}, ", base::to_iso8601(*log.read_until));
    identity.vault_rule +=
        "the first of each person; that no test of this vault is missing from this ledger is the "
        "word of who keeps it";
    if (settings.gate.max_age_months > 0) {
        identity.vault_rule += fmt::format(", not older than {} months before the log's end",
                                           settings.gate.max_age_months);
    }
    identity.period_from = log.period_from;
    identity.period_to = log.period_to;
    identity.later_records = log.later_records;
    identity.proposed_by = run.proposed_by;
    identity.software = run.software;
    identity.loggers = log.loggers;
    identity.decisions = log.decisions;
    identity.in_no_group = log.in_no_group;
    identity.left_out = log.left_out;
    return identity;
}

/// Returns whether the run opens an epoch. The same command after a crash goes on with the run of
/// the epoch that it has opened.
bool opens_epoch(const DeltaLedger& ledger, const LogRun& run) {
    if (ledger.epoch() == 0) return true;
    if (run.new_epoch.empty()) return false;
    return !(ledger.open_run() && ledger.current()->note == run.new_epoch &&
             ledger.runs_used() == 1);
}

/// Returns the runs of epochs before the one that `run` is of.
Result<std::vector<certification::Registration>> earlier_runs(const DeltaLedger& ledger,
                                                              const LogRun& run) {
    const auto epoch = ledger.epoch() + (opens_epoch(ledger, run) ? 1 : 0);
    std::vector<certification::Registration> runs;
    for (const auto& bytes : ledger.entries()) {
        RAMPART_TRY(auto entry, certification::decode_ledger_entry(bytes));
        auto* charge = std::get_if<certification::Registration>(&entry.body);
        if (charge && charge->epoch < epoch) runs.push_back(std::move(*charge));
    }
    return runs;
}

Result<base::TimePoint> period_end(const certification::Registration& run) {
    const std::string_view rule = run.vault_rule;
    const auto end = rule.find(',');
    if (rule.starts_with(kUntil) && end != rule.npos) {
        if (const auto time = base::parse_iso8601(rule.substr(kUntil.size(), end - kUntil.size())))
            return *time;
    }
    return base::make_error(Reason::kUnknownPeriod,
                            "run {} of the ledger does not say up to when it has read the vault",
                            certification::certificate_name(run));
}

/// Adds the epoch that the run opens to `ledger`, but stores nothing, and checks that the key is
/// the ledger's. Returns whether it opens one that was asked for.
Result<bool> begin_epoch(DeltaLedger& ledger, const LogSettings& settings, const LogRun& run,
                         const base::SigningKey& key) {
    certification::KeyIds ids;
    ids.signing = key.public_key().id();
    ids.evidence = base::sha256(evidence_key(run, key)).hex().substr(0, 16);
    if (ledger.epoch() > 0 && ledger.current()->keys != ids) {
        return base::make_error(Reason::kOtherLedgerKey,
                                "the ledger was begun with the signing key {} and the evidence key "
                                "{}, these are {}, {}",
                                ledger.current()->keys.signing, ledger.current()->keys.evidence,
                                ids.signing, ids.evidence);
    }
    if (!opens_epoch(ledger, run)) return false;
    const auto& config = settings.gate.config;
    RAMPART_TRY(const auto entry,
                ledger.next_epoch(config.delta_epoch, config.runs_per_epoch, config.spending,
                                  run.new_epoch.empty() ? "the first epoch" : run.new_epoch, run.at,
                                  ids, config.calibration_level));
    RAMPART_RETURN_IF_ERROR(ledger.append(entry));
    return !run.new_epoch.empty();
}

/// Counts the persons of the vault of whom an earlier epoch has read a record: as the log has it,
/// or the evidence of that epoch's runs.
Result<size_t> persons_read_before(const DecisionFile& log, const DeltaLedger& ledger,
                                   const FileStore& store, const base::SigningKey& key,
                                   std::string_view pseudonyms) {
    std::set<certification::Pseudonym> read;
    for (const auto& bytes : ledger.entries()) {
        RAMPART_TRY(const auto entry, certification::decode_ledger_entry(bytes));
        const auto* closing = std::get_if<certification::Closing>(&entry.body);
        if (!closing || closing->epoch == ledger.epoch()) continue;
        if (closing->certificate.empty()) {
            if (!log.persons_read.empty()) continue;
            return base::make_error(Reason::kNoEarlierCertificate,
                                    "run e{}r{} has none, and the log has no record that it has "
                                    "read: take a log that still has them",
                                    closing->epoch, closing->run);
        }
        RAMPART_TRY(const auto id, base::Digest::from_hex(closing->certificate));
        RAMPART_TRY(const auto file, kept(store.certificate_file(id)));
        RAMPART_TRY(const auto certificate,
                    certification::read_certificate(file, key.public_key()));
        RAMPART_TRY(const auto evidence, kept(store.evidence_file(id)));
        RAMPART_TRY(const auto look, certification::earlier_look(certificate, evidence));
        for (const auto& record : look.records) read.insert(record.unit);
    }
    const auto& persons = log.vault.decisions.unit_id;
    return static_cast<size_t>(
        std::count_if(persons.begin(), persons.end(), [&](const std::string& person) {
            return log.persons_read.contains(person) ||
                   read.contains(certification::pseudonym(pseudonyms, "unit", person));
        }));
}

Result<certification::EarlierLook> earlier_look(const DeltaLedger& ledger,
                                                const gate::TestInputs& inputs,
                                                const FileStore& store,
                                                const base::SigningKey& key) {
    const auto& [candidate, reference] =
        std::pair(inputs.identity.candidate_id, inputs.identity.reference_id);
    RAMPART_TRY(const auto history, certification::LedgerView::of(ledger));
    const auto digest = history.plan_of({candidate, reference});
    if (!digest) {
        return base::make_error(Reason::kNoEarlierCertificate,
                                "the ledger has no run of '{}' against '{}' that did not pass and "
                                "could be looked at again",
                                candidate, reference);
    }
    RAMPART_TRY(const auto id, base::Digest::from_hex(*digest));
    RAMPART_TRY(const auto file, store.certificate_file(id));
    RAMPART_TRY(const auto read,
                certification::read_certificate(file, key.public_key(), {candidate, reference}));
    if (!certification::may_look_again(read.plan, inputs.config, inputs.identity)) {
        return base::make_error(Reason::kNoEarlierCertificate,
                                "the settings are not those of the earlier look, or allow none");
    }
    RAMPART_TRY(const auto evidence, store.evidence_file(id));
    return certification::earlier_look(read, evidence);
}

}  // namespace

Result<std::optional<base::TimePoint>> read_until(const FileStore& store, const LogRun& run) {
    RAMPART_TRY(const auto entries, store.ledger_entries());
    RAMPART_TRY(const auto ledger, DeltaLedger::open(entries));
    RAMPART_TRY(const auto runs, earlier_runs(ledger, run));
    std::optional<base::TimePoint> last;
    for (const auto& earlier : runs) {
        RAMPART_TRY(const auto end, period_end(earlier));
        last = std::max(last.value_or(end), end);
    }
    return last;
}

Result<gate::Answer> run_log(const DecisionFile& log, const LogSettings& settings,
                             const LogRun& run, FileStore& store, const base::SigningKey& key) {
    RAMPART_TRY(const auto until, read_until(store, run));
    if (log.read_until != until) {
        return base::make_error(Reason::kOtherLogPeriod,
                                "earlier epochs have read the vault up to {}, and the log was laid "
                                "out from {} on",
                                until ? base::to_iso8601(*until) : "(nothing)",
                                log.read_until ? base::to_iso8601(*log.read_until) : "its start");
    }
    const std::string pseudonyms = evidence_key(run, key);
    const gate::Protocol protocol(store, key, pseudonyms, run.wall_clock);
    RAMPART_TRY(auto ledger, protocol.read_ledger());
    RAMPART_TRY(const bool asked, begin_epoch(ledger, settings, run, key));
    gate::TestInputs inputs{.config = settings.gate.config,
                            .identity = identity_of(log, settings, run)};
    inputs.config.spending = ledger.current()->spending;
    if (ledger.current()->reserve > 0) inputs.config.calibration_level = ledger.current()->reserve;
    if (settings.gate.acknowledged_epoch == ledger.epoch())
        inputs.identity.acknowledged_alarm = settings.gate.acknowledged_why;
    RAMPART_TRY(inputs.identity.read_before,
                persons_read_before(log, ledger, store, key, pseudonyms));
    inputs.selection = log.development;
    inputs.decisions = log.vault.decisions;
    if (run.look) {
        RAMPART_TRY(inputs.earlier, earlier_look(ledger, inputs, store, key));
    }
    const auto outcomes = [&](const certification::RunTicket&) {
        return training::VaultOutcomes{log.vault.impact, log.vault.label};
    };
    return protocol.test(inputs, outcomes, ledger, run.at, asked);
}

}  // namespace rampart::gate_log
