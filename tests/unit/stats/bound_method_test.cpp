#include "rampart/stats/bound_method.hpp"

#include <gtest/gtest.h>

namespace rampart::stats {
namespace {

// certificates and configurations hold these words
TEST(BoundMethod, HasTheNameThatCertificatesHold) {
    EXPECT_EQ(to_string(BoundMethod::kBetting), "betting");
    EXPECT_EQ(to_string(BoundMethod::kStudentT), "student_t");
    EXPECT_EQ(to_string(BoundMethod::kHoeffding), "hoeffding");
    EXPECT_EQ(to_string(BoundMethod::kMaurerPontil), "maurer_pontil");
}

}  // namespace
}  // namespace rampart::stats
