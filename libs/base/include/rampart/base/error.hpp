#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace rampart::base {

/// The ten canonical codes. Errors of other libraries are mapped to one of them in the adapter.
enum class ErrorCode {
    kInvalidArgument,     // the input is wrong in any state: correct the input
    kNotFound,            // the thing named does not exist
    kAlreadyExists,       // the thing exists with other content
    kFailedPrecondition,  // the state does not allow it now
    kOutOfRange,          // outside a declared limit or range
    kResourceExhausted,   // quota, queue or disk is full: retry later
    kPermissionDenied,    // not authenticated or not allowed
    kUnavailable,         // a dependency does not answer: retry later
    kDataLoss,            // stored bytes are corrupt or truncated
    kInternal,            // a broken invariant: a defect of ours
};

std::string_view to_string(ErrorCode code);

/// `reason` is a stable machine-readable word ("unknown_column"); `message` names field, value and
/// remedy for a person. Neither contains a secret or a protected attribute.
struct Error {
    ErrorCode code = ErrorCode::kInternal;
    std::string reason;
    std::string message;

    /// Returns the same error with `context: ` prepended to the message.
    Error with_context(std::string_view context) const {
        return {code, reason, fmt::format("{}: {}", context, message)};
    }
    bool operator==(const Error&) const = default;
};

template <class... Args>
Error make_error(ErrorCode code, std::string_view reason, fmt::format_string<Args...> format,
                 Args&&... args) {
    return {code, std::string(reason), fmt::format(format, std::forward<Args>(args)...)};
}

#define RAMPART_ERROR_MAKER(function, code)                                                       \
    template <class... Args>                                                                      \
    Error function(std::string_view reason, fmt::format_string<Args...> format, Args&&... args) { \
        return make_error(ErrorCode::code, reason, format, std::forward<Args>(args)...);          \
    }
RAMPART_ERROR_MAKER(invalid_argument, kInvalidArgument)
RAMPART_ERROR_MAKER(not_found, kNotFound)
RAMPART_ERROR_MAKER(already_exists, kAlreadyExists)
RAMPART_ERROR_MAKER(failed_precondition, kFailedPrecondition)
RAMPART_ERROR_MAKER(out_of_range, kOutOfRange)
RAMPART_ERROR_MAKER(resource_exhausted, kResourceExhausted)
RAMPART_ERROR_MAKER(permission_denied, kPermissionDenied)
RAMPART_ERROR_MAKER(unavailable, kUnavailable)
RAMPART_ERROR_MAKER(data_loss, kDataLoss)
RAMPART_ERROR_MAKER(internal_error, kInternal)
#undef RAMPART_ERROR_MAKER

}  // namespace rampart::base
