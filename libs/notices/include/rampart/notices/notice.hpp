#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/domain/decision.hpp"
#include "rampart/domain/override.hpp"
#include "rampart/model/policy.hpp"
#include "rampart/notices/cited.hpp"
#include "rampart/notices/lender.hpp"

namespace rampart::notices {

/// Who or what declined.
enum class Kind {
    kScore,     // a learned policy, whatever part its draw had
    kRule,      // the declared first policy, whatever part its draw had
    kDraw,      // the draw alone
    kReferral,  // people, after the procedure had referred to them
    kOverride,  // people, who declined what was approved
};
std::string_view to_string(Kind kind);  // "score", "rule", "draw", "referral", "override"

/// More are not helpful (12 CFR 1002, supplement I, 9(b)(2)-1).
inline constexpr size_t kMaxPrincipalReasons = 4;

struct PrincipalReason {
    std::string code;                   // the lender's
    std::string text;                   // in the notice's language
    std::vector<std::string> features;  // that it stands for here; empty: it is of none
    bool operator==(const PrincipalReason&) const = default;
};

/// The data of an adverse-action notice.
struct Notice {
    domain::DecisionId decision;
    domain::ApplicationId application;
    domain::PersonId person;
    domain::PolicyId policy;
    Kind kind = Kind::kScore;
    DrawPart draw = DrawPart::kNone;
    std::string language;
    base::TimePoint date;        // the notice's
    base::TimePoint applied_at;  // event time of the application
    base::TimePoint action_at;   // the decision's, or the override's
    base::TimePoint due;         // the lender's days after applied_at; may be before `date`
    std::string creditor;
    std::vector<std::string> address;
    std::vector<PrincipalReason> reasons;  // [1 to kMaxPrincipalReasons], most important first
    struct BureauPart {
        std::string name, phone;
        std::vector<std::string> address;
        std::string text;
    };
    std::optional<BureauPart> bureau;  // nullopt: the lender has none, or the draw alone decided
    struct ReviewPart {
        bool open = false;   // else people have reviewed the decline, and it stands
        base::TimePoint at;  // when the review began, or was answered
        std::string text;    // the lender's words for it
    };
    std::optional<ReviewPart> review;  // nullopt: no review to be said
    std::string rights;
};

/// How the review of a decision stands.
struct Reviewed {
    bool open = false;
    base::TimePoint at;  // when it began, or was answered
};

/// What a notice is made of.
struct NoticeInput {
    const domain::Decision& decision;
    const std::optional<domain::Override>& overridden;  // the latest answer; nullopt: none
    const model::Policy& policy;                        // the decision's
    std::span<const Cited> cited;  // its stored explanation's, most important first; of a decline
    base::TimePoint now;
    std::string_view language;  // empty: the first of the words
    std::optional<Reviewed> review{};
};

/// Says what the record of a decline supports, and no more (ops/adr/0039): the reasons are those
/// that are stored, in the lender's words, one for features of the same words. Those of people are
/// their code's. The draw takes one of the places: the first where such an applicant is approved
/// more often than not, else the last. `lender` has passed check_lender().
///
/// Errors: invalid_argument "unknown_language"; failed_precondition "no_adverse_action" (approved,
/// or people approved it), "decision_pending" (referred, and not answered yet),
/// "no_specific_reason" (the explanation cites no feature), "no_words", "never_cited" (a principal
/// reason that the lender's words lack or may not cite; or words for a review).
base::Result<Notice> make_notice(const NoticeInput& input, const Lender& lender);

/// Fails as make_notice() does where there is nothing to notify of, or not in that language: before
/// reasons are worked out. Does not look at `cited`.
base::Status check_notice(const NoticeInput& input, const Lender& lender);

/// Returns what GET /v1/decisions/{id}/notice answers, as schemas/http/openapi.yaml has it.
std::string to_json(const Notice& notice);

/// Returns the day of a time in UTC: "2026-11-27".
std::string day_text(base::TimePoint time);

}  // namespace rampart::notices
