#include "rampart/notices/words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "notice_makers.hpp"

namespace rampart::notices {
namespace {

using testing::sample_schema;

LenderWords words_of(const std::string& text) {
    auto root = config::parse(text, "reasons.toml").value();
    auto words = read_words(root);
    const auto status = root.finish();
    EXPECT_TRUE(status) << status.error().message;
    return words;
}
std::string error_of(const std::string& text) {
    auto root = config::parse(text, "reasons.toml").value();
    static_cast<void>(read_words(root));
    const auto status = root.finish();
    return status ? "no error" : status.error().message;
}
std::string reason(const std::string& code, const std::string& rest) {
    return "[[reason]]\ncode = \"" + code + "\"\n" + rest;
}

const std::string kHead = "product = \"simulated\"\nlanguages = [\"en\", \"es\"]\n";
const std::string kText = "text.en = \"A\"\ntext.es = \"B\"\n";
const std::string kReviews = reason("review", "by = \"review_open\"\n" + kText) +
                             reason("reviewed", "by = \"review_answered\"\n" + kText);
const std::string kDraws = reason("lot", "by = \"draw\"\n" + kText) +
                           reason("lot_alone", "by = \"draw_alone\"\n" + kText) + kReviews;
const std::string kAll = reason("all", "features = [\"*\"]\n" + kText);

std::vector<std::string> findings(const std::string& text) {
    std::vector<std::string> kinds;
    for (const auto& one : check_words(words_of(text), sample_schema()))
        kinds.push_back((one.fault ? "" : "note ") + one.kind + " " + one.name);
    return kinds;
}

TEST(Words, TheBundledExampleFitsItsProduct) {
    const auto words = read_words_file(testing::letters() / "simulated/reasons.toml");
    ASSERT_TRUE(words) << words.error().message;
    EXPECT_TRUE(check_words(*words, sample_schema()).empty());
    EXPECT_EQ(words->languages, (std::vector<std::string>{"en", "es"}));
}

TEST(Words, GlobsStandForAnyCharacters) {
    EXPECT_TRUE(fits("pay_*", "pay_0"));
    EXPECT_TRUE(fits("pay_*", "pay_"));
    EXPECT_TRUE(fits("*_amt_*_x", "bill_amt_1_x_x"));
    EXPECT_TRUE(fits("*", ""));
    EXPECT_FALSE(fits("pay_*", "xpay_0"));
    EXPECT_FALSE(fits("pay", "pay_0"));
    EXPECT_FALSE(fits("*_1", "pay_10"));
    EXPECT_FALSE(fits("", "x"));
    // a pattern that a search that goes back over all stars would not end on
    std::string stars;
    for (int i = 0; i < 60; ++i) stars += "a*";
    EXPECT_FALSE(fits(stars + "b", std::string(120, 'a')));
}

TEST(Words, TheDirectionsOwnWordsComeFirst) {
    const auto words =
        words_of(kHead + reason("low", "features = [\"score\"]\ndirection = \"low\"\n" + kText) +
                 reason("any", "features = [\"score\"]\n" + kText) +
                 reason("person", "by = \"people\"\n" + kText));
    EXPECT_EQ(words.of_feature("score", Direction::kLow)->code, "low");
    EXPECT_EQ(words.of_feature("score", Direction::kHigh)->code, "any");
    EXPECT_EQ(words.of_feature("score", Direction::kAny)->code, "any");
    EXPECT_EQ(words.of_feature("age", Direction::kLow), nullptr);
    EXPECT_EQ(words.of_people("person")->code, "person");
    EXPECT_EQ(words.of_people("low"), nullptr) << "a reason of features is not one of people";
    EXPECT_EQ(words.of_source(Source::kDraw), nullptr);
}

TEST(Words, TheCheckFindsWhatCouldLeaveADeclineWithoutALetter) {
    EXPECT_THAT(findings(kHead + kAll + kDraws), ::testing::IsEmpty());
    const auto income = [](const std::string& rest) {
        return reason("income", "features = [\"annual_income\"]\n" + rest + kText);
    };
    const std::string others =
        reason("others",
               "features = [\"score\", \"*_to_*\", \"card*\", \"late*\", \"inq*\", \"months*\", "
               "\"loan*\", \"housing\", \"purpose\"]\n" +
                   kText) +
        kDraws;
    EXPECT_THAT(findings(kHead + others),
                ::testing::ElementsAre("feature_without_words annual_income"));
    EXPECT_THAT(findings(kHead + others + income("direction = \"low\"\n")),
                ::testing::ElementsAre("feature_without_words annual_income"))
        << "a high income, or none, has no words";
    EXPECT_THAT(
        findings(kHead + others + income("") + reason("typo", "features = [\"incme\"]\n" + kText)),
        ::testing::ElementsAre("words_without_feature typo"));
    EXPECT_THAT(findings(kHead + others + income("") + reason("none", kText)),
                ::testing::ElementsAre("words_without_feature none"));
    EXPECT_THAT(findings(kHead + others + income("") + income("direction = \"low\"\n")),
                ::testing::ElementsAre("doubled_code income"));
    EXPECT_THAT(findings(kHead + kAll + income("") + kDraws),
                ::testing::ElementsAre("doubled_words annual_income"));
    EXPECT_THAT(
        findings(kHead + kAll + kDraws + reason("score_too_low", "by = \"people\"\n" + kText)),
        ::testing::ElementsAre("reserved_code score_too_low"));
    EXPECT_THAT(
        findings(kHead + kAll + kDraws + reason("x", "by = \"people\"\ntext.en = \"only one\"\n")),
        ::testing::ElementsAre("missing_language x"));
    EXPECT_THAT(findings(kHead + kAll),
                ::testing::ElementsAre("no_draw_words draw", "no_draw_words draw_alone",
                                       "note no_review_words review_open",
                                       "note no_review_words review_answered"));
    EXPECT_THAT(
        findings(kHead + "never_cite = [\"loan*\", \"postcode\"]\n" + kAll + kDraws),
        ::testing::ElementsAre("words_without_feature postcode", "note never_cited loan_amount"));
}

TEST(Words, ACategoryHasNeitherLowNorHigh) {
    const auto schema =
        dataset::FeatureSchema::create({{"job", dataset::FeatureKind::kCategorical, {"a", "b"}}})
            .value();
    const auto words =
        words_of(kHead + reason("l", "features = [\"job\"]\ndirection = \"low\"\n" + kText) +
                 reason("h", "features = [\"job\"]\ndirection = \"high\"\n" + kText) +
                 reason("m", "features = [\"job\"]\ndirection = \"missing\"\n" + kText) + kDraws);
    const auto found = check_words(words, schema);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].kind, "feature_without_words");
}

