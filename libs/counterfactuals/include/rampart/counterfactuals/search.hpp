#pragma once

#include <span>
#include <vector>

#include "rampart/attribution/probability.hpp"
#include "rampart/counterfactuals/changes.hpp"
#include "rampart/domain/application.hpp"

/// The nearest declared changes of an applicant that would have changed a decline.
///
/// The distance is the sum over the changed features of |new - old| / scale for a number, as the
/// policy reads both (single precision), and of the declared distance for a category. A value that
/// is missing, or is a category that the policy does not know, is not changed.
namespace rampart::counterfactuals {

inline constexpr size_t kMaxAnswers = 10;
// Combinations: bounds memory and how often P is asked; how long that takes is the policy's.
inline constexpr size_t kMaxTried = 200'000;

struct ChangedFeature {
    size_t feature = 0;  // index in the policy's schema
    float value = 0;     // new, encoded
};

/// A way that works: with these values and all else as it was, P is above the draw. With one of the
/// features left as it was, it is not.
struct Answer {
    std::vector<ChangedFeature> changed{};  // [1 to together], ascending by feature
    double distance = 0;
    double p = 0;  // P with the changes
};

struct Searched {
    /// Nearest first; of equal distances fewer features first. None has all features of one before
    /// it: each is the nearest of those that are another way.
    std::vector<Answer> answers{};
    bool complete = false;          // every combination was tried: there is no further way
    std::vector<size_t> missing{};  // declared features that P depends on and the row does not
                                    // have, ascending: no combination changes them
    double tried_to = 0;            // every combination nearer than this was tried
    size_t tried = 0;        // combinations of which P was asked: of none with all features of an
                             // answer
    size_t passed_over = 0;  // combinations that were met and have all features of an answer
    double p = 0;            // P(x)
    double most_p = 0;       // the highest P that was met, P(x) among them
};

struct SearchLimits {
    size_t answers = 3;  // [1 to kMaxAnswers]
    size_t tried = kMaxTried;
};

/// Finds changes that raise P above u, by trying the combinations of declared changes in the order
/// of their distance, each on P itself. Between two neighbouring thresholds of all trees and strata
/// P is constant in a feature that nothing else reads; there the nearest value stands for the
/// others, so that `complete` is of all declared values. Requires changes that check_changes()
/// accepts for the policy's schema, and P(row) <= u. `p` is of this policy
/// (attribution::probability_of).
Searched find_changes(const attribution::Probability& p, const model::Policy& policy,
                      std::span<const float> row, const DeclaredChanges& declared, double u,
                      const SearchLimits& limits = {});

/// Returns the number in the shortest decimal form of a value: the declared 0.05, and not what its
/// single precision is in double.
double declared_number(float value);

/// Returns the application with the values of an answer, as it could be sent.
domain::Application changed_application(const domain::Application& application,
                                        const dataset::FeatureSchema& schema, const Answer& answer);

}  // namespace rampart::counterfactuals
