#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "rampart/joiner/outcome_joiner.hpp"
#include "rampart/serving/decision_service.hpp"
#include "services/rampartd/settings.hpp"

namespace rampart::rampartd {

/// Opens reviews of decisions and takes their answers, as overrides in the log: a review is one
/// that refers the decision to people, its answer the next one that approves or declines. The desk
/// gives both their revisions, and returns when the joined state has them. Thread safe.
class ReviewDesk {
  public:
    /// All has to outlive the desk.
    struct Deps {
        serving::DecisionService& decisions;
        /// Returns what is joined of a decision, after reading the log to its end.
        std::function<base::Result<std::optional<joiner::JoinState>>(const domain::DecisionId&)>
            joined;
        const base::Clock& clock;
    };
    explicit ReviewDesk(Deps deps) : deps_(std::move(deps)) {}

    /// Opens a review: `actor` asks for it, `reason` is the lender's code; both are ids
    /// (domain::check_id). Errors: already_exists "review_open": people have to answer already;
    /// unavailable "review_overtaken": others overrode the decision each time meanwhile;
    /// out_of_range "too_many_reports"; those of DecisionService::find, submit_overrides, `joined`.
    base::Result<joiner::OpenReview> open(const domain::DecisionId& id, const std::string& actor,
                                          const std::string& reason);
    /// Answers what is open, a drawn referral included. Errors: as open() has them;
    /// failed_precondition "review_not_open" in the place of "review_open".
    base::Result<domain::Override> answer(const domain::DecisionId& id, domain::Action action,
                                          const std::string& actor, const std::string& reason);

  private:
    struct Standing {
        joiner::JoinState state;
        std::optional<joiner::OpenReview> open;
    };
    base::Result<Standing> standing_of(const domain::DecisionId& id) const;
    base::Result<domain::Override> put(const domain::DecisionId& id, domain::Action action,
                                       const std::string& actor, const std::string& reason);

    Deps deps_;
    std::mutex mutex_;  // held from reading what is open until the joined state has the next
};

/// Fails with unavailable "reviews_late" where more reviews are open than allowed, or the oldest
/// is open for longer. Errors: OutcomeJoiner::review_queue's.
base::Status check_reviews(const joiner::OutcomeJoiner& joiner, const ReviewSettings& limits,
                           base::TimePoint now);

}  // namespace rampart::rampartd
