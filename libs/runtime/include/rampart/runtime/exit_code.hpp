#pragma once

#include "rampart/base/error.hpp"

namespace rampart::runtime {

/// What a program of the project says when it ends.
enum class ExitCode : int {
    kDone = 0,
    kNo = 1,          // the program worked, and the answer is no
    kMisuse = 2,      // bad options, or input that is wrong or not there
    kImpossible = 3,  // proven: nothing does what was asked for
    kFailed = 4,      // the system failed: unavailable, internal, interrupted, lost data, full disk
};

/// Returns the exit code of a program that ends with this error: kMisuse where the caller can mend
/// it, else kFailed.
constexpr ExitCode exit_code_of(base::ErrorCode code) {
    switch (code) {
        case base::ErrorCode::kInvalidArgument:
        case base::ErrorCode::kNotFound:
        case base::ErrorCode::kAlreadyExists:
        case base::ErrorCode::kFailedPrecondition:
        case base::ErrorCode::kOutOfRange:
        case base::ErrorCode::kPermissionDenied:
            return ExitCode::kMisuse;
        case base::ErrorCode::kResourceExhausted:
        case base::ErrorCode::kUnavailable:
        case base::ErrorCode::kDataLoss:
        case base::ErrorCode::kInternal:
            return ExitCode::kFailed;
    }
    return ExitCode::kFailed;
}

/// The table in one sentence, for help texts.
inline constexpr const char* kExitCodesText =
    "0 done; 1 the answer is no; 2 misuse or bad input; 3 proven impossible; 4 the system failed "
    "(unavailable, interrupted, damaged or lost data, full disk, internal error)";

}  // namespace rampart::runtime
