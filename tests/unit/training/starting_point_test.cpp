// Candidates that go on from the trees of the champion's last link.
#include <gmock/gmock.h>

#include <map>

#include "development_set.hpp"
#include "rampart/training/candidate.hpp"

namespace rampart::training {
namespace {

using test::bootstrap;
using test::development_set;
using test::impact;
using testing::HasSubstr;

constexpr uint64_t kServiceSeed = 11;

/// The recipe of one run of a service: runs differ by `seed`, and hold out the same persons.
Recipe going_on(uint64_t seed, const std::string& learner = "gbdt") {
    Recipe out;
    out.selection = Selection::kNone;  // no gate is known
    out.learner = learner;
    out.options = learning::OptionValues(learning::find_learner(learner).value()->options());
    out.options.set_fallback("trees", int64_t{30});
    out.options.set_fallback("leaves", int64_t{4});
    out.options.set_fallback("early_stopping_rounds", int64_t{0});
    if (out.options.has("tolerance")) out.options.set_fallback("tolerance", 0.1);
    out.allow_infeasible = learner != "gbdt";
    out.start = Start::kChampion;
    out.more_trees = 7;
    out.most_trees = 40;
    out.seed = seed;
    out.split_seed = kServiceSeed;
    return out;
}

const model::Ensemble& trees_of(const Candidate& made) {
    return std::get<model::LearnedLink>(made.policy.links().back()).ensemble;
}

/// Returns the trees as text, to the bit.
std::vector<std::string> texts_of(const model::Ensemble& ensemble) {
    std::vector<std::string> out;
    for (const auto& tree : ensemble.trees) {
        auto& text = out.emplace_back();
        for (const auto& node : tree.nodes)
            text += fmt::format("{} {} {} {} {};", node.feature, node.threshold, node.left,
                                node.right, node.value);
    }
    return out;
}

class StartingPointTest : public testing::Test {
  protected:
    /// Returns the candidate of a run on a champion.
    Candidate make(const model::Policy& champion, const Recipe& recipe,
                   const std::optional<base::Digest>& settings = std::nullopt) const {
        auto made = make_candidate({set_, impact(), champion, "the-champion", recipe, nullptr,
                                    nullptr, nullptr, settings});
        EXPECT_TRUE(made) << made.error().message;
        return std::move(made).value();
    }
    std::string started_from(const model::Policy& champion, const Recipe& recipe,
                             const std::optional<base::Digest>& settings = std::nullopt) const {
        return make(champion, recipe, settings).figures.at("started_from");
    }

