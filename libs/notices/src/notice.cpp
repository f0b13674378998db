#include "rampart/notices/notice.hpp"

#include <algorithm>
#include <boost/json.hpp>

#include "rampart/notices/reasons.hpp"

namespace rampart::notices {
namespace {

namespace json = boost::json;
using base::Result;
using domain::Action;

/// Collects principal reasons, each code once.
class Reasons {
  public:
    explicit Reasons(const std::string& language) : language_(language) {}

    void add(const ReasonWords& words, const std::string& feature = {}) {
        const auto it = std::find_if(reasons_.begin(), reasons_.end(),
                                     [&](const auto& one) { return one.code == words.code; });
        if (it == reasons_.end()) {
            reasons_.push_back({words.code, words.text.at(language_), {}});
            if (!feature.empty()) reasons_.back().features.push_back(feature);
        } else if (!feature.empty()) {
            it->features.push_back(feature);
        }
    }
    /// Whether the words would take a place that is not theirs yet, beyond `most`.
    bool exceeds(const ReasonWords& words, size_t most) const {
        return reasons_.size() >= most &&
               std::none_of(reasons_.begin(), reasons_.end(),
                            [&](const auto& one) { return one.code == words.code; });
    }
    std::vector<PrincipalReason> take() { return std::move(reasons_); }

