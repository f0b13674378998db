#pragma once

#include <span>

#include "rampart/runtime/metrics.hpp"

/// Every metric of Rampart: `rampart metrics > schemas/metrics.md` writes the table of all. In
/// Prometheus' conventions: base units, counters end in _total. The help says what a value means
/// and, where it is not plain, what to do.
namespace rampart::runtime::metric {

// X(constant, type, name, labels, help), by name within each part
#define RAMPART_METRICS_OF_DECIDING(X)                                                         \
    X(kApplications, "counter", "rampart_applications_total", "result",                        \
      "Applications from the log, read again after a crash included.")                         \
    X(kDecideSeconds, "histogram", "rampart_decide_seconds", "",                               \
      "Time from admission of a request for decisions until they are durable; waiting before " \
      "admission is in rampart_http_request_duration_seconds only.")                           \
    X(kDecisions, "counter", "rampart_decisions_total", "action,explored",                     \
      "Decisions answered, repeats included.")                                                 \
    X(kExplanationSeconds, "histogram", "rampart_explanation_seconds", "",                     \
      "Time to work out one explanation, on one thread of lower priority or for who asks.")    \
    X(kExplanationsFailed, "counter", "rampart_explanations_failed_total", "",                 \
      "Decisions that could not be explained; who asks for the explanation learns why.")       \
    X(kExplanationsPassedOver, "counter", "rampart_explanations_passed_over_total", "",        \
      "Declines that found the queue full: they are explained when they are asked for.")       \
    X(kExplanations, "counter", "rampart_explanations_total", "when",                          \
      "Explanations worked out after the answer, or, where there was none yet, at a read.")    \
    X(kExplanationsWaiting, "gauge", "rampart_explanations_waiting", "",                       \
      "Declines that wait for their explanation.")                                             \
    X(kOutcomes, "counter", "rampart_outcomes_total", "", "Outcomes taken in.")                \
    X(kOverloadRefusals, "counter", "rampart_overload_refusals_total", "",                     \
      "Requests for decisions refused, as too many were waiting.")                             \
    X(kOverrides, "counter", "rampart_overrides_total", "",                                    \
      "Overrides by people taken in, reviews and repeats included.")                           \
    X(kPartitionsConfigured, "gauge", "rampart_partitions_configured", "",                     \
      "Partitions of the log, which the nodes that decide share.")                             \
    X(kPartitionsGivenUp, "counter", "rampart_partitions_given_up_total", "",                  \
      "Partitions that another node was found to have taken over.")                            \
    X(kPartitionsOwned, "gauge", "rampart_partitions_owned", "",                               \
      "Partitions that this node decides for, stopped ones included, and those not that "      \
      "another node has taken over.")                                                          \
    X(kPartitionsStopped, "gauge", "rampart_partitions_stopped", "",                           \
      "Partitions among the owned ones that decide nothing now; GET /v1/partitions says why.") \
    X(kPolicyDecisions, "counter", "rampart_policy_decisions_total", "policy",                 \
      "Decisions answered by policy, of the last 8 policies that decided.")                    \
    X(kPolicySwaps, "counter", "rampart_policy_swaps_total", "", "Policies put in force.")     \
    X(kStopInForce, "gauge", "rampart_stop_in_force", "stop",                                  \
      "1: people have pressed this stop button, and what is decided now is no evidence; "      \
      "GET /v1/stops says who and why.")                                                       \
    X(kUnseenCategories, "counter", "rampart_unseen_categories_total", "feature",              \
      "Categories that the policy does not know, in decisions answered, repeats included: "    \
      "counted as missing.")

#define RAMPART_METRICS_OF_JOBS(X)                                                              \
    X(kCheckOk, "gauge", "rampart_check_ok", "check", "Whether a check of /readyz passes.")     \
    X(kClockInDoubt, "gauge", "rampart_clock_in_doubt", "",                                     \
      "1: the wall clock jumped and was not accepted yet.")                                     \
    X(kJobAge, "gauge", "rampart_job_age_seconds", "task",                                      \
      "Time since a job last succeeded; before its first success, since it began.")             \
    X(kJobFailures, "counter", "rampart_job_failures_total", "task",                            \
      "Runs of a job that failed; GET /v1/status and the log say why.")                         \
    X(kJobInterval, "gauge", "rampart_job_interval_seconds", "task",                            \
      "Time from a success of a job to its next run.")                                          \
    X(kJobRunning, "gauge", "rampart_job_running", "task", "1: a run of the job is under way.") \
    X(kJobRuns, "counter", "rampart_job_runs_total", "task",                                    \
      "Runs of a job of this process that have ended.")                                         \
    X(kJobStuck, "gauge", "rampart_job_stuck", "task",                                          \
      "1: a run of the job gives no sign of life any more.")                                    \
    X(kNodeRole, "gauge", "rampart_node_role", "role",                                          \
      "1: the node has this role of its group: decide, join, train, monitor.")                  \
    X(kRequestJobsDone, "counter", "rampart_request_jobs_done_total", "kind",                   \
      "Requests done as jobs (GET /v1/jobs) by this process.")                                  \
    X(kRequestJobsFailed, "counter", "rampart_request_jobs_failed_total", "kind",               \
      "Requests as jobs that failed or were refused; GET /v1/jobs says why.")                   \
    X(kRequestJobsOldest, "gauge", "rampart_request_jobs_oldest_seconds", "kind",               \
      "Time since the oldest job that has not ended was asked for; 0: there is none.")          \
    X(kRequestJobsRefused, "counter", "rampart_request_jobs_refused_total", "kind",             \
      "Requests refused, as too many jobs waited (jobs.most_waiting).")                         \
    X(kRequestJobsRunning, "gauge", "rampart_request_jobs_running", "kind",                     \
      "Requests that run as jobs.")                                                             \
    X(kRequestJobsUnreadable, "gauge", "rampart_request_jobs_unreadable", "",                   \
      "Files of jobs that cannot be read: look at GET /v1/jobs, and send the request again.")   \
    X(kRequestJobsWaiting, "gauge", "rampart_request_jobs_waiting", "kind",                     \
      "Requests that wait as jobs.")

#define RAMPART_METRICS_OF_JOINING(X)                                                              \
    X(kConflictingOutcomes, "counter", "rampart_conflicting_outcomes_total", "",                   \
      "Outcomes and overrides, however they came, that contradict an earlier one of the same "     \
      "revision: the earlier one stays, they are in quarantine.")                                  \
    X(kJoinClockLag, "gauge", "rampart_join_clock_lag_seconds", "",                                \
      "How far the joined state's clock is behind the node's: nothing matures, and nothing is "    \
      "trained, beyond it. NaN: it never moved.")                                                  \
    X(kJoinSourcesStopped, "gauge", "rampart_join_sources_stopped", "topic",                       \
      "Partitions of a topic that cannot be read on, so that nothing matures; 'rampart partition " \
      "list' says why.")                                                                           \
    X(kJoinedCorrections, "counter", "rampart_joined_corrections_total", "",                       \
      "Reports joined beyond the first of their decision and measure, since the store was made.")  \
    X(kJoinedDecisions, "gauge", "rampart_joined_decisions", "",                                   \
      "Decisions in the joined state, without those erased.")                                      \
    X(kJoinedErased, "gauge", "rampart_joined_erased", "", "Decisions that are erased.")           \
    X(kJoinedLate, "counter", "rampart_joined_late_outcomes_total", "",                            \
      "Outcomes observed or arrived after their example had matured, since the store was made: "   \
      "many say that horizon and grace are too short.")                                            \
    X(kJoinedMatured, "gauge", "rampart_joined_matured", "",                                       \
      "Examples that have matured, with an outcome or with none, without those erased.")           \
    X(kJoinedOutcomes, "counter", "rampart_joined_outcomes_total", "",                             \
      "Distinct outcomes joined, since the store was made.")                                       \
    X(kJoinedOverdue, "gauge", "rampart_joined_overdue", "",                                       \
      "Granted loans that have matured without an outcome: those who report them are late, or "    \
      "have stopped.")                                                                             \
    X(kJoinedUnmatched, "gauge", "rampart_joined_unmatched", "",                                   \
      "Outcomes and overrides whose decision has not arrived: wrong ids, or decisions lost.")      \
    X(kJoinUncheckedDraws, "counter", "rampart_join_unchecked_draws_total", "",                    \
      "Decisions joined, since the start, whose draw key is not on this node, so that their "      \
      "draws were not checked: those of other nodes. On a node alone it stays 0.")                 \
    X(kQuarantineBytes, "gauge", "rampart_quarantine_bytes", "store",                              \
      "Bytes in quarantine, of joined states or of applications, in whole MiB: [quarantine] "      \
      "bounds them.")                                                                              \
    X(kQuarantineDeleted, "counter", "rampart_quarantine_deleted_records_total", "store,bound",    \
      "Records that a bound has deleted from quarantine, oldest first: bound=\"age\" or "          \
      "\"bytes\". They are lost here, but for what their topic still has.")                        \
    X(kQuarantineUnread, "gauge", "rampart_quarantine_unread_decisions", "",                       \
      "Records of decisions in quarantine that no other record makes known. No bound deletes "     \
      "them, and the gate counts each at its worst: replay or drop them.")                         \
    X(kQuarantined, "counter", "rampart_quarantined_records_total", "kind",                        \
      "Records put into quarantine, since the store was made: 'rampart quarantine list' shows "    \
      "them.")                                                                                     \
    X(kReviewOldest, "gauge", "rampart_review_oldest_seconds", "",                                 \
      "Time since the oldest open review began; 0: there is none.")                                \
    X(kReviewsOpen, "gauge", "rampart_reviews_open", "",                                           \
      "Decisions that wait for people: referrals without an answer, and reviews; 'rampart review " \
      "list' has them.")

#define RAMPART_METRICS_OF_THE_LOG(X)                                                             \
    X(kLeaseAge, "gauge", "rampart_lease_age_seconds", "",                                        \
      "Time since the leases of this node's partitions were last renewed; beyond "                \
      "rampart_lease_ttl_seconds another node may take them over.")                               \
    X(kLeaseEpoch, "gauge", "rampart_lease_epoch", "partition",                                   \
      "Epoch of the lease on an owned partition: grows with each owner, of the first 256.")       \
    X(kLeaseTtl, "gauge", "rampart_lease_ttl_seconds", "",                                        \
      "Time after which a lease that is not renewed may be taken over.")                          \
    X(kLogAppendSeconds, "histogram", "rampart_log_append_seconds", "topic",                      \
      "Time of an append until it is durable: the embedded log's write and fsync, or Kafka's "    \
      "acknowledgement by all replicas in sync.")                                                 \
    X(kLogAppendedBytes, "counter", "rampart_log_appended_bytes_total", "topic",                  \
      "Bytes of keys and values appended; not of outcomes, whose values they would tell.")        \
    X(kLogAppendedRecords, "counter", "rampart_log_appended_records_total", "topic",              \
      "Records appended.")                                                                        \
    X(kLogAskSeconds, "histogram", "rampart_log_ask_seconds", "",                                 \
      "Time of asking the log where a partition ends: with Kafka a round trip to its leader.")    \
    X(kLogFailures, "counter", "rampart_log_failures_total", "topic,operation,reason",            \
      "Operations on the log that failed; 'rampart errors REASON' says what to do.")              \
    X(kLogLag, "gauge", "rampart_log_lag_records", "topic,partition",                             \
      "Records between where a partition was last read to and where it then ended, of the first " \
      "256 partitions; the largest of the others is partition=\"others\".")                       \
    X(kLogReadRecords, "counter", "rampart_log_read_records_total", "topic",                      \
      "Records read from the log, by all readers of this process.")                               \
    X(kTrainerSign, "gauge", "rampart_trainer_last_sign_timestamp_seconds", "",                   \
      "When Kafka took the last record of a lease by which a store trains for the group, as far " \
      "as this node has read; 0: there was none.")

#define RAMPART_METRICS_OF_STORAGE(X)                                                           \
    X(kLogUnauthenticated, "counter", "rampart_log_unauthenticated_records_total", "topic",     \
      "Records passed over that have no valid MAC of the group: no node of it wrote them.")     \
    X(kCacheHits, "counter", "rampart_block_cache_hits_total", "",                              \
      "Blocks found in the memory budget's cache, by the databases that share it.")             \
    X(kCacheMisses, "counter", "rampart_block_cache_misses_total", "",                          \
      "Blocks read from files: many beside the hits say that the memory budget is small.")      \
    X(kDatabaseLevel0, "gauge", "rampart_database_level0_files", "database",                    \
      "Most files that a database of the kind has in its level 0: writes are delayed from 20, " \
      "stopped from 36.")                                                                       \
    X(kDatabaseBytes, "gauge", "rampart_database_live_bytes", "database",                       \
      "Bytes of the table files in use, of all databases of the kind, in whole MiB.")           \
    X(kDatabasesOpen, "gauge", "rampart_databases_open", "database",                            \
      "Open databases of the kind.")                                                            \
    X(kDatabasePending, "gauge", "rampart_database_pending_compaction_bytes", "database",       \
      "Bytes that compaction has to rewrite: it falls behind where they grow for hours.")       \
    X(kDatabaseStall, "counter", "rampart_database_stall_seconds_total", "",                    \
      "Time that writes were held up, as compaction or flushes had fallen behind, of the "      \
      "databases that share the memory budget.")                                                \
    X(kSyncedWriteSeconds, "histogram", "rampart_database_synced_write_seconds", "database",    \
      "Time of a write with fsync; slow ones make decisions slow: look at the disk.")           \
    X(kWritesDelayed, "gauge", "rampart_database_writes_delayed", "database",                   \
      "Databases of the kind whose writes are slowed down until compaction has caught up.")     \
    X(kWritesStopped, "gauge", "rampart_database_writes_stopped", "database",                   \
      "Databases of the kind whose writes wait until compaction has caught up.")                \
    X(kScrubDamaged, "gauge", "rampart_scrub_damaged_files", "",                                \
      "Files that the last scrub found damaged: 0 unless the disk has lost something.")         \
    X(kScrubbed, "gauge", "rampart_scrub_last_success_timestamp_seconds", "",                   \
      "When a scrub last read all databases and found no damage; absent: not since the start.") \
    X(kDatabasesDamaged, "gauge", "rampart_databases_damaged", "database",                      \
      "Open databases of the kind in which a call has met a damaged block: 0 unless the disk "  \
      "has lost something.")                                                                    \
    X(kSetAside, "counter", "rampart_databases_set_aside_total", "database",                    \
      "Damaged databases set aside, to be made anew from the log.")                             \
    X(kDiskFree, "gauge", "rampart_disk_free_bytes", "",                                        \
      "Bytes free on the store's file system: at 64 MiB writes are refused.")                   \
    X(kDiskSize, "gauge", "rampart_disk_size_bytes", "", "Size of the store's file system.")    \
    X(kMemoryLimit, "gauge", "rampart_memory_budget_bytes", "",                                 \
      "Memory that the databases may use together (databases_mib of the configuration).")       \
    X(kMemoryPinned, "gauge", "rampart_memory_pinned_bytes", "",                                \
      "Part of the used memory that is in use and cannot be given back.")                       \
    X(kMemoryUsed, "gauge", "rampart_memory_used_bytes", "",                                    \
      "Memory of the budget in use: near its limit it is a full cache, and no trouble.")        \
    X(kMemoryWriteBuffers, "gauge", "rampart_memory_write_buffer_bytes", "",                    \
      "Part of the used memory that is written, but not yet in a file.")                        \
    X(kRebuilding, "gauge", "rampart_partitions_rebuilding", "database",                        \
      "Partitions whose database is being made anew from the log.")                             \
    X(kRefused, "gauge", "rampart_partitions_refused", "database",                              \
      "Partitions whose damaged database cannot be made anew from the log.")

#define RAMPART_METRICS_OF_LEARNING(X)                                                       \
    X(kCertificateEnd, "gauge", "rampart_champion_certificate_end_timestamp_seconds", "",    \
      "When the champion's certificate expires; +Inf: it has no end, or there is none. Not " \
      "at a node that follows another's champion.")                                          \
    X(kCertificateExpired, "gauge", "rampart_champion_certificate_expired", "",              \
      "1: the certificate by which the champion was promoted has expired; it decides on.")   \
    X(kChampionSince, "gauge", "rampart_champion_since_timestamp_seconds", "",               \
      "When the present champion was promoted. Not at a node that follows another's.")       \
    X(kBudgetEpoch, "gauge", "rampart_error_budget_epoch", "",                               \
      "Number of the open epoch of the error budget; 0: none was opened yet.")               \
    X(kBudgetLeft, "gauge", "rampart_error_budget_left_ratio", "",                           \
      "Part of the epoch's error budget that is not charged yet, in delta.")                 \
    X(kBudgetRunsLeft, "gauge", "rampart_error_budget_runs_left", "",                        \
      "Gate runs that the epoch's error budget still pays for; at 0 each is REFUSED.")       \
    X(kBudgetSpent, "gauge", "rampart_error_budget_spent_ratio", "",                         \
      "Part of the epoch's error budget that is charged, in delta.")                         \
    X(kFollowedEpoch, "gauge", "rampart_followed_champion_epoch", "",                        \
      "Epoch of the lease under which the champion that decides here was published; only "   \
      "where another node trains.")                                                          \
    X(kFollowedSequence, "gauge", "rampart_followed_champion_sequence", "",                  \
      "Number of its promotion at the node that trains: the same at all nodes that decide.") \
    X(kMonitorAlarms, "gauge", "rampart_monitor_alarms", "",                                 \
      "Promotions that are watched and have raised an alarm: a group fares worse since.")    \
    X(kMonitorEvidence, "gauge", "rampart_monitor_evidence", "group",                        \
      "Evidence that the champion does harm, by group; 1 is enough for an alarm.")           \
    X(kMonitorLooks, "counter", "rampart_monitor_looks_total", "",                           \
      "Looks at how the champions do.")                                                      \
    X(kMonitorRollbacks, "counter", "rampart_monitor_rollbacks_total", "",                   \
      "Champions rolled back by the monitor.")                                               \
    X(kProposalEnd, "gauge", "rampart_proposal_next_expiry_timestamp_seconds", "",           \
      "When the first proposal that waits for approval expires; +Inf: none waits.")          \
    X(kProposalSwitch, "gauge", "rampart_proposal_next_switch_timestamp_seconds", "",        \
      "When the first scheduled switch to another policy is due; +Inf: none is scheduled.")  \
    X(kProposalsWaiting, "gauge", "rampart_proposals_waiting", "",                           \
      "Certified policies that wait for people's approval; GET /v1/proposals shows them.")   \
    X(kTrainerEpoch, "gauge", "rampart_trainer_lease_epoch", "",                             \
      "Epoch of the lease by which this node trains for its group; 0: it does not hold it.") \
    X(kTrainerHeld, "gauge", "rampart_trainer_lease_held", "",                               \
      "1: this node trains for its group. 0: training is on, but another store trains.")     \
    X(kRunSeconds, "gauge", "rampart_training_last_run_seconds", "",                         \
      "How long the last training run of this process took, gate included; NaN: none yet.")  \
    X(kRunTime, "gauge", "rampart_training_last_run_timestamp_seconds", "",                  \
      "Event time of the last finished training run; NaN: none yet.")                        \
    X(kNextDue, "gauge", "rampart_training_next_due_timestamp_seconds", "",                  \
      "When the schedule's next run is due; +Inf: only what matures makes one due.")         \
    X(kRuns, "counter", "rampart_training_runs_total", "verdict",                            \
      "Training runs finished, since the store was made.")                                   \
    X(kUnexplained, "gauge", "rampart_training_unexplained_decisions", "",                   \
      "Matured decisions, of development set and vault, that the schema file did not "       \
      "explain when this process last read them to train: they are set aside, and the gate " \
      "counts each of the vault at its worst; NaN: none were read yet.")

#define RAMPART_METRICS_OF_HTTP(X)                                                             \
    X(kAcceptFailures, "counter", "rampart_http_accept_failures_total", "",                    \
      "Connections that could not be accepted, most likely for want of file descriptors.")     \
    X(kTlsCertificateEnd, "gauge", "rampart_http_certificate_expiry_timestamp_seconds", "",    \
      "When the TLS certificate of the server ends, or one of those behind it in its file.")   \
    X(kTlsCertificateLoaded, "gauge", "rampart_http_certificate_loaded", "",                   \
      "1: the TLS files were good when they were last read. 0: not, and the certificate from " \
      "before is in use; the log says why.")                                                   \
    X(kConnectionsMadeRoom, "counter", "rampart_http_connections_made_room_total", "",         \
      "Connections closed at http.max_connections, as they had waited, for a new one.")        \
    X(kConnectionsOpen, "gauge", "rampart_http_connections_open", "", "Connections now open.") \
    X(kConnectionsRefused, "counter", "rampart_http_connections_refused_total", "",            \
      "Connections beyond http.max_connections: closed, or answered 503 or inline only.")      \
    X(kConnections, "counter", "rampart_http_connections_total", "", "Connections accepted.")  \
    X(kHandshakeFailures, "counter", "rampart_http_handshake_failures_total", "reason",        \
      "TLS handshakes that failed: timeout, plain_http, version, client_certificate, other.")  \
    X(kRequestBytes, "counter", "rampart_http_request_bytes_total", "route,method",            \
      "Bytes of the bodies of requests.")                                                      \
    X(kRequestSeconds, "histogram", "rampart_http_request_duration_seconds", "route,method",   \
      "Time of a request from its first byte at the socket until its response is written: "    \
      "waiting for a thread is in it.")                                                        \
    X(kRequests, "counter", "rampart_http_requests_total", "route,method,status",              \
      "Requests answered. route=\"other\": unknown paths, and what is no valid request.")      \
    X(kRequestsWaiting, "gauge", "rampart_http_requests_waiting", "",                          \
      "Requests for decisions that wait for their turn; all are taken together.")              \
    X(kResponseBytes, "counter", "rampart_http_response_bytes_total", "route,method",          \
      "Bytes of the bodies of responses.")                                                     \
    X(kWaitRefusals, "counter", "rampart_http_wait_refusals_total", "",                        \
      "Requests for decisions refused, as others waited longer than http.longest_wait_ms.")

#define RAMPART_METRICS_OF_THE_PROCESS(X)                                                        \
    X(kCpuSeconds, "counter", "process_cpu_seconds_total", "",                                   \
      "User and system CPU time spent in seconds.")                                              \
    X(kMaxFds, "gauge", "process_max_fds", "", "Maximum number of open file descriptors.")       \
    X(kOpenFds, "gauge", "process_open_fds", "", "Number of open file descriptors.")             \
    X(kResident, "gauge", "process_resident_memory_bytes", "", "Resident memory size in bytes.") \
    X(kStartTime, "gauge", "process_start_time_seconds", "",                                     \
      "Start time of the process since unix epoch in seconds.")                                  \
    X(kThreads, "gauge", "process_threads", "", "Number of threads of the process.")             \
    X(kVirtual, "gauge", "process_virtual_memory_bytes", "", "Virtual memory size in bytes.")    \
    X(kBuildInfo, "gauge", "rampart_build_info", "version,compiler,sources",                     \
      "1; its labels say what runs: sources is a digest of what it was built from.")

#define RAMPART_METRICS(X)         \
    RAMPART_METRICS_OF_DECIDING(X) \
    RAMPART_METRICS_OF_JOBS(X)     \
    RAMPART_METRICS_OF_JOINING(X)  \
    RAMPART_METRICS_OF_THE_LOG(X)  \
    RAMPART_METRICS_OF_STORAGE(X)  \
    RAMPART_METRICS_OF_LEARNING(X) \
    RAMPART_METRICS_OF_HTTP(X)     \
    RAMPART_METRICS_OF_THE_PROCESS(X)

#define RAMPART_METRIC_CONSTANT(constant, type, name, labels, help) \
    inline constexpr MetricInfo constant{name, type, labels, help};
RAMPART_METRICS(RAMPART_METRIC_CONSTANT)
#undef RAMPART_METRIC_CONSTANT

/// Returns all of them, in the order above.
std::span<const MetricInfo> all();

}  // namespace rampart::runtime::metric
