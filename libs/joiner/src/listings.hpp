#pragma once

#include <functional>
#include <vector>

#include "join_store.hpp"

/// What is listed of a partition's joined state for people.
namespace rampart::joiner {

domain::Override to_override(const TakenAction& taken, const domain::DecisionId& id);

/// Adds those of the store until there are `limit`, by decision id.
base::Status add_unmatched(const JoinStore& store, size_t limit, std::vector<Unmatched>& found);
// Add the first `limit` of the store, which first_of() brings into the order of all partitions.
base::Status add_overdue(const JoinStore& store, size_t limit, std::vector<Overdue>& found);
/// Calls `visit` with each record in quarantine, by position, until it returns false.
base::Status visit_quarantined(const JoinStore& store,
                               const std::function<base::Result<bool>(Quarantined)>& visit);
base::Status add_quarantined(const JoinStore& store, size_t limit, Withheld withheld,
                             std::vector<Quarantined>& found);

/// Adds the first `limit` of the store, those behind `after`; first_of() as above.
base::Status add_reviews(const JoinStore& store, size_t limit,
                         const std::optional<ReviewPlace>& after, std::vector<OpenReview>& found);
/// Adds those of the store to the numbers.
base::Status count_reviews(const JoinStore& store, ReviewQueue& queue);

/// Whether the entry is one that the joiner withholds.
bool is_withheld(const Quarantined& quarantined);

/// By maturity, by begin, or by position.
std::vector<Overdue> first_of(std::vector<Overdue> found, size_t limit);
std::vector<OpenReview> first_of(std::vector<OpenReview> found, size_t limit);
std::vector<Quarantined> first_of(std::vector<Quarantined> found, size_t limit);

}  // namespace rampart::joiner
