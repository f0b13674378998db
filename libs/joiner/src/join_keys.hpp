#pragma once

#include <string>
#include <string_view>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/domain/ids.hpp"

/// The keys of the indices into joined state (schemas/keys.md). Parsing gives data_loss for what is
/// none.
namespace rampart::joiner {

/// (event time, decision id) of a decision: by_time.
std::string time_key(base::TimePoint event_time, std::string_view id);
struct TimeKey {
    base::TimePoint event_time;
    std::string id;
};
base::Result<TimeKey> parse_time_key(std::string_view key);

/// (maturity, measure, decision id): pending (to be matured), overdue (matured, approved, no
/// value).
struct MaturityKey {
    base::TimePoint maturity;
    std::string measure, id;
};
std::string maturity_key(const MaturityKey& key);
base::Result<MaturityKey> parse_maturity_key(std::string_view key);

/// (begin, decision id) of an open review: reviews.
std::string review_key(base::TimePoint since, std::string_view id);
base::Result<TimeKey> parse_review_key(std::string_view key);

inline constexpr size_t kPersonHashBytes = 16;
/// (first bytes of SHA-256 of the person id, decision id) of a decision: persons. Without an id:
/// the prefix of all of the person's.
std::string person_key(const domain::PersonId& person, std::string_view id = {});

}  // namespace rampart::joiner