TEST(Words, MistakesAreNamedWithTheirKey) {
    using ::testing::HasSubstr;
    EXPECT_THAT(error_of("languages = [\"en\"]\n" + kAll), HasSubstr("product"));
    EXPECT_THAT(error_of("product = \"p\"\nlanguages = []\n" + kAll), HasSubstr("languages"));
    EXPECT_THAT(error_of("product = \"p\"\nlanguages = [\"en\", \"en\"]\n" + kAll),
                HasSubstr("each once"));
    EXPECT_THAT(error_of("product = \"p\"\nlanguages = [\"e n\"]\n" + kAll), HasSubstr("'e n'"));
    EXPECT_THAT(error_of(kHead), HasSubstr("reason"));
    EXPECT_THAT(error_of(kHead + reason("x", "features = [\"a\"]\ntext.de = \"ein Wort\"\n")),
                HasSubstr("text.de"));
    EXPECT_THAT(error_of(kHead + reason("x", "by = \"people\"\nfeatures = [\"a\"]\n" + kText)),
                HasSubstr("neither features"));
    EXPECT_THAT(error_of(kHead + reason("x", "features = [\"\"]\n" + kText)),
                HasSubstr("features"));
    EXPECT_THAT(error_of(kHead + reason("x", "features = [\"a\"]\ntext.en = \"\"\n")),
                HasSubstr("text.en"));
    EXPECT_THAT(error_of(kHead + reason("x", "features = [\"a\"]\ntext.en = \"a\\nb\"\n")),
                HasSubstr("control character"));
    EXPECT_THAT(error_of(kHead + reason("x", "features = [\"a\"]\ntext.en = \"" +
                                                 std::string(kMaxReasonText + 1, 'x') + "\"\n")),
                HasSubstr("501 bytes"));
    EXPECT_THAT(error_of(kHead + reason("x", "features = [\"a\"]\ndirection = \"up\"\n" + kText)),
                HasSubstr("direction"));
}

}  // namespace
}  // namespace rampart::notices
