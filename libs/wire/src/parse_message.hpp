#pragma once

#include <google/protobuf/stubs/logging.h>

#include <string_view>

#include "rampart/base/limits.hpp"
#include "rampart/base/result.hpp"
#include "rampart/streaming/reasons.hpp"
#include "rampart/wire/reasons.hpp"

namespace rampart::wire {

/// Parses a message of the given schema. Errors: data_loss "not_a_message", out_of_range
/// "record_too_large".
template <class Message>
base::Status parse(std::string_view name, std::string_view bytes, Message& out) {
    if (bytes.size() > base::limits::kMaxRecordBytes) {
        return base::make_error(streaming::Reason::kRecordTooLarge,
                                "{}: {} bytes; at most {} are allowed", name, bytes.size(),
                                base::limits::kMaxRecordBytes);
    }
    // The error below is sufficient; protobuf would print its own message for each
    // text that is not UTF-8.
    static const google::protobuf::LogSilencer quiet;
    if (!out.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
        return base::make_error(
            Reason::kNotAMessage,
            "{} bytes are not a valid {}: truncated, corrupt or of another type", bytes.size(),
            name);
    }
    return base::ok();
}

}  // namespace rampart::wire
