#include "services/rampartd/explanations.hpp"

#include <gtest/gtest.h>

namespace rampart::rampartd {
namespace {

TEST(DeclinesToExplain, TheyComeInTheirOrderAndBeyondTheLimitArePassedOver) {
    DeclinesToExplain waiting;
    EXPECT_EQ(waiting.next(), std::nullopt);
    std::vector<domain::DecisionId> ids;
    for (size_t i = 0; i < DeclinesToExplain::kMostWaiting; ++i)
        ids.emplace_back(std::to_string(i));
    EXPECT_EQ(waiting.add(std::span(ids).first(1)), 0u);
    EXPECT_EQ(waiting.add(std::span(ids).subspan(1)), 0u);
    EXPECT_EQ(waiting.add(std::span(ids).first(3)), 3u);
    EXPECT_EQ(waiting.size(), DeclinesToExplain::kMostWaiting);
    EXPECT_EQ(waiting.next(), ids[0]);
    EXPECT_EQ(waiting.next(), ids[1]);
    EXPECT_EQ(waiting.add(std::span(ids).first(3)), 1u) << "two of them find room";
    EXPECT_EQ(waiting.size(), DeclinesToExplain::kMostWaiting);
    EXPECT_EQ(waiting.next(), ids[2]);
}

}  // namespace
}  // namespace rampart::rampartd
