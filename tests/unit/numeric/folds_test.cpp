#include "rampart/numeric/folds.hpp"

#include <gtest/gtest.h>

#include <map>

namespace rampart::numeric {
namespace {

TEST(StratifiedFolds, DealsEachStratumOutEvenly) {
    std::vector<uint32_t> stratum(103);
    for (size_t i = 0; i < stratum.size(); ++i) stratum[i] = i % 3 == 0 ? 7 : 2;
    const auto fold = stratified_folds(stratum, 5, 11);
    ASSERT_EQ(fold.size(), stratum.size());
    std::map<uint32_t, std::map<uint32_t, size_t>> count;
    for (size_t i = 0; i < fold.size(); ++i) {
        ASSERT_LT(fold[i], 5u);
        ++count[stratum[i]][fold[i]];
    }
    for (const auto& [name, folds] : count) {
        size_t least = stratum.size(), most = 0;
        for (const auto& [number, rows] : folds) {
            least = std::min(least, rows);
            most = std::max(most, rows);
        }
        EXPECT_EQ(folds.size(), 5u);
        EXPECT_LE(most - least, 1u) << "stratum " << name;
    }
}

TEST(StratifiedFolds, TheSeedAloneChoosesAmongThem) {
    const std::vector<uint32_t> stratum(50, 0);
    EXPECT_EQ(stratified_folds(stratum, 4, 1), stratified_folds(stratum, 4, 1));
    EXPECT_NE(stratified_folds(stratum, 4, 1), stratified_folds(stratum, 4, 2));
}

}  // namespace
}  // namespace rampart::numeric
