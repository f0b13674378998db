#include "rampart/notices/notice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "notice_makers.hpp"
#include "rampart/notices/reasons.hpp"

namespace rampart::notices {
namespace {

using domain::Action;
using testing::decline;
using testing::drawn;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::learned_policy;
using testing::notice;
using testing::overridden;
using testing::rule;

std::vector<std::string> codes(const base::Result<Notice>& made) {
    std::vector<std::string> found;
    EXPECT_TRUE(made) << made.error().message;
    if (!made) return found;
    for (const auto& reason : made->reasons) found.push_back(reason.code);
    return found;
}
domain::Decision with_action(Action action) {
    auto decision = decline({});
    decision.action = action;
    decision.p_approve = decision.p_exploit = action == Action::kApprove ? 0.8 : 0;
    decision.p_refer = action == Action::kRefer ? 1 : 0;
    return decision;
}
/// The reason why there is no notice.
base::Error refusal(const base::Result<Notice>& made) {
    EXPECT_FALSE(made);
    return made ? base::Error{} : made.error();
}

TEST(NoticeTest, AReviewIsSaidInTheLendersWordsOrThereIsNoNotice) {
    const auto decision = decline({"feature.annual_income"});
    const auto policy = learned_policy();
    const auto cited = testing::cited_of(decision);
    const std::optional<domain::Override> none;
    auto lender = testing::bundled_lender();
    const auto with = [&](const std::optional<Reviewed>& review, std::string_view language = {}) {
        return make_notice({decision, none, policy, cited, testing::now(), language, review},
                           lender);
    };
    EXPECT_FALSE(with({})->review);
    const auto open = with(Reviewed{true, testing::now()});
    ASSERT_TRUE(open) << open.error().message;
    EXPECT_TRUE(open->review->open);
    EXPECT_THAT(open->review->text, HasSubstr("is under review"));
    EXPECT_THAT(codes(open), ElementsAre("income")) << "the words for a review are no reason";
    EXPECT_THAT(to_json(*open), HasSubstr(R"("review":{"state":"open","at":"2026-03-06T09)"));
    EXPECT_THAT(with(Reviewed{false, testing::now()})->review->text, HasSubstr("it stands"));
    EXPECT_THAT(with(Reviewed{false, testing::now()}, "es")->review->text, HasSubstr("revisado"));
    std::erase_if(lender.words.reasons,
                  [](const auto& one) { return one.source == Source::kReviewOpen; });
    EXPECT_TRUE(refusal(with(Reviewed{true, testing::now()})).is(Reason::kNoWords));
    EXPECT_TRUE(with(Reviewed{false, testing::now()}));
}

TEST(NoticeTest, ADeclineByScoreHasTheStoredReasonsInTheLendersWords) {
    const auto made =
        notice(decline({"feature.annual_income", "feature.late_payments_24m"}), learned_policy());
    EXPECT_THAT(codes(made), ElementsAre("income", "payment_history"));
    EXPECT_EQ(made->reasons[0].text, "Income insufficient for amount of credit requested");
    EXPECT_THAT(made->reasons[0].features, ElementsAre("annual_income"));
    EXPECT_EQ(made->kind, Kind::kScore);
    EXPECT_EQ(made->draw, DrawPart::kNone);
    EXPECT_EQ(day_text(made->date), "2026-03-06");
    EXPECT_EQ(day_text(made->due), "2026-04-01") << "30 days after the application";
    EXPECT_EQ(day_text(made->action_at), "2026-03-02");
    EXPECT_EQ(made->creditor, "First Example Bank");
    ASSERT_TRUE(made->bureau);
    EXPECT_EQ(made->bureau->name, "Example Credit Bureau");
}

TEST(NoticeTest, WordsFollowTheDirectionOfTheApplicantsValue) {
    auto decision = decline({"feature.annual_income"});
    decision.application.features[1].value = 200.0;  // above the reference: not too low
    EXPECT_THAT(codes(notice(decision, learned_policy())), ElementsAre("income_level"));
}

TEST(NoticeTest, FeaturesOfTheSameWordsAreOneReasonAtThePlaceOfTheFirst) {
    const auto made = notice(
        decline({"feature.debt_to_income", "feature.loan_amount", "feature.card_utilisation"}),
        learned_policy());
    EXPECT_THAT(codes(made), ElementsAre("obligations", "amount_requested"));
    EXPECT_THAT(made->reasons[0].features, ElementsAre("debt_to_income", "card_utilisation"));
}

TEST(NoticeTest, ThereAreAtMostFourReasons) {
    const auto decision = decline({"feature.score", "feature.annual_income", "feature.inquiries_6m",
                                   "feature.months_on_file", "feature.loan_amount"});
    EXPECT_THAT(codes(notice(decision, learned_policy())),
                ElementsAre("credit_score", "income", "inquiries", "length_of_history"));
    EXPECT_THAT(codes(notice(drawn(decision, 0.3, 0.3, 0.7), learned_policy())),
                ElementsAre("credit_score", "income", "inquiries", "chance"));
    EXPECT_THAT(codes(notice(drawn(decision, 0.6, 0.6, 0.7), learned_policy())),
                ElementsAre("chance", "credit_score", "income", "inquiries"));
}

TEST(NoticeTest, TheDrawComesFirstWhereSuchAnApplicantIsRatherApproved) {
    const auto decision = decline({"feature.score", "random_draw_in_ramp"});
    const auto made = notice(drawn(decision, 0.85, 0.85, 0.9), rule());
    EXPECT_THAT(codes(made), ElementsAre("chance", "credit_score"));
    EXPECT_EQ(made->kind, Kind::kRule);
    EXPECT_EQ(made->draw, DrawPart::kPart);
    EXPECT_THAT(codes(notice(drawn(decision, 0.49, 0.49, 0.9), rule())),
                ElementsAre("credit_score", "chance"));
}

TEST(NoticeTest, ExplorationThatDidNotApproveIsNoReason) {
    auto decision = decline({"feature.score", "random_exploration_not_drawn"});
    EXPECT_THAT(codes(notice(drawn(decision, 0, 0.1, 0.7), learned_policy())),
                ElementsAre("credit_score"));
}

TEST(NoticeTest, WhomTheDrawAloneDeclinesIsGivenNoFeature) {
    const auto made =
        notice(drawn(decline({"random_exploration_declined"}), 1, 0.9, 0.95), learned_policy());
    EXPECT_THAT(codes(made), ElementsAre("chance_alone"));
    EXPECT_EQ(made->kind, Kind::kDraw);
    EXPECT_TRUE(made->reasons[0].features.empty());
    EXPECT_FALSE(made->bureau) << "that its report was used would not be true";
}

TEST(NoticeTest, AScoreThatWasTooLowIsNeverPrinted) {
    for (const auto& reasons : std::vector<std::vector<std::string>>{
             {"score_too_low"}, {"score_too_low", "random_exploration_not_drawn"}, {}}) {
        const auto error = refusal(notice(decline(reasons), learned_policy()));
        EXPECT_TRUE(error.is(Reason::kNoSpecificReason)) << error.reason;
        EXPECT_THAT(error.message, HasSubstr("1002.9(b)(2)"));
    }
    const auto in_ramp = drawn(decline({"score_too_low", "random_draw_in_ramp"}), 0.9, 0.9, 0.95);
    EXPECT_TRUE(refusal(notice(in_ramp, learned_policy())).is(Reason::kNoSpecificReason))
        << "the draw does not stand in for what lowered the probability";
}

TEST(NoticeTest, ReferralsAndOverridesHaveTheReasonOfThePersonWhoDeclined) {
    const auto referral =
        notice(with_action(Action::kRefer), learned_policy(), overridden(Action::kDecline));
    EXPECT_THAT(codes(referral), ElementsAre("income_not_proven"));
    EXPECT_EQ(referral->kind, Kind::kReferral);
    EXPECT_EQ(day_text(referral->action_at), "2026-03-05");
    const auto declined =
        notice(with_action(Action::kApprove), learned_policy(), overridden(Action::kDecline));
    EXPECT_THAT(codes(declined), ElementsAre("income_not_proven"));
    EXPECT_EQ(declined->kind, Kind::kOverride);
    EXPECT_EQ(declined->draw, DrawPart::kNone);
    // one that withdraws another leaves the drawn decline with its own reasons
    const auto withdrawn = notice(decline({"feature.score"}), learned_policy(),
                                  overridden(Action::kDecline, "withdrawn"));
    EXPECT_THAT(codes(withdrawn), ElementsAre("credit_score"));
    EXPECT_EQ(withdrawn->kind, Kind::kScore);
}

TEST(NoticeTest, WhatIsNoDeclineHasNoNotice) {
    const auto policy = learned_policy();
    EXPECT_TRUE(
        refusal(notice(with_action(Action::kApprove), policy)).is(Reason::kNoAdverseAction));
    EXPECT_TRUE(refusal(notice(with_action(Action::kRefer), policy)).is(Reason::kDecisionPending));
    const auto decision = decline({"feature.score"});
    EXPECT_TRUE(refusal(notice(decision, policy, overridden(Action::kApprove)))
                    .is(Reason::kNoAdverseAction));
    EXPECT_TRUE(
        refusal(notice(decision, policy, overridden(Action::kRefer))).is(Reason::kDecisionPending));
}

TEST(NoticeTest, APrincipalReasonIsNeverLeftOut) {
    auto lender = testing::bundled_lender();
    lender.words.never_cite = {"loan*"};
    const auto never = refusal(notice(decline({"feature.score", "feature.loan_amount"}),
                                      learned_policy(), {}, {}, lender));
    EXPECT_TRUE(never.is(Reason::kNeverCited));
    EXPECT_THAT(never.message, HasSubstr("loan_amount"));
    const auto unknown =
        refusal(notice(decline({"feature.score", "feature.age"}), learned_policy()));
    EXPECT_TRUE(unknown.is(Reason::kNoWords));
    EXPECT_THAT(unknown.message, HasSubstr("'age'"));
    EXPECT_TRUE(refusal(notice(with_action(Action::kRefer), learned_policy(),
                               overridden(Action::kDecline, "gut_feeling")))
                    .is(Reason::kNoWords));
    // a reason of features does not speak for a person
    EXPECT_TRUE(refusal(notice(with_action(Action::kRefer), learned_policy(),
                               overridden(Action::kDecline, "income")))
                    .is(Reason::kNoWords));
}

TEST(NoticeTest, EachLanguageHasItsWordsAndNoOtherIsGuessed) {
    const auto made = notice(decline({"feature.score"}), learned_policy(), {}, "es");
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->language, "es");
    EXPECT_THAT(made->reasons[0].text, HasSubstr("agencia"));
    EXPECT_THAT(made->rights, HasSubstr("La ley federal"));
    EXPECT_THAT(made->bureau->text, HasSubstr("Nuestra decisión"));
    const auto error = refusal(notice(decline({"feature.score"}), learned_policy(), {}, "fr"));
    EXPECT_TRUE(error.is(Reason::kUnknownLanguage));
    EXPECT_THAT(error.message, HasSubstr("en, es"));
}

TEST(NoticeTest, TheDocumentHasAllOfIt) {
    const auto made = notice(drawn(decline({"feature.score"}), 0.85, 0.85, 0.9), rule());
    ASSERT_TRUE(made) << made.error().message;
    auto document = boost::json::parse(to_json(*made)).as_object();
    EXPECT_EQ(document.at("kind"), "rule");
    EXPECT_EQ(document.at("draw"), "part");
    EXPECT_EQ(document.at("due"), "2026-04-01");
    EXPECT_EQ(document.at("late"), false);
    EXPECT_EQ(document.at("reasons").as_array().size(), 2u);
    EXPECT_EQ(document.at("bureau").at("phone"), "1-800-555-0100");
    auto late = *made;
    late.date = late.due + base::Duration::days(1);
    late.bureau.reset();
    document = boost::json::parse(to_json(late)).as_object();
    EXPECT_EQ(document.at("late"), true);
    EXPECT_TRUE(document.at("bureau").is_null());
}

}  // namespace
}  // namespace rampart::notices
