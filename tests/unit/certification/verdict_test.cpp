#include "rampart/certification/verdict.hpp"

#include <gtest/gtest.h>

namespace rampart::certification {
namespace {

TEST(Verdict, EachHasATextThatIsReadBack) {
    EXPECT_EQ(to_string(Verdict::kCertified), "CERTIFIED");
    EXPECT_EQ(to_string(Verdict::kNoSolutionFound), "NO_SOLUTION_FOUND");
    EXPECT_EQ(to_string(Verdict::kRefused), "REFUSED");
    EXPECT_EQ(to_string(Verdict::kIdentical), "IDENTICAL");
    for (const Verdict verdict :
         {Verdict::kCertified, Verdict::kNoSolutionFound, Verdict::kRefused, Verdict::kIdentical}) {
        EXPECT_EQ(verdict_of(to_string(verdict)), verdict);
    }
    EXPECT_FALSE(verdict_of("certified"));
    EXPECT_FALSE(verdict_of(""));
}

}  // namespace
}  // namespace rampart::certification
