#pragma once

#include <librdkafka/rdkafka.h>

#include <string_view>

#include "rampart/base/error.hpp"

namespace rampart::streaming_kafka {

/// What an error of the client library or a broker means to us.
struct Meaning {
    base::ErrorCode code;
    std::string_view reason;
    std::string_view remedy;  // for the operator; may be empty
    bool retry = false;       // the same question may be answered in a moment
};

/// The one place where foreign errors are mapped; every code has a meaning.
Meaning meaning_of(rd_kafka_resp_err_t error);

/// "`what`: the library's words, or `detail` if there is any; remedy".
base::Error to_error(rd_kafka_resp_err_t error, std::string_view what,
                     std::string_view detail = {});

}  // namespace rampart::streaming_kafka
