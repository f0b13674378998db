#include "frame/rate_words.hpp"

#include <gtest/gtest.h>

namespace rampart::cli {
namespace {

TEST(RateWords, AreReplacedAsWholeWordsBothWays) {
    EXPECT_EQ(library_words("fpr,statistical_parity@sex"), "fpr,dp@sex");
    EXPECT_EQ(library_words("statistical_parity<=0.3,fpr<=0.05"), "dp<=0.3,fpr<=0.05");
    EXPECT_EQ(library_words("equalized_odds"), "eo");
    EXPECT_EQ(shown_words("gap of dp is 0.1 (dp2, eo)"),
              "gap of statistical_parity is 0.1 (dp2, equalized_odds)");
    for (const char* word : {kStatisticalParity, kEqualOpportunity, kEqualizedOdds, kCovariance}) {
        EXPECT_NE(library_words(word), word);
        EXPECT_EQ(shown_words(library_words(word)), word);
    }
    EXPECT_EQ(library_words("tpr"), "tpr");
}

}  // namespace
}  // namespace rampart::cli
