#include "rampart/runtime/exit_code.hpp"

#include <gtest/gtest.h>

namespace rampart::runtime {
namespace {

using base::ErrorCode;

TEST(ExitCode, WhatTheCallerCanMendIsMisuse) {
    for (const auto code :
         {ErrorCode::kInvalidArgument, ErrorCode::kNotFound, ErrorCode::kAlreadyExists,
          ErrorCode::kFailedPrecondition, ErrorCode::kOutOfRange, ErrorCode::kPermissionDenied})
        EXPECT_EQ(exit_code_of(code), ExitCode::kMisuse) << base::to_string(code);
}

TEST(ExitCode, WhatTheSystemDidIsAFailure) {
    for (const auto code : {ErrorCode::kResourceExhausted, ErrorCode::kUnavailable,
                            ErrorCode::kDataLoss, ErrorCode::kInternal})
        EXPECT_EQ(exit_code_of(code), ExitCode::kFailed) << base::to_string(code);
}

TEST(ExitCode, TheTextNamesEveryCode) {
    const std::string text = kExitCodesText;
    for (const auto code : {ExitCode::kDone, ExitCode::kNo, ExitCode::kMisuse,
                            ExitCode::kImpossible, ExitCode::kFailed})
        EXPECT_NE(text.find(std::to_string(static_cast<int>(code)) + " "), std::string::npos);
}

}  // namespace
}  // namespace rampart::runtime
