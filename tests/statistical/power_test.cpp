// Records that a certificate takes, relative to equal shares of an epoch's delta and a range that
// is the vault's own: the price of each repair of the guarantee. World, effect and group size
// stand here: K = 12, run 6, 90 % power.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "rampart/base/random.hpp"
#include "rampart/certification/delta_ledger.hpp"
#include "rampart/stats/betting.hpp"
#include "rampart/stats/confidence_bound.hpp"

namespace rampart::test {
namespace {

using certification::EpochOpened;
using certification::Spending;

constexpr double kDelta = 0.1, kPower = 0.9;
constexpr uint32_t kRuns = 12, kBefore = 5;  // run 6
constexpr size_t kGroups = 1500, kMost = 4000;

/// Values of the persons of one group in one world: half of them are good and bring 75 with 0.9,
/// else -150, the others with 0.35. The reference approves all with 0.5; the candidate moves that
/// by 0.25, for two of three in the right direction.
std::vector<double> persons(base::Random& random) {
    constexpr double kCentre = -10;  // near the mean impact of an approval
    std::vector<double> values;
    for (size_t i = 0; i < kMost; ++i) {
        const bool good = random.bernoulli(0.5), right = random.bernoulli(2.0 / 3);
        const double change = good == right ? 0.25 : -0.25;
        const double impact = random.bernoulli(good ? 0.9 : 0.35) ? 75 : -150;
        const double drawn = random.bernoulli(0.5) ? change / 0.5 * (impact - kCentre) : 0;
        values.push_back(drawn + change * kCentre);
    }
    return values;
}

class Power {
  public:
    Power() {
        base::Random random(61);
        for (size_t g = 0; g < kGroups; ++g) groups_.push_back(persons(random));
        variance_ = stats::moments(groups_[0]).variance;
    }
    /// Returns the share of groups that pass with their first n persons.
    double of(size_t n, double delta, double lo) const {
        const auto bets = stats::plan_bets({n, variance_}, lo, delta).value();
        size_t passed = 0;
        for (const auto& values : groups_) {
            passed +=
                stats::log_wealth(std::span(values).first(n), lo, bets, 0) >= -std::log(delta);
        }
        return static_cast<double>(passed) / kGroups;
    }
    /// Returns the fewest persons with which kPower of the groups pass.
    double records(double delta, double lo) const {
        size_t few = 2, enough = kMost;
        EXPECT_GT(of(enough, delta, lo), kPower);
        while (enough - few > 4) {
            const size_t middle = (few + enough) / 2;
            (of(middle, delta, lo) >= kPower ? enough : few) = middle;
        }
        return static_cast<double>(enough);
    }

  private:
    std::vector<std::vector<double>> groups_;
    double variance_ = 0;
};

double charge(Spending spending, double reserve, uint32_t certificates) {
    EpochOpened epoch;
    epoch.delta_epoch = kDelta;
    epoch.runs = kRuns;
    epoch.spending = spending;
    epoch.reserve = reserve;
    return certification::delta_of_run(epoch, kBefore, certificates);
}

TEST(PriceOfTheGuarantee, InRecordsForTheFirstSecondAndThirdCertificateOfAnEpoch) {
    const Power power;
    constexpr double kOwnLo = -0.25 / 0.5 * 140 - 2.5;             // the vault's own range
    constexpr double kFixedLo = 1.25 * (-0.25 / 0.5 * 140 - 2.5);  // with the reserve
    const double today = power.records(charge(Spending::kEqual, 0, 0), kOwnLo);
    std::printf("    equal shares, range of the vault: %.0f persons, here 1.00\n", today);
    constexpr double kBars[] = {1.25, 1.35, 1.45};
    double before = 0;
    for (const uint32_t certificates : {0u, 1u, 2u}) {
        const auto ratio = [&](double reserve, double lo) {
            return power.records(charge(Spending::kByHistory, reserve, certificates), lo) / today;
        };
        const double all_histories = ratio(0, kOwnLo), own = ratio(1e-9, kOwnLo),
                     reserve = ratio(0.01, kOwnLo), fixed = ratio(0.01, kFixedLo);
        std::printf(
            "    certificate %u: sum over all histories %.2f; up to the first harmful one "
            "%.2f; with the reserve %.2f; with a fixed range %.2f\n",
            certificates + 1, all_histories, own, reserve, fixed);
        EXPECT_LE(fixed, kBars[certificates]);
        EXPECT_GT(fixed, before) << "a later certificate takes more";
        EXPECT_LT(own, all_histories + (certificates == 0 ? 0.05 : 0));
        before = fixed;
    }
}

}  // namespace
}  // namespace rampart::test
