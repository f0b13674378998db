#include "rampart/tuning/search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <set>

#include "rampart/learning/reasons.hpp"

namespace rampart::tuning {
namespace {

using testing::HasSubstr;

Plan plan_of(Method method, int trials) {
    return {.method = method,
            .trials = trials,
            .folds = 3,
            .ranges = {{.option = "x", .from = 0, .to = 1}}};
}

double x_of(const Setting& setting) { return std::get<double>(setting[0]); }

/// Loss that is least at x = 0.3, more so with a larger share; folds differ.
FoldValue bowl(const Setting& setting, double share, size_t fold) {
    const double x = x_of(setting);
    const auto weight = static_cast<double>(fold) + 1;
    return {.loss = weight * ((x - 0.3) * (x - 0.3) + 1 - share), .weight = weight};
}

const Problem kBowl{.value = [](const Setting& s, double share, size_t fold) {
    return base::Result<FoldValue>(bowl(s, share, fold));
}};

TEST(Rungs, OfRandomSearchIsOneWithEverything) {
    EXPECT_EQ(rungs_of(Method::kRandom, 20), (std::vector<Rung>{{1, 20}}));
}

TEST(Rungs, OfHalvingKeepAThirdWithThreeTimesAsMuch) {
    EXPECT_EQ(rungs_of(Method::kHalving, 9),
              (std::vector<Rung>{{1.0 / 9, 9}, {3.0 / 9, 3}, {1, 1}}));
    EXPECT_EQ(rungs_of(Method::kHalving, 8), (std::vector<Rung>{{1.0 / 3, 8}, {1, 2}}));
    EXPECT_EQ(rungs_of(Method::kHalving, 2), (std::vector<Rung>{{1, 2}}));
    EXPECT_EQ(rungs_of(Method::kHalving, 81).size(), 5u);
}

TEST(Search, FindsTheBestOfWhatItTries) {
    const auto plan = plan_of(Method::kRandom, 30);
    const auto found = search(plan, {0.9}, 1, kBowl, {}).value();
    ASSERT_EQ(found.trials.size(), 30u);
    EXPECT_EQ(found.trials.front().values, "x=0.9") << "the recipe's own";
    for (const auto& one : found.trials) EXPECT_LE(found.best.score, one.score);
    EXPECT_NEAR(x_of(found.setting), 0.3, 0.1);
    EXPECT_EQ(text_of(plan, found.setting), found.best.values);
    EXPECT_NEAR(found.best.score, std::pow(x_of(found.setting) - 0.3, 2), 1e-15)
        << "weighted by the rows of each fold";
}

TEST(Search, HalvingTriesFewWithEverythingAndTakesTheBestOfThose) {
    const auto found = search(plan_of(Method::kHalving, 27), {0.9}, 1, kBowl, {}).value();
    EXPECT_EQ(found.trials.size(), 27u + 9 + 3 + 1);
    EXPECT_EQ(found.best.share, 1);
    const auto all = search(plan_of(Method::kRandom, 27), {0.9}, 1, kBowl, {}).value();
    EXPECT_EQ(found.setting, all.setting) << "the order is the same with every share";
}

/// A trial that misses a constraint loses against each that keeps it, however good its score.
TEST(Search, ConstraintsComeFirst) {
    Problem problem = kBowl;
    problem.value = [](const Setting& s, double share, size_t fold) {
        auto value = bowl(s, share, fold);
        value.excess = fold == 1 && x_of(s) < 0.5 ? 0.5 - x_of(s) : 0;
        return base::Result<FoldValue>(value);
    };
    const auto found = search(plan_of(Method::kRandom, 30), {0.9}, 1, problem, {}).value();
    EXPECT_GE(x_of(found.setting), 0.5);
    EXPECT_EQ(found.best.excess, 0);
    problem.excess = [](const Setting& s, std::span<const FoldValue> folds) {
        EXPECT_EQ(folds.size(), 3u);
        return base::Result<double>(2 + x_of(s));
    };
    const auto none = search(plan_of(Method::kRandom, 30), {0.9}, 1, problem, {}).value();
    for (const auto& one : none.trials) EXPECT_GE(one.excess, none.best.excess) << "the least";
    EXPECT_GT(none.best.excess, 2);
    problem.excess = [](const Setting&, std::span<const FoldValue>) {
        return base::Result<double>(-1.0);
    };
    const auto kept = search(plan_of(Method::kRandom, 30), {0.9}, 1, problem, {}).value();
    EXPECT_EQ(kept.setting, found.setting) << "within the tolerance is within the tolerance";
}

TEST(Search, IsTheSameForAnyNumberOfThreads) {
    for (const auto method : {Method::kRandom, Method::kHalving}) {
        const auto plan = plan_of(method, 20);
        const auto one = search(plan, {0.5}, 4, kBowl, {}).value();
        base::ThreadPool pool(3);
        std::vector<size_t> steps;
        const auto three =
            search(plan, {0.5}, 4, kBowl,
                   {.pool = &pool, .progress = [&](size_t done, size_t) { steps.push_back(done); }})
                .value();
        const auto of = base::sha256("");
        EXPECT_EQ(encode(of, three.trials), encode(of, one.trials));
        EXPECT_EQ(three.setting, one.setting);
        EXPECT_EQ(steps.size(), one.trials.size() * 3);
        EXPECT_EQ(steps.back(), steps.size());
    }
}

/// Stops the search when `after` trials are kept, and goes on: nothing is done twice.
TEST(Search, GoesOnWhereItWasToTheBit) {
    const auto of = base::sha256("");
    for (const auto method : {Method::kRandom, Method::kHalving}) {
        const auto plan = plan_of(method, 12);
        const auto whole = search(plan, {0.5}, 4, kBowl, {}).value();
        for (size_t after = 1; after < whole.trials.size(); ++after) {
            std::string kept;
            const auto stopped =
                search(plan, {0.5}, 4, kBowl, {.keep = [&](std::span<const Trial> trials) {
                           kept = encode(of, trials);
                           return trials.size() < after
                                      ? base::ok()
                                      : base::Status(base::make_error(
                                            learning::Reason::kTrainingStopped, "a crash"));
                       }});
            ASSERT_FALSE(stopped);
            std::atomic<size_t> fits = 0;
            Problem counted{.value = [&](const Setting& s, double share, size_t fold) {
                ++fits;
                return kBowl.value(s, share, fold);
            }};
            const auto resumed =
                search(plan, {0.5}, 4, counted, {.kept = decode(of, kept).value()}).value();
            EXPECT_EQ(fits, (whole.trials.size() - after) * 3);
            EXPECT_EQ(encode(of, resumed.trials), encode(of, whole.trials));
            EXPECT_EQ(resumed.setting, whole.setting);
        }
    }
}

TEST(Search, TrialsOfOtherSettingsAreNotTaken) {
    const auto plan = plan_of(Method::kRandom, 5);
    const std::vector<Trial> kept{{.setting = 1, .values = "x=0.7"}};
    EXPECT_EQ(search(plan, {0.5}, 4, kBowl, {.kept = kept}).error().reason, "bad_trials");
}

TEST(Search, ASettingThatCannotBeLearntByIsATrialThatFailed) {
    Problem problem{.value = [](const Setting& s, double share, size_t fold) {
        if (x_of(s) < 0.6)
            return base::Result<FoldValue>(base::make_error(learning::Reason::kNoModelFound, "no"));
        return base::Result<FoldValue>(bowl(s, share, fold));
    }};
    const auto found = search(plan_of(Method::kRandom, 20), {0.1}, 1, problem, {}).value();
    EXPECT_GE(x_of(found.setting), 0.6);
    EXPECT_EQ(found.trials.front().failed, "no");
    problem.value = [](const Setting&, double, size_t) {
        return base::Result<FoldValue>(FoldValue{.loss = std::nan(""), .weight = 1});
    };
    const auto none = search(plan_of(Method::kHalving, 9), {0.1}, 1, problem, {}).error();
    EXPECT_EQ(none.reason, "no_trial");
    EXPECT_THAT(none.message, HasSubstr("not a finite number"));
    problem.value = [](const Setting&, double, size_t) {
        return base::Result<FoldValue>(
            base::make_error(learning::Reason::kTrainingStopped, "enough"));
    };
    EXPECT_EQ(search(plan_of(Method::kRandom, 9), {0.1}, 1, problem, {}).error().reason,
              "training_stopped")
        << "not about the setting";
}

TEST(Search, BeginsNoTrialWhenItsTimeIsOver) {
    auto plan = plan_of(Method::kRandom, 20);
    plan.seconds = 10;
    double time = 0;
    const auto found = search(plan, {0.5}, 4, kBowl, {.seconds = [&] { return time++; }}).value();
    EXPECT_EQ(found.trials.size(), 4u) << "three folds of a second each";
    EXPECT_EQ(found.trials.front().seconds, 3);
    const auto again =
        search(plan, {0.5}, 4, kBowl, {.seconds = [&] { return time++; }, .kept = found.trials})
            .value();
    EXPECT_EQ(again.trials.size(), 4u) << "what was used up before is used up";
}

}  // namespace
}  // namespace rampart::tuning
