#include "services/rampartd/software.hpp"

#include <gmock/gmock.h>

namespace rampart::rampartd {
namespace {

TEST(Software, IsTheVersionAndADigestOfTheSources) {
    EXPECT_THAT(software(), testing::MatchesRegex("rampart [0-9.]+, sources [0-9a-f]+"));
    EXPECT_EQ(software().size() - software().rfind(' ') - 1, 64u);
    EXPECT_EQ(software(), software());
}

}  // namespace
}  // namespace rampart::rampartd
