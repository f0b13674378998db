#include "rampart/tuning/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "rampart/learning/learner.hpp"
#include "rampart/postprocessing/postprocessor.hpp"

namespace rampart::tuning {
namespace {

using learning::OptionValues;
using testing::HasSubstr;

OptionValues options(std::string_view learner) {
    return OptionValues(learning::find_learner(learner).value()->options());
}
OptionValues rule() {
    return OptionValues(
        postprocessing::find_postprocessor("statistical_parity").value()->options());
}

/// Reads a [search] of FairGBM.
base::Result<Plan> read(const std::string& text) {
    auto root = config::parse(text, "r.toml").value();
    auto table = root.table("search");
    Plan plan;
    read_plan(table, options("fairgbm"), rule(), plan);
    RAMPART_RETURN_IF_ERROR(root.finish());
    return plan;
}

constexpr const char* kAll = R"([search]
method = "halving"
trials = 9
folds = 4
seed = 12
seconds = 90

[search.ranges]
leaves = {from = 4, to = 63, log = true}
learning_rate = {from = 0.01, to = 0.3, log = true}
row_fraction = {from = 0.5, to = 1}
max_depth = [0, 3, 5]
proxy = ["cross_entropy", "hinge"]
postprocess.gamma = {from = 0.1, to = 0.5}
)";

TEST(Plan, IsReadAndItsTextIsReadAsTheSamePlan) {
    const auto plan = read(kAll);
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(plan->method, Method::kHalving);
    EXPECT_EQ(plan->trials, 9);
    EXPECT_EQ(plan->folds, 4);
    EXPECT_EQ(plan->seed, 12u);
    EXPECT_EQ(plan->seconds, 90);
    ASSERT_EQ(plan->ranges.size(), 6u);
    const auto text = to_toml(*plan);
    EXPECT_THAT(text, HasSubstr("learning_rate = {from = 0.01, to = 0.3, log = true}\n"));
    EXPECT_THAT(text, HasSubstr("proxy = [\"cross_entropy\", \"hinge\"]\n"));
    const auto again = read(text);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(to_toml(*again), text);
}

TEST(Plan, HasDefaults) {
    const auto plan = read("[search]\nranges.leaves = [7, 15]\n").value();
    EXPECT_EQ(to_string(plan.method), "random");
    EXPECT_EQ(plan.trials, 20);
    EXPECT_EQ(plan.folds, 3);
    EXPECT_FALSE(plan.seed);
    EXPECT_EQ(plan.seconds, 0);
}

TEST(Plan, BadOnesAreRefusedWithFileKeyValueAndRemedy) {
    const std::string head = "[search]\n[search.ranges]\n";
    for (const auto& [text, parts] : std::vector<std::pair<std::string, std::vector<std::string>>>{
             {"[search]\nmethod = \"grid\"\n", {"line 2", "search.method", "grid", "halving"}},
             {"[search]\ntrials = 0\n", {"search.trials", "is 0", "1 to 1000"}},
             {"[search]\nfolds = 1\n", {"search.folds", "2 to 10"}},
             {head + "leafs = [3, 4]\n", {"line 3", "search.ranges.leafs", "not a known key"}},
             {head + "learning_rate = {from = 0, to = 0.3}\n",
              {"line 3", "search.ranges.learning_rate.from", "is 0", "1e-06 to 1"}},
             {head + "learning_rate = {from = 0.3, to = 0.1}\n",
              {"learning_rate.to", "is 0.1 and from is 0.3", "larger"}},
             {head + "learning_rate = {from = 0.1}\n", {"learning_rate.to", "is required"}},
             {head + "l2 = {from = 0, to = 5, log = true}\n", {"l2.log", "from is 0", "above 0"}},
             {head + "leaves = {from = 2.5, to = 9}\n", {"leaves.from", "whole number"}},
             {head + "leaves = [7]\n", {"leaves", "fewer than two"}},
             {head + "leaves = [7, 1]\n", {"leaves", "whole numbers from 2"}},
             {head + "proxy = [\"cross_entropy\", \"spline\"]\n", {"proxy", "spline", "hinge"}},
             {head + "proxy = {from = 1, to = 2}\n", {"proxy.from", "list of texts"}},
             {head + "monotone = [\"a=increasing\", \"b=increasing\"]\n",
              {"monotone", "no number", "leave it out"}},
             {head + "paper_compat = [true, false]\n", {"paper_compat", "no number"}},
             {head + "tolerance = {from = 0.01, to = 0.2}\n",
              {"tolerance", "what is asked", "leave it out"}},
             {head + "threshold = {from = 0.4, to = 0.6}\n", {"threshold", "what is asked"}},
             {head + "postprocess.tolerance = {from = 0.01, to = 0.2}\n",
              {"search.ranges.postprocess.tolerance", "what is asked"}},
             {head + "postprocess.leaves = [3, 4]\n",
              {"search.ranges.postprocess.leaves", "not a known key"}}}) {
        const auto plan = read(text);
        ASSERT_FALSE(plan) << text;
        EXPECT_EQ(plan.error().reason, "bad_configuration");
        for (const auto& part : parts) EXPECT_THAT(plan.error().message, HasSubstr(part)) << text;
    }
}

TEST(Plan, WithoutARangeIsNoPlan) {
    const auto plan = read("[search]\ntrials = 5\n").value();
    EXPECT_EQ(validate(plan).error().reason, "no_range");
    EXPECT_TRUE(validate(read(kAll).value()));
}

TEST(Settings, LieWithinTheirRangesAndAreTheSameForTheSameSeedOnly) {
    const auto plan = read(kAll).value();
    auto learner = options("fairgbm");
    auto post = rule();
    const auto own = setting_of(plan, learner, post);
    const auto all = settings_of(plan, own, 3);
    ASSERT_EQ(all.size(), 9u);
    EXPECT_EQ(all.front(), own) << "the recipe's own, which lies within all ranges";
    EXPECT_EQ(all, settings_of(plan, own, 3));
    EXPECT_NE(all, settings_of(plan, own, 4));
    for (const auto& setting : all) {
        for (size_t i = 0; i < setting.size(); ++i)
            EXPECT_TRUE(plan.ranges[i].contains(setting[i])) << text_of(plan, setting);
        ASSERT_TRUE(apply(plan, setting, learner, post));
        EXPECT_EQ(setting_of(plan, learner, post), setting);
    }
    EXPECT_THAT(text_of(plan, all[1]), HasSubstr("postprocess.gamma=0."));
}

TEST(Settings, ARecipeOutsideOfItsRangesIsNotTried) {
    const auto plan = read("[search]\ntrials = 4\nranges.leaves = {from = 2, to = 5}\n").value();
    const auto own = setting_of(plan, options("fairgbm"), rule());  // 31 leaves
    for (const auto& setting : settings_of(plan, own, 1)) EXPECT_NE(setting, own);
}

TEST(Settings, OfFewChoicesEachIsTriedOnce) {
    const auto plan = read("[search]\nranges.leaves = [3, 7, 15]\nranges.max_depth = [2, 4]\n");
    ASSERT_TRUE(plan);
    const auto all = settings_of(*plan, {int64_t{31}, int64_t{0}}, 1);
    EXPECT_EQ(all.size(), 6u);
    EXPECT_EQ((std::set<Setting>(all.begin(), all.end()).size()), 6u);
}

TEST(Settings, ADrawDoesNotDependOnTheOtherRanges) {
    const auto one = read("[search]\nranges.l2 = {from = 0, to = 9}\n").value();
    const auto two =
        read("[search]\nranges.l1 = {from = 0, to = 1}\nranges.l2 = {from = 0, to = 9}\n").value();
    const auto alone = settings_of(one, {-1.0}, 5);
    const auto both = settings_of(two, {-1.0, -1.0}, 5);
    for (size_t i = 0; i < 20; ++i) EXPECT_EQ(alone[i][0], both[i][1]);
}

/// A third of the draws lies in each third of the range, on its own scale.
TEST(Settings, AreDrawnUniformlyOnTheScaleOfTheRange) {
    const auto plan = read(
                          "[search]\ntrials = 900\n[search.ranges]\n"
                          "learning_rate = {from = 0.001, to = 1, log = true}\n"
                          "row_fraction = {from = 0.1, to = 0.4}\n"
                          "max_bins = {from = 2, to = 4}\n")
                          .value();
    const auto all = settings_of(plan, {2.0, int64_t{1}, 2.0}, 8);
    ASSERT_EQ(all.size(), 900u);
    std::array<std::array<int, 3>, 3> count{};
    for (const auto& one : all) {
        const double rate = std::get<double>(one[0]), rows = std::get<double>(one[2]);
        ++count[0][rate < 0.01 ? 0 : rate < 0.1 ? 1 : 2];
        ++count[1][rows < 0.2 ? 0 : rows < 0.3 ? 1 : 2];
        ++count[2][static_cast<size_t>(std::get<int64_t>(one[1])) - 2];
    }
    for (const auto& thirds : count)
        for (const int n : thirds) EXPECT_NEAR(n, 300, 5 * 14.2) << "five standard errors";
}

}  // namespace
}  // namespace rampart::tuning
