#include "rampart/serving/admission.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace rampart::serving {
namespace {

TEST(Admission, LetsInUpToTheLimitAndNoMore) {
    Admission admission(10, 100);
    auto first = admission.enter(6, 60);
    ASSERT_TRUE(first);
    {
        const auto second = admission.enter(4, 40);
        ASSERT_TRUE(second);
        EXPECT_EQ(admission.enter(1, 0).error().reason, "overloaded");
    }
    EXPECT_EQ(admission.enter(5, 0).error().code, base::ErrorCode::kResourceExhausted);
    EXPECT_EQ(admission.enter(1, 41).error().reason, "overloaded");
    EXPECT_TRUE(admission.enter(4, 40));
}

TEST(Admission, ASingleRequestIsAdmittedWhateverItsSize) {
    Admission admission(10, 100);
    {
        const auto large = admission.enter(1000, 1000);
        EXPECT_TRUE(large);
        EXPECT_FALSE(admission.enter(1, 1));
    }
    EXPECT_TRUE(admission.enter(1, 1));
}

TEST(Admission, AMovedPlaceIsReleasedOnce) {
    Admission admission(10, 100);
    {
        auto place = *admission.enter(6, 60);
        const auto moved = std::move(place);
        EXPECT_FALSE(admission.enter(5, 0)) << "it still has its place";
    }
    const auto again = admission.enter(6, 60);
    EXPECT_TRUE(again);
    EXPECT_FALSE(admission.enter(5, 0)) << "its place was given back twice";
}

}  // namespace
}  // namespace rampart::serving
