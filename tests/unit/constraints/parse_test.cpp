#include "rampart/constraints/parse.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace rampart::constraints {
namespace {

Constraint parsed(std::string_view text) {
    auto constraint = parse(text);
    EXPECT_TRUE(constraint) << text << ": " << (constraint ? "" : constraint.error().message);
    return constraint ? *constraint : Constraint{};
}

/// The refusal's message, after a check of its reason.
std::string refusal(std::string_view text, std::string_view reason = "constraint_syntax") {
    const auto constraint = parse(text);
    EXPECT_FALSE(constraint) << text;
    if (constraint) return "";
    EXPECT_EQ(constraint.error().code, base::ErrorCode::kInvalidArgument);
    EXPECT_EQ(constraint.error().reason, reason) << constraint.error().message;
    return constraint.error().message;
}

void expect_refusal(std::string_view text, std::string_view column, std::string_view lesson) {
    const std::string message = refusal(text);
    EXPECT_TRUE(message.starts_with(column)) << text << ": " << message;
    EXPECT_NE(message.find(lesson), std::string::npos) << text << ": " << message;
}

TEST(Parse, ReadsWhatTheBuildersBuild) {
    EXPECT_EQ(
        parsed("mean(impact | group = \"women\") - mean(impact, reference | group = 'women') >= 0"),
        at_least(mean(Quantity::kImpact, in_group("women")) -
                     mean(Quantity::kImpact, in_group("women"), Policy::kReference),
                 number(0)));
    EXPECT_EQ(parsed("1 - mean(loss, anchor) >= .8"),
              at_least(number(1) - mean(Quantity::kLoss, {}, Policy::kAnchor), number(0.8)));
    EXPECT_EQ(
        parsed("mean(label * decision | not (age < -2.5e1 or `own home` in (\"yes\")))\n<= 1"),
        at_most(mean(Quantity::kDecisionLabel, negated(any_of({compare("age", Relation::kLess, -25),
                                                               one_of("own home", {"yes"})}))),
                number(1)));
}

TEST(Parse, ReadsTails) {
    EXPECT_EQ(parsed("mean(impact <= -100, reference | group = \"a\") <= 0.05"),
              at_most(impact_share(Relation::kAtMost, -100, in_group("a"), Policy::kReference),
                      number(0.05)));
    EXPECT_EQ(
        parsed("cvar(impact, 0.1) >= quantile(impact, .25, anchor | age < 3) - 5"),
        at_least(cvar(0.1),
                 quantile(0.25, compare("age", Relation::kLess, 3), Policy::kAnchor) - number(5)));
    for (const char* text :
         {"mean(impact > -0.5) - mean(impact >= 1, anchor) >= 0",
          "cvar(impact, 0.1, reference | a = 1) >= -100", "quantile(impact, 0.5) <= 3"}) {
        EXPECT_EQ(constraints::text(parsed(text)), text);
    }
}

TEST(Parse, NamesOfTailsAreFreeAsNamesOfFeatures) {
    EXPECT_EQ(parsed("mean(loss | cvar > 3 and quantile in (\"a\")) <= 1").left.mean.condition,
              all_of({compare("cvar", Relation::kGreater, 3), one_of("quantile", {"a"})}));
}

TEST(Parse, TeachesWhatATailIs) {
    expect_refusal("cvar(impact, 10) >= 0", "column 14", "0.1: the lowest 10 %");
    expect_refusal("quantile(impact, 0) >= 0", "column 18", "more than 0");
    expect_refusal("quantile(impact, 1) >= 0", "column 18", "less than 1");
    expect_refusal("cvar(impact, -0.1) >= 0", "column 14", "more than 0");
    expect_refusal("cvar(impact, reference) >= 0", "column 14", "as in cvar(impact, 0.1)");
    expect_refusal("cvar(impact) >= 0", "column 12", "as in cvar(impact, 0.1)");
    expect_refusal("cvar(loss, 0.1) >= 0", "column 6", "cvar(impact, 0.1)");
    expect_refusal("mean(loss <= 0) >= 0", "column 11", "only an impact");
    expect_refusal("mean(impact = 0) >= 0", "column 13", "<, <=, > or >=");
    expect_refusal("mean(impact <= sex) >= 0", "column 16", "a number");
    for (const double alpha : {0.0, 1.0, -0.5, 1.5}) {
        EXPECT_FALSE(validate(at_least(cvar(alpha), number(0)))) << alpha;
    }
    EXPECT_FALSE(validate(at_least(impact_share(Relation::kEqual, 1), number(0))));
    EXPECT_FALSE(validate(at_least(cvar(std::nan("")), number(0))));
}

TEST(Parse, BindsTimesTighterThanPlusAndAndTighterThanOr) {
    const auto m = mean(Quantity::kDecision);
    EXPECT_EQ(parsed("1 + 2 * mean(decision) >= -3 - 4"),
              at_least(number(1) + number(2) * m, number(-3) - number(4)));
    EXPECT_EQ(parsed("8 / 4 / mean(decision) >= 1"),
              at_least(number(8) / number(4) / m, number(1)));
    EXPECT_EQ(
        parsed("mean(decision | a = 1 or b = 2 and c = 3) >= 0").left.mean.condition,
        any_of({compare("a", Relation::kEqual, 1),
                all_of({compare("b", Relation::kEqual, 2), compare("c", Relation::kEqual, 3)})}));
}

TEST(Parse, SaysTheCandidateWhenNoPolicyIsNamed) {
    EXPECT_EQ(parsed("mean(decision, candidate) >= 0"), parsed("mean(decision) >= 0"));
    EXPECT_EQ(text(parsed("mean(decision,candidate)>=0")), "mean(decision) >= 0");
}

TEST(Parse, TeachesAtTheColumnWhatToWriteInstead) {
    expect_refusal("mean(decision) > 0", "column 16", "write >= or <=");
    expect_refusal("mean(decision) = 0", "column 16", "abs(A - B) <= 0.05");
    expect_refusal("0 <= mean(decision) <= 1", "column 21", "two constraints");
    expect_refusal("decision >= 0", "column 1", "mean(decision)");
    expect_refusal("mean(profit) >= 0", "column 6, at 'profit'", "impact, label, decision, loss");
    expect_refusal("mean(1 - loss) >= 0", "column 6", "what can be averaged");
    expect_refusal("mean(loss * label) >= 0", "column 11", "calculate outside");
    expect_refusal("mean(label, reference) >= 0", "column 13", "same under every policy");
    expect_refusal("mean(loss, group = \"a\") >= 0", "column 12", "a condition follows a '|'");
    expect_refusal("mean(label | decision = 1) >= 0", "column 14",
                   "mean(decision * label) / mean(decision)");
    expect_refusal("mean(loss | group == \"a\") >= 0", "column 19", "write =");
    expect_refusal("mean(loss | group = women) >= 0", "column 21", "in quotes");
    expect_refusal("mean(loss | a = 1 && b = 2) >= 0", "column 19", "write: and");
    expect_refusal("mean(loss | !(a = 1)) >= 0", "column 13", "write: not");
    expect_refusal("mean(loss | label = 2) >= 0", "column 21", "0 or 1");
    expect_refusal("mean(loss | max > 1) >= 0", "column 13", "`max`");
    expect_refusal("mean(loss | a < \"b\") >= 0", "column 15", "only numbers");
    expect_refusal("mean(loss | a in (1, 2)) >= 0", "column 19", "=");
    expect_refusal("mean(loss) ≤ 5%", "column 12", "write <=");
    expect_refusal("mean(loss) <= 5%", "column 16", "0.05");
    expect_refusal("(mean(loss) <= 5", "column 13", "')'");
    expect_refusal("mean(loss) <=", "column 14, at the end", "a value is missing");
    expect_refusal("mean(loss)", "column 11, at the end", ">= or <=");
    expect_refusal("mean(loss) <= 1 2", "column 17", "end here");
    expect_refusal("abs(mean(loss), 1) <= 1", "column 15", "one value");
    expect_refusal("min(mean(loss)) <= 1", "column 17", "two values");
    expect_refusal("mean(loss | group = \"a) <= 1", "column 21", "no closing");
    expect_refusal("mean(loss | `a = 1) <= 1", "column 13", "backtick");
    expect_refusal("mean(loss) <= 1e999", "column 15", "too large");
    expect_refusal("1 <= 2", "the constraint has no mean", "nothing of the data");
    expect_refusal("", "column 1", "missing");
}

TEST(Parse, CountsColumnsInCharacters) {
    expect_refusal("mean(loss | group = \"Männer, ältere\") > 0", "column 39", ">=");
}

TEST(Parse, HasLimits) {
    const auto sum = [](size_t terms) {
        std::string out = "mean(loss)";
        for (size_t i = 1; i < terms; ++i) out += "+1";
        return out + "<=1";
    };
    // a mean, 1 and two nodes for each further term
    EXPECT_TRUE(parse(sum((kMaxNodes - 2) / 2 + 1)));
    EXPECT_NE(refusal(sum(kMaxNodes), "constraint_limit").find("256"), std::string::npos);
    const auto nested = [](size_t depth) {
        return std::string(depth, '(') + "mean(loss)" + std::string(depth, ')') + "<=1";
    };
    EXPECT_TRUE(parse(nested(kMaxNesting - 1)));
    EXPECT_NE(refusal(nested(kMaxNesting), "constraint_limit").find("32"), std::string::npos);
    std::string means = "mean(loss)";
    for (size_t i = 1; i < kMaxMeans; ++i) means += "+mean(loss)";
    EXPECT_TRUE(parse(means + "<=1"));
    EXPECT_NE(refusal(means + "+mean(loss)<=1", "constraint_limit").find("means"),
              std::string::npos);
    std::string padded = "mean(loss)<=1";
    padded.append(kMaxTextBytes - padded.size(), ' ');
    EXPECT_TRUE(parse(padded));
    refusal(padded + ' ', "constraint_limit");
}

TEST(Parse, RefusesBytesThatAreNoText) {
    refusal("mean(loss | group = \"\xff\") <= 1");
    refusal(std::string_view("mean(loss | group = \"a\0b\") <= 1", 31));
}

TEST(Validate, AcceptsATreeThatItsTextSays) {
    EXPECT_TRUE(validate(at_least(-number(3) * -number(-3) + mean(Quantity::kLoss), number(-1))));
    EXPECT_TRUE(
        validate(at_least(number(1) - (number(2) - mean(Quantity::kLoss)), number(1e-300))));
}

TEST(Validate, RefusesATreeThatNoTextSays) {
    const auto refused = [](const Constraint& c) {
        const auto status = validate(c);
        EXPECT_FALSE(status) << text(c);
        return status ? "" : status.error().reason;
    };
    const auto m = mean(Quantity::kLoss);
    EXPECT_EQ(refused(at_least(m, number(std::nan("")))), "bad_constraint");
    EXPECT_EQ(refused(at_least(m, number(std::numeric_limits<double>::infinity()))),
              "bad_constraint");
    EXPECT_EQ(refused(at_least(min({m}), number(0))), "bad_constraint");
    EXPECT_EQ(refused(at_least(mean(Quantity::kLoss, all_of({label_is(1)})), number(0))),
              "bad_constraint");
    EXPECT_EQ(refused(at_least(mean(Quantity::kLoss, one_of("a", {})), number(0))),
              "bad_constraint");
    EXPECT_EQ(refused(at_least(mean(Quantity::kLoss, in_group("a\nb")), number(0))),
              "constraint_syntax");
    EXPECT_EQ(refused(at_least(mean(Quantity::kLabel, {}, Policy::kAnchor), number(0))),
              "constraint_syntax");
    EXPECT_EQ(refused(at_least(number(1), number(0))), "constraint_syntax");
    Constraint strict = at_least(m, number(0));
    strict.relation = Relation::kGreater;
    EXPECT_EQ(refused(strict), "constraint_syntax");
    Constraint idle = at_least(m, number(0));
    idle.left.number = 3;
    EXPECT_EQ(refused(idle), "bad_constraint");
}

}  // namespace
}  // namespace rampart::constraints
