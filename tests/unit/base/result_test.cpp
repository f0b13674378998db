#include "rampart/base/result.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>

namespace rampart::base {
namespace {

Result<int> half(int n) {
    if (n % 2 != 0) return Error{ErrorCode::kInvalidArgument, "odd", fmt::format("{} is odd", n)};
    return n / 2;
}

Result<std::string> quarter(int n) {
    RAMPART_TRY(const int first, half(n));
    RAMPART_TRY(const int second, half(first));
    return std::to_string(second);
}

Status check_even(int n) {
    RAMPART_RETURN_IF_ERROR(half(n).map([](int) {}));
    return ok();
}

TEST(Result, TryHandsOnTheValueOrTheFirstError) {
    EXPECT_EQ(quarter(12).value(), "3");
    EXPECT_EQ(quarter(6).error().message, "3 is odd");
    EXPECT_EQ(quarter(5).error().message, "5 is odd");
}

TEST(Result, StatusStopsAtAnError) {
    EXPECT_TRUE(check_even(4));
    EXPECT_EQ(check_even(3).error().reason, "odd");
}

TEST(Result, HoldsMoveOnlyValues) {
    const auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(7); };
    auto result = make();
    ASSERT_TRUE(result);
    EXPECT_EQ(**result, 7);
}

}  // namespace
}  // namespace rampart::base
