#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::rampartd {

#define RAMPART_RAMPARTD_REASONS(X)                                                             \
    X(kAttributesElsewhere, kFailedPrecondition, "attributes_elsewhere",                        \
      "Send protected attributes to the node that trains, or to one that decides by group.")    \
    X(kAttributesLeft, kFailedPrecondition, "attributes_left",                                  \
      "Set training.enabled = true again, with the role train, or hand the training over "      \
      "first (ops/runbooks/trainer.md); if another node trains, delete the folder.")            \
    X(kAuditRequired, kPermissionDenied, "audit_required",                                      \
      "Set audit.enabled = true at a node of those who audit the gate; there, no candidate "    \
      "can be proposed.")                                                                       \
    X(kAuditorMayNotPropose, kPermissionDenied, "auditor_may_not_propose",                      \
      "Propose candidates with a configuration that has audit.enabled = false; an auditor "     \
      "may not.")                                                                               \
    X(kBadHandOver, kInvalidArgument, "bad_hand_over",                                          \
      "Name the file that `rampart trainer hand-over` wrote, whole; if it is damaged, write "   \
      "another one: the command may be repeated.")                                              \
    X(kBadPeriod, kInvalidArgument, "bad_period",                                               \
      "Give the first and the last month, as in 2005-01 and 2005-12, 120 or fewer.")            \
    X(kBadRoles, kInvalidArgument, "bad_roles",                                                 \
      "Name roles that go together, as the message says (ops/runbooks/roles.md).")              \
    X(kClockJump, kOutOfRange, "clock_jump",                                                    \
      "Correct the clock, or accept it with `rampart clock accept`; in a replay, move it in "   \
      "smaller steps.")                                                                         \
    X(kDamageFound, kDataLoss, "damage_found",                                                  \
      "Look at the disk, then do what ops/runbooks/damage.md says for the database.")           \
    X(kDatabasesEncrypted, kFailedPrecondition, "databases_encrypted",                          \
      "Set privacy.encrypt_databases = true: a store that is encrypted stays so.")              \
    X(kEmptyBatch, kInvalidArgument, "empty_batch", "Send one JSON object a line.")             \
    X(kErasureLeft, kFailedPrecondition, "erasure_left",                                        \
      "Start the node with its roles of before until the erasure has ended ('rampart status', " \
      "GET /v1/jobs/ID), then take the role away; where it has no job, erase the person again " \
      "then (ops/runbooks/roles.md).")                                                          \
    X(kEventClock, kFailedPrecondition, "event_clock", "Move time by POST /v1/clock.")          \
    X(kExplanationsBusy, kUnavailable, "explanations_busy",                                     \
      "Ask again in a few seconds; each is worked out once, and kept.")                         \
    X(kHandOverUsed, kFailedPrecondition, "hand_over_used",                                     \
      "Let the node that the message names train; to move the training again, hand it over "    \
      "there (ops/runbooks/trainer.md).")                                                       \
    X(kJobInterrupted, kFailedPrecondition, "job_interrupted",                                  \
      "See GET /v1/runs: a run that had begun goes on under its number; where there is none, "  \
      "send the request again.")                                                                \
    X(kKeyStays, kFailedPrecondition, "key_stays",                                              \
      "Keep the key: the message says what a change would break, and what to do if the key "    \
      "is lost or known to others (ops/runbooks/keys.md).")                                     \
    X(kNoChampion, kInternal, "no_champion",                                                    \
      "Start the node once with `rampart serve`: it declares the first policy of the "          \
      "configuration.")                                                                         \
    X(kNoJump, kFailedPrecondition, "no_jump", "Leave the clock: it is not in doubt.")          \
    X(kNoNotices, kFailedPrecondition, "no_notices",                                            \
      "Add a section [notices] to the node's configuration (ops/runbooks/letters.md).")         \
    X(kNoSharedLog, kFailedPrecondition, "no_shared_log",                                       \
      "Move the store as a whole (ops/runbooks/backup.md): the embedded log has one node.")     \
    X(kNoticeNeedsJoin, kFailedPrecondition, "notice_needs_join",                               \
      "Add join to the roles of the node that decides the partition: a letter takes its "       \
      "index and its joined state (ops/runbooks/roles.md).")                                    \
    X(kOtherGroup, kFailedPrecondition, "other_group",                                          \
      "Give this node the group, the topics and the product of the one that handed over.")      \
    X(kProductNotCarried, kFailedPrecondition, "product_not_carried",                           \
      "Put the product back as it was, or begin a new store (ops/guide/schema_changes).")       \
    X(kRetentionTooShort, kInvalidArgument, "retention_too_short",                              \
      "Set privacy.retention_months to what the message says, or more.")                        \
    X(kReviewNotOpen, kFailedPrecondition, "review_not_open",                                   \
      "Open a review first (POST /v1/decisions/{id}/review), or report what people did by "     \
      "POST /v1/overrides.")                                                                    \
    X(kReviewOpen, kAlreadyExists, "review_open",                                               \
      "Answer the review that is open: GET /v1/reviews has it.")                                \
    X(kReviewOvertaken, kUnavailable, "review_overtaken",                                       \
      "Ask again: overrides of the same decision came in meanwhile.")                           \
    X(kReviewsLate, kUnavailable, "reviews_late",                                               \
      "Let more people answer (`rampart review list`), or raise the limits under [reviews].")   \
    X(kRoleNotHere, kFailedPrecondition, "role_not_here",                                       \
      "Ask a node with the role that the message names: GET /v1/status says which a node has.") \
    X(kRolesMissing, kFailedPrecondition, "roles_missing",                                      \
      "Give --roles as before, or name 'roles' in the configuration (ops/runbooks/roles.md).")  \
    X(kSchemaDiffers, kFailedPrecondition, "schema_differs",                                    \
      "Give all nodes of the group one schema file, and start the node that trains with it "    \
      "first (ops/guide/schema_changes).")                                                      \
    X(kSchemaNotDeclared, kFailedPrecondition, "schema_not_declared",                           \
      "Start the service with the schema file first: `rampart serve` puts it on record; a "     \
      "command on a store at rest only compares it.")                                           \
    X(kStarting, kUnavailable, "starting",                                                      \
      "Try again when GET /readyz answers 200; it says how far the start is.")                  \
    X(kStateLeft, kFailedPrecondition, "state_left",                                            \
      "Give the node the role and the partition again, or delete the database: it is made "     \
      "anew from the log (ops/runbooks/roles.md).")                                             \
    X(kStopping, kUnavailable, "stopping", "Ask another node, or this one when it runs again.") \
    X(kStopPending, kUnavailable, "stop_pending",                                               \
      "Ask again in a few seconds: the log does not answer now.")                               \
    X(kSystemClock, kFailedPrecondition, "system_clock",                                        \
      "Set clock.mode = \"event\" to replay a stream.")                                         \
    X(kTakeOverUnfinished, kFailedPrecondition, "take_over_unfinished",                         \
      "Run `rampart trainer take-over` again with the same file (ops/runbooks/trainer.md).")    \
    X(kTooManySearches, kFailedPrecondition, "too_many_searches",                               \
      "Ask for more at once, with fewer filters and a longer period, or an hour later; what "   \
      "was asked for within the hour is answered again.")                                       \
    X(kTooManyStops, kFailedPrecondition, "too_many_stops",                                     \
      "Wait until one of them is a day old; `rampart stop list` has them.")                     \
    X(kTrainingOff, kFailedPrecondition, "training_off",                                        \
      "Set training.enabled = true, with the roles join and train, and let the node hold all "  \
      "partitions.")                                                                            \
    X(kTrainsElsewhere, kFailedPrecondition, "trains_elsewhere",                                \
      "Ask the node of the group that trains.")                                                 \
    X(kUnknownApplication, kNotFound, "unknown_application",                                    \
      "Name the person, or ask the node that holds the application's partition.")               \
    X(kUnknownConsoleFile, kNotFound, "unknown_console_file",                                   \
      "Open /console/ anew: a page of another release asks for its own files.")                 \
    X(kUnknownEventKind, kInvalidArgument, "unknown_event_kind",                                \
      "Name kinds of events that the message lists, with commas between them.")                 \
    X(kUnknownStop, kNotFound, "unknown_stop",                                                  \
      "Name the stop: exploration, rules-only or refer-all.")
RAMPART_REASONS("rampartd", RAMPART_RAMPARTD_REASONS)

}  // namespace rampart::rampartd
