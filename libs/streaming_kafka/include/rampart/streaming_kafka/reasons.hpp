#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::streaming_kafka {

#define RAMPART_STREAMING_KAFKA_REASONS(X)                                                         \
    X(kAuthenticationFailed, kPermissionDenied, "authentication_failed",                           \
      "Check security, sasl_mechanism, user and the content of password_file.")                    \
    X(kBadKafkaPrincipal, kInvalidArgument, "bad_kafka_principal",                                 \
      "Give the principal as the brokers know it: User:NAME, or User:CN=… of a certificate.")      \
    X(kBadKafkaProperty, kInternal, "bad_kafka_property",                                          \
      "Use the librdkafka of Debian 12; this one does not know the property.")                     \
    X(kBadKafkaSettings, kInvalidArgument, "bad_kafka_settings",                                   \
      "Correct the setting of the section [kafka] that the message names.")                        \
    X(kBadMetadata, kInternal, "bad_metadata",                                                     \
      "Check the broker's version; it described other topics than asked for.")                     \
    X(kBadOffset, kOutOfRange, "bad_offset", "Give an offset of 0 or more.")                       \
    X(kBadRecord, kInvalidArgument, "bad_record",                                                  \
      "Give the record a key: the topic is compacted.")                                            \
    X(kBadReplication, kOutOfRange, "bad_replication",                                             \
      "Give a replication factor within the limit.")                                               \
    X(kBadTls, kInvalidArgument, "bad_tls",                                                        \
      "Give the file in PEM form, and a key that fits the certificate.")                           \
    X(kBrokerError, kUnavailable, "broker_error", "See the broker's log, then try again.")         \
    X(kBrokerStalled, kResourceExhausted, "broker_stalled",                                        \
      "Check the brokers and their disks; the node goes on when they acknowledge.")                \
    X(kBrokerTooOld, kFailedPrecondition, "broker_too_old", "Use Kafka 2.1 or newer.")             \
    X(kDeliveryTimeout, kUnavailable, "delivery_timeout",                                          \
      "Check the brokers; read the log to see which records arrived.")                             \
    X(kNoAccessLists, kFailedPrecondition, "no_access_lists",                                      \
      "Set authorizer.class.name on the brokers, make the entries that `rampart topics acls "      \
      "--commands` shows, and ask by a user who has DESCRIBE on the cluster.")                     \
    X(kNoBroker, kUnavailable, "no_broker", "Check bootstrap_servers, and that the broker is up.") \
    X(kNoLeader, kUnavailable, "no_leader",                                                        \
      "Bring a replica of the partition back; the others go on, and so does it by itself.")        \
    X(kNoOffset, kInternal, "no_offset",                                                           \
      "Try again; report the case if it stays: the broker acknowledged without an offset.")        \
    X(kNotAuthorized, kPermissionDenied, "not_authorized",                                         \
      "Give the user the right on the broker.")                                                    \
    X(kOffsetMoved, kUnavailable, "offset_moved",                                                  \
      "Read again: the broker deleted records meanwhile.")                                         \
    X(kOutOfResources, kResourceExhausted, "out_of_resources",                                     \
      "Give the process more memory or open files.")                                               \
    X(kProducerFailed, kUnavailable, "producer_failed",                                            \
      "Try again in a second; read the log to see which records arrived.")                         \
    X(kQueueFull, kResourceExhausted, "queue_full",                                                \
      "Slow down, then try again; check that the brokers keep up.")                                \
    X(kRefusedByBroker, kInvalidArgument, "refused_by_broker",                                     \
      "Change what the message names, as replicas or settings of the topic.")                      \
    X(kTlsFailed, kPermissionDenied, "tls_failed",                                                 \
      "Check ca_file, certificate_file, key_file, the host in bootstrap_servers, and the "         \
      "port's security.")                                                                          \
    X(kTooManyTopics, kOutOfRange, "too_many_topics", "Use fewer topics in one process.")          \
    X(kTopicExists, kAlreadyExists, "topic_exists",                                                \
      "Compare the topic with `rampart topics check`.")                                            \
    X(kTopicLosesRecords, kFailedPrecondition, "topic_loses_records",                              \
      "Set the topics as the message says (`rampart topics check`), and start again.")             \
    X(kUnknownRole, kInvalidArgument, "unknown_role",                                              \
      "Name one of the roles that the message lists.")
RAMPART_REASONS("streaming_kafka", RAMPART_STREAMING_KAFKA_REASONS)

}  // namespace rampart::streaming_kafka
