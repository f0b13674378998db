// How often two equal periods are taken for different, and different ones for equal.
#include "rampart/monitoring/drift.hpp"

#include <algorithm>

#include "monte_carlo.hpp"

namespace rampart::test {
namespace {

constexpr int kRepetitions = 300;

struct Periods {
    dataset::Dataset data;
    std::vector<std::string> person;
};

/// 600 rows, two in five of them later; x of later ones is larger by `shift`. `rows` of each
/// person, all with the same x and in one period at random.
Periods periods(base::Random& random, double shift, size_t rows = 1) {
    Periods out;
    out.data.schema = *dataset::FeatureSchema::create(
        {{"x", dataset::FeatureKind::kNumeric, {}}, {"y", dataset::FeatureKind::kNumeric, {}}});
    out.data.columns.resize(2);
    for (size_t i = 0; i < 600 / rows; ++i) {
        const double x = random.normal(), y = random.uniform(0, 1);
        for (size_t r = 0; r < rows; ++r) {
            const bool later = random.bernoulli(0.4);
            out.data.columns[0].push_back(static_cast<float>(x + (later ? shift : 0)));
            out.data.columns[1].push_back(static_cast<float>(y));
            out.data.label.push_back(later ? 1 : 0);
            out.person.push_back(std::to_string(i));
        }
    }
    return out;
}

double p_value(const Periods& who) {
    return monitoring::measure_drift(who.data, who.person, {.trees = 20}, nullptr)->p_value;
}

TEST(Drift, WithoutDriftThePValueIsUniform) {
    std::vector<double> found;
    base::Random random(31);
    for (int r = 0; r < kRepetitions; ++r) found.push_back(p_value(periods(random, 0)));
    for (const double level : {0.05, 0.2, 0.5, 0.8}) {
        const auto below =
            std::count_if(found.begin(), found.end(), [level](double p) { return p <= level; });
        const double rate = static_cast<double>(below) / kRepetitions;
        std::printf("    p <= %.2f without drift: %.4f\n", level, rate);
        EXPECT_NEAR(rate, level, 4 * std::sqrt(level * (1 - level) / kRepetitions));
    }
}

TEST(Drift, PersonsWhoComeAgainAreNoDrift) {
    const auto drift = [](Periods who) { return p_value(who) <= 0.05; };
    const double rate = rate_of("p <= 0.05, three rows a person", kRepetitions, 32,
                                [&](auto& random) { return drift(periods(random, 0, 3)); });
    EXPECT_LE(rate, at_most(0.05, kRepetitions));
}

TEST(Drift, AShiftOfHalfAStandardDeviationIsFound) {
    const double power = rate_of("p <= 0.05, shift 0.5", kRepetitions, 33, [](auto& random) {
        return p_value(periods(random, 0.5)) <= 0.05;
    });
    EXPECT_GT(power, 0.7);
}

}  // namespace
}  // namespace rampart::test
