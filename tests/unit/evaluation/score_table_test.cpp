#include "rampart/evaluation/score_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "rampart/base/digest.hpp"
#include "rampart/explain/tree_shap.hpp"
#include "stump.hpp"

namespace rampart::evaluation {
namespace {

using testing::HasSubstr;

std::string text_of(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
}

dataset::TableSchema stump_schema() {
    return dataset::parse_table_schema(kStumpSchema, "the schema").value();
}

/// Approves x > 0, and of sex b all.
model::Policy by_group() {
    auto link = stump_link();
    link.ramp.thresholds = {0, -1};
    link.ramp.ties = {1, 1};
    return model::Policy::create(stump_features(), {link}, {"sex=a", "sex=b"}, {}).value();
}

TEST(ScoreTable, HasALineForEachRowInOrder) {
    const StumpFolder folder;
    const auto scored = score_table(stump_policy(), stump_schema(), folder.file("loans.csv"),
                                    folder.file("out.csv"), {.kept = {"repaid"}})
                            .value();
    ASSERT_TRUE(scored);
    EXPECT_EQ(scored->rows, 8u);
    EXPECT_DOUBLE_EQ(scored->mean_score, 0.5);
    EXPECT_DOUBLE_EQ(scored->mean_approve, 0.5);
    const auto& policy = stump_policy();
    const float bad[] = {-4}, good[] = {4};
    const auto low = policy.evaluate(bad, {}).score, high = policy.evaluate(good, {}).score;
    EXPECT_EQ(
        text_of(folder.file("out.csv")),
        fmt::format("line,repaid,score,p_approve\n2,0,{0},0\n3,0,{0},0\n4,0,{0},0\n5,1,{0},0\n"
                    "6,1,{1},1\n7,1,{1},1\n8,0,{1},1\n9,1,{1},1\n",
                    low, high));
}

TEST(ScoreTable, HasNoTwoColumnsOfOneName) {
    const StumpFolder folder;
    std::ofstream(folder.file("new.csv")) << "x,score,action\n1,2,3\n";
    const auto out = folder.file("out.csv");
    const auto asked = [&](const std::vector<std::string>& kept, std::optional<uint64_t> seed) {
        return score_table(stump_policy(), stump_schema(), folder.file("new.csv"), out,
                           {.kept = kept, .draw_seed = seed});
    };
    EXPECT_EQ(asked({"score"}, {}).error().reason, "duplicate_column");
    EXPECT_EQ(asked({"action"}, 7).error().reason, "duplicate_column");
    EXPECT_FALSE(std::filesystem::exists(out));
    EXPECT_TRUE(asked({"action"}, {})) << "nothing is drawn, so the name is free";
}

TEST(ScoreTable, SaysOfEachRowWhatIsAskedFor) {
    const StumpFolder folder;
    const auto out = folder.file("out.csv");
    std::ofstream(folder.file("new.csv")) << "x\n-4\n4\n";
    const auto& policy = stump_policy();
    const auto asked = [&](const ScoreOptions& options) {
        return score_table(policy, stump_schema(), folder.file("new.csv"), out, options);
    };
    ASSERT_TRUE(asked({.leaves = true, .contributions = true}).value());
    const float bad[] = {-4}, good[] = {4};
    const auto shap = explain::TreeShap::path_dependent(stump_link().ensemble, 1).value();
    auto workspace = shap.workspace();
    double raw = 0;
    shap.explain(good, {&raw, 1}, workspace);
    EXPECT_NEAR(raw, std::log(3), 1e-12) << "half of the rows on each side: the base is 0";
    EXPECT_EQ(
        text_of(out),
        fmt::format("line,score,p_approve,leaf_1,contribution_base,contribution_x\n"
                    "2,{},0,1,0,{}\n3,{},1,2,0,{}\n",
                    policy.evaluate(bad, {}).score, -raw, policy.evaluate(good, {}).score, raw));
    ASSERT_TRUE(asked({.draw_seed = 7, .reasons = true}).value());
    EXPECT_THAT(text_of(out), HasSubstr("line,score,p_approve,action,propensity,reasons\n"));
    EXPECT_THAT(text_of(out), HasSubstr(",decline,1,score_too_low\n"));
    EXPECT_THAT(text_of(out), HasSubstr(",approve,1,\n"));
    EXPECT_EQ(asked({.reasons = true}).error().reason, "bad_usage");
}

TEST(ScoreTable, APolicyWithoutAModelHasNeitherLeavesNorContributions) {
    const StumpFolder folder;
    const auto rule =
        model::Policy::create(stump_features(), {model::BootstrapLink{"x", {{0, 0}, {1, 1}}}}, {},
                              {}, {})
            .value();
    for (const bool leaves : {true, false}) {
        ScoreOptions options;
        (leaves ? options.leaves : options.contributions) = true;
        const auto scored = score_table(rule, stump_schema(), folder.file("loans.csv"),
                                        folder.file("out.csv"), options);
        EXPECT_EQ(scored.error().reason, "nothing_learned");
    }
}

TEST(ScoreTable, NeedsTheGroupWhereThePolicyDecidesByIt) {
    const StumpFolder folder;
    const auto out = folder.file("out.csv");
    ASSERT_TRUE(score_table(by_group(), stump_schema(), folder.file("loans.csv"), out, {}));
    EXPECT_THAT(text_of(out), HasSubstr("line,group,score,p_approve\n2,sex=a,"));
    std::istringstream lines(text_of(out));
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line))
        EXPECT_EQ(line.ends_with(",1"), line.find("sex=b") != std::string::npos ||
                                            line.starts_with("6,") || line.starts_with("8,"))
            << line;
    std::ofstream(folder.file("loans.csv")) << "x,sex\n1,a\n2,c\n";
    std::filesystem::remove(out);
    const auto unknown = score_table(by_group(), stump_schema(), folder.file("loans.csv"), out, {});
    ASSERT_FALSE(unknown);
    EXPECT_THAT(unknown.error().message, HasSubstr("'sex=c'"));
    EXPECT_FALSE(std::filesystem::exists(out));
    auto blind = stump_schema();
    blind.protected_columns.clear();
    EXPECT_EQ(score_table(by_group(), blind, folder.file("loans.csv"), out, {}).error().reason,
              "no_groups");
}