  private:
    const std::string& language_;
    std::vector<PrincipalReason> reasons_;
};

Result<std::string> language_of(std::string_view asked, const LenderWords& words) {
    const auto& known = words.languages;
    if (asked.empty()) return known.front();
    if (std::find(known.begin(), known.end(), asked) != known.end()) return std::string(asked);
    return base::make_error(Reason::kUnknownLanguage,
                            "language: there are no words in '{}'; there are: {}",
                            asked.substr(0, 40), fmt::join(known, ", "));
}

base::Error no_words(const domain::DecisionId& decision, const std::string& what) {
    return base::make_error(Reason::kNoWords, "decision {}: the lender's words have none for {}",
                            decision, what);
}

/// Returns the words for a cited feature; people may have to write the letter instead.
Result<const ReasonWords*> words_of(const Cited& cited, const domain::DecisionId& decision,
                                    const LenderWords& words) {
    if (words.is_never_cited(cited.feature))
        return base::make_error(Reason::kNeverCited,
                                "decision {}: feature '{}' is a principal reason, and the lender's "
                                "words say never to cite it",
                                decision, cited.feature);
    if (const auto* found = words.of_feature(cited.feature, cited.direction)) return found;
    return no_words(decision, fmt::format("feature '{}' (direction \"{}\")", cited.feature,
                                          to_string(cited.direction)));
}

Result<std::vector<PrincipalReason>> drawn_reasons(const NoticeInput& input, DrawPart part,
                                                   const LenderWords& words,
                                                   const std::string& language) {
    const auto& decision = input.decision;
    Reasons reasons(language);
    const ReasonWords* draw = nullptr;
    if (part != DrawPart::kNone) {
        draw = words.of_source(part == DrawPart::kAlone ? Source::kDrawAlone : Source::kDraw);
        if (draw == nullptr) return no_words(decision.id, "a decline that the draw decided");
    }
    if (part == DrawPart::kAlone) {
        reasons.add(*draw);
        return reasons.take();
    }
    if (input.cited.empty())
        return base::make_error(
            Reason::kNoSpecificReason,
            "decision {}: P(approve) was {:.4f}, and its explanation cites no feature that lowered "
            "it; that an applicant did not reach a score is no specific reason (12 CFR "
            "1002.9(b)(2)), so no letter is made of it",
            decision.id, decision.p_approve);
    const bool draw_first = draw != nullptr && decision.p_exploit >= 0.5;
    if (draw_first) reasons.add(*draw);
    const size_t most = kMaxPrincipalReasons - (draw != nullptr && !draw_first ? 1 : 0);
    for (const auto& one : input.cited) {
        RAMPART_TRY(const auto* found, words_of(one, decision.id, words));
        if (!reasons.exceeds(*found, most)) reasons.add(*found, one.feature);
    }
    if (draw != nullptr && !draw_first) reasons.add(*draw);
    return reasons.take();
}

Result<std::vector<PrincipalReason>> peoples_reasons(const domain::Override& taken,
                                                     const LenderWords& words,
                                                     const std::string& language) {
    const auto* found = words.of_people(taken.reason);
    if (found == nullptr)
        return no_words(taken.decision,
                        fmt::format("'{}', the reason of the override", taken.reason));
    Reasons reasons(language);
    reasons.add(*found);
    return reasons.take();
}

/// Returns what the letter says of a review, in the lender's words.
Result<Notice::ReviewPart> review_part(const NoticeInput& input, const LenderWords& words,
                                       const std::string& language) {
    const bool open = input.review->open;
    const auto* found = words.of_source(open ? Source::kReviewOpen : Source::kReviewAnswered);
    if (found == nullptr)
        return no_words(input.decision.id,
                        open ? "a decline that is under review (by = \"review_open\")"
                             : "a decline that stands after a review (by = \"review_answered\")");
    return Notice::ReviewPart{open, input.review->at, found->text.at(language)};
}

Kind kind_of(const NoticeInput& input, bool by_people, DrawPart part) {
    if (by_people)
        return input.decision.action == Action::kRefer ? Kind::kReferral : Kind::kOverride;
    if (part == DrawPart::kAlone) return Kind::kDraw;
    return input.policy.last_learned() == nullptr ? Kind::kRule : Kind::kScore;
}

/// Checks that what was carried out is a decline.
base::Status check_adverse(const NoticeInput& input) {
    const auto& decision = input.decision;
    const auto taken = input.overridden ? input.overridden->action_taken : decision.action;
    if (taken == Action::kDecline) return base::ok();
    if (taken == Action::kRefer)
        return base::make_error(Reason::kDecisionPending,
                                "decision {}: it was referred to people, who have not answered",
                                decision.id);
    return base::make_error(Reason::kNoAdverseAction, "decision {}: the application was approved{}",
                            decision.id, input.overridden ? " by people" : "");
}

json::array array_of(const std::vector<std::string>& texts) {
    return json::array(texts.begin(), texts.end());
}

std::string_view to_string(DrawPart part) {
    if (part == DrawPart::kAlone) return "alone";
    return part == DrawPart::kPart ? "part" : "none";
}

}  // namespace

std::string_view to_string(Kind kind) {
    constexpr std::string_view kNames[] = {"score", "rule", "draw", "referral", "override"};
    return kNames[static_cast<size_t>(kind)];
}

std::string day_text(base::TimePoint time) { return base::to_iso8601(time).substr(0, 10); }

base::Status check_notice(const NoticeInput& input, const Lender& lender) {
    RAMPART_RETURN_IF_ERROR(language_of(input.language, lender.words));
    return check_adverse(input);
}

Result<Notice> make_notice(const NoticeInput& input, const Lender& lender) {
    const auto& decision = input.decision;
    const auto& words = lender.words;
    Notice notice;
    RAMPART_TRY(notice.language, language_of(input.language, words));
    RAMPART_RETURN_IF_ERROR(check_adverse(input));
    const auto& overridden = input.overridden;
    // an override to the drawn action withdraws the one before it
    const bool by_people = overridden && decision.action != Action::kDecline;
    if (!by_people) notice.draw = draw_part(decision);
    notice.kind = kind_of(input, by_people, notice.draw);
    RAMPART_TRY(notice.reasons, by_people
                                    ? peoples_reasons(*overridden, words, notice.language)
                                    : drawn_reasons(input, notice.draw, words, notice.language));
    notice.decision = decision.id;
    notice.application = decision.application.id;
    notice.person = decision.application.person;
    notice.policy = decision.policy;
    notice.date = input.now;
    notice.applied_at = decision.application.event_time;
    notice.action_at = by_people ? overridden->at : decision.decided_at;
    notice.due = notice.applied_at + base::Duration::days(lender.days);
    notice.creditor = lender.creditor;
    notice.address = lender.address;
    // no report had a part in what the draw alone decided
    if (const auto& bureau = lender.bureau; bureau && notice.draw != DrawPart::kAlone)
        notice.bureau = {bureau->name, bureau->phone, bureau->address,
                         bureau->text.at(notice.language)};
    notice.rights = lender.rights.at(notice.language);
    if (input.review) {
        RAMPART_TRY(notice.review, review_part(input, words, notice.language));
    }
    return notice;
}

std::string to_json(const Notice& notice) {
    json::array reasons;
    for (const auto& reason : notice.reasons)
        reasons.push_back({{"code", reason.code},
                           {"text", reason.text},
                           {"features", array_of(reason.features)}});
    json::value bureau = nullptr;
    if (const auto& part = notice.bureau)
        bureau = {{"name", part->name},
                  {"address", array_of(part->address)},
                  {"phone", part->phone},
                  {"text", part->text}};
    json::value review = nullptr;
    if (const auto& part = notice.review)
        review = {{"state", part->open ? "open" : "answered"},
                  {"at", base::to_iso8601(part->at)},
                  {"text", part->text}};
    return json::serialize(json::object{
        {"decision_id", notice.decision.value()},
        {"application_id", notice.application.value()},
        {"person_id", notice.person.value()},
        {"policy_id", notice.policy.value()},
        {"kind", to_string(notice.kind)},
        {"draw", to_string(notice.draw)},
        {"language", notice.language},
        {"date", day_text(notice.date)},
        {"applied_at", base::to_iso8601(notice.applied_at)},
        {"action_at", base::to_iso8601(notice.action_at)},
        {"due", day_text(notice.due)},
        {"late", notice.date > notice.due},
        {"creditor", {{"name", notice.creditor}, {"address", array_of(notice.address)}}},
        {"reasons", std::move(reasons)},
        {"bureau", std::move(bureau)},
        {"review", std::move(review)},
        {"rights", notice.rights}});
}

}  // namespace rampart::notices
