#include "rampart/gate_log/run_log.hpp"

#include "rampart/certification/ledger_view.hpp"
#include "rampart/gate_log/reasons.hpp"

namespace rampart::gate_log {
namespace {

using base::Result;
using base::Status;
using certification::DeltaLedger;

/// Returns the secret behind the pseudonyms in evidence; the same for all looks with a key.
std::string evidence_key(const base::SigningKey& key) {
    return base::hmac_sha256(key.to_pem(), "rampart gate log evidence").hex();
}

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
    identity.vault_rule =
        "decisions of the log's vault, the first of each person; that no test of this vault is "
        "missing from this ledger is the word of who keeps it";
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

/// Opens the first epoch, or checks that the key is the ledger's.
Status open_first_epoch(DeltaLedger& ledger, const LogSettings& settings, const LogRun& run,
                        const base::SigningKey& key) {
    if (ledger.epoch() > 0) {
        const auto& begun_with = ledger.current()->keys.signing;
        if (begun_with == key.public_key().id()) return base::ok();
        return base::make_error(Reason::kOtherLedgerKey,
                                "the ledger was begun with the signing key {}, this is {}",
                                begun_with, key.public_key().id());
    }
    const auto& config = settings.gate.config;
    certification::KeyIds ids;
    ids.signing = key.public_key().id();
    ids.evidence = base::sha256(evidence_key(key)).hex().substr(0, 16);
    RAMPART_TRY(const auto entry,
                ledger.next_epoch(config.delta_epoch, config.runs_per_epoch, config.spending,
                                  "the first epoch", run.at, ids, config.calibration_level));
    return ledger.append(entry);
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

Result<gate::Answer> run_log(const DecisionFile& log, const LogSettings& settings,
                             const LogRun& run, FileStore& store, const base::SigningKey& key) {
    const std::string pseudonyms = evidence_key(key);
    const gate::Protocol protocol(store, key, pseudonyms, run.wall_clock);
    RAMPART_TRY(auto ledger, protocol.read_ledger());
    RAMPART_RETURN_IF_ERROR(open_first_epoch(ledger, settings, run, key));
    gate::TestInputs inputs{.config = settings.gate.config,
                            .identity = identity_of(log, settings, run)};
    inputs.config.spending = ledger.current()->spending;
    if (ledger.current()->reserve > 0) inputs.config.calibration_level = ledger.current()->reserve;
    if (settings.gate.acknowledged_epoch == ledger.epoch())
        inputs.identity.acknowledged_alarm = settings.gate.acknowledged_why;
    inputs.selection = log.development;
    inputs.decisions = log.vault.decisions;
    if (run.look) {
        RAMPART_TRY(inputs.earlier, earlier_look(ledger, inputs, store, key));
    }
    const auto outcomes = [&](const certification::RunTicket&) {
        return training::VaultOutcomes{log.vault.impact, log.vault.label};
    };
    return protocol.test(inputs, outcomes, ledger, run.at, false);
}

}  // namespace rampart::gate_log
