#include "rampart/ope/calibration_wealth.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "rampart/base/random.hpp"

namespace rampart::ope {
namespace {

TEST(CalibrationWealth, OfOneRecordIsItsMeanLikelihoodRatio) {
    double expected = 0;
    for (const double t : CalibrationWealth::kTilts) {
        expected += std::exp(t) / (0.7 + 0.3 * std::exp(t)) / CalibrationWealth::kTilts.size();
    }
    CalibrationWealth one;
    EXPECT_EQ(one.log_wealth(), 0);
    one.add(0.3, true);
    EXPECT_NEAR(std::exp(one.log_wealth()), expected, 1e-12);
}

TEST(CalibrationWealth, HasMeanOneOverAllDrawsOfALog) {
    constexpr std::array p{0.1, 0.35, 0.5, 0.9, 0.93};  // tenths with one record and with two
    double mean = 0;
    for (unsigned draws = 0; draws < 1u << p.size(); ++draws) {
        CalibrationWealth wealth;
        double chance = 1;
        for (size_t i = 0; i < p.size(); ++i) {
            const bool approved = (draws >> i & 1) != 0;
            wealth.add(p[i], approved);
            chance *= approved ? p[i] : 1 - p[i];
        }
        mean += chance * std::exp(wealth.log_wealth());
    }
    EXPECT_NEAR(mean, 1, 1e-12);
}

TEST(CalibrationWealth, GrowsWithAWrongLogEvenWhereItIsRightOnTheWhole) {
    const auto after = [](double low, double high) {
        base::Random random(5);
        CalibrationWealth wealth;
        for (int i = 0; i < 2000; ++i) {
            wealth.add(0.25, random.bernoulli(0.25 + low));
            wealth.add(0.75, random.bernoulli(0.75 + high));
        }
        return wealth.log_wealth();
    };
    EXPECT_LT(after(0, 0), std::log(100));
    EXPECT_GT(after(0.1, 0.1), std::log(100));
    EXPECT_GT(after(0.1, -0.1), std::log(100));
    CalibrationWealth impossible;
    impossible.add(0, false);
    EXPECT_EQ(impossible.log_wealth(), 0) << "what is certain tells nothing";
}

}  // namespace
}  // namespace rampart::ope
