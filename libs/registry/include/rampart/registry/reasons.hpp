#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::registry {

#define RAMPART_REGISTRY_REASONS(X)                                                               \
    X(kAuditEdited, kDataLoss, "audit_edited",                                                    \
      "Restore the audit log from a copy, and find out who changed it.")                          \
    X(kAuditEntry, kInvalidArgument, "audit_entry",                                               \
      "Give the entry fewer details, and texts of the allowed length.")                           \
    X(kAuditFormat, kDataLoss, "audit_format",                                                    \
      "Restore the audit log from a copy, or read it with the release that wrote it.")            \
    X(kAuditHead, kDataLoss, "audit_head", "Restore the audit log's head from a copy.")           \
    X(kAuditReordered, kDataLoss, "audit_reordered",                                              \
      "Restore the audit log from a copy, and find out who changed it.")                          \
    X(kAuditTruncated, kDataLoss, "audit_truncated",                                              \
      "Restore the audit log from a copy, and find out who cut it.")                              \
    X(kApprovedAlready, kFailedPrecondition, "approved_already",                                  \
      "Let another principal approve it.")                                                        \
    X(kAssignmentUsed, kFailedPrecondition, "assignment_used",                                    \
      "Give each assignment of arms an id of its own.")                                           \
    X(kBadComment, kInvalidArgument, "bad_comment",                                               \
      "Say why, for the audit log, in a text of the allowed length.")                             \
    X(kBadNotice, kDataLoss, "bad_notice",                                                        \
      "Look at the topic of policies: another program wrote to it, or the record is "             \
      "damaged.")                                                                                 \
    X(kBadStop, kDataLoss, "bad_stop",                                                            \
      "Look at the topic of leases: another program wrote to it, or the record is "               \
      "damaged.")                                                                                 \
    X(kCertificateDigest, kDataLoss, "certificate_digest",                                        \
      "Restore the certificate's file in the registry from a copy.")                              \
    X(kDeclarationEdited, kDataLoss, "declaration_edited",                                        \
      "Restore the registry from a copy, and find out who changed it.")                           \
    X(kCertificateExpired, kFailedPrecondition, "certificate_expired",                            \
      "Certify the candidate anew, against the present champion, on later decisions.")            \
    X(kCertificateInvalid, kPermissionDenied, "certificate_invalid",                              \
      "Give a certificate that `rampart verify` accepts.")                                        \
    X(kCertificateSize, kOutOfRange, "certificate_size",                                          \
      "Give a certificate: this file is too long for one.")                                       \
    X(kCertificateSpent, kFailedPrecondition, "certificate_spent", "Certify the candidate anew.") \
    X(kChampionExists, kFailedPrecondition, "champion_exists",                                    \
      "Promote the policy with a certificate: the first policy is declared once.")                \
    X(kChampionPointer, kDataLoss, "champion_pointer", "Restore the registry from a copy.")       \
    X(kDeploymentLog, kDataLoss, "deployment_log", "Restore the registry from a copy.")           \
    X(kEvidenceDigest, kDataLoss, "evidence_digest",                                              \
      "Restore the evidence file in the registry from a copy.")                                   \
    X(kEvidenceSize, kOutOfRange, "evidence_size", "Give the evidence of fewer records.")         \
    X(kKeysRecorded, kFailedPrecondition, "keys_recorded",                                        \
      "Restore the keys with which the store was made.")                                          \
    X(kLedgerEntry, kInvalidArgument, "ledger_entry",                                             \
      "Give the ledger's entry a length within the limit.")                                       \
    X(kLedgerGap, kDataLoss, "ledger_gap", "Restore the registry from a copy.")                   \
    X(kLedgerMovedOn, kFailedPrecondition, "ledger_moved_on",                                     \
      "Read the ledger again, then repeat the run.")                                              \
    X(kModelDigest, kDataLoss, "model_digest",                                                    \
      "Restore the model's file in the registry from a copy.")                                    \
    X(kModelSize, kOutOfRange, "model_size", "Train a model of fewer or smaller trees.")          \
    X(kNoAssignment, kFailedPrecondition, "no_assignment",                                        \
      "Start an assignment of arms first: the champion alone decides.")                           \
    X(kNoChampion, kFailedPrecondition, "no_champion",                                            \
      "Start the node once with `rampart serve`: it declares the first policy of the "            \
      "configuration.")                                                                           \
    X(kNoModel, kNotFound, "no_model",                                                            \
      "Restore the model at the node that promoted it, or promote it again there.")               \
    X(kNotABootstrap, kInvalidArgument, "not_a_bootstrap",                                        \
      "Declare a rule with known probabilities, or promote the model with a certificate.")        \
    X(kNotCertified, kFailedPrecondition, "not_certified",                                        \
      "Promote by a certificate whose verdict is CERTIFIED.")                                     \
    X(kNotPressed, kFailedPrecondition, "not_pressed",                                            \
      "Release a stop button that is pressed: this one is not.")                                  \
    X(kNothingToRollBackTo, kFailedPrecondition, "nothing_to_roll_back_to",                       \
      "Promote another policy: there is none before the first.")                                  \
    X(kOtherModel, kFailedPrecondition, "other_model", "Give the certificate of this model.")     \
    X(kOwnProposal, kPermissionDenied, "own_proposal",                                            \
      "Let a principal approve it who did not propose the candidate.")                            \
    X(kPromotionFormat, kDataLoss, "promotion_format",                                            \
      "Restore the registry from a copy, or read it with the release that wrote it.")             \
    X(kPromotionLog, kDataLoss, "promotion_log", "Restore the registry from a copy.")             \
    X(kProposalDiffers, kFailedPrecondition, "proposal_differs",                                  \
      "Read the proposal again, and give the digest that it has.")                                \
    X(kProposalEnded, kFailedPrecondition, "proposal_ended",                                      \
      "See why it ended; `rampart promote` proposes a certified policy again while its "          \
      "certificate holds.")                                                                       \
    X(kProposalLog, kDataLoss, "proposal_log", "Restore the registry from a copy.")               \
    X(kReasonMissing, kInvalidArgument, "reason_missing",                                         \
      "Say why, for the audit log, in a text of the allowed length.")                             \
    X(kRegistryFormat, kDataLoss, "registry_format",                                              \
      "Restore the registry from a copy, or read it with the release that wrote it.")             \
    X(kRulesOnlyPressed, kFailedPrecondition, "rules_only_pressed",                               \
      "End the stop first; `rampart promote` proposes the certified policy again then.")          \
    X(kStaleEpoch, kFailedPrecondition, "stale_epoch",                                            \
      "Certify the candidate anew, in the epoch of the error budget that is open.")               \
    X(kStaleReference, kFailedPrecondition, "stale_reference",                                    \
      "Certify the candidate against the present champion, or name that champion.")               \
    X(kTimeGoesBack, kFailedPrecondition, "time_goes_back",                                       \
      "Correct the clock, and name a time not before the last one recorded.")                     \
    X(kUncharged, kFailedPrecondition, "uncharged",                                               \
      "Promote in the registry whose ledger was charged for the certificate's run.")              \
    X(kUnclosed, kFailedPrecondition, "unclosed",                                                 \
      "Let the node finish the run that is open in its ledger; then promote.")                    \
    X(kUnknownCertificate, kNotFound, "unknown_certificate",                                      \
      "Name a certificate of the registry, or restore its file from a copy.")                     \
    X(kUnknownEvidence, kNotFound, "unknown_evidence",                                            \
      "Restore the evidence file in the registry from a copy.")                                   \
    X(kUnknownProposal, kNotFound, "unknown_proposal",                                            \
      "Give a number that `rampart proposal list` shows.")                                        \
    X(kUnknownModel, kNotFound, "unknown_model",                                                  \
      "Register the model's file first, or restore it in the registry.")
RAMPART_REASONS("registry", RAMPART_REGISTRY_REASONS)

}  // namespace rampart::registry
