#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "rampart/base/thread_pool.hpp"
#include "support_points.hpp"

/// max over targets of  loss - η·d²,  for many sources at once: all that the duals need to know.
namespace rampart::budro {

inline constexpr uint32_t kNowhere = UINT32_MAX;

struct Choice {
    uint32_t point = kNowhere;
    double squared_distance = 0;
};

/// A target as the search compares it: of equal values the nearest, of those the lowest row.
struct Candidate {
    double value, squared_distance;
    uint32_t row, point;
    bool beats(const Candidate& other) const {
        if (value != other.value) return value > other.value;
        if (squared_distance != other.squared_distance)
            return squared_distance < other.squared_distance;
        return row < other.row;
    }
};

/// Some targets for each of several sources.
struct Window {
    std::vector<uint64_t> first;  // [sources + 1]: where in `found` a source's begin
    std::vector<Choice> found;
    std::span<const Choice> of(size_t k) const {
        return std::span(found).subspan(first[k], first[k + 1] - first[k]);
    }
};

/// Values that differ by less may have been rounded apart.
inline double rounding_of(double largest_loss) { return 1e-13 * (1 + largest_loss); }

/// Called with the index in `sources` that was asked for and all its candidates, in no order that
/// depends on threads. By several threads at once, for different sources.
using NearVisitor = std::function<void(size_t, std::span<const Candidate>)>;

class Search {
  public:
    virtual ~Search() = default;
    /// `losses` has to outlive what follows, up to the next call.
    virtual void begin_round(const TargetLosses& losses) = 0;
    /// choices[k]: the best target of sources[k] at eta >= 0. On entry a first guess (or kNowhere).
    virtual void best(double eta, std::span<const uint32_t> sources, std::span<Choice> choices) = 0;
    /// All that may be best at some price from lo to hi, 0 < lo < hi: whose value at lo is not
    /// below the greatest at hi. guesses as above.
    virtual void window(double lo, double hi, std::span<const uint32_t> sources,
                        std::span<const Choice> guesses, Window& out) = 0;
    /// All targets whose value is within `slack` of the best.
    virtual void near(double eta, double slack, std::span<const uint32_t> sources,
                      const NearVisitor& visit) = 0;
    virtual size_t bytes() const = 0;

    SearchCounts counts;  // since the search was made
};

std::unique_ptr<Search> make_brute_force(const SupportPoints& points, base::ThreadPool* pool);

}  // namespace rampart::budro
