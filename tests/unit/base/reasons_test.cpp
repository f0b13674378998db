#include "rampart/base/reasons.hpp"

#include <gtest/gtest.h>

namespace rampart::base {
namespace {

TEST(Reasons, AnEnumeratorLeadsToItsLine) {
    static_assert(reason_info(Reason::kNoSuchFile).word == "no_such_file");
    static_assert(reason_info(Reason::kNoSuchFile).code == ErrorCode::kNotFound);
    EXPECT_EQ(reason_info(Reason::kNoSuchFile).room, "base");
    EXPECT_EQ(reason_info(Reason::kNoSuchFile).enumerator, "kNoSuchFile");
    EXPECT_FALSE(reason_info(Reason::kNoSuchFile).remedy.empty());
}

}  // namespace
}  // namespace rampart::base
