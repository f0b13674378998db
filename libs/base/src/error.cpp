#include "rampart/base/error.hpp"

#include <cstdio>
#include <cstdlib>

#include "rampart/base/check.hpp"

namespace rampart::base {

std::string_view to_string(ErrorCode code) {
    switch (code) {
        case ErrorCode::kInvalidArgument:
            return "invalid_argument";
        case ErrorCode::kNotFound:
            return "not_found";
        case ErrorCode::kAlreadyExists:
            return "already_exists";
        case ErrorCode::kFailedPrecondition:
            return "failed_precondition";
        case ErrorCode::kOutOfRange:
            return "out_of_range";
        case ErrorCode::kResourceExhausted:
            return "resource_exhausted";
        case ErrorCode::kPermissionDenied:
            return "permission_denied";
        case ErrorCode::kUnavailable:
            return "unavailable";
        case ErrorCode::kDataLoss:
            return "data_loss";
        case ErrorCode::kInternal:
            return "internal";
    }
    return "internal";
}

void check_failed(const char* file, int line, const char* condition, std::string_view message) {
    std::fprintf(stderr, "%s:%d: check failed: %s %.*s\n", file, line, condition,
                 static_cast<int>(message.size()), message.data());
    std::abort();
}

}  // namespace rampart::base
