#include "rampart/training/parameter_search.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "development_set.hpp"
#include "rampart/training/reasons.hpp"

namespace rampart::training {
namespace {

using test::bootstrap;
using test::development_set;
using test::kRows;

GateForecastInputs forecast_inputs(size_t vault_units) {
    GateForecastInputs out;
    out.config.impact_lo = -150, out.config.impact_hi = 75, out.config.declined_impact = 0;
    out.delta = 0.01;
    out.vault_units = {vault_units, vault_units};
    return out;
}

/// Scores of someone who knows the truth: f is the expected impact, over 150.
SearchRows rows_of(const training_set::DevelopmentSet& set, const model::Policy& champion,
                   double direction = 1) {
    SearchRows rows;
    for (size_t i = 0; i < set.rows.size(); ++i) {
        const double p = model::sigmoid(1.0 + 1.5 * set.features_of(i)[0]);
        rows.score.push_back(direction * std::clamp((75 * p - 150 * (1 - p)) / 150, -1.0, 1.0));
        rows.reference.push_back(champion.evaluate(set.features_of(i), std::nullopt).approve);
    }
    rows.before = rows.reference;
    return rows;
}

constexpr LinkParameters kBegin{0, 0.3, 0.05, 0.5};

SearchedParameters search(const training_set::DevelopmentSet& set, const SearchRows& rows,
                          size_t vault_units, const SearchLimits& limits = {}) {
    const auto champion = bootstrap(set);
    const auto found = search_parameters({.development = set,
                                          .rows = rows,
                                          .champion = champion,
                                          .begin = kBegin,
                                          .exploration = model::ExplorationMode::kOneSided,
                                          .gate = forecast_inputs(vault_units),
                                          .limits = limits});
    EXPECT_TRUE(found) << found.error().message;
    return found.value_or(SearchedParameters{});
}

TEST(ParameterSearch, FindsParametersThatAreExpectedToPassAndGain) {
    const auto set = development_set();
    const auto rows = rows_of(set, bootstrap(set));
    const auto found = search(set, rows, 1300);
    EXPECT_TRUE(found.predicted_to_pass);
    EXPECT_GT(found.predicted_gain, 5);
    EXPECT_LE(found.weakest_signal, 0);
    const auto begin = search(set, rows, 1300, {.evaluations = 1});
    EXPECT_GE(found.predicted_gain, begin.predicted_gain);
    const auto& p = found.parameters;
    EXPECT_TRUE(p.gamma >= 0.02 - 1e-12 && p.gamma <= 2 + 1e-12);
    EXPECT_TRUE(p.epsilon >= 0.05 && p.epsilon <= 0.3);
    EXPECT_TRUE(p.kappa >= 0.05 && p.kappa <= 0.5);
}

TEST(ParameterSearch, WithTooFewPeopleInTheVaultItPredictsNoPass) {
    const auto set = development_set();
    EXPECT_FALSE(search(set, rows_of(set, bootstrap(set)), 4).predicted_to_pass);
}

TEST(ParameterSearch, ScoresThatHarmAreNotExpectedToPassByStepping) {
    const auto set = development_set();
    const auto found = search(set, rows_of(set, bootstrap(set), -1), 1300, {.evaluations = 1});
    EXPECT_FALSE(found.predicted_to_pass);
    EXPECT_LT(found.predicted_gain, 0);
}

TEST(ParameterSearch, TheSameSeedGivesTheSameParameters) {
    const auto set = development_set();
    const auto rows = rows_of(set, bootstrap(set));
    const SearchLimits limits{.evaluations = 60, .seed = 3};
    const auto a = search(set, rows, 300, limits), b = search(set, rows, 300, limits);
    EXPECT_EQ(a.parameters.gamma, b.parameters.gamma);
    EXPECT_EQ(a.parameters.threshold, b.parameters.threshold);
    EXPECT_LE(a.evaluations, 60u);
}

TEST(ParameterSearch, ARuleIsFoundForEachWidthAndItsThresholdIsNotSearched) {
    const auto set = development_set();
    const auto champion = bootstrap(set);
    const auto rows = rows_of(set, champion);
    std::set<double> widths;
    SearchInputs inputs{.development = set,
                        .rows = rows,
                        .champion = champion,
                        .begin = kBegin,
                        .exploration = model::ExplorationMode::kNone,
                        .gate = forecast_inputs(1300),
                        .limits = {.evaluations = 60}};
    inputs.rule = [&](double gamma) -> base::Result<std::vector<double>> {
        widths.insert(gamma);
        std::vector<double> approve;
        for (const double f : rows.score) approve.push_back(f > 0 ? 1 : 0);
        approve[0] = std::nan("");  // decided as the reference does
        return approve;
    };
    const auto found = search_parameters(inputs);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->parameters.threshold, kBegin.threshold);
    EXPECT_EQ(found->parameters.epsilon, kBegin.epsilon);
    EXPECT_GT(found->predicted_gain, 5);
    EXPECT_GT(widths.size(), 10u);
    widths.clear();
    ASSERT_TRUE(search_grid(inputs));
    EXPECT_EQ(widths.size(), 3u);
    inputs.rule = [](double) -> base::Result<std::vector<double>> {
        return base::make_error(Reason::kCriterionNotSolved, "none");
    };
    EXPECT_EQ(search_grid(inputs)->parameters.gamma, kBegin.gamma);
}

SearchedParameters grid(const training_set::DevelopmentSet& set, const SearchRows& rows,
                        const LinkParameters& begin, size_t vault_units = 1300) {
    const auto champion = bootstrap(set);
    const auto found = search_grid({.development = set,
                                    .rows = rows,
                                    .champion = champion,
                                    .begin = begin,
                                    .exploration = model::ExplorationMode::kOneSided,
                                    .gate = forecast_inputs(vault_units)});
    EXPECT_TRUE(found) << found.error().message;
    return found.value_or(SearchedParameters{});
}

/// The most that a pair of the grid is expected to gain for certain, each evaluated alone.
double best_of_grid(const training_set::DevelopmentSet& set, const SearchRows& rows) {
    double highest = 0;
    for (const double width : {1.0, 1.0 / 3, 1.0 / 6}) {
        for (const double step : {1.0, 0.5}) {
            auto p = kBegin;
            p.gamma *= width;
            p.kappa *= step;
            const auto alone = search_parameters({.development = set,
                                                  .rows = rows,
                                                  .champion = bootstrap(set),
                                                  .begin = p,
                                                  .exploration = model::ExplorationMode::kOneSided,
                                                  .gate = forecast_inputs(300),
                                                  .limits = {.evaluations = 1}})
                                   .value();
            highest = std::max(highest, alone.chance * alone.predicted_gain);
        }
    }
    return highest;
}

TEST(ParameterSearch, TheGridTakesThePairWithTheHighestExpectedCertifiedGain) {
    const auto set = development_set();
    const auto rows = rows_of(set, bootstrap(set)), weak = rows_of(set, bootstrap(set), 0.15);
    for (const auto& scores : {rows, weak}) {
        const auto found = grid(set, scores, kBegin, 300);
        EXPECT_EQ(found.evaluations, 6u);
        EXPECT_EQ(found.parameters.threshold, kBegin.threshold);
        EXPECT_EQ(found.parameters.epsilon, kBegin.epsilon);
        EXPECT_NEAR(found.chance * found.predicted_gain, best_of_grid(set, scores), 1e-9);
        EXPECT_EQ(found.parameters.kappa, kBegin.kappa) << "half the step is half the gain";
    }
    EXPECT_LT(grid(set, weak, kBegin, 300).parameters.gamma, kBegin.gamma)
        << "scores near the cut: a wide ramp leaves most applicants where they are";
}

TEST(ParameterSearch, TheGridKeepsWhatIsGivenWhereNothingGainsOrNothingIsNarrower) {
    const auto set = development_set();
    const auto harm = grid(set, rows_of(set, bootstrap(set), -1), kBegin);
    EXPECT_EQ(harm.parameters.gamma, kBegin.gamma);
    EXPECT_EQ(harm.parameters.kappa, kBegin.kappa);
    EXPECT_LT(harm.predicted_gain, 0);
    auto narrow = kBegin;
    narrow.gamma = 0.01;
    const auto found = grid(set, rows_of(set, bootstrap(set)), narrow);
    EXPECT_EQ(found.parameters.gamma, narrow.gamma);
}

TEST(ParameterSearch, RefusesWhatItCannotPredict) {
    const auto set = development_set();
    const auto champion = bootstrap(set);
    const auto refused = [&](auto change) {
        auto rows = rows_of(set, champion);
        auto gate = forecast_inputs(500);
        change(rows, gate);
        const auto found = search_parameters({.development = set,
                                              .rows = rows,
                                              .champion = champion,
                                              .begin = kBegin,
                                              .exploration = model::ExplorationMode::kNone,
                                              .gate = gate,
                                              .limits = {.evaluations = 1}});
        return found ? std::string() : found.error().reason;
    };
    EXPECT_EQ(refused([](auto&, auto&) {}), "");
    EXPECT_EQ(refused([](auto& rows, auto&) { rows.score.pop_back(); }), "bad_selection");
    EXPECT_EQ(refused([](auto&, auto& gate) { gate.vault_units.pop_back(); }), "bad_selection");
    EXPECT_EQ(refused([](auto&, auto& gate) { gate.config.at_least = 1.0; }), "bad_selection");
    EXPECT_EQ(refused([](auto&, auto& gate) { gate.config.max_weight = 5.0; }), "bad_selection");
    EXPECT_EQ(refused([](auto&, auto& gate) { gate.vault_units = {500, 1}; }), "bad_objective");
}

}  // namespace
}  // namespace rampart::training
