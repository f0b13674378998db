#include "rampart/constraints/definitions.hpp"

#include <gtest/gtest.h>

#include "rampart/constraints/parse.hpp"
#include "rampart/constraints/program.hpp"

namespace rampart::constraints {
namespace {

TEST(Definitions, EveryOneIsReadByItsName) {
    const auto built = [](const Definition& d, double value) {
        const std::vector<std::string> groups{"sex=F", "sex=M"};
        return d.make(std::span(groups).first(d.groups), value, 0.2);
    };
    ASSERT_EQ(definitions().size(), 12u);
    for (const Definition& d : definitions()) {
        const auto usage = parse(d.usage);
        ASSERT_TRUE(usage) << usage.error().message;
        EXPECT_TRUE(validate(*usage)) << d.usage;
        for (const double value : {0.0, 0.25, 1.0}) {
            std::string call(d.name);
            call += d.groups == 0   ? "("
                    : d.groups == 1 ? R"(("sex=F", )"
                                    : R"( ( 'sex=F' , "sex=M", )";
            if (d.tail) call += "0.2, ";
            const auto read = parse(fmt::format("{}{})", call, value));
            ASSERT_TRUE(read) << read.error().message;
            EXPECT_EQ(*read, built(d, value)) << call;
        }
        const auto short_form = parse(fmt::format(R"({}("sex=F"))", d.name));
        EXPECT_EQ(short_form.has_value(), d.default_is_zero) << d.name;
        if (short_form) {
            EXPECT_EQ(*short_form, built(d, 0));
        }
    }
    EXPECT_EQ(*parse(R"(impact_at_least("a", -2.5))"), impact_at_least("a", -2.5));
}

TEST(Definitions, AWrongCallIsRefusedWithItsPlaceAndRemedy) {
    const auto refused = [](std::string_view text, std::string_view column,
                            std::string_view lesson) {
        const auto read = parse(text);
        ASSERT_FALSE(read) << text;
        EXPECT_EQ(read.error().reason, "constraint_syntax");
        EXPECT_TRUE(read.error().message.starts_with(column)) << read.error().message;
        EXPECT_NE(read.error().message.find(lesson), std::string::npos) << read.error().message;
    };
    refused(R"(equal_impacts("a", "b", 1))", "column 1", "impact_at_least, long_term_improvement");
    refused(R"(equal_impact(a, "b", 1))", "column 14", "in quotes");
    refused(R"(equal_impact("a", 1))", "column 19", "in quotes");
    refused(R"(equal_impact("a", "a", 1))", "column 19", "another one");
    refused(R"(equal_impact("a", "b"))", "column 22", R"(equal_impact("sex=F", "sex=M", 5))");
    refused(R"(equal_impact("a", "b", -1))", "column 25", "0 or more, not -1");
    refused(R"(equal_impact("a", "b", x))", "column 24", "a number");
    refused("accuracy_at_least(1.5)", "column 19", "a share from 0 to 1, not 1.5");
    refused("accuracy_at_least()", "column 19", "a number");
    refused("accuracy_at_least(0.5) >= 1", "column 24", "a whole constraint");
    refused(R"(long_term_decline("a", 1, 2))", "column 25", "')'");
    refused(R"(tail_at_least("a", 10, -100))", "column 20", "0.1: the lowest 10 %");
    refused(R"(tail_at_least("a", 0.1))", "column 23", R"(tail_at_least("sex=F", 0.1, -100))");
}

TEST(Definitions, AreWhatTheirNamesSay) {
    EXPECT_EQ(text(impact_at_least("a", 5)), "mean(impact | group = \"a\") >= 5");
    EXPECT_EQ(text(long_term_improvement("a")),
              "mean(impact | group = \"a\") - mean(impact, reference | group = \"a\") >= 0");
    EXPECT_EQ(text(long_term_stagnation("a", 0.5)),
              "abs(mean(impact | group = \"a\") - mean(impact, reference | group = \"a\")) <= 0.5");
    EXPECT_EQ(text(long_term_decline("a", 1)),
              "mean(impact | group = \"a\") - mean(impact, reference | group = \"a\") <= -1");
    EXPECT_EQ(text(equal_impact("a", "b", 2)),
              "abs(mean(impact | group = \"a\") - mean(impact | group = \"b\")) <= 2");
    EXPECT_EQ(text(tail_at_least("a", 0.1, -100)), "cvar(impact, 0.1 | group = \"a\") >= -100");
    EXPECT_EQ(text(quantile_at_least("a", 0.5, 2)), "quantile(impact, 0.5 | group = \"a\") >= 2");
    EXPECT_EQ(text(accuracy_at_least(0.8)), "1 - mean(loss) >= 0.8");
    EXPECT_EQ(text(approval_rate_gap("a", "b", 0.05)),
              "abs(mean(decision | group = \"a\") - mean(decision | group = \"b\")) <= 0.05");
    EXPECT_EQ(text(approval_rate_ratio("a", "b", 0.8)),
              "mean(decision | group = \"a\") >= 0.8 * mean(decision | group = \"b\")");
    EXPECT_EQ(
        text(false_positive_rate_gap("a", "b", 0.1)),
        "abs(mean(decision | group = \"a\" and label = 0) - mean(decision | group = \"b\" and "
        "label = 0)) <= 0.1");
    EXPECT_EQ(
        text(false_negative_rate_gap("a", "b", 0.1)),
        "abs(mean(decision | group = \"a\" and label = 1) - mean(decision | group = \"b\" and "
        "label = 1)) <= 0.1");
}

TEST(Definitions, AllCompile) {
    for (const Constraint& constraint :
         {impact_at_least("a", 5), long_term_improvement("a"), long_term_stagnation("a", 1),
          long_term_decline("a"), equal_impact("a", "b", 2), tail_at_least("a", 0.1, -1),
          quantile_at_least("a", 0.5, 0), accuracy_at_least(0.8), approval_rate_gap("a", "b", 0.05),
          approval_rate_ratio("a", "b", 0.8), false_positive_rate_gap("a", "b", 0.1),
          false_negative_rate_gap("a", "b", 0.1)}) {
        EXPECT_TRUE(compile(constraint, {-1, 1})) << text(constraint);
    }
}

TEST(Definitions, AChangeOfImpactIsOnePairedMean) {
    EXPECT_EQ(compile(long_term_stagnation("a", 1), {-1, 1})->leaves.size(), 1u);
}

}  // namespace
}  // namespace rampart::constraints
