#include "services/rampartd/review_desk.hpp"

#include <algorithm>
#include <limits>

#include "rampart/joiner/reasons.hpp"
#include "rampart/serving/reasons.hpp"
#include "services/rampartd/reasons.hpp"

namespace rampart::rampartd {

using base::Result;
using base::Status;
using domain::Action;
using domain::Override;
using joiner::OpenReview;

namespace {

constexpr int kMostTries = 3;  // with overrides of the same decision that come in meanwhile

/// Returns the revision behind all that there are.
Result<uint32_t> next_revision(const domain::DecisionId& id, const joiner::JoinState& state) {
    if (state.taken.empty()) return 0u;
    const uint32_t last = state.taken.back().revision;
    if (state.taken.size() < joiner::kMaxReports && last < std::numeric_limits<uint32_t>::max())
        return last + 1;
    return base::make_error(joiner::Reason::kTooManyReports,
                            "decision '{}' has {} overrides, the last with revision {}: there is "
                            "no place for a further one",
                            id, state.taken.size(), last);
}

bool has(const joiner::JoinState& state, const Override& wanted) {
    return std::any_of(state.taken.begin(), state.taken.end(), [&](const auto& one) {
        return one.revision == wanted.revision && one.action == wanted.action_taken &&
               one.actor == wanted.actor && one.reason == wanted.reason && one.at == wanted.at;
    });
}

}  // namespace

Result<ReviewDesk::Standing> ReviewDesk::standing_of(const domain::DecisionId& id) const {
    RAMPART_TRY(const auto decision, deps_.decisions.find(id));
    RAMPART_TRY(auto state, deps_.joined(id));
    if (state && state->erased)
        return base::make_error(serving::Reason::kUnknownDecision, "there is no decision '{}'", id);
    Standing standing;
    if (state) standing.state = *std::move(state);
    standing.open = joiner::open_review(standing.state, decision);
    return standing;
}

/// Appends an override behind all that there are, and returns it when the joined state has it.
Result<Override> ReviewDesk::put(const domain::DecisionId& id, Action action,
                                 const std::string& actor, const std::string& reason) {
    for (int tries = 0; tries < kMostTries; ++tries) {
        RAMPART_TRY(const auto before, standing_of(id));
        const auto& open = before.open;
        if (action != Action::kRefer && !open)
            return base::make_error(Reason::kReviewNotOpen,
                                    "decision {}: no review of it is open, and it is no referral "
                                    "without an answer",
                                    id);
        if (action == Action::kRefer && open)
            return base::make_error(Reason::kReviewOpen,
                                    "decision {}: people have to answer it already, since {}{}", id,
                                    base::to_iso8601(open->since),
                                    open->actor.empty() ? "" : ", as " + open->actor + " asked");
        RAMPART_TRY(const uint32_t revision, next_revision(id, before.state));
        const Override taken{id, revision, action, actor, reason, deps_.clock.now()};
        RAMPART_RETURN_IF_ERROR(deps_.decisions.submit_overrides({&taken, 1}));
        RAMPART_TRY(const auto now, standing_of(id));
        if (has(now.state, taken)) return taken;
    }
    return base::make_error(Reason::kReviewOvertaken,
                            "decision {}: other overrides of it came in {} times meanwhile", id,
                            kMostTries);
}

Result<OpenReview> ReviewDesk::open(const domain::DecisionId& id, const std::string& actor,
                                    const std::string& reason) {
    const std::lock_guard lock(mutex_);
    RAMPART_TRY(const auto taken, put(id, Action::kRefer, actor, reason));
    return OpenReview{id, taken.at, false, taken.actor, taken.reason};
}

Result<Override> ReviewDesk::answer(const domain::DecisionId& id, Action action,
                                    const std::string& actor, const std::string& reason) {
    const std::lock_guard lock(mutex_);
    return put(id, action, actor, reason);
}

Status check_reviews(const joiner::OutcomeJoiner& joiner, const ReviewSettings& limits,
                     base::TimePoint now) {
    RAMPART_TRY(const auto queue, joiner.review_queue());
    if (queue.open > limits.most_open)
        return base::make_error(Reason::kReviewsLate,
                                "{} reviews are open; reviews.most_open allows {}", queue.open,
                                limits.most_open);
    if (queue.oldest && now - *queue.oldest > limits.longest)
        return base::make_error(Reason::kReviewsLate,
                                "the oldest open review began {}; reviews.longest_days allows {} "
                                "days",
                                base::to_iso8601(*queue.oldest),
                                limits.longest.micros() / base::Duration::days(1).micros());
    return base::ok();
}

}  // namespace rampart::rampartd
