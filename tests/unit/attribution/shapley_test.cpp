#include "rampart/attribution/shapley.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "made_up.hpp"

namespace rampart::attribution {
namespace {

using testing::group_for;
using testing::kParts;
using testing::MadeUp;
using testing::Part;

double sum_of(const ShapleyValues& values) {
    return std::accumulate(values.lowered.begin(), values.lowered.end(), 0.0);
}

/// Computes the values by the definition: the mean over all orders of units of what each one
/// raises P by when it is restored after those before it.
std::vector<double> by_definition(const Probability& p, std::span<const float> row,
                                  const ReferenceSet& set, std::span<const Unit> units) {
    std::vector<double> out(units.size());
    std::vector<size_t> order(units.size());
    for (size_t i = 0; i < set.size(); ++i) {
        std::iota(order.begin(), order.end(), size_t{0});
        double orders = 0;
        std::vector<double> sum(units.size());
        do {
            ++orders;
            std::vector<float> x(row.begin(), row.end());
            for (const size_t unit : order) {
                const double before = p(x);
                x = restored(x, set.row(i), units[unit]);
                sum[unit] += p(x) - before;
            }
        } while (std::next_permutation(order.begin(), order.end()));
        for (size_t unit = 0; unit < units.size(); ++unit)
            out[unit] += sum[unit] / orders / static_cast<double>(set.size());
    }
    return out;
}

ReferenceSet few_of(ReferenceSet set, size_t rows) {
    set.rows.resize(std::min(rows, set.size()) * set.width);
    return set;
}

TEST(Shapley, SumToTheDifferenceOfPForEveryPartAndChain) {
    size_t moved = 0;
    for (const Part part : kParts)
        for (size_t links = 1; links <= 6; ++links) {
            MadeUp made(100 * links + static_cast<size_t>(part), 9);
            const auto policy = made.policy(links, part);
            const auto p = served_probability(policy, group_for(policy), links % 2 == 0);
            const auto units = units_of(policy).value();
            const auto set = choose_reference_set(p, policy.schema(), made.rows(60)).value();
            for (int i = 0; i < 3; ++i) {
                const auto row = made.row();
                const auto values = shapley_values(p, row, set, units, 1);
                double mean = 0;
                for (size_t r = 0; r < set.size(); ++r)
                    mean += p(set.row(r)) / static_cast<double>(set.size());
                EXPECT_TRUE(values.exact);
                EXPECT_EQ(values.p, p(row));
                EXPECT_NEAR(sum_of(values), mean - p(row), 1e-9)
                    << links << " links of part " << static_cast<int>(part);
                moved += std::abs(mean - p(row)) > 0.05;
            }
        }
    EXPECT_GT(moved, 60u);  // 144 in all
}

TEST(Shapley, AreThoseOfTheDefinition) {
    for (uint64_t seed = 0; seed < 24; ++seed) {
        MadeUp made(seed, 6);
        const auto policy = made.policy(1 + seed % 4, kParts[seed % std::size(kParts)]);
        const auto p = served_probability(policy, group_for(policy), true);
        const auto units = units_of(policy).value();
        const auto set = few_of(choose_reference_set(p, policy.schema(), made.rows(20)).value(), 3);
        const auto row = made.row();
        const auto values = shapley_values(p, row, set, units, 1);
        const auto expected = by_definition(p, row, set, units);
        for (size_t i = 0; i < units.size(); ++i)
            EXPECT_NEAR(values.lowered[i], expected[i], 1e-12) << seed << " unit " << i;
    }
}

TEST(Shapley, AGroupOfFeaturesIsRestoredAsOne) {
    // only both together raise P; f0 alone raises it by 0.2
    const Probability p = [](std::span<const float> x) {
        return x[1] == 1 && x[3] == 1 ? 0.9 : x[0] == 1 ? 0.2 : 0.0;
    };
    const auto schema = testing::schema_of(4);
    const std::vector<float> reference{0, 1, 0, 1}, row{0, 0, 0, 0};
    const auto set = choose_reference_set(p, schema, reference).value();
    const std::vector<Unit> units{{"both", {1, 3}}, {"f0", {0}}};
    const auto values = shapley_values(p, row, set, units, 1);
    EXPECT_NEAR(values.lowered[0], 0.9, 1e-12);
    EXPECT_EQ(values.lowered[1], 0);
    EXPECT_TRUE(values.lowers(0));
    EXPECT_FALSE(values.lowers(1));
}

TEST(Shapley, AMissingValueCountsAgainstANumberAndNotAgainstAnother) {
    const Probability p = [](std::span<const float> x) { return std::isnan(x[0]) ? 0.25 : 0.75; };
    const auto schema = testing::schema_of(2);
    const float nan = std::nanf("");
    const std::vector<Unit> units{{"f0", {0}}, {"f1", {1}}};
    const auto set = choose_reference_set(p, schema, std::vector<float>{1, nan}).value();
    const auto values = shapley_values(p, std::vector<float>{nan, nan}, set, units, 1);
    EXPECT_EQ(values.lowered, (std::vector<double>{0.5, 0}));
}

/// Returns a P that many units make together, with interactions.
double crowd(std::span<const float> x) {
    double sum = -3;
    for (size_t j = 0; j < x.size(); ++j)
        sum += (j % 4 == 0 ? 0.5 : 0.1) * static_cast<double>(x[j]) *
               static_cast<double>(x[(j + 1) % x.size()] + 1);
    return std::clamp(sum, 0.0, 1.0);
}

TEST(Shapley, ManyUnitsAreSampledWithinTheStatedError) {
    constexpr size_t kUnits = kExactUnits + 1;
    const auto schema = testing::schema_of(kUnits);
    std::vector<Unit> units, fewer;
    for (size_t j = 0; j < kUnits; ++j) units.push_back({fmt::format("f{}", j), {j}});
    ReferenceSet set{.width = kUnits, .rows = std::vector<float>(kUnits, 1.0f)};
    const std::vector<float> row(kUnits, 0.0f);
    // the truth by all sets: every unit that is left out has to be restored or not
    std::vector<double> truth(kUnits);
    std::vector<double> value(size_t{1} << kUnits);
    for (size_t s = 0; s < value.size(); ++s) {
        std::vector<float> x(kUnits);
        for (size_t j = 0; j < kUnits; ++j) x[j] = static_cast<float>(s >> j & 1);
        value[s] = crowd(x);
    }
    for (size_t s = 0; s < value.size(); ++s)
        for (size_t j = 0; j < kUnits; ++j) {
            if ((s >> j & 1) != 0) continue;
            const auto size = static_cast<double>(std::popcount(s));
            const double weight = std::exp(std::lgamma(size + 1) + std::lgamma(kUnits - size) -
                                           std::lgamma(kUnits + 1.0));
            truth[j] += weight * (value[s | size_t{1} << j] - value[s]);
        }
    constexpr int kRuns = 200;
    size_t within = 0, all = 0;
    double squares = 0, stated = 0;
    for (int run = 0; run < kRuns; ++run) {
        const auto values = shapley_values(crowd, row, set, units, static_cast<uint64_t>(run));
        EXPECT_FALSE(values.exact);
        EXPECT_NEAR(sum_of(values), crowd(set.row(0)) - crowd(row), 1e-9);
        for (size_t j = 0; j < kUnits; ++j) {
            const double off = values.lowered[j] - truth[j];
            within += std::abs(off) <= 2 * values.error[j];
            ++all;
            squares += off * off;
            stated += values.error[j] * values.error[j];
        }
    }
    // 2 standard errors hold 95 % of the cases, of 32 pairs somewhat less
    EXPECT_GT(static_cast<double>(within) / static_cast<double>(all), 0.90);
    EXPECT_NEAR(squares / stated, 1, 0.1);
    const auto again = shapley_values(crowd, row, set, units, 3);
    EXPECT_EQ(again.lowered, shapley_values(crowd, row, set, units, 3).lowered);
    EXPECT_NE(again.lowered, shapley_values(crowd, row, set, units, 4).lowered);
}

}  // namespace
}  // namespace rampart::attribution
