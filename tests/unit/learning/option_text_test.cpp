#include "rampart/learning/option_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rampart/config/table.hpp"
#include "rampart/learning/learner.hpp"

namespace rampart::learning {
namespace {

using testing::HasSubstr;
using Texts = std::vector<std::string>;

const std::vector<Option> kOptions{
    {"plain", false, "a flag"},
    {"trees", int64_t{200}, "a whole number", 1, 20'000},
    {"tolerance", 0.01, "a number", 0, 1, {}, "constraints!="},
    {"output", std::string("best"), "a text", 0, 0, {"best", "last"}},
    {"zeta", std::vector<double>{}, "numbers", 0, 2, {}, "output=last|plain=true"},
    {"constraints", Texts{"fnr"}, "texts"},
    {"step", 0.5, "a number", 0, 1, {}, "output=best&zeta=|plain=true"},
};

base::Result<OptionValue> parsed(size_t option, const Texts& texts) {
    return parse_value(kOptions[option], texts);
}

TEST(ParseValue, TakesWhatIsTypedBehindAFlag) {
    EXPECT_EQ(parsed(0, {"true"}).value(), OptionValue(true));
    EXPECT_EQ(parsed(0, {"false"}).value(), OptionValue(false));
    EXPECT_EQ(parsed(1, {"7"}).value(), OptionValue(int64_t{7}));
    EXPECT_EQ(parsed(2, {"1e-3"}).value(), OptionValue(0.001));
    EXPECT_EQ(parsed(3, {"a, b"}).value(), OptionValue(std::string("a, b")));
    EXPECT_EQ(parsed(4, {"0.1,2", "3"}).value(), OptionValue(std::vector<double>{0.1, 2, 3}));
    EXPECT_EQ(parsed(5, {"fnr,fpr@sex"}).value(), OptionValue(Texts{"fnr", "fpr@sex"}));
    EXPECT_EQ(parsed(5, {"none"}).value(), OptionValue(Texts{}));
}

TEST(ParseValue, NamesOptionTextAndWhatItTakes) {
    EXPECT_EQ(parsed(1, {"many"}).error().message,
              "`trees` is 'many': it takes a whole number from 1 to 20000");
    EXPECT_FALSE(parsed(1, {"1.5"}));
    EXPECT_FALSE(parsed(1, {"3", "4"}));
    EXPECT_FALSE(parsed(2, {""}));
    EXPECT_FALSE(parsed(2, {"0.5x"}));
    EXPECT_FALSE(parsed(0, {"yes"}));
    EXPECT_EQ(parsed(4, {"0.1,,2"}).error().reason, "bad_option");
}

/// Each option's fallback, and texts that need escaping, come back from TOML as they were.
TEST(ToToml, IsReadBackAsTheSameValue) {
    for (const auto* learner : learners()) {
        OptionValues values(learner->options());
        std::string text;
        for (const auto& option : values.options())
            text += to_toml(option.name, values.value(option.name));
        auto table = config::parse(text, "recipe").value();
        OptionValues again(learner->options());
        read_options(table, again);
        const auto finished = table.finish();
        ASSERT_TRUE(finished) << learner->name() << finished.error().message;
        EXPECT_EQ(again.canonical(), values.canonical());
        EXPECT_TRUE(again.given("trees"));
    }
    OptionValues values(kOptions);
    const Texts texts{"a\"b\\c", "d\ne\x7f", "ü"};
    ASSERT_TRUE(values.set("constraints", texts));
    auto table = config::parse(to_toml("constraints", values.value("constraints")), "r").value();
    OptionValues again(kOptions);
    read_options(table, again);
    EXPECT_EQ(again.texts("constraints"), texts);
}

TEST(IneffectiveOptions, AreThoseGivenWithoutTheValueThatTheyNeed) {
    OptionValues values(kOptions);
    EXPECT_TRUE(ineffective(values).empty());
    ASSERT_TRUE(values.set("constraints", Texts{}));
    EXPECT_TRUE(ineffective(values).empty()) << "the tolerance was not given";
    ASSERT_TRUE(values.set("tolerance", 0.2));
    ASSERT_TRUE(values.set("zeta", 0.2));
    const auto found = ineffective(values);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].option, "tolerance");
    EXPECT_EQ(found[0].because_of, "constraints");
    EXPECT_TRUE(found[0].must_not);
    EXPECT_EQ(found[0].value, "");
    EXPECT_EQ(found[1].option, "zeta");
    EXPECT_EQ(found[1].because_of, "output");
    EXPECT_EQ(found[1].value, "last");
    EXPECT_FALSE(found[1].must_not);
    ASSERT_TRUE(values.set("plain", true));
    EXPECT_EQ(ineffective(values).size(), 1u) << "one of two is enough";
}

TEST(IneffectiveOptions, OfEachPartBetweenAmpersandsOneConditionHasToHold) {
    OptionValues values(kOptions);
    ASSERT_TRUE(values.set("step", 0.25));
    EXPECT_TRUE(ineffective(values).empty());
    EXPECT_TRUE(has_effect(values, kOptions[6]));
    ASSERT_TRUE(values.set("output", std::string("last")));
    ASSERT_EQ(ineffective(values).size(), 1u);
    EXPECT_EQ(ineffective(values)[0].because_of, "output");
    EXPECT_FALSE(has_effect(values, kOptions[6]));
    EXPECT_EQ(effective_text(values),
              "plain=false trees=200 tolerance=0.01 output=last zeta= constraints=fnr");
    ASSERT_TRUE(values.set("output", std::string("best")));
    ASSERT_TRUE(values.set("zeta", 1.0));
    const auto found = ineffective(values);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[1].option, "step");
    EXPECT_EQ(found[1].because_of, "zeta");
    ASSERT_TRUE(values.set("plain", true));
    EXPECT_TRUE(ineffective(values).empty());
}

