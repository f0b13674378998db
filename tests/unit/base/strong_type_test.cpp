#include "rampart/base/strong_type.hpp"

#include <gtest/gtest.h>

#include <unordered_set>

namespace rampart::base {
namespace {

using LoanId = StrongType<std::string, struct LoanIdTag>;
using BranchId = StrongType<std::string, struct BranchIdTag>;

static_assert(!std::is_convertible_v<std::string, LoanId>, "made only explicitly");
static_assert(!std::is_convertible_v<LoanId, std::string>, "taken apart only explicitly");
static_assert(!std::is_constructible_v<LoanId, BranchId>, "ids of different things do not mix");
static_assert(!std::equality_comparable_with<LoanId, BranchId>);

TEST(StrongType, ComparesHashesAndPrintsAsItsValue) {
    EXPECT_LT(LoanId("a"), LoanId("b"));
    EXPECT_EQ(fmt::format("{}", LoanId("x7")), "x7");
    std::unordered_set<LoanId> set{LoanId("a"), LoanId("a"), LoanId("b")};
    EXPECT_EQ(set.size(), 2u);
}

}  // namespace
}  // namespace rampart::base
