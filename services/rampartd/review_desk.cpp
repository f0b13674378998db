#include "services/rampartd/review_desk.hpp"

#include <algorithm>
#include <limits>
#include <map>

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

/// Returns the revision behind all that there are, with `places` left from it on.
Result<uint32_t> next_revision(const domain::DecisionId& id, const joiner::JoinState& state,
                               uint32_t places) {
    if (state.taken.empty()) return 0u;
    const uint32_t last = state.taken.back().revision;
    if (state.taken.size() + places <= joiner::kMaxReports &&
        last <= std::numeric_limits<uint32_t>::max() - places)
        return last + 1;
    return base::make_error(joiner::Reason::kTooManyReports,
                            "decision '{}' has {} overrides, the last with revision {}: there is "
                            "no place for {} more",
                            id, state.taken.size(), last, places);
}

/// Adds an override to those of a decision, or says why it has no place behind them.
Status add_behind(joiner::JoinState& state, const Override& taken) {
    const uint32_t last = state.taken.back().revision;
    switch (joiner::add_override(state, taken, taken.at)) {
        case joiner::Applied::kNew:
            if (taken.revision > last) return base::ok();
            break;
        case joiner::Applied::kDuplicate:
        case joiner::Applied::kEarlier:
        case joiner::Applied::kErased:
            return base::ok();
        case joiner::Applied::kConflict:
            break;
        case joiner::Applied::kTooMany:
            return next_revision(taken.decision, state, 1).map([](uint32_t) {});
    }
    return base::make_error(joiner::Reason::kConflictingOverride,
                            "revision: is {}, and decision {} has been left to people: its last "
                            "override has revision {}",
                            taken.revision, taken.decision, last);
}

std::string last_of(const joiner::JoinState& state) {
    if (state.taken.empty()) return "it has no override";
    return fmt::format("its last override has revision {}", state.taken.back().revision);
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
    RAMPART_RETURN_IF_ERROR(deps_.catch_up());
    RAMPART_TRY(auto state, deps_.joiner.state_of(id));
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
                                    "without an answer; {}",
                                    id, last_of(before.state));
        if (action == Action::kRefer && open)
            return base::make_error(Reason::kReviewOpen,
                                    "decision {}: people have to answer it already, since {}{}", id,
                                    base::to_iso8601(open->since),
                                    open->actor.empty() ? "" : ", as " + open->actor + " asked");
        // a review that cannot be answered would be open for ever
        const uint32_t places = action == Action::kRefer ? 2 : 1;
        RAMPART_TRY(const uint32_t revision, next_revision(id, before.state, places));
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

/// Returns whether the desk may have given one of the revisions: people have opened a review, or
/// answered a drawn referral.
Result<bool> ReviewDesk::has_given(const domain::DecisionId& id,
                                   const joiner::JoinState& state) const {
    if (state.taken.empty()) return false;
    const auto& taken = state.taken;
    if (std::any_of(taken.begin(), taken.end(),
                    [](const auto& one) { return one.action == Action::kRefer; }))
        return true;
    const auto decision = deps_.decisions.find(id);
    if (!decision && decision.error().is(serving::Reason::kUnknownDecision)) return false;
    if (!decision) return decision.error();
    return decision->action == Action::kRefer;
}

/// Fails where an override would lie in quarantine beside a review, or be none that counts.
Status ReviewDesk::check_places(std::span<const Override> overrides) const {
    std::map<domain::DecisionId, joiner::JoinState> states;
    for (size_t i = 0; i < overrides.size(); ++i) {
        const auto& taken = overrides[i];
        auto it = states.find(taken.decision);
        if (it == states.end()) {
            RAMPART_TRY(auto state, deps_.joiner.state_of(taken.decision));
            it = states.emplace(taken.decision, std::move(state).value_or(joiner::JoinState()))
                     .first;
        }
        RAMPART_TRY(const bool given, has_given(taken.decision, it->second));
        if (!given) continue;
        if (const auto added = add_behind(it->second, taken); !added)
            return overrides.size() == 1
                       ? added
                       : Status(added.error().with_context(fmt::format("overrides[{}]", i)));
    }
    return base::ok();
}

Status ReviewDesk::report(std::span<const Override> overrides) {
    const std::lock_guard lock(mutex_);  // no review is opened before the log has them
    RAMPART_RETURN_IF_ERROR(deps_.read_overrides());
    RAMPART_RETURN_IF_ERROR(check_places(overrides));
    return deps_.decisions.submit_overrides(overrides);
}

Result<ReviewDesk::Listed> ReviewDesk::list(size_t limit,
                                            const std::optional<joiner::ReviewPlace>& after) const {
    RAMPART_RETURN_IF_ERROR(deps_.catch_up());
    Listed listed;
    RAMPART_TRY(listed.queue, deps_.joiner.review_queue());
    RAMPART_TRY(listed.reviews, deps_.joiner.list_reviews(limit, after));
    return listed;
}

void ReviewDesk::refresh_queue() {
    auto queue = deps_.joiner.review_queue();
    const std::lock_guard lock(queue_mutex_);
    queue_ = std::move(queue);
}

Result<joiner::ReviewQueue> ReviewDesk::queue() const {
    const std::lock_guard lock(queue_mutex_);
    return queue_;
}

Status check_reviews(const ReviewDesk& desk, const ReviewSettings& limits, base::TimePoint now) {
    RAMPART_TRY(const auto queue, desk.queue());
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
