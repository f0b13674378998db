#pragma once

#include <librdkafka/rdkafka.h>

#include <memory>

/// One deleter and one alias for each C handle.
namespace rampart::streaming_kafka {

template <auto function>
struct Deleter {
    template <class T>
    void operator()(T* handle) const {
        function(handle);
    }
};

using Handle = std::unique_ptr<rd_kafka_t, Deleter<rd_kafka_destroy>>;
using Conf = std::unique_ptr<rd_kafka_conf_t, Deleter<rd_kafka_conf_destroy>>;
using TopicHandle = std::unique_ptr<rd_kafka_topic_t, Deleter<rd_kafka_topic_destroy>>;
using Queue = std::unique_ptr<rd_kafka_queue_t, Deleter<rd_kafka_queue_destroy>>;
using Message = std::unique_ptr<rd_kafka_message_t, Deleter<rd_kafka_message_destroy>>;
using Headers = std::unique_ptr<rd_kafka_headers_t, Deleter<rd_kafka_headers_destroy>>;
using PartitionList = std::unique_ptr<rd_kafka_topic_partition_list_t,
                                      Deleter<rd_kafka_topic_partition_list_destroy>>;
using MetadataHandle =
    std::unique_ptr<const rd_kafka_metadata_t, Deleter<rd_kafka_metadata_destroy>>;
using KafkaError = std::unique_ptr<rd_kafka_error_t, Deleter<rd_kafka_error_destroy>>;

}  // namespace rampart::streaming_kafka
