#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::certification {

#define RAMPART_CERTIFICATION_REASONS(X)                                                           \
    X(kBadAnchor, kInvalidArgument, "bad_anchor",                                                  \
      "Name the anchor and give its probabilities for both sets, or neither.")                     \
    X(kBadBudget, kInvalidArgument, "bad_budget",                                                  \
      "Give a delta in (0, 0.5] over 1 to 1000 runs; count looks only with spending "              \
      "by_history.")                                                                               \
    X(kBadCharge, kInvalidArgument, "bad_charge",                                                  \
      "Read the ledger again and charge the run that comes next.")                                 \
    X(kBadClosing, kInvalidArgument, "bad_closing",                                                \
      "Close the run that is open, with a verdict of a run and the certificate's SHA-256.")        \
    X(kBadConstraintName, kInvalidArgument, "bad_constraint_name",                                 \
      "Give every constraint a printable name of its own.")                                        \
    X(kBadEpoch, kInvalidArgument, "bad_epoch", "Open the epoch that follows the last one.")       \
    X(kBadGateConfig, kInvalidArgument, "bad_gate_config",                                         \
      "Give the setting of the gate a value as the message says.")                                 \
    X(kBadIdentity, kInvalidArgument, "bad_identity", "Name both candidate and reference.")        \
    X(kBadJson, kDataLoss, "bad_json",                                                             \
      "Give one whole JSON document, as schemas/http/openapi.yaml describes it for "               \
      "requests; restore a damaged file from a copy.")                                             \
    X(kBadLedgerEntry, kDataLoss, "bad_ledger_entry", "Restore the ledger from a copy.")           \
    X(kBadMember, kDataLoss, "bad_member",                                                         \
      "Restore the file from a copy; the member named does not hold what it should.")              \
    X(kBadPlan, kInvalidArgument, "bad_plan", "Plan every constraint once.")                       \
    X(kBadRegistration, kInvalidArgument, "bad_registration",                                      \
      "Name both candidate and reference.")                                                        \
    X(kBadSignature, kPermissionDenied, "bad_signature",                                           \
      "Get the document from its signer again; do not trust this copy.")                           \
    X(kBadSignatures, kDataLoss, "bad_signatures",                                                 \
      "Get the certificate from its signer again; it has exactly one signature.")                  \
    X(kBadText, kInvalidArgument, "bad_text",                                                      \
      "Take control characters and invalid UTF-8 out of names and texts.")                         \
    X(kBadVaultOrder, kInvalidArgument, "bad_vault_order",                                         \
      "Sort the vault's records by person and id, each once.")                                     \
    X(kBrokenChain, kDataLoss, "broken_chain",                                                     \
      "Restore the ledger from a copy; entries are missing or changed.")                           \
    X(kBudgetChanged, kFailedPrecondition, "budget_changed",                                       \
      "Restore the epoch's budget in the configuration, or open a new epoch.")                     \
    X(kCertificateTooLong, kDataLoss, "certificate_too_long",                                      \
      "Get the certificate from its signer again.")                                                \
    X(kDeclinesOverridden, kFailedPrecondition, "declines_overridden",                             \
      "Set gate.declines_overridden = true.")                                                      \
    X(kDeltaSpent, kResourceExhausted, "delta_spent",                                              \
      "Open a new epoch, on vault records that were not tested before.")                           \
    X(kDifferentGroups, kInvalidArgument, "different_groups",                                      \
      "Give both sets the same groups in the same order.")                                         \
    X(kDoesNotRecompute, kDataLoss, "does_not_recompute",                                          \
      "Do not promote by this certificate; get it from its signer again.")                         \
    X(kDriftUnknown, kFailedPrecondition, "drift_unknown",                                         \
      "Measure the drift of applicants, or leave max_drift_auc out.")                              \
    X(kEarlierRecordsChanged, kFailedPrecondition, "earlier_records_changed",                      \
      "Propose another candidate: a look that lost records cannot be continued.")                  \
    X(kEmptyLedger, kFailedPrecondition, "empty_ledger",                                           \
      "File a head once the first run is charged.")                                                \
    X(kEvidenceCentre, kDataLoss, "evidence_centre",                                               \
      "Get the evidence file again; both centres stand in a line, or none.")                       \
    X(kEvidenceConditions, kDataLoss, "evidence_conditions",                                       \
      "Get the evidence file again; a line has one condition for each of the constraints.")        \
    X(kEvidenceGroups, kDataLoss, "evidence_groups",                                               \
      "Get the evidence file again; a line names a group that does not exist.")                    \
    X(kEvidenceIds, kDataLoss, "evidence_ids",                                                     \
      "Get the evidence file again; a line's ids have 32 hex digits.")                             \
    X(kEvidenceLogger, kDataLoss, "evidence_logger",                                               \
      "Get the evidence file again; a line names a logging policy that does not exist.")           \
    X(kEvidenceReferral, kDataLoss, "evidence_referral",                                           \
      "Get the evidence file again; a line's referral is 0 to 3.")                                 \
    X(kFeaturesDrifted, kFailedPrecondition, "features_drifted",                                   \
      "Wait for newer records, or open an epoch that leaves the old ones out.")                    \
    X(kGroupUnchanged, kFailedPrecondition, "group_unchanged",                                     \
      "Take a candidate that changes decisions in every group.")                                   \
    X(kLowPower, kFailedPrecondition, "low_power",                                                 \
      "Wait for more records, or lower gate.min_power.")                                           \
    X(kNoConditions, kInvalidArgument, "no_conditions",                                            \
      "Give conditions and labels of both sets where there are constraints.")                      \
    X(kNoEarlierLook, kFailedPrecondition, "no_earlier_look", "Register a run of its own.")        \
    X(kNoEpoch, kFailedPrecondition, "no_epoch", "Open an epoch with its budget.")                 \
    X(kNoPlanVariance, kFailedPrecondition, "no_plan_variance",                                    \
      "Take a candidate that changes something in the group.")                                     \
    X(kNoRunOpen, kFailedPrecondition, "no_run_open", "Register a run first.")                     \
    X(kNotARefusal, kInvalidArgument, "not_a_refusal",                                             \
      "Seal a run with seal(), and a refused or identical verdict with seal_refusal().")           \
    X(kNotCanonical, kDataLoss, "not_canonical",                                                   \
      "Get the file from its signer again; it was written anew by another program.")               \
    X(kNotInLedger, kFailedPrecondition, "not_in_ledger",                                          \
      "Get the ledger that the run was charged to, as it is now, from who keeps it.")              \
    X(kNotInMemory, kFailedPrecondition, "not_in_memory",                                          \
      "Give the vault's feedback as a source.")                                                    \
    X(kOtherEvidence, kDataLoss, "other_evidence",                                                 \
      "Give the evidence file that belongs to this certificate.")                                  \
    X(kOtherFormat, kDataLoss, "other_format",                                                     \
      "Read the certificate with the release that wrote it.")                                      \
    X(kOtherKey, kPermissionDenied, "other_key",                                                   \
      "Use the key with which it was made: the signer's public key, or the file from the "         \
      "backup of the keys (ops/runbooks/backup.md).")                                              \
    X(kOtherLedger, kFailedPrecondition, "other_ledger",                                           \
      "Ask who keeps the ledger for the one that the head was made of.")                           \
    X(kOtherPayload, kDataLoss, "other_payload",                                                   \
      "Give a certificate: the envelope holds a document of another type.")                        \
    X(kOtherRunOpen, kFailedPrecondition, "other_run_open",                                        \
      "Take the open run up again, or close it.")                                                  \
    X(kOutsideTrustRegion, kFailedPrecondition, "outside_trust_region",                            \
      "Clip the candidate to the trust region.")                                                   \
    X(kPersonInBoth, kFailedPrecondition, "person_in_both",                                        \
      "Split by person, with the same salt for ever.")                                             \
    X(kPropensitiesDoNotFit, kFailedPrecondition, "propensities_do_not_fit",                       \
      "Find out why draws and logged probabilities disagree; report what people decided as "       \
      "overrides.")                                                                                \
    X(kRangeGrew, kFailedPrecondition, "range_grew",                                               \
      "Take another candidate, or open a new epoch.")                                              \
    X(kRecordsPerPerson, kInvalidArgument, "records_per_person",                                   \
      "Give at most records_per_person records of each person, the first ones.")                   \
    X(kReferralByRule, kFailedPrecondition, "referral_by_rule",                                    \
      "Have all policies refer where a rule does: rules stand before the policies.")               \
    X(kReferralsNotDeclared, kFailedPrecondition, "referrals_not_declared",                        \
      "Set gate.referrals = true in a new epoch, or leave referrals to rules.")                    \
    X(kRunOpen, kFailedPrecondition, "run_open", "Take the open run up again, or close it first.") \
    X(kShortKey, kInvalidArgument, "short_key", "Give a pseudonym key of at least 16 bytes.")      \
    X(kTimeGoesBack, kInvalidArgument, "time_goes_back",                                           \
      "Correct the clock, and name a time not before the last one recorded.")                      \
    X(kTooManyConstraints, kInvalidArgument, "too_many_constraints",                               \
      "Give fewer constraints, or constraints that share conditions.")                             \
    X(kTooManyErased, kFailedPrecondition, "too_many_erased",                                      \
      "Wait until newer records have matured, or allow more with gate.max_missing_rate.")          \
    X(kTruncatedEvidence, kDataLoss, "truncated_evidence",                                         \
      "Get the evidence file again; it is cut off.")                                               \
    X(kVaultChanged, kFailedPrecondition, "vault_changed",                                         \
      "Abandon the run and register another.")                                                     \
    X(kWrongTicket, kFailedPrecondition, "wrong_ticket", "Take a ticket for this run.")
RAMPART_REASONS("certification", RAMPART_CERTIFICATION_REASONS)

}  // namespace rampart::certification
