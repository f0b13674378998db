#include "frame/named_file.hpp"

#include <gtest/gtest.h>

#include "rampart/runtime/exit_code.hpp"

namespace rampart::cli {
namespace {

TEST(NamedFile, DamageIsBadInputAndOtherFailuresStayWhatTheyAre) {
    const auto damaged =
        as_input(base::Error{base::ErrorCode::kDataLoss, "bad_model_file", "cut off"});
    EXPECT_EQ(damaged.code, base::ErrorCode::kInvalidArgument);
    EXPECT_EQ(damaged.reason, "bad_model_file");
    EXPECT_EQ(damaged.message, "cut off");
    EXPECT_EQ(runtime::exit_code_of(damaged.code), runtime::ExitCode::kMisuse);
    for (const auto& error : {base::Error{base::ErrorCode::kUnavailable, "io_error", "x"},
                              base::Error{base::ErrorCode::kNotFound, "no_file", "x"},
                              base::Error{base::ErrorCode::kInternal, "defect", "x"}})
        EXPECT_EQ(as_input(error), error);
}

TEST(NamedFile, WhatWasReadComesThrough) {
    EXPECT_EQ(named_file(base::Result<int>(7)).value(), 7);
    const base::Result<int> damaged =
        base::Error{base::ErrorCode::kDataLoss, "bad_metric_file", "x"};
    EXPECT_EQ(named_file(damaged).error().code, base::ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace rampart::cli
