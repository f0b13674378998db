#include "rampart/streaming/topic_spec.hpp"

#include <gtest/gtest.h>

namespace rampart::streaming {
namespace {

TEST(TopicSpec, KeepsForEverUnlessAnAgeIsGiven) {
    const TopicSpec spec{.name = "decisions", .partitions = 4};
    EXPECT_FALSE(spec.max_age);
    EXPECT_EQ(spec.cleanup, TopicSpec::Cleanup::kDelete);
    TopicSpec aged = spec;
    aged.max_age = base::Duration::days(1);
    EXPECT_NE(spec, aged);
    const TopicSpec any_bound = aged;
    EXPECT_FALSE(aged.least_age);
    aged.least_age = base::Duration::hours(1);
    EXPECT_NE(any_bound, aged);
}

}  // namespace
}  // namespace rampart::streaming
