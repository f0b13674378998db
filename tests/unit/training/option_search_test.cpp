// Candidates of a recipe with a search, and how they are valued.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "development_set.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/training/choice.hpp"

namespace rampart::training {
namespace {

using test::bootstrap;
using test::development_set;
using test::impact;
using testing::HasSubstr;

Recipe recipe(const std::map<std::string, learning::OptionValue>& set) {
    Recipe out;
    out.selection = Selection::kNone;
    out.options = learning::OptionValues(learning::find_learner("gbdt").value()->options());
    for (const auto& [option, value] : set) EXPECT_TRUE(out.options.set(option, value)) << option;
    return out;
}

Recipe searcher() {
    auto out = recipe({{"trees", int64_t{30}}, {"min_rows_in_leaf", int64_t{1}}});
    out.name = "searcher";
    out.search = tuning::Plan{
        .trials = 5,
        .folds = 2,
        .ranges = {{.option = "leaves", .from = 2, .to = 63, .log = true, .whole = true},
                   {.option = "learning_rate", .from = 0.02, .to = 0.5, .log = true}}};
    return out;
}

class OptionSearch : public testing::Test {
  protected:
    Candidate made(const Recipe& recipe, base::ThreadPool* pool = nullptr) const {
        return make_candidate({set, impact(), champion, "champion", recipe, pool}).value();
    }
    static std::map<std::string, std::string> table(const Candidate& candidate) {
        std::map<std::string, std::string> out;
        for (const auto& [name, value] : candidate.figures)
            if (name.starts_with("search")) out[name] = value;
        return out;
    }
    training_set::DevelopmentSet set = development_set();
    const model::Policy champion = bootstrap(set);
};

TEST_F(OptionSearch, TheCandidateIsThatOfTheRecipeWithWhatWasFound) {
    const auto found = made(searcher());
    EXPECT_EQ(table(found).size(), 6u);
    const auto& parameters = found.policy.provenance().at("parameters");
    auto by_hand = searcher();
    by_hand.search.reset();
    const auto value = [&](const std::string& option) {
        const auto at = parameters.find(" " + option + "=") + option.size() + 2;
        return parameters.substr(at, parameters.find(' ', at) - at);
    };
    ASSERT_TRUE(by_hand.options.set("leaves", int64_t{std::stoi(value("leaves"))}));
    ASSERT_TRUE(by_hand.options.set("learning_rate", std::stod(value("learning_rate"))));
    const auto plain = made(by_hand);
    EXPECT_EQ(model::encode_model_file(found.policy), model::encode_model_file(plain.policy));
    EXPECT_TRUE(table(plain).empty());
}

TEST_F(OptionSearch, IsTheSameForAnyNumberOfThreads) {
    base::ThreadPool pool(3);
    const auto one = made(searcher()), three = made(searcher(), &pool);
    EXPECT_EQ(table(one), table(three));
    EXPECT_EQ(model::encode_model_file(one.policy), model::encode_model_file(three.policy));
}

/// They forecast the gate and measure the criterion: what they say must not have been searched for.
TEST_F(OptionSearch, PersonsHeldOutOfTheFitHaveNoPartInIt) {
    const auto before = table(made(searcher()));
    for (auto& row : set.rows) {
        const bool held = base::keyed_uniform("validation 0", row.person.value()) < 0.2;
        if (held && row.label) row.label = 1 - *row.label;
    }
    EXPECT_EQ(table(made(searcher())), before);
    for (auto& row : set.rows)
        if (row.label) row.label = 1;
    set.rows.front().label = 0;
    EXPECT_FALSE(make_candidate({set, impact(), champion, "champion", searcher()}))
        << "the others have";
}

TEST_F(OptionSearch, WithACriterionTheRuleIsPartOfEachTrial) {
    auto with_rule = searcher();
    with_rule.criterion = "statistical_parity";
    with_rule.allow_infeasible = true;
    with_rule.search->ranges.push_back({.option = "postprocess.gamma", .from = 0.1, .to = 0.5});
    const auto found = made(with_rule);
    EXPECT_THAT(found.figures.at("search"), HasSubstr("cost of decisions"));
    EXPECT_THAT(found.policy.provenance().at("postprocess"), HasSubstr("gamma=0."));
}

TEST_F(OptionSearch, EachFoldOfTheChoiceHasASearchOfItsOwn) {
    GateForecastInputs gate;
    gate.config.impact_lo = -150, gate.config.impact_hi = 75, gate.config.declined_impact = 0;
    gate.delta = 0.01;
    gate.vault_units = {1300, 1300};
    std::set<std::string> searches;
    tuning::Host host;
    host.keep = [&](const base::Digest& of, const std::string&) {
        searches.insert(of.hex());
        return base::ok();
    };
    const std::vector<Recipe> recipes{searcher()};
    const auto declared = impact();
    ChoiceInputs in{set, declared, champion, "champion", recipes, gate};
    in.host = &host;
    ASSERT_TRUE(value_of(in, recipes.front()));
    EXPECT_EQ(searches.size(), 3u);
    ASSERT_TRUE(make_candidate(
        {set, declared, champion, "champion", recipes.front(), nullptr, nullptr, &host}));
    EXPECT_EQ(searches.size(), 4u) << "the candidate's is of all persons, and another";
}

/// A search of many trials takes what fits the noise that it sees best. The value of a recipe is
/// of persons that had no part in its search.
TEST_F(OptionSearch, AnOptimistWhoSearchesPureNoiseIsNotPreferred) {
    base::Random random(11);
    for (size_t i = 0; i < set.rows.size(); ++i) {
        for (size_t j = 0; j < 2; ++j)
            set.features[2 * i + j] = static_cast<float>(random.normal());
        if (!set.rows[i].label) continue;
        set.rows[i].label = random.bernoulli(0.75) ? 1.0 : 0.0;
        set.rows[i].impact = *set.rows[i].label == 1 ? 75.0 : -150.0;
    }
    auto modest = recipe({{"trees", int64_t{3}},
                          {"leaves", int64_t{2}},
                          {"learning_rate", 0.01},
                          {"min_rows_in_leaf", int64_t{300}}});
    modest.name = "modest";
    auto optimist = recipe({{"trees", int64_t{15}},
                            {"leaves", int64_t{40}},
                            {"min_rows_in_leaf", int64_t{1}},
                            {"learning_rate", 0.4},
                            {"early_stopping_rounds", int64_t{0}}});
    optimist.name = "optimist";
    optimist.search =
        tuning::Plan{.trials = 40,
                     .folds = 2,
                     .ranges = {{.option = "leaves", .from = 20, .to = 60, .whole = true},
                                {.option = "row_fraction", .from = 0.3, .to = 1},
                                {.option = "learning_rate", .from = 0.3, .to = 0.6}}};
    GateForecastInputs gate;
    gate.config.impact_lo = -150, gate.config.impact_hi = 75, gate.config.declined_impact = 0;
    gate.delta = 0.01;
    gate.vault_units = {1300, 1300};
    const std::vector<Recipe> recipes{optimist, modest};
    const auto declared = impact();
    base::ThreadPool pool(2);
    ChoiceInputs in{set, declared, champion, "champion", recipes, gate, &pool};
    const auto ranked = rank_recipes(in).value();
    ASSERT_TRUE(ranked[0].value && ranked[1].value);
    EXPECT_EQ(recipes[ranked[0].recipe].name, "modest")
        << describe(ranked[0]) << " | " << describe(ranked[1]);
    // by the persons that it has searched and learnt from it looks better by far
    const auto seen = [&](const Recipe& one) {
        const auto candidate = made(one);
        double sum = 0;
        for (size_t i = 0; i < set.rows.size(); ++i) {
            if (!set.rows[i].impact) continue;
            const auto row = set.features_of(i);
            sum += (candidate.policy.evaluate(row, std::nullopt).approve -
                    champion.evaluate(row, std::nullopt).approve) *
                   *set.rows[i].impact / set.rows[i].p_approve;
        }
        return sum / static_cast<double>(set.rows.size());
    };
    EXPECT_GT(seen(optimist), 1.5 * seen(modest)) << seen(optimist) << " " << seen(modest);
}

}  // namespace
}  // namespace rampart::training
