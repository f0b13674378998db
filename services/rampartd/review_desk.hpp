#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rampart/joiner/outcome_joiner.hpp"
#include "rampart/serving/decision_service.hpp"
#include "services/rampartd/settings.hpp"

namespace rampart::rampartd {

/// Opens reviews of decisions and takes their answers, as overrides in the log: a review is one
/// that refers the decision to people, its answer the next one that approves or declines. The desk
/// gives both their revisions, and returns when the joined state has them. It takes in others'
/// overrides, too, so that none of them lies in quarantine beside a review. Thread safe.
class ReviewDesk {
  public:
    /// All has to outlive the desk.
    struct Deps {
        serving::DecisionService& decisions;
        const joiner::OutcomeJoiner& joiner;
        /// Reads the log to its end. Errors while anything of it cannot be read.
        std::function<base::Status()> catch_up;
        /// Reads all overrides of the log, whatever else of it cannot be read.
        std::function<base::Status()> read_overrides;
        const base::Clock& clock;
    };
    explicit ReviewDesk(Deps deps) : deps_(std::move(deps)) {}

    /// Opens a review: `actor` asks for it, `reason` is the lender's code; both are ids
    /// (domain::check_id). Errors: already_exists "review_open": people have to answer already;
    /// unavailable "review_overtaken": others overrode the decision each time meanwhile;
    /// out_of_range "too_many_reports": no place for it and its answer; those of `catch_up`,
    /// OutcomeJoiner::state_of, DecisionService::find and submit_overrides.
    base::Result<joiner::OpenReview> open(const domain::DecisionId& id, const std::string& actor,
                                          const std::string& reason);
    /// Answers what is open, a drawn referral included. Errors: as open() has them;
    /// failed_precondition "review_not_open" in the place of "review_open".
    base::Result<domain::Override> answer(const domain::DecisionId& id, domain::Action action,
                                          const std::string& actor, const std::string& reason);
    /// Takes in overrides whose revisions their senders chose, all or none. Of a decision with a
    /// review, or a referral that was answered, one has to be behind the last, or to be there
    /// already. Errors: already_exists "conflicting_override"; out_of_range "too_many_reports";
    /// those of `read_overrides`, OutcomeJoiner::state_of and DecisionService::submit_overrides.
    base::Status report(std::span<const domain::Override> overrides);

    struct Listed {
        joiner::ReviewQueue queue;
        std::vector<joiner::OpenReview> reviews;
    };
    /// Returns up to `limit` open reviews, as OutcomeJoiner::list_reviews(), and the queue's size.
    /// Errors: those of `catch_up` and OutcomeJoiner::review_queue.
    base::Result<Listed> list(size_t limit, const std::optional<joiner::ReviewPlace>& after) const;

    /// Reads how many reviews are open, for queue(): costs a read of all their keys.
    void refresh_queue();
    /// Returns how many are open, as refresh_queue() has found last. Errors:
    /// OutcomeJoiner::review_queue's, at that time.
    base::Result<joiner::ReviewQueue> queue() const;

  private:
    struct Standing {
        joiner::JoinState state;
        std::optional<joiner::OpenReview> open;
    };
    base::Result<Standing> standing_of(const domain::DecisionId& id) const;
    base::Result<bool> has_given(const domain::DecisionId& id,
                                 const joiner::JoinState& state) const;
    base::Status check_places(std::span<const domain::Override> overrides) const;
    base::Result<domain::Override> put(const domain::DecisionId& id, domain::Action action,
                                       const std::string& actor, const std::string& reason);

    Deps deps_;
    std::mutex mutex_;                // held from reading what is there until the log has the next
    mutable std::mutex queue_mutex_;  // held to copy, no longer
    base::Result<joiner::ReviewQueue> queue_{joiner::ReviewQueue{}};
};

/// Fails with unavailable "reviews_late" where more reviews are open than allowed, or the oldest
/// is open for longer, as the queue was read last. Errors: ReviewDesk::queue's.
base::Status check_reviews(const ReviewDesk& desk, const ReviewSettings& limits,
                           base::TimePoint now);

}  // namespace rampart::rampartd
