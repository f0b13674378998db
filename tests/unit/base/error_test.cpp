#include "rampart/base/error.hpp"

#include <gtest/gtest.h>

#include <set>

#include "rampart/base/reasons.hpp"

namespace rampart::base {
namespace {

TEST(Error, CarriesCodeReasonAndAFormattedMessage) {
    const Error error = make_error(Reason::kNoSuchFile, "'{}' is not there", "a.csv");
    EXPECT_EQ(error.code, ErrorCode::kNotFound);
    EXPECT_EQ(error.reason, "no_such_file");
    EXPECT_EQ(error.message, "'a.csv' is not there");
}

TEST(Error, IsComparedByItsWord) {
    const Error error = make_error(Reason::kNoSuchFile, "none");
    EXPECT_TRUE(error.is(Reason::kNoSuchFile));
    EXPECT_FALSE(error.is(Reason::kNoAccess));
    const Error from_elsewhere{ErrorCode::kInternal, "no_such_file", "told by another process"};
    EXPECT_TRUE(from_elsewhere.is(Reason::kNoSuchFile));
}

TEST(Error, ContextGoesBeforeTheMessageAndLeavesTheRestAlone) {
    const Error error = Error{ErrorCode::kDataLoss, "truncated", "short"}.with_context("m.rmp");
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