    training_set::DevelopmentSet set_ = development_set();
};

TEST_F(StartingPointTest, IsNoneWhereTheChampionReadsARetiredFeature) {
    const auto first = make(bootstrap(set_), going_on(1));
    const auto settings = settings_digest(going_on(1));
    ASSERT_EQ(started_from(first.policy, going_on(2), settings), "the-champion");
    set_.retired = {true, false};
    EXPECT_THAT(started_from(first.policy, going_on(2), settings),
                HasSubstr("reads the feature 'x0', which is retired"));
}

TEST_F(StartingPointTest, IsTheChampionOfTheSameSettingsWhoseTreesAreKept) {
    const auto first = make(bootstrap(set_), going_on(1));
    EXPECT_THAT(first.figures.at("started_from"), HasSubstr("scratch: the champion's last link is "
                                                            "not of this service's training"));
    const auto settings = settings_digest(going_on(1));
    ASSERT_EQ(settings_digest(going_on(2)), settings) << "runs of one service have one digest";
    const auto second = make(first.policy, going_on(2), settings);
    EXPECT_EQ(second.figures.at("started_from"), "the-champion");
    EXPECT_EQ(second.policy.provenance().at("training.started_from"), "the-champion");
    EXPECT_EQ(second.figures.at("trees_of_start"), "30");
    EXPECT_EQ(second.figures.at("trees_added"), "7");
    ASSERT_EQ(trees_of(second).trees.size(), 37u);
    auto kept = texts_of(trees_of(second));
    kept.resize(30);
    EXPECT_EQ(kept, texts_of(trees_of(first)));
    EXPECT_EQ(second.policy.links().size(), 3u);
}

/// The trees of P(group | features), which a group-blind rule has, are none of the learner's.
TEST_F(StartingPointTest, CountsTheLearnersTreesAndNotThoseOfARuleThatDoesNotReadTheGroup) {
    auto recipe = going_on(1);
    recipe.criterion = "statistical_parity";
    recipe.postprocess = chosen_postprocessor(recipe).value().values;
    ASSERT_TRUE(recipe.postprocess.set("group", std::string("blind")));
    ASSERT_TRUE(recipe.postprocess.set("group_trees", int64_t{20}));
    recipe.allow_infeasible = true;
    recipe.validation_fraction = 0.4;
    const auto first = make(bootstrap(set_), recipe);
    ASSERT_GT(first.policy.last_learned()->trees(), 40u) << "with those of the rule";
    auto next = recipe;
    next.seed = 2;
    const auto second = make(first.policy, next, settings_digest(recipe));
    EXPECT_EQ(second.figures.at("started_from"), "the-champion");
    EXPECT_EQ(second.figures.at("trees_of_start"), "30");
    EXPECT_EQ(trees_of(second).trees.size(), 37u);
}

TEST_F(StartingPointTest, OfATrainingThatAsksForNoneIsNotNoted) {
    auto recipe = going_on(1);
    recipe.start = Start::kScratch;
    const auto made = make(bootstrap(set_), recipe, settings_digest(recipe));
    EXPECT_FALSE(made.figures.contains("started_from"));
    EXPECT_EQ(trees_of(made).trees.size(), 30u);
}

TEST_F(StartingPointTest, IsScratchAndSaysWhyWhereTheChampionIsNoStart) {
    const auto champion = make(bootstrap(set_), going_on(1)).policy;
    const auto settings = settings_digest(going_on(1));
    const auto from_scratch = [&](const Recipe& recipe, const auto& known, const char* why) {
        const auto made = make(champion, recipe, known);
        EXPECT_THAT(made.figures.at("started_from"), HasSubstr(std::string("scratch: ") + why));
        EXPECT_FALSE(made.figures.contains("trees_added"));
    };
    const std::optional<base::Digest> unknown;
    from_scratch(going_on(2), unknown,
                 "the champion's last link is not of this service's training");
    auto other = going_on(2, "fairgbm");
    from_scratch(other, std::optional(settings), "the champion's last link was made by another");
    other = going_on(2);
    ASSERT_TRUE(other.options.set("monotone", std::vector<std::string>{"x0=increasing"}));
    from_scratch(other, std::optional(settings), "the champion's last link was made by another");
    other = going_on(2);
    other.split_seed = kServiceSeed + 1;  // other persons are held out
    from_scratch(other, std::optional(settings), "the champion's last link was made by another");
}

TEST_F(StartingPointTest, IsScratchAgainBeyondTheLimitSoThatTreesDoNotGrowForEver) {
    const std::optional settings = settings_digest(going_on(1));
    std::vector<size_t> trees;
    std::string last;
    auto champion = bootstrap(set_);
    for (uint64_t run = 1; run <= 4; ++run) {
        auto made = make(champion, going_on(run), settings);
        trees.push_back(trees_of(made).trees.size());
        last = made.figures.at("started_from");
        champion = std::move(made.policy);
        if (run != 3) continue;
        EXPECT_EQ(last,
                  "scratch: the champion's last link has 37 trees, and 7 more are beyond "
                  "most_trees = 40");
    }
    EXPECT_EQ(trees, (std::vector<size_t>{30, 37, 30, 37}));
    EXPECT_EQ(last, "the-champion");
}

/// A person who is held out of a run has had no part in any run that it stands on.
TEST_F(StartingPointTest, PersonsHeldOutOfARunHadNoPartInItsStart) {
    const auto trees_with = [&](bool others, std::optional<uint64_t> split_seed) {
        const auto kept = set_;
        for (auto& row : set_.rows) {  // labels that nothing but a learner would read
            const bool held =
                base::keyed_uniform(fmt::format("validation {}", kServiceSeed),
                                    row.person.value()) < Recipe{}.validation_fraction;
            if (others && held && row.label) row.label = 1 - *row.label;
        }
        auto one = going_on(1), two = going_on(2);
        one.split_seed = two.split_seed = split_seed;
        const auto first = make(bootstrap(set_), one);
        const auto second = make(first.policy, two, settings_digest(two));
        set_ = kept;
        return texts_of(trees_of(second));
    };
    EXPECT_EQ(trees_with(false, kServiceSeed), trees_with(true, kServiceSeed));
    EXPECT_NE(trees_with(false, std::nullopt), trees_with(true, std::nullopt))
        << "held out by the seed of each run they have";
}

TEST_F(StartingPointTest, TheFigureSaysWhoWasHeldOut) {
    const auto first = make(bootstrap(set_), going_on(1));
    EXPECT_FALSE(first.figures.contains(kHeldOutOfStart)) << "from scratch";
    EXPECT_FALSE(rows_held_out_of_start(set_, "").value());
    const auto second = make(first.policy, going_on(2), settings_digest(going_on(1)));
    EXPECT_EQ(second.figures.at(kHeldOutOfStart), "0.2 by seed 11");
    const auto held = rows_held_out_of_start(set_, second.figures.at(kHeldOutOfStart)).value();
    ASSERT_TRUE(held);
    EXPECT_EQ(held->cell_names, set_.cell_names);
    size_t at = 0;
    for (size_t i = 0; i < set_.rows.size(); ++i) {
        const double u = base::keyed_uniform(fmt::format("validation {}", kServiceSeed),
                                             set_.rows[i].person.value());
        if (u >= Recipe{}.validation_fraction) continue;
        ASSERT_LT(at, held->rows.size());
        EXPECT_EQ(held->rows[at].decision, set_.rows[i].decision);
        EXPECT_EQ(held->features_of(at++)[0], set_.features_of(i)[0]);
    }
    EXPECT_EQ(at, held->rows.size());
    for (const char* bad : {"0.2", "x by seed 11", "0.2 by seed ", "0.2 by seed 11 "})
        EXPECT_EQ(rows_held_out_of_start(set_, bad).error().reason, "bad_held_out") << bad;
}

TEST_F(StartingPointTest, KeepsTheMultipliersOfFairGbm) {
    const auto first = make(bootstrap(set_), going_on(1, "fairgbm"));
    const std::optional settings = settings_digest(going_on(1, "fairgbm"));
    const auto second = make(first.policy, going_on(2, "fairgbm"), settings);
    EXPECT_EQ(second.figures.at("started_from"), "the-champion");
    // other groups: as many multipliers as there are now cannot be restored
    auto state = first.policy.state();
    state.fairgbm_multipliers->push_back(0);
    const auto others =
        model::Policy::create(first.policy.schema(), first.policy.links(), {}, {}, state).value();
    EXPECT_THAT(started_from(others, going_on(2, "fairgbm"), settings),
                HasSubstr("scratch: the saved run has 3 multipliers"));
}

}  // namespace
}  // namespace rampart::training
