#include "rampart/notices/lender.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "notice_makers.hpp"
#include "rampart/notices/reasons.hpp"

namespace rampart::notices {
namespace {

using ::testing::HasSubstr;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}
std::string example() {
    return base::read_file(testing::letters() / "notices.toml", 1 << 20).value();
}
std::string error_of(const std::string& text) {
    auto root = config::parse(text, "rampartd.toml").value();
    static_cast<void>(read_lender(root, testing::letters() / "simulated"));
    const auto status = root.finish();
    return status ? "no error" : status.error().message;
}

TEST(LenderTest, ReadsTheBundledExample) {
    const auto lender = testing::bundled_lender();
    EXPECT_EQ(lender.creditor, "First Example Bank");
    EXPECT_EQ(lender.address.size(), 2u);
    EXPECT_EQ(lender.days, 30);
    ASSERT_TRUE(lender.bureau);
    EXPECT_EQ(lender.bureau->phone, "1-800-555-0100");
    EXPECT_EQ(lender.rights.size(), 2u);
    EXPECT_THAT(lender.rights.at("en"), HasSubstr("Equal Credit Opportunity Act prohibits"));
    EXPECT_TRUE(check_lender(lender, "simulated", testing::sample_schema()));
}

TEST(LenderTest, WithoutTheSectionThereIsNone) {
    auto root = config::parse("", "rampartd.toml").value();
    EXPECT_FALSE(read_lender(root, testing::letters() / "simulated"));
    EXPECT_TRUE(root.finish());
}

TEST(LenderTest, EachLanguageOfTheWordsHasItsTexts) {
    const auto without = [](const std::string& table) {
        auto text = example();
        const auto at = text.find("es = \"\"\"", text.find(table));
        return text.erase(at, text.find("\"\"\"", at + 8) + 3 - at);
    };
    EXPECT_THAT(error_of(without("[notices.rights]")), HasSubstr("notices.rights.es"));
    EXPECT_THAT(error_of(without("[notices.bureau.text]")), HasSubstr("notices.bureau.text.es"));
}

TEST(LenderTest, MistakesAreNamedWithTheirKey) {
    EXPECT_EQ(error_of(example()), "no error");
    EXPECT_THAT(error_of(replaced(example(), "days = 30", "days = 0")), HasSubstr("notices.days"));
    EXPECT_THAT(error_of(replaced(example(), "days = 30", "dais = 30")), HasSubstr("dais"));
    EXPECT_THAT(error_of(replaced(example(), "\"reasons.toml\"", "\"none.toml\"")),
                HasSubstr("none.toml"));
    EXPECT_THAT(error_of(replaced(example(), "\"First Example Bank\"", "\"\"")),
                HasSubstr("notices.creditor"));
    EXPECT_THAT(
        error_of(replaced(example(), "[\"1 Main Street\", \"Springfield, IL 62701\"]", "[]")),
        HasSubstr("notices.address"));
}

TEST(LenderTest, WordsOfAnotherProductOrOfOtherFeaturesAreRefused) {
    const auto lender = testing::bundled_lender();
    const auto other = check_lender(lender, "cards", testing::sample_schema());
    ASSERT_FALSE(other);
    EXPECT_TRUE(other.error().is(Reason::kBadWords));
    EXPECT_THAT(other.error().message, HasSubstr("'simulated'"));
    auto features = testing::sample_schema().features();
    features.push_back({"age_of_car", dataset::FeatureKind::kNumeric, {}});
    const auto lacking =
        check_lender(lender, "simulated", dataset::FeatureSchema::create(features).value());
    ASSERT_FALSE(lacking);
    EXPECT_THAT(lacking.error().message, HasSubstr("age_of_car"));
    auto never = lender;
    never.words.never_cite = {"score"};
    EXPECT_TRUE(check_lender(never, "simulated", testing::sample_schema())) << "a note, no fault";
}

}  // namespace
}  // namespace rampart::notices
