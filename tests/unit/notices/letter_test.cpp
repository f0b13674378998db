#include "rampart/notices/letter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "notice_makers.hpp"
#include "rampart/notices/reasons.hpp"

namespace rampart::notices {
namespace {

using domain::Action;
using testing::decline;
using testing::drawn;
using ::testing::HasSubstr;
using testing::learned_policy;
using testing::notice;
using testing::overridden;
using testing::rule;

const TemplateNames kNames{{"name", "other"}, {{"list", {"text"}}, {"second", {"text"}}}};

std::string rendered(const std::string& text, const TemplateValues& values) {
    const auto made = LetterTemplate::parse(text, kNames);
    EXPECT_TRUE(made) << made.error().message;
    return made ? made->render(values) : "";
}
std::string error_of(const std::string& text) {
    const auto made = LetterTemplate::parse(text, kNames);
    if (made) return "no error";
    EXPECT_TRUE(made.error().is(Reason::kBadTemplate));
    return made.error().message;
}

TEST(LetterTest, NamesAndListsAreFilledIn) {
    const TemplateValues values{{{"name", "N"}, {"other", "O"}},
                                {{"list", {{{"text", "1"}}, {{"text", "2"}}}}, {"second", {}}}};
    EXPECT_EQ(rendered("no names", values), "no names");
    EXPECT_EQ(rendered("", values), "");
    EXPECT_EQ(rendered("a {{name}}{{ other }} b", values), "a NO b");
    EXPECT_EQ(rendered("{{#list}}<{{text}}|{{name}}>{{/list}}.", values), "<1|N><2|N>.");
    EXPECT_EQ(rendered("{{#second}}{{text}}{{/second}}{{#list}}{{text}}{{/list}}", values), "12");
    EXPECT_EQ(rendered("{ } }} {name}", values), "{ } }} {name}");
}

TEST(LetterTest, ValuesAreEscapedAndNeverReadAsATemplate) {
    const TemplateValues values{{{"name", R"(<script>"&'</script>)"}, {"other", "{{name}}"}},
                                {{"list", {{{"text", "<b>"}}}}, {"second", {}}}};
    EXPECT_EQ(rendered("{{name}}", values), "&lt;script&gt;&quot;&amp;&#39;&lt;/script&gt;");
    EXPECT_EQ(rendered("{{other}}", values), "{{name}}");
    EXPECT_EQ(rendered("{{#list}}{{text}}{{/list}}", values), "&lt;b&gt;");
}

TEST(LetterTest, MistakesAreRefusedWithTheirLine) {
    EXPECT_THAT(error_of("\n\n{{nme}}"), HasSubstr("line 3: there is no value 'nme'"));
    EXPECT_THAT(error_of("{{text}}"), HasSubstr("no value 'text'")) << "outside of its list";
    EXPECT_THAT(error_of("{{#lost}}{{/lost}}"), HasSubstr("no list 'lost'"));
    EXPECT_THAT(error_of("{{#name}}{{/name}}"), HasSubstr("no list 'name'"));
    EXPECT_THAT(error_of("{{name"), HasSubstr("without '}}'"));
    EXPECT_THAT(error_of("{{#list}}{{text}}"), HasSubstr("does not end"));
    EXPECT_THAT(error_of("{{#list}}{{#second}}{{/second}}{{/list}}"), HasSubstr("inside"));
    EXPECT_THAT(error_of("{{#list}}{{/second}}"), HasSubstr("not open"));
    EXPECT_THAT(error_of("{{/list}}"), HasSubstr("not open"));
    EXPECT_THAT(error_of("{{/}}"), HasSubstr("not open"));
    EXPECT_THAT(error_of("{{}}"), HasSubstr("no value ''"));
    EXPECT_THAT(error_of("{{{name}}}"), HasSubstr("no value '{name'")) << "nothing is unescaped";
    EXPECT_THAT(error_of(std::string(kMaxTemplateBytes + 1, 'x')), HasSubstr("bytes"));
}

/// The letters that tests compare with; RAMPART_WRITE_GOLDENS=1 writes them anew.
void expect_golden(const std::string& name, const std::string& letter) {
    const auto file =
        std::filesystem::path(test_support::source_dir()) / "tests/golden/letters" / name;
    if (std::getenv("RAMPART_WRITE_GOLDENS") != nullptr) {
        ASSERT_TRUE(base::write_file_atomically(file, letter));
    }
    const auto golden = base::read_file(file, 1 << 20);
    ASSERT_TRUE(golden) << golden.error().message;
    EXPECT_EQ(letter, *golden) << name;
}
std::string letter(const base::Result<Notice>& made, const std::string& language = "en") {
    EXPECT_TRUE(made) << made.error().message;
    const auto read = read_letter_template(testing::letters() / ("letter." + language + ".html"));
    EXPECT_TRUE(read) << read.error().message;
    if (!made || !read) return "";
    const auto text = render_letter(*read, *made);
    EXPECT_TRUE(text) << text.error().message;
    return text.value_or("");
}

TEST(LetterGoldens, EachKindOfDeclineHasItsLetter) {
    const auto by_score = decline({"feature.annual_income", "feature.debt_to_income",
                                   "feature.late_payments_24m", "feature.inquiries_6m"});
    expect_golden("score.html", letter(notice(by_score, learned_policy())));
    expect_golden("score_es.html", letter(notice(by_score, learned_policy(), {}, "es"), "es"));
    expect_golden("score_and_draw.html",
                  letter(notice(drawn(by_score, 0.3, 0.3, 0.7), learned_policy())));
    expect_golden("draw.html",
                  letter(notice(drawn(decline({"random_exploration_declined"}), 1, 0.9, 0.95),
                                learned_policy())));
    expect_golden("draw_es.html",
                  letter(notice(drawn(decline({"random_exploration_declined"}), 1, 0.9, 0.95),
                                learned_policy(), {}, "es"),
                         "es"));
    expect_golden(
        "rule.html",
        letter(notice(drawn(decline({"feature.score", "random_draw_in_ramp"}), 0.85, 0.85, 0.9),
                      rule())));
    auto referred = decline({});
    referred.action = Action::kRefer;
    referred.p_refer = 1;
    expect_golden("referral.html",
                  letter(notice(referred, learned_policy(), overridden(Action::kDecline))));
    auto approved = drawn(decline({}), 0.8, 0.8, 0.7);
    approved.action = Action::kApprove;
    expect_golden("override.html",
                  letter(notice(approved, learned_policy(), overridden(Action::kDecline))));
}

TEST(LetterTest, SaysThatADeclineIsOrWasUnderReviewOrIsNotWritten) {
    auto made = notice(decline({"feature.annual_income"}), learned_policy());
    ASSERT_TRUE(made) << made.error().message;
    const auto plain = letter(made);
    made->review = {true, base::parse_iso8601("2026-03-04T12:00:00Z").value(), "looked at <anew>"};
    const auto reviewed = letter(made);
    EXPECT_THAT(reviewed, HasSubstr("<p>looked at &lt;anew&gt; (2026-03-04)</p>"));
    EXPECT_THAT(letter(made, "es"), HasSubstr("looked at"));
    EXPECT_LT(plain.size(), reviewed.size());
    const auto quiet = LetterTemplate::parse("{{rights}}", letter_names()).value();
    EXPECT_EQ(render_letter(quiet, *made).error().reason, "bad_template");
    made->review.reset();
    EXPECT_TRUE(render_letter(quiet, *made)) << "there was no review";
}

TEST(LetterTest, ATemplateThatLeavesOutWhatANoticeHasToHaveIsRefused) {
    const auto text = base::read_file(testing::letters() / "letter.en.html", 1 << 20).value();
    const auto file = std::filesystem::path(::testing::TempDir()) / "letter.html";
    const auto without = [&](const std::string& part) {
        auto changed = text;
        for (size_t at = changed.find(part); at != std::string::npos; at = changed.find(part))
            changed.erase(at, part.size());
        EXPECT_NE(changed, text) << part;
        EXPECT_TRUE(base::write_file_atomically(file, changed));
        const auto read = read_letter_template(file);
        return read ? "no error" : read.error().message;
    };
    EXPECT_THAT(without("{{rights}}"), HasSubstr("leaves out rights"));
    EXPECT_THAT(without("{{date}}"), HasSubstr("leaves out date"));
    EXPECT_THAT(without("{{creditor}}"), HasSubstr("leaves out creditor"));
    EXPECT_THAT(without("<li>{{text}}</li>"), HasSubstr("leaves out reasons.text"));
    EXPECT_THAT(without("<p>{{text}}</p>"), HasSubstr("leaves out bureau.text"));
    std::filesystem::remove(file);
    EXPECT_FALSE(read_letter_template(file));
}

TEST(LetterTest, WithoutABureauItsPartIsLeftOut) {
    auto lender = testing::bundled_lender();
    lender.bureau.reset();
    const auto text = letter(notice(decline({"feature.score"}), learned_policy(), {}, {}, lender));
    EXPECT_EQ(text.find("Example Credit Bureau"), std::string::npos);
    EXPECT_EQ(text.find("free copy"), std::string::npos);
    EXPECT_THAT(text, HasSubstr("Equal Credit Opportunity Act"));
}

}  // namespace
}  // namespace rampart::notices
