#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "places.hpp"
#include "rampart/base/thread_pool.hpp"

/// max over targets of  loss - η·d²,  for many senders at once: all that the duals need to know.
namespace rampart::fairness::budro {

inline constexpr uint32_t kNowhere = UINT32_MAX;

struct Choice {
    uint32_t place = kNowhere;
    double squared_distance = 0;
};

/// A target as the search compares it: of equal values the nearest, of those the lowest row.
struct Candidate {
    double value, squared_distance;
    uint32_t row, place;
    bool beats(const Candidate& other) const {
        if (value != other.value) return value > other.value;
        if (squared_distance != other.squared_distance)
            return squared_distance < other.squared_distance;
        return row < other.row;
    }
};

/// Called with the place in `senders` that was asked for and all its candidates, in no order that
/// depends on threads. By several threads at once, for different senders.
using NearVisitor = std::function<void(size_t, std::span<const Candidate>)>;

class Search {
  public:
    virtual ~Search() = default;
    /// `losses` has to outlive what follows, up to the next call.
    virtual void begin_round(const TargetLosses& losses) = 0;
    /// choices[k]: the best target of senders[k] at eta >= 0. On entry a first guess (or kNowhere).
    virtual void best(double eta, std::span<const uint32_t> senders, std::span<Choice> choices) = 0;
    /// The same for two prices at once, eta < other.
    virtual void best_two(double eta, double other, std::span<const uint32_t> senders,
                          std::span<Choice> choices, std::span<Choice> other_choices) {
        best(eta, senders, choices);
        best(other, senders, other_choices);
    }
    /// All targets whose value is within `slack` of the best.
    virtual void near(double eta, double slack, std::span<const uint32_t> senders,
                      const NearVisitor& visit) = 0;
    virtual size_t bytes() const = 0;

    SearchCounts counts;  // since the search was made
};

std::unique_ptr<Search> make_brute_force(const Places& places, base::ThreadPool* pool);

}  // namespace rampart::fairness::budro