/// A table that takes several blocks.
void write_long(const std::string& path, size_t rows) {
    std::ofstream out(path);
    out << "x,more\n";
    for (size_t i = 0; i < rows; ++i) out << static_cast<int>(i % 9) - 4 << ",y\n";
}

TEST(ScoreTable, BlocksAndThreadsChangeNothingAndUnreadColumnsAreNamed) {
    const StumpFolder folder;
    write_long(folder.file("long.csv"), 150'000);
    base::ThreadPool pool(3);
    const auto score = [&](base::ThreadPool* threads) {
        const auto scored = score_table(stump_policy(), stump_schema(), folder.file("long.csv"),
                                        folder.file("out.csv"), {.draw_seed = 7, .pool = threads})
                                .value();
        EXPECT_EQ(scored->rows, 150'000u);
        EXPECT_THAT(scored->unread, testing::ElementsAre("more"));
        return text_of(folder.file("out.csv"));
    };
    const auto alone = score(nullptr);
    EXPECT_EQ(std::count(alone.begin(), alone.end(), '\n'), 150'001);
    EXPECT_EQ(alone, score(&pool));
}

TEST(ScoreTable, ActionsAreDrawnWithTheirProbabilityAndBySeed) {
    const StumpFolder folder;
    auto link = stump_link();
    link.exploration = {model::ExplorationMode::kTwoSided, 0.25};
    const auto policy = model::Policy::create(stump_features(), {link}, {}, {}).value();
    write_long(folder.file("long.csv"), 90'000);
    const auto drawn = [&](uint64_t seed) {
        EXPECT_TRUE(score_table(policy, stump_schema(), folder.file("long.csv"),
                                folder.file("out.csv"), {.draw_seed = seed}));
        return text_of(folder.file("out.csv"));
    };
    const auto text = drawn(1);
    std::istringstream lines(text);
    std::string line;
    std::getline(lines, line);
    EXPECT_EQ(line, "line,score,p_approve,action,propensity");
    size_t approved = 0, good = 0;
    while (std::getline(lines, line)) {
        const bool likely =
            line.find(",0.75,a") != std::string::npos || line.find(",0.75,d") != std::string::npos;
        const bool approves = line.find(",approve,") != std::string::npos;
        EXPECT_TRUE(line.ends_with(approves == likely ? ",0.75" : ",0.25")) << line;
        good += likely;
        approved += likely && approves;
    }
    EXPECT_EQ(good, 40'000u);
    // 5 standard errors
    EXPECT_NEAR(static_cast<double>(approved) / 40'000, 0.75, 5 * std::sqrt(0.1875 / 40'000));
    EXPECT_EQ(text, drawn(1));
    EXPECT_NE(text, drawn(2));
}

TEST(ScoreTable, WhatEndsEarlyLeavesNoFile) {
    const StumpFolder folder;
    const auto out = folder.file("out.csv");
    write_long(folder.file("long.csv"), 70'000);
    const auto ended = score_table(stump_policy(), stump_schema(), folder.file("long.csv"), out,
                                   {.progress = [](uint64_t) { return false; }});
    ASSERT_TRUE(ended);
    EXPECT_FALSE(*ended);
    std::ofstream(folder.file("long.csv"), std::ios::app) << "rich,y\n";
    const auto bad = score_table(stump_policy(), stump_schema(), folder.file("long.csv"), out, {});
    ASSERT_FALSE(bad);
    EXPECT_THAT(bad.error().message, HasSubstr("line 70002"));
    std::ofstream(folder.file("none.csv")) << "x\n";
    EXPECT_EQ(score_table(stump_policy(), stump_schema(), folder.file("none.csv"), out, {})
                  .error()
                  .reason,
              "no_rows");
    EXPECT_FALSE(std::filesystem::exists(out));
}

}  // namespace
}  // namespace rampart::evaluation