TEST(IneffectiveOptions, AreRefusedInAFileWithLineValueAndRemedy) {
    const auto refusal = [](const std::string& text) {
        auto table = config::parse(text, "r.toml").value();
        OptionValues values(kOptions);
        read_options(table, values);
        refuse_ineffective(table, values);
        const auto status = table.finish();
        return status ? std::string() : status.error().message;
    };
    EXPECT_EQ(refusal("trees = 3\ntolerance = 0.5"), "");
    EXPECT_EQ(refusal("constraints = []\ntolerance = 0.5"),
              "r.toml, line 2: tolerance: is '0.5', and has no effect without constraints: leave "
              "it out, or give constraints");
    EXPECT_EQ(refusal("zeta = [1, 2]"),
              "r.toml, line 1: zeta: is '1,2', and has no effect where output is not last: leave "
              "it out, or set output = last");
    EXPECT_EQ(refusal("output = \"last\"\nzeta = 1\nstep = 0"),
              "r.toml, line 3: step: is '0', and has no effect where output is not best: leave it "
              "out, or set output = best");
    EXPECT_THAT(refusal("plain = true\nzeta = 1\noutput = \"best\""), "");
    const std::vector<Option> others{{"a", Texts{}, "texts"},
                                     {"b", 0.0, "a number", 0, 1, {}, "a="},
                                     {"c", std::string("x"), "a text"},
                                     {"d", 0.0, "a number", 0, 1, {}, "c!=y"}};
    for (const auto& [keep, message] :
         {std::pair{"b", "has no effect beside a: leave one of them out"},
          {"d", "has no effect where c is y: leave it out, or give c another value"}}) {
        OptionValues one(others);
        ASSERT_TRUE(one.set("a", Texts{"t"}));
        ASSERT_TRUE(one.set("c", std::string("y")));
        ASSERT_TRUE(one.set(keep, 0.5));
        auto table = config::parse("", "r.toml").value();
        refuse_ineffective(table, one);
        EXPECT_THAT(table.finish().error().message, HasSubstr(message));
    }
}

TEST(OptionNamedIn, IsTheFirstThatStandsAsAWord) {
    EXPECT_EQ(option_named_in("`output` is 'best'; constraints", kOptions), "output");
    EXPECT_EQ(option_named_in("multisteps_step, trees_ and a plainer zeta", kOptions), "zeta");
    EXPECT_EQ(option_named_in("step is 3, past tolerance", kOptions), "step");
    EXPECT_EQ(option_named_in("no tree", kOptions), "");
}

TEST(IneffectiveOptions, EveryLearnersConditionsNameItsOwnOptions) {
    for (const auto* learner : learners()) {
        const OptionValues values(learner->options());
        for (const auto& option : values.options()) {
            std::string_view rest = option.only_with;
            while (!rest.empty()) {
                const auto name = rest.substr(0, rest.find_first_of("!="));
                EXPECT_TRUE(values.has(name)) << learner->name() << " " << option.name;
                const auto bar = rest.find_first_of("|&");
                rest.remove_prefix(bar == std::string_view::npos ? rest.size() : bar + 1);
            }
        }
    }
}

}  // namespace
}  // namespace rampart::learning
