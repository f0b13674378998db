#include "rampart/constraints/program.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace rampart::constraints {
namespace {

constexpr Interval kImpact{-150, 75};

Program compiled(std::string_view constraint) {
    auto program = compile(constraint, kImpact);
    EXPECT_TRUE(program) << constraint << ": " << (program ? "" : program.error().message);
    return program ? *program : Program{};
}

std::vector<std::string> leaves(const Program& program) {
    std::vector<std::string> out;
    for (const Leaf& leaf : program.leaves) out.push_back(text(leaf));
    return out;
}

using Names = std::vector<std::string>;
using Ends = std::vector<End>;

TEST(Compile, JoinsTwoPoliciesUnderOneConditionToOnePairedMean) {
    const auto program =
        compiled("mean(impact | group = \"a\") >= mean(impact, reference | group = \"a\") - 0.5");
    EXPECT_EQ(leaves(program), Names{"mean(impact | group = \"a\") - mean(impact, reference | "
                                     "group = \"a\")"});
    ASSERT_EQ(program.statements.size(), 1u);
    EXPECT_EQ(program.statements[0].needs, (Ends{{0, false}}));
}

TEST(Compile, PairsWhateverTheOrderAndWithinBrackets) {
    EXPECT_EQ(leaves(compiled("2 * (mean(loss, anchor) - 1 - mean(loss)) >= 0")),
              Names{"mean(loss) - mean(loss, anchor)"});
    const auto program = compiled("-(mean(loss) - mean(loss, reference)) >= -0.01");
    EXPECT_EQ(leaves(program), Names{"mean(loss) - mean(loss, reference)"});
    EXPECT_EQ(program.statements[0].needs, (Ends{{0, true}}));
}

TEST(Compile, DoesNotPairWhatDiffersInQuantityConditionOrFactor) {
    EXPECT_EQ(
        compiled("mean(decision | a = 1) - mean(decision, reference | a = 2) >= 0").leaves.size(),
        2u);
    EXPECT_EQ(compiled("mean(loss) - mean(decision, reference) >= 0").leaves.size(), 2u);
    EXPECT_EQ(compiled("mean(decision) - 0.9 * mean(decision, reference) >= 0").leaves.size(), 2u);
    EXPECT_EQ(compiled("mean(decision) + mean(decision, reference) >= 0").leaves.size(), 2u);
}

TEST(Compile, AsksForTheEndThatHurtsAndNoOther) {
    EXPECT_EQ(
        compiled("mean(decision | a = 1) - mean(decision | a = 2) >= -0.1").statements[0].needs,
        (Ends{{0, false}, {1, true}}));
    EXPECT_EQ(compiled("1 - mean(loss) >= 0.8").statements[0].needs, (Ends{{0, true}}));
    EXPECT_EQ(compiled("-2 * mean(loss) / -3 <= 0.8").statements[0].needs, (Ends{{0, true}}));
    // both are rates, so that each of them only helps
    EXPECT_EQ(
        compiled("mean(decision | a = 1) * mean(decision | a = 2) >= 0.1").statements[0].needs,
        (Ends{{0, false}, {1, false}}));
    // an impact may have either sign
    EXPECT_EQ(compiled("mean(impact | a = 1) * mean(decision | a = 2) >= 0.1").statements[0].needs,
              (Ends{{0, false}, {1, false}, {1, true}}));
    EXPECT_EQ(compiled("max(mean(loss | a = 1), mean(loss | a = 2)) >= 0.1").statements[0].needs,
              (Ends{{0, false}, {1, false}}));
    EXPECT_EQ(compiled("abs(mean(loss) - 0.5) >= 0.1").statements[0].needs,
              (Ends{{0, false}, {0, true}}));
}

TEST(Compile, AsksForBothEndsOfADivisor) {
    EXPECT_EQ(
        compiled("mean(decision | a = 1) / mean(decision | a = 2) >= 0.8").statements[0].needs,
        (Ends{{0, false}, {1, false}, {1, true}}));
}

TEST(Compile, ATailBecomesTheMeansThatBoundTheEndsThatItNeeds) {
    const auto floor = compiled("cvar(impact, 0.1, reference | a = 1) >= -100");
    EXPECT_EQ(leaves(floor),
              Names{"mean(min(impact - c, 0), reference | a = 1), c of the lower end of "
                    "cvar(impact, 0.1, reference | a = 1)"});
    EXPECT_EQ(floor.statements[0].needs, (Ends{{0, false}}));
    const auto ceiling = compiled("cvar(impact, 0.1) <= -100");
    EXPECT_EQ(leaves(ceiling),
              (Names{"mean(min(impact - c, 0)), c of the upper end of cvar(impact, 0.1)",
                     "mean(impact < c), c of the upper end of cvar(impact, 0.1)"}));
    EXPECT_EQ(ceiling.statements[0].needs, (Ends{{0, true}, {1, false}, {1, true}}));
    const auto gap = compiled("abs(quantile(impact, 0.5 | a = 1) - quantile(impact, 0.5)) <= 5");
    EXPECT_EQ(gap.leaves.size(), 4u);
    EXPECT_EQ(gap.statements[0].needs, (Ends{{0, false}, {1, true}})) << text(gap.leaves[0]);
    EXPECT_EQ(gap.statements[1].needs, (Ends{{2, true}, {3, false}}));
}

TEST(Propagate, AQuantileAtExactlyItsShare) {
    const Formula quantile{.kind = Formula::Kind::kQuantile,
                           .number = 0.25,
                           .parts = {{.kind = Formula::Kind::kLeaf, .leaf = 0},
                                     {.kind = Formula::Kind::kLeaf, .leaf = 1}}};
    const std::vector<double> c{-40, -30};
    const auto with = [&](double below, double up_to) {
        const std::vector<Known> shares{Interval{0, below}, Interval{up_to, 1}};
        return propagate(quantile, shares, {kImpact, c}).value();
    };
    const double less = std::nextafter(0.25, 0);
    // it is at least c where less than a quarter lies below c, and at most c where a quarter does
    // not exceed it
    EXPECT_EQ(with(less, 0.25), (Interval{-40, -30}));
    EXPECT_EQ(with(0.25, 0.25), (Interval{kImpact.lo, -30}));
    EXPECT_EQ(with(less, less), (Interval{-40, kImpact.hi}));
}

TEST(Compile, AQuantileThatIsComparedWithANumberIsAShareAtThisNumber) {
    EXPECT_EQ(leaves(compiled("quantile(impact, 0.1) >= -30")), Names{"mean(impact < -30)"});
    EXPECT_EQ(leaves(compiled("-30 >= quantile(impact, 0.1)")), Names{"mean(impact <= -30)"});
    EXPECT_EQ(leaves(compiled("2 * quantile(impact, 0.1) >= -30")),
              Names{"mean(impact < c), c of the lower end of quantile(impact, 0.1)"});
}

TEST(Compile, PairsSharesAtOneNumberButNoTails) {
    EXPECT_EQ(leaves(compiled("mean(impact < 3) - mean(impact < 3, reference) <= 0.1")),
              Names{"mean(impact < 3) - mean(impact < 3, reference)"});
    for (const char* other : {"mean(impact < 4, reference)", "mean(impact <= 3, reference)",
                              "mean(impact, reference)"}) {
        EXPECT_EQ(compiled(fmt::format("mean(impact < 3) - {} <= 0.1", other)).leaves.size(), 2u);
    }
    EXPECT_EQ(compiled("cvar(impact, 0.1) - cvar(impact, 0.1, reference) >= 0").leaves.size(), 3u);
    EXPECT_EQ(compile("cvar(impact, 0.1) - cvar(impact, 0.1) >= 0", kImpact).error().reason,
              "constraint_empty");
}

TEST(Propagate, ATailWithoutAThresholdOrABoundOfAMeanHasNoInterval) {
    const auto program = compiled("cvar(impact, 0.1) >= -100");
    const Formula& formula = program.statements[0].formula;
    const std::vector<Known> known{Interval{-2, 0}}, unknown{std::nullopt};
    const std::vector<double> c{-60};
    EXPECT_EQ(propagate(formula, known, {kImpact, c}), (Interval{20, 175}));
    EXPECT_EQ(propagate(formula, unknown, {kImpact, c}), std::nullopt);
    EXPECT_EQ(propagate(formula, known, {kImpact, {}}), std::nullopt);
    const std::vector<double> none{std::nan("")};
    EXPECT_EQ(propagate(formula, known, {kImpact, none}), std::nullopt);
}

TEST(Compile, MakesAStatementOfEachThingThatIsSaid) {
    const auto gap = compiled("abs(mean(decision | a = 1) - mean(decision | a = 2)) <= 0.05");
    ASSERT_EQ(gap.statements.size(), 2u);
    EXPECT_EQ(gap.statements[0].needs, (Ends{{0, true}, {1, false}}));
    EXPECT_EQ(gap.statements[1].needs, (Ends{{0, false}, {1, true}}));
    EXPECT_EQ(compiled("min(mean(loss | a = 1), mean(loss | a = 2)) >= 0.1").statements.size(), 2u);
    EXPECT_EQ(compiled("max(mean(loss | a = 1), mean(loss | a = 2)) <= 0.1").statements.size(), 2u);
    EXPECT_EQ(compiled("2 * abs(mean(loss)) / 3 + abs(mean(decision)) <= 1").statements.size(), 4u);
    EXPECT_EQ(compiled("abs(mean(loss)) >= 1").statements.size(), 1u);
}

TEST(Compile, ALeafThatStandsTwiceIsBoundedOnce) {
    const auto program = compiled("mean(label) / (mean(label) + mean(loss)) >= 0.1");
    EXPECT_EQ(program.leaves.size(), 2u);
    EXPECT_EQ(program.statements[0].needs.size(), 4u);
}

TEST(Compile, RefusesWhatSaysNothingOfTheData) {
    for (const char* constraint : {"mean(loss) - mean(loss) >= 0",
                                   "max(1, 2) >= 0 * mean(loss) - mean(loss) + mean(loss)"}) {
        const auto program = compile(constraint, kImpact);
        if (program) {
            // 0 * mean needs an end although it says nothing; that is harmless
            EXPECT_FALSE(program->statements[0].needs.empty()) << constraint;
            continue;
        }
        EXPECT_EQ(program.error().reason, "constraint_empty");
    }
    EXPECT_EQ(compile("mean(loss) - mean(loss) >= 0", kImpact).error().reason, "constraint_empty");
    EXPECT_EQ(compile("min(mean(loss), 1) >= 0", kImpact).error().reason, "constraint_empty");
}

TEST(Compile, HasLimits) {
    const auto sum_of = [](const std::string& begin, size_t count, const std::string& end) {
        std::string out;
        for (size_t i = 0; i < count; ++i) {
            out += fmt::format("{}{}mean(loss | a = {}){}", i == 0 ? "" : " + ", begin, i, end);
        }
        return out + " <= 1";
    };
    EXPECT_TRUE(compile(sum_of("", kMaxLeaves, ""), kImpact));
    EXPECT_EQ(compile(sum_of("", kMaxLeaves + 1, ""), kImpact).error().reason, "constraint_limit");
    EXPECT_EQ(compiled(sum_of("abs(", 5, " - 1)")).statements.size(), kMaxStatements);
    EXPECT_EQ(compile(sum_of("abs(", 6, " - 1)"), kImpact).error().reason, "constraint_limit");
    EXPECT_EQ(compile("mean(loss) <= 1", {1, 1}).error().reason, "bad_impact_range");
}

TEST(Propagate, GoesThroughTheWholeFormula) {
    const auto program = compiled("mean(decision | a = 1) / mean(decision | a = 2) >= 0.5");
    const std::vector<Known> known{Interval{0.25, 0.5}, Interval{0.25, 0.5}};
    EXPECT_EQ(propagate(program.statements[0].formula, known), (Interval{0, 1.5}));
    const std::vector<Known> unknown{Interval{0.25, 0.5}, Interval{0, 0.5}};
    EXPECT_EQ(propagate(program.statements[0].formula, unknown), std::nullopt);
}

TEST(RangeOf, IsWhatTheQuantityCanBe) {
    const auto program = compiled(
        "mean(impact) - mean(impact, anchor) + mean(decision) - "
        "mean(decision, reference) + mean(label) + mean(impact, reference) >= 0");
    std::vector<Interval> ranges;
    for (const Leaf& leaf : program.leaves) ranges.push_back(range_of(leaf, kImpact));
    EXPECT_EQ(ranges, (std::vector<Interval>{{-225, 225}, {-1, 1}, {0, 1}, {-150, 75}}));
}

}  // namespace
}  // namespace rampart::constraints
