#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rampart/domain/application.hpp"

namespace rampart::domain {

/// What is drawn. A referral leaves the answer to people, who give it as an override.
enum class Action : uint8_t { kDecline = 0, kApprove = 1, kRefer = 2 };
std::string_view to_string(Action action);  // "decline", "approve", "refer"

/// Returns the action of the draw u in [0, 1): approve if u < p_approve, else refer if
/// u < p_approve + p_refer, else decline.
Action drawn_action(double u, double p_approve, double p_refer);

/// Returns the probability of the action; that of a decline is (1 - p_approve) - p_refer, so that
/// without referrals it is 1 - p_approve to the bit.
double probability_of(Action action, double p_approve, double p_refer);

inline constexpr int kMaxCoolOffDays = 3650, kDefaultCoolOffDays = 30;

/// Period in which all applications of a person for a product have the same draw, so that applying
/// again is no further chance. Periods have the length of the declared cool-off and begin at an
/// offset of the person's own.
struct DrawWindow {
    std::string product;
    int cool_off_days = kDefaultCoolOffDays;  // 1 to kMaxCoolOffDays
    int64_t number = 0;                       // 0: the one that holds 1970-01-01T00:00Z
    bool operator==(const DrawWindow&) const = default;
};

/// Returns the number of the window that holds `time`, where window 0 begins `offset`, at least 0
/// and below the cool-off, before 1970-01-01T00:00Z.
int64_t window_number(base::TimePoint time, int cool_off_days, base::Duration offset);

/// Which of the policies that decide side by side decided about a person: the champion, or a
/// challenger for a share of the people.
struct Arm {
    std::string assignment;  // id of the logged declaration of arms and shares
    uint32_t number = 0;     // position among its arms; 0: the champion's
    double draw = 0;         // in [0, 1), of person and assignment: the arm follows from it
    std::string key_id;      // identifies the secret; never the secret itself
    bool operator==(const Arm&) const = default;
};
inline constexpr uint32_t kMaxArms = 16;

/// One decision, with all that is needed to replay it and to learn from it off-policy.
struct Decision {
    DecisionId id;
    Application application;     // the input as received
    base::TimePoint decided_at;  // time of the service's clock
    PolicyId policy;             // the deciding policy
    bool certified = false;      // false only for the declared bootstrap policy and its rollbacks
    double score = 0;            // the policy's own P(favourable outcome | x), [0, 1]; if the score
                                 // is randomized: the one selected by `draw`
    double p_exploit = 0;        // P(approve | x) without exploration, [0, 1]
    double p_approve = 0;        // P(approve | x) that the draw was compared with, [0, 1]
    double p_refer = 0;          // P(refer | x), [0, 1 - p_approve]
    double draw = 0;             // u in [0, 1): drawn_action() gives the action
    std::string draw_key_id;     // identifies the secret; never the secret itself
    std::optional<DrawWindow> draw_window;  // nullopt: drawn by the decision's id, as once all were
    Action action = Action::kDecline;
    double propensity = 1;             // probability of `action`, in (0, 1]
    bool explored = false;             // approved only because of exploration (p_exploit <= u)
    bool exploration_spent = false;    // the day's exploration was used up: p_approve = p_exploit
    std::optional<Arm> arm{};          // nullopt: no challenger decides
    std::vector<std::string> reasons;  // reason codes of a decline, most important first
    std::string request_id{};          // the id that its first request came with; empty: none
    bool operator==(const Decision&) const = default;
};

/// Checks consistency: propensity in (0, 1] and equal to the action's probability, draw against
/// p_approve and p_refer, decision time against the draw's window, all numbers finite; ids, times,
/// limits and UTF-8, so that the decision can be logged and read back. Applied to every decision
/// that is read back.
base::Status validate(const Decision& decision);

}  // namespace rampart::domain
