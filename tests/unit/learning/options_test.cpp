#include "rampart/learning/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace rampart::learning {
namespace {

using testing::HasSubstr;

const std::vector<Option> kOptions{
    {"trees", int64_t{200}, "number of trees", 1, 20'000},
    {"tolerance", 0.01, "allowed difference", 0, 1},
    {"output", std::string("best"), "what is kept", 0, 0, {"best", "last"}},
    {"plain", false, "without constraints"},
    {"zeta", std::vector<double>{}, "bounds", 0, 2},
    {"constraints", std::vector<std::string>{"fnr"}, "rates"},
};

TEST(OptionValues, BeginWithTheFallbacksAndTakeValuesOfTheirType) {
    OptionValues values(kOptions);
    EXPECT_EQ(values.integer("trees"), 200);
    EXPECT_FALSE(values.given("trees"));
    ASSERT_TRUE(values.set("trees", int64_t{10}));
    ASSERT_TRUE(values.set("tolerance", int64_t{1}));  // a whole number is a number
    ASSERT_TRUE(values.set("zeta", 0.5));              // a number is a list of one
    ASSERT_TRUE(values.set("plain", true));
    ASSERT_TRUE(values.set("constraints", std::vector<std::string>{"fnr", "fpr@sex"}));
    EXPECT_EQ(values.integer("trees"), 10);
    EXPECT_TRUE(values.given("trees"));
    EXPECT_EQ(values.number("tolerance"), 1);
    EXPECT_EQ(values.numbers("zeta"), std::vector<double>{0.5});
    EXPECT_TRUE(values.flag("plain"));
    EXPECT_EQ(values.texts("constraints"), (std::vector<std::string>{"fnr", "fpr@sex"}));
    EXPECT_EQ(values.canonical(),
              "trees=10 tolerance=1 output=best plain=true zeta=0.5 constraints=fnr,fpr@sex");
}

TEST(OptionValues, ErrorsNameOptionValueAndWhatIsAllowed) {
    const auto message = [](std::string_view name, OptionValue value) {
        OptionValues values(kOptions);
        const auto status = values.set(name, std::move(value));
        EXPECT_FALSE(status) << name;
        EXPECT_FALSE(values.given(name));
        return status ? std::string() : status.error().message;
    };
    EXPECT_EQ(message("trees", int64_t{0}),
              "trees is '0': it takes a whole number from 1 to 20000");
    EXPECT_THAT(message("trees", 1.5), HasSubstr("whole number"));
    EXPECT_THAT(message("tolerance", std::nan("")), HasSubstr("number from 0 to 1"));
    EXPECT_EQ(message("output", std::string("first")),
              "output is 'first': it takes a text: best, last");
    EXPECT_THAT(message("plain", std::string("yes")), HasSubstr("true or false"));
    EXPECT_THAT(message("zeta", std::vector<double>{0.1, 3}),
                HasSubstr("list of numbers from 0 to 2"));
    EXPECT_THAT(message("tres", int64_t{3}),
                HasSubstr("there is no option 'tres'; there are trees, tol"));
}

TEST(OptionValues, AnotherFallbackDoesNotCountAsGivenNorOverwriteAValue) {
    OptionValues values(kOptions);
    values.set_fallback("trees", int64_t{50});
    EXPECT_EQ(values.integer("trees"), 50);
    EXPECT_FALSE(values.given("trees"));
    ASSERT_TRUE(values.set("trees", int64_t{60}));
    values.set_fallback("trees", int64_t{70});
    EXPECT_EQ(values.integer("trees"), 60);
}

TEST(ReadOptions, ATableGivesWhatItHas) {
    auto table = config::parse(
                     "trees = 7\ntolerance = 0\nplain = true\noutput = \"last\"\n"
                     "zeta = [0.1, 1]\nconstraints = [\"a \\\"b\\\"\"]\n",
                     "r.toml")
                     .value();
    OptionValues values(kOptions);
    read_options(table, values);
    ASSERT_TRUE(table.finish());
    EXPECT_EQ(values.integer("trees"), 7);
    EXPECT_EQ(values.text("output"), "last");
    EXPECT_EQ(values.numbers("zeta"), (std::vector<double>{0.1, 1}));
}

TEST(ReadOptions, ErrorsNameTheLineAndUnknownKeysAreRefused) {
    for (const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{
             {"output = \"first\"", "r.toml, line 1: output: output is 'first'"},
             {"trees = 0", "line 1: trees"},
             {"zeta = [3]", "line 1: zeta"},
             {"leaves = 3", "leaves"}}) {
        auto table = config::parse(text, "r.toml").value();
        OptionValues values(kOptions);
        read_options(table, values);
        const auto status = table.finish();
        ASSERT_FALSE(status) << text;
        EXPECT_THAT(status.error().message, HasSubstr(part));
    }
}

}  // namespace
}  // namespace rampart::learning
