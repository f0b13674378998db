#include "rampart/tuning/trials.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rampart::tuning {
namespace {

using testing::HasSubstr;

const base::Digest kOf = base::sha256("a search");

std::vector<Trial> some() {
    return {{.setting = 1,
             .share = 1.0 / 3,
             .values = "leaves=15",
             .score = 0.1 + 0.2,
             .excess = 1e-17,
             .seconds = 2.5},
            {.setting = 2, .share = 1, .values = "leaves=3", .failed = "no\tmodel\nfound"}};
}

TEST(Trials, AreReadBackToTheLastBit) {
    const auto text = encode(kOf, some());
    const auto again = decode(kOf, text).value();
    ASSERT_EQ(again.size(), 2u);
    EXPECT_EQ(encode(kOf, again), text);
    EXPECT_EQ(again[0].score, 0.1 + 0.2);
    EXPECT_EQ(again[0].share, 1.0 / 3);
    EXPECT_EQ(again[0].values, "leaves=15");
    EXPECT_EQ(again[1].failed, "no model found");
    EXPECT_TRUE(decode(kOf, encode(kOf, {}))->empty());
}

TEST(Trials, OfAnotherSearchAndDamagedOnesAreRefused) {
    const auto text = encode(kOf, some());
    const auto other = decode(base::sha256("another"), text).error();
    EXPECT_EQ(other.reason, "other_search");
    EXPECT_THAT(other.message, HasSubstr(kOf.hex()));
    EXPECT_EQ(decode(kOf, "setting,score\n").error().reason, "bad_trials");
    EXPECT_EQ(decode(kOf, text.substr(0, text.find("0.30000"))).error().reason, "bad_trials");
    auto wrong = text;
    wrong.replace(wrong.find("0.3333"), 6, "7.3333");
    const auto error = decode(kOf, wrong).error();
    EXPECT_EQ(error.reason, "bad_trials");
    EXPECT_THAT(error.message, HasSubstr("line 3"));
}

TEST(Trials, ThatKeepTheirConstraintsWinThenTheLeastMissThenTheScoreThenTheNumber) {
    const Trial kept{.setting = 4, .score = 0.9}, better{.setting = 5, .score = 0.8},
        near{.setting = 1, .score = 0.7, .excess = 0.01},
        far{.setting = 2, .score = 0.1, .excess = 0.2}, failed{.setting = 3, .failed = "no model"};
    const std::vector<Trial> order{better, kept, near, far, failed};
    for (size_t i = 0; i < order.size(); ++i)
        for (size_t j = 0; j < order.size(); ++j)
            EXPECT_EQ(is_better(order[i], order[j]), i < j) << i << " " << j;
    EXPECT_TRUE(is_better({.setting = 1, .score = 0.5}, {.setting = 2, .score = 0.5}));
    EXPECT_FALSE(is_better({.setting = 2, .score = 0.5}, {.setting = 1, .score = 0.5}));
}

TEST(Trials, AreDescribed) {
    const auto all = some();
    EXPECT_EQ(describe(all[0], "trees", "log loss"),
              "leaves=15; 1/3 of the trees; log loss 0.30000; misses constraints by 0.0000; 2.5 s");
    EXPECT_THAT(describe(all[1], "trees", "log loss"),
                testing::AllOf(HasSubstr("all trees"), HasSubstr("no model: ")));
}

}  // namespace
}  // namespace rampart::tuning
