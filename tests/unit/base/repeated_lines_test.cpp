#include "rampart/base/repeated_lines.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace rampart::base {
namespace {

using std::chrono::seconds;

TEST(RepeatedLines, AreWrittenAtGrowingPauses) {
    RepeatedLines lines;
    const RepeatedLines::Time begin{};
    std::vector<std::pair<int, uint64_t>> written;
    for (int second = 0; second <= 1300; ++second) {
        const auto left_out = lines.take("a gap", begin + seconds(second));
        if (left_out) written.emplace_back(second, *left_out);
    }
    EXPECT_EQ(written, (std::vector<std::pair<int, uint64_t>>{
                           {0, 0}, {1, 0}, {11, 9}, {71, 59}, {671, 599}, {1271, 599}}));
}

TEST(RepeatedLines, OthersAndThoseThatComeAgainLaterAreNew) {
    RepeatedLines lines;
    const RepeatedLines::Time begin{};
    EXPECT_EQ(lines.take("a", begin), 0u);
    EXPECT_EQ(lines.take("a", begin), std::nullopt);
    EXPECT_EQ(lines.take("b", begin), 0u);
    EXPECT_EQ(lines.take("a", begin + seconds(100)), 1u);
    EXPECT_EQ(lines.take("a", begin + seconds(101)), 0u);  // as after the first
}

TEST(RepeatedLines, AreForgottenBeyondTheirNumber) {
    RepeatedLines lines;
    const RepeatedLines::Time begin{};
    for (size_t i = 0; i < RepeatedLines::kMost + 10; ++i) {
        EXPECT_EQ(lines.take(std::to_string(i), begin + std::chrono::microseconds(i)), 0u);
    }
    EXPECT_EQ(lines.size(), RepeatedLines::kMost);
    EXPECT_EQ(lines.take("0", begin + std::chrono::milliseconds(1)), 0u);  // it was forgotten
    EXPECT_EQ(lines.take("200", begin + std::chrono::milliseconds(1)), std::nullopt);
}

}  // namespace
}  // namespace rampart::base
