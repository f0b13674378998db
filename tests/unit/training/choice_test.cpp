#include "rampart/training/choice.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "development_set.hpp"
#include "rampart/learning/learner.hpp"

namespace rampart::training {
namespace {

using test::bootstrap;
using test::development_set;
using test::impact;

Recipe recipe(const std::string& name, const std::string& learner,
              const std::map<std::string, learning::OptionValue>& set) {
    Recipe out;
    out.name = name;
    out.learner = learner;
    out.selection = Selection::kNone;
    out.options = learning::OptionValues(learning::find_learner(learner).value()->options());
    for (const auto& [option, value] : set) EXPECT_TRUE(out.options.set(option, value)) << option;
    return out;
}

Recipe modest() {
    return recipe(
        "modest", "gbdt",
        {{"trees", int64_t{40}}, {"leaves", int64_t{4}}, {"min_rows_in_leaf", int64_t{60}}});
}

/// Learns every row by heart.
Recipe optimist() {
    return recipe("optimist", "gbdt",
                  {{"trees", int64_t{150}},
                   {"leaves", int64_t{255}},
                   {"min_rows_in_leaf", int64_t{1}},
                   {"learning_rate", 0.5},
                   {"l2", 0.0},
                   {"early_stopping_rounds", int64_t{0}}});
}

/// Misses its constraint on any data that are not fair by themselves.
Recipe impossible() {
    return recipe("impossible", "fairgbm",
                  {{"trees", int64_t{20}}, {"tolerance", 0.0}, {"threshold", 0.5}});
}

class Choice : public testing::Test {
  protected:
    Choice() {
        gate.config.impact_lo = -150, gate.config.impact_hi = 75, gate.config.declined_impact = 0;
        gate.delta = 0.01;
        gate.vault_units = {1300, 1300};
    }
    ChoiceInputs inputs(std::span<const Recipe> recipes, base::ThreadPool* pool = nullptr) const {
        return {set, declared, champion, "champion", recipes, gate, pool};
    }
    std::vector<std::string> order(std::span<const Recipe> recipes, Order by) const {
        auto in = inputs(recipes);
        in.order = by;
        std::vector<std::string> names;
        const auto ranked = rank_recipes(in).value();
        for (const auto& one : ranked) names.push_back(recipes[one.recipe].name);
        return names;
    }
    /// Returns the gain over all rows with an outcome, as it looks to a learner that has seen them.
    double gain_seen(const Recipe& recipe) const {
        const auto made = make_candidate({set, impact(), champion, "champion", recipe}).value();
        double sum = 0;
        for (size_t i = 0; i < set.rows.size(); ++i) {
            if (!set.rows[i].impact) continue;
            const auto row = set.features_of(i);
            sum += (made.policy.evaluate(row, std::nullopt).approve -
                    champion.evaluate(row, std::nullopt).approve) *
                   *set.rows[i].impact / set.rows[i].p_approve;
        }
        return sum / static_cast<double>(set.rows.size());
    }
    /// Returns the true mean gain of a group by candidates of all rows.
    double true_gain(const Recipe& recipe, uint32_t group) const {
        const auto made = make_candidate({set, impact(), champion, "champion", recipe}).value();
        double sum = 0, count = 0;
        for (size_t i = 0; i < set.rows.size(); ++i) {
            if (set.rows[i].groups.front() != group) continue;
            const auto row = set.features_of(i);
            const double p = model::sigmoid(1.0 + 1.5 * row[0]);
            sum += (made.policy.evaluate(row, std::nullopt).approve -
                    champion.evaluate(row, std::nullopt).approve) *
                   (75 * p - 150 * (1 - p));
            ++count;
        }
        return sum / count;
    }

    training_set::DevelopmentSet set = development_set();
    const domain::Impact declared = impact();
    const model::Policy champion = bootstrap(set);
    GateForecastInputs gate;
};

TEST_F(Choice, AnOptimistWhoLearntTheDevelopmentSetByHeartIsNotPreferred) {
    base::Random random(5);  // little of what predicts is seen
    for (size_t i = 0; i < set.rows.size(); ++i)
        set.features[2 * i] += static_cast<float>(3 * random.normal());
    ASSERT_GT(gain_seen(optimist()), 1.5 * gain_seen(modest()))
        << "by the rows that it learnt from the optimist looks better by far";
    const std::vector<Recipe> recipes{optimist(), modest()};
    EXPECT_EQ(order(recipes, Order::kExpectedGain).front(), "modest");
    EXPECT_EQ(order(recipes, Order::kChance).front(), "modest");
}

TEST_F(Choice, ThePredictedGainIsTheTruthUpToItsError) {
    const std::vector<Recipe> recipes{modest()};
    const auto value = value_of(inputs(recipes), recipes.front()).value();
    const uint32_t worst = value.worst_group == set.group_names[0] ? 0 : 1;
    const double truth = true_gain(recipes.front(), worst);
    const double error = (value.gain - value.gain_lower) / 0.6745;
    EXPECT_GT(truth, 0);
    EXPECT_NEAR(value.gain, truth, 3 * error + 0.5) << "two thirds of the rows learn a little less";
    EXPECT_LT(error, truth) << "so that the comparison could fail";
    EXPECT_GT(value.chance, 0.5);
}

TEST_F(Choice, ARecipeThatMakesNoCandidateComesLastAndSaysWhy) {
    const std::vector<Recipe> recipes{impossible(), modest()};
    const auto ranked = rank_recipes(inputs(recipes)).value();
    ASSERT_EQ(ranked.size(), 2u);
    EXPECT_EQ(ranked[0].recipe, 1u);
    EXPECT_FALSE(ranked[1].value);
    EXPECT_NE(describe(ranked[1]).find("constraints"), std::string::npos) << describe(ranked[1]);
    EXPECT_NE(describe(ranked[0]).find("chance of passing"), std::string::npos);
}

TEST_F(Choice, AsListedNothingIsComputed) {
    const std::vector<Recipe> recipes{impossible(), modest()};
    EXPECT_EQ(order(recipes, Order::kListed), (std::vector<std::string>{"impossible", "modest"}));
    auto in = inputs(recipes);
    in.order = Order::kListed;
    const auto ranked = rank_recipes(in).value();
    for (const auto& one : ranked) EXPECT_FALSE(one.value);
}

TEST_F(Choice, EqualValuesAreOrderedByDigestWhateverTheOrderOfTheList) {
    auto twin = modest();
    twin.name = "twin";
    twin.max_links = 17;  // another digest, the same candidate
    const auto first = order(std::vector<Recipe>{modest(), twin}, Order::kExpectedGain).front();
    EXPECT_EQ(order(std::vector<Recipe>{twin, modest()}, Order::kExpectedGain).front(), first);
}

TEST_F(Choice, IsTheSameForAnyNumberOfThreads) {
    const std::vector<Recipe> recipes{modest()};
    base::ThreadPool pool(2);
    const auto a = value_of(inputs(recipes), recipes.front()).value();
    const auto b = value_of(inputs(recipes, &pool), recipes.front()).value();
    EXPECT_EQ(a.chance, b.chance);
    EXPECT_EQ(a.gain_lower, b.gain_lower);
}

TEST_F(Choice, AnAbsoluteComparisonHasNoValues) {
    const std::vector<Recipe> recipes{modest()};
    gate.config.at_least = 0.0;
    EXPECT_EQ(value_of(inputs(recipes), recipes.front()).error().reason, "bad_selection");
}

}  // namespace
}  // namespace rampart::training
