#include "rampart/base/error.hpp"

#include <gtest/gtest.h>

#include <set>

namespace rampart::base {
namespace {

TEST(Error, CarriesCodeReasonAndAFormattedMessage) {
    const Error error = not_found("no_such_file", "'{}' is not there", "a.csv");
    EXPECT_EQ(error.code, ErrorCode::kNotFound);
    EXPECT_EQ(error.reason, "no_such_file");
    EXPECT_EQ(error.message, "'a.csv' is not there");
}

TEST(Error, ContextGoesBeforeTheMessageAndLeavesTheRestAlone) {
    const Error error = data_loss("truncated", "short").with_context("m.rmp");
    EXPECT_EQ(error, (Error{ErrorCode::kDataLoss, "truncated", "m.rmp: short"}));
}

TEST(Error, EveryCodeHasANameOfItsOwn) {
    std::set<std::string_view> names;
    for (int code = 0; code <= static_cast<int>(ErrorCode::kInternal); ++code) {
        names.insert(to_string(static_cast<ErrorCode>(code)));
    }
    EXPECT_EQ(names.size(), 10u);
}

}  // namespace
}  // namespace rampart::base
