// Runs whose recipe has a search: what is kept of it, and what a crash costs.
#include <gmock/gmock.h>

#include "rampart/joiner/catch_up.hpp"
#include "rampart/retraining/training_loop.hpp"
#include "support/half_approved.hpp"
#include "support/small_node.hpp"

namespace rampart::retraining {
namespace {

using support::day;
using testing::HasSubstr;

constexpr int kPersons = 900, kNow = 150;

struct Crash {};

training::Recipe searcher() {
    training::Recipe out;
    out.name = "searcher";
    out.options = learning::OptionValues(learning::find_learner("gbdt").value()->options());
    out.options.set_fallback("trees", int64_t{9});
    out.search = tuning::Plan{.method = tuning::Method::kHalving,
                              .trials = 6,
                              .folds = 2,
                              .ranges = {{.option = "learning_rate", .from = 0.05, .to = 0.5},
                                         {.option = "leaves", .from = 2, .to = 9, .whole = true}}};
    return out;
}

training::Recipe plain() {
    training::Recipe out;
    out.name = "plain";
    out.options = learning::OptionValues(learning::find_learner("gbdt").value()->options());
    out.options.set_fallback("trees", int64_t{5});
    return out;
}

/// A store whose champion approves half of all; too few persons for the gate.
class SearchingLoop : public testing::Test {
  protected:
    SearchingLoop() {
        auto& config = settings_.gate.config;
        config.impact_lo = node_.product.impact.lo;
        config.impact_hi = node_.product.impact.hi;
        config.declined_impact = node_.product.impact.declined;
        config.min_units = 100'000;  // the gate refuses, so that no run changes another's forecast
        settings_.schedule.min_examples = 50;
        champion_ = support::approve_half(*node_.registry);
        for (int i = 0; i < kPersons; ++i) {
            const bool good = i * 7 % 10 < 6;
            const double noise = i * 13 % 11;
            support::append_person(node_.log, *node_.attributes, champion_, i,
                                   (good ? 8.0 : 4.0) + noise, good);
        }
        EXPECT_TRUE(joiner::catch_up(*node_.joiner));
        EXPECT_TRUE(node_.joiner->advance(day(kNow)));
    }
    /// Opens a trainer in a folder of its own, which looks at the time by `seconds`.
    std::unique_ptr<TrainingLoop> open(const std::string& folder,
                                       std::function<double()> seconds = {}) {
        return TrainingLoop::open(node_.folder() / folder, settings_,
                                  {.product = node_.product,
                                   .joiner = *node_.joiner,
                                   .builder = *node_.builder,
                                   .registry = *node_.registry,
                                   .signing_key = key_,
                                   .evidence_key = "a secret of 16 bytes",
                                   .pool = nullptr,
                                   .seconds = std::move(seconds)})
            .value();
    }
    /// Runs, and crashes when it has looked at the time `looks` times; returns how often it did.
    size_t crash(const std::string& folder, size_t looks) {
        size_t count = 0;
        const auto trainer = open(folder, [&]() -> double {
            if (++count == looks) throw Crash{};
            return 0;
        });
        try {
            EXPECT_TRUE(trainer->run_at(day(kNow)));
        } catch (const Crash&) {
        }
        return count;
    }

    support::SmallNode node_;
    const base::SigningKey key_ = base::SigningKey::generate();
    TrainingSettings settings_;
    domain::PolicyId champion_;
};

TEST_F(SearchingLoop, TheTableIsInTheRecordAndNothingIsKeptBeyondTheRun) {
    settings_.recipes = {searcher()};
    const auto run = open("a")->run_at(day(kNow)).value();
    ASSERT_FALSE(run.candidate.empty()) << run.message;
    EXPECT_THAT(run.figures.at("search"),
                testing::AllOf(HasSubstr("halving, 8 trials, 2 folds by person; taken: setting"),
                               HasSubstr("log loss")));
    EXPECT_THAT(run.figures.at("search.0001"),
                testing::AllOf(HasSubstr("setting 1: learning_rate=0."),
                               HasSubstr("1/3 of the trees"), HasSubstr("keeps its constraints")));
    EXPECT_THAT(run.figures.at("search.0008"), HasSubstr("all trees"));
    EXPECT_FALSE(run.figures.contains("search.0009"));
    EXPECT_EQ(run.figures.at("recipe"), training::recipe_digest(searcher()).hex())
        << "that of the recipe as it is written";
    const auto model = node_.registry->load_model(domain::PolicyId(run.candidate)).value();
    const auto& parameters = model.policy.provenance().at("parameters");
    const auto taken = run.figures.at("search").substr(run.figures.at("search").find("learning_r"));
    EXPECT_THAT(parameters, HasSubstr(taken.substr(0, taken.find(' '))));
    const auto store = RunStore::open(node_.folder() / "a", true).value();
    EXPECT_FALSE(store.started().value());
}

/// Wherever it was interrupted, among several recipes, whose values each take a search per fold.
TEST_F(SearchingLoop, AfterACrashTheSearchGoesOnAndTheCandidateIsTheSame) {
    settings_.recipes = {searcher(), plain()};
    settings_.recipes.front().options.set_fallback("min_rows_in_leaf", int64_t{5});
    const size_t looks = crash("whole", 0);
    const auto whole = open("whole")->runs().value().at(0);
    ASSERT_EQ(whole.figures.at("choice").empty(), false) << whole.message;
    ASSERT_GT(looks, 3 * 2 * 8 * 2u) << "a search for each fold of the choice";
    for (const size_t at : {size_t{1}, looks / 3, looks - 2}) {
        const auto folder = fmt::format("crash-{}", at);
        ASSERT_EQ(crash(folder, at), at);
        size_t again = 0;
        const auto trainer = open(folder, [&]() -> double { return ++again, 0; });
        ASSERT_TRUE(trainer->finish_started());
        const auto run = trainer->runs().value().at(0);
        EXPECT_EQ(run.candidate, whole.candidate);
        EXPECT_EQ(run.figures, whole.figures);
        EXPECT_LE(again, looks - at + 2 * 2) << "the fits of one trial are done again";
        EXPECT_GE(again, looks - at);
    }
}

}  // namespace
}  // namespace rampart::retraining
