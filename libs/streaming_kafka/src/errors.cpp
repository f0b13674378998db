#include "errors.hpp"

#include <fmt/format.h>

#include <optional>

#include "rampart/base/reasons.hpp"
#include "rampart/streaming/reasons.hpp"
#include "rampart/streaming_kafka/reasons.hpp"

namespace rampart::streaming_kafka {

namespace {

// Each of these three returns nothing for an error that it does not know.

/// Returns the meaning of errors about what may be read and by whom.
std::optional<Meaning> access_meaning(rd_kafka_resp_err_t error) {
    switch (error) {
        case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
        case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
            return Meaning{Reason::kOffsetMoved, "read again", true};
        case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
        case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
        case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
            return Meaning{streaming::Reason::kNoTopic, "create it with `rampart topics create`"};
        case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
            return Meaning{streaming::Reason::kBadTopic, "correct the name"};

        case RD_KAFKA_RESP_ERR__AUTHENTICATION:
        case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
        case RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM:
        case RD_KAFKA_RESP_ERR_ILLEGAL_SASL_STATE:
            return Meaning{Reason::kAuthenticationFailed,
                           "check security, sasl_mechanism, user and the content of password_file"};
        case RD_KAFKA_RESP_ERR__SSL:
            return Meaning{
                Reason::kTlsFailed,
                "check ca_file, certificate_file and key_file, that the broker's certificate "
                "names the host in bootstrap_servers, and that security is what this port "
                "speaks"};
        case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
        case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
        case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
        case RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
            return Meaning{Reason::kNotAuthorized, "give the user the right on the broker"};
        case RD_KAFKA_RESP_ERR_SECURITY_DISABLED:
            return Meaning{Reason::kNoAccessLists,
                           "set authorizer.class.name on the brokers: without one, every client "
                           "may do everything"};
        default:
            return std::nullopt;
    }
}

/// Returns the meaning of errors about records and about the making of topics.
std::optional<Meaning> record_meaning(rd_kafka_resp_err_t error) {
    switch (error) {
        case RD_KAFKA_RESP_ERR__BAD_MSG:
        case RD_KAFKA_RESP_ERR__BAD_COMPRESSION:
        case RD_KAFKA_RESP_ERR_INVALID_MSG:
            return Meaning{streaming::Reason::kCorruptLog,
                           "a checksum does not match: check the broker's disk and its log"};

        case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
        case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
            return Meaning{streaming::Reason::kRecordTooLarge,
                           "compare with max.message.bytes of the topic"};
        case RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP:
            return Meaning{base::Reason::kBadTime,
                           "compare this machine's clock with the broker's, and with "
                           "message.timestamp.after.max.ms of the topic"};
        case RD_KAFKA_RESP_ERR_INVALID_RECORD:
            return Meaning{Reason::kBadRecord,
                           "a compacted topic does not accept a record without key"};
        case RD_KAFKA_RESP_ERR__QUEUE_FULL:
            return Meaning{Reason::kQueueFull, "retry later", true};

        case RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS:
            return Meaning{Reason::kTopicExists, "compare with `rampart topics check`"};
        case RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR:
            return Meaning{Reason::kRefusedByBroker,
                           "ask for as many replicas as there are brokers, or fewer"};
        case RD_KAFKA_RESP_ERR_INVALID_PARTITIONS:
        case RD_KAFKA_RESP_ERR_INVALID_REPLICA_ASSIGNMENT:
        case RD_KAFKA_RESP_ERR_INVALID_CONFIG:
        case RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
        case RD_KAFKA_RESP_ERR__INVALID_ARG:
        case RD_KAFKA_RESP_ERR_INVALID_REQUEST:
            return Meaning{Reason::kRefusedByBroker, ""};
        case RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION:
        case RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE:
        case RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT:
        case RD_KAFKA_RESP_ERR_UNSUPPORTED_COMPRESSION_TYPE:
            return Meaning{Reason::kBrokerTooOld, "Kafka 2.1 or newer is needed"};
        default:
            return std::nullopt;
    }
}

/// Returns the meaning of errors of the producer, of the connection and of this process.
std::optional<Meaning> connection_meaning(rd_kafka_resp_err_t error) {
    switch (error) {
        case RD_KAFKA_RESP_ERR__FATAL:
        case RD_KAFKA_RESP_ERR__FENCED:
        case RD_KAFKA_RESP_ERR_PRODUCER_FENCED:
        case RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER:
        case RD_KAFKA_RESP_ERR_DUPLICATE_SEQUENCE_NUMBER:
        case RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH:
        case RD_KAFKA_RESP_ERR_INVALID_PRODUCER_ID_MAPPING:
        case RD_KAFKA_RESP_ERR_UNKNOWN_PRODUCER_ID:
        case RD_KAFKA_RESP_ERR__PURGE_QUEUE:
        case RD_KAFKA_RESP_ERR__PURGE_INFLIGHT:
            return Meaning{
                Reason::kProducerFailed,
                "the next append uses a new producer; read the log to see what was written"};
        case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT:
            return Meaning{Reason::kDeliveryTimeout,
                           "records may still arrive; read the log to see what was written"};
        case RD_KAFKA_RESP_ERR__RESOLVE:
        case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
        case RD_KAFKA_RESP_ERR__TRANSPORT:
            return Meaning{Reason::kNoBroker, "check bootstrap_servers, and that the broker is up",
                           true};
        case RD_KAFKA_RESP_ERR__TIMED_OUT:
        case RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE:
        case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
            return Meaning{base::Reason::kTimeout, "check that the broker is up", true};
        case RD_KAFKA_RESP_ERR__CRIT_SYS_RESOURCE:
            return Meaning{Reason::kOutOfResources, "memory or file handles ran out"};
        default:
            return std::nullopt;
    }
}

}  // namespace

// The enumeration is the library's and grows with its versions: what is not named above is a broker
// that cannot answer now.
Meaning meaning_of(rd_kafka_resp_err_t error) {
    for (const auto of : {access_meaning, record_meaning, connection_meaning})
        if (const auto meaning = of(error)) return *meaning;
    return Meaning{Reason::kBrokerError, "see the broker's log", true};
}

base::Error to_error(rd_kafka_resp_err_t error, std::string_view what, std::string_view detail) {
    const auto meaning = meaning_of(error);
    const std::string_view words = detail.empty() ? rd_kafka_err2str(error) : detail;
    return {
        meaning.reason->code, std::string(meaning.reason->word),
        fmt::format("{}: {}{}{}", what, words, meaning.remedy.empty() ? "" : "; ", meaning.remedy)};
}

}  // namespace rampart::streaming_kafka
