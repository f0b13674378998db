// Intervals of figures by group and month: how often they hold what is true.
#include "rampart/monitoring/group_months.hpp"

#include "monte_carlo.hpp"
#include "rampart/stats/metrics.hpp"

namespace rampart::test {
namespace {

using monitoring::GroupMonth;

constexpr int kRepetitions = 20000;

/// A group's month with so many decisions, each approved with probability `p`.
GroupMonth drawn(base::Random& random, uint64_t decisions, double p) {
    GroupMonth month;
    for (uint64_t i = 0; i < decisions; ++i) month.add({"2005-01", {}, p, random.bernoulli(p)});
    return month;
}

bool holds(const stats::Interval& interval, double value) {
    return interval.lo <= value && value <= interval.hi;
}

TEST(GroupMonthIntervals, OfARatioHoldItWithTheStatedConfidence) {
    for (const auto& [decisions, p, reference] :
         {std::tuple<uint64_t, double, double>{40, 0.3, 0.5}, {200, 0.1, 0.12}, {2000, 0.6, 0.6}}) {
        const auto misses = [&, p = p, reference = reference, n = decisions](base::Random& random) {
            const auto ratio =
                monitoring::impact_ratio(drawn(random, n, p), drawn(random, 2 * n, reference));
            return ratio && !holds(ratio->interval, p / reference);
        };
        const double missed = rate_of("ratio missed", kRepetitions, 11, misses);
        EXPECT_LE(missed, 0.06);
        EXPECT_GE(missed, 0.03) << "wider than it says";
    }
}

TEST(GroupMonthIntervals, OfARatioThatTakesTheReferenceForKnownDoNot) {
    const auto misses = [](base::Random& random) {
        const auto group = drawn(random, 200, 0.3), reference = drawn(random, 100, 0.5);
        const auto share = group.approval().interval().value();
        const double known = reference.approval().value().value();
        return !holds({share.lo / known, share.hi / known}, 0.3 / 0.5);
    };
    EXPECT_GE(rate_of("reference taken for known: missed", kRepetitions, 12, misses), 0.08);
}

TEST(GroupMonthIntervals, OfARateAreNearTheStatedConfidence) {
    for (const double p : {0.05, 0.3, 0.9}) {
        const auto misses = [p](base::Random& random) {
            return !holds(*drawn(random, 60, p).approval().interval(), p);
        };
        EXPECT_LE(rate_of("rate missed", kRepetitions, 13, misses), 0.08) << p;
    }
}

/// Misses of the interval of a mean of skewed impacts, where there is one: a loan brings 75, a bad
/// one costs 150.
double missed_means(uint64_t n, double bad) {
    const double mean = 75 * (1 - bad) - 150 * bad;
    return rate_of("mean missed", kRepetitions, 14, [=](base::Random& random) {
        GroupMonth month;
        for (uint64_t i = 0; i < n; ++i) {
            const bool is_bad = random.bernoulli(bad);
            month.add({"2005-01",
                       {},
                       0.5,
                       true,
                       true,
                       false,
                       is_bad ? 0.0 : 1.0,
                       true,
                       is_bad ? -150.0 : 75.0});
        }
        const auto interval = month.impact_interval();
        return interval && !holds(*interval, mean);
    });
}

TEST(GroupMonthIntervals, OfAMeanAreGivenWhereTheyHoldWhateverTheRateOfBadOutcomes) {
    for (const double bad : {0.01, 0.03, 0.05, 0.125, 0.4})
        for (const uint64_t n : {30, 100, 300, 1000})
            EXPECT_LE(missed_means(n, bad), 0.075) << n << " " << bad;
    EXPECT_GE(missed_means(300, 0.4), 0.04) << "wider than it says";
}

TEST(GroupMonthIntervals, OfAMeanThatDoesNotAskForSomeOfEachDoNot) {
    const auto misses = [](base::Random& random) {
        monitoring::Mean mean;
        for (int i = 0; i < 100; ++i) mean.add(random.bernoulli(0.03) ? -150.0 : 75.0);
        const auto interval = mean.interval();
        return !interval || !holds(*interval, 75 * 0.97 - 150 * 0.03);
    };
    EXPECT_GE(rate_of("some of each not asked for: missed", kRepetitions, 16, misses), 0.15);
}

TEST(GroupMonthIntervals, OfDecisionsThatRepeatADrawAreTooNarrow) {
    // who applies four times in one window is decided once: counted as four, the interval lies
    const auto misses = [](base::Random& random) {
        GroupMonth month;
        for (int person = 0; person < 100; ++person) {
            const bool approved = random.bernoulli(0.4);
            for (int times = 0; times < 4; ++times) month.add({"2005-01", {}, 0.4, approved});
        }
        return !holds(*month.approval().interval(), 0.4);
    };
    EXPECT_GE(rate_of("repeats counted: missed", kRepetitions, 15, misses), 0.25);
}

}  // namespace
}  // namespace rampart::test
