#include "rampart/runtime/open_files.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <vector>

namespace rampart::runtime {
namespace {

const std::vector<FilesNeeded> kNeeds{{"14 databases", 3000}, {"HTTP connections", 1000}};

TEST(OpenFiles, TheSoftLimitIsRaisedToTheNeedAndNeverLowered) {
    EXPECT_EQ(soft_limit_for(kNeeds, {1024, 524'288}).value(), 4000u);
    EXPECT_EQ(soft_limit_for(kNeeds, {1024, 4000}).value(), 4000u);
    EXPECT_EQ(soft_limit_for(kNeeds, {20'000, 20'000}).value(), 20'000u);
    EXPECT_EQ(soft_limit_for({}, {1024, 4096}).value(), 1024u);
    EXPECT_EQ(soft_limit_for(kNeeds, {1024, RLIM_INFINITY}).value(), 4000u);
}

TEST(OpenFiles, AHardLimitThatIsTooLowIsRefusedNamingLimitNeedAndRemedy) {
    const auto refused = soft_limit_for(kNeeds, {1024, 3999});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "too_few_files");
    for (const char* part : {"4000", "3999", "3000 for 14 databases", "1000 for HTTP connections",
                             "LimitNOFILE=4000", "fewer partitions"}) {
        EXPECT_NE(refused.error().message.find(part), std::string::npos)
            << part << " is not in: " << refused.error().message;
    }
}

TEST(OpenFiles, ThisProcessGetsWhatItNeeds) {
    rlimit old{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &old), 0);
    rlimit low = old;
    low.rlim_cur = 64;
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
    const std::vector<FilesNeeded> need{{"this test", 100}};
    EXPECT_TRUE(reserve_files(need));
    rlimit raised{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &raised), 0);
    EXPECT_EQ(raised.rlim_cur, 100u);
    EXPECT_EQ(raised.rlim_max, old.rlim_max);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &old), 0);
}

}  // namespace
}  // namespace rampart::runtime
