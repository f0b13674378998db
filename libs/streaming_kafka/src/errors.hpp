#pragma once

#include <librdkafka/rdkafka.h>

#include <string_view>

#include "rampart/base/error.hpp"

namespace rampart::streaming_kafka {

/// Our error for an error of the client library or a broker.
struct Meaning {
    base::AnyReason reason;
    std::string_view remedy;  // for the operator, in the message; may be empty
    bool retry = false;       // the same request may succeed soon
};

/// Maps foreign errors, only here; every code has a meaning.
Meaning meaning_of(rd_kafka_resp_err_t error);

/// Returns "`what`: the library's message, or `detail` if given; remedy".
base::Error to_error(rd_kafka_resp_err_t error, std::string_view what,
                     std::string_view detail = {});

}  // namespace rampart::streaming_kafka
