#pragma once

#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/base/thread_pool.hpp"
#include "rampart/domain/product.hpp"
#include "rampart/model/policy.hpp"
#include "rampart/training/recipe.hpp"
#include "rampart/training_set/training_set_builder.hpp"

/// What the next link of the champion's chain is put together from, wherever its score comes from.
namespace rampart::training {

/// f = slope * p + intercept: expected impact of an approval less that of a decline, in units of
/// the largest difference that one outcome can make.
struct ScoreMap {
    double slope = 2, intercept = -1;
    /// Range of an approval's impact, and where in it, as a share, a decline's lies.
    double impact_lo = 0, impact_hi = 1, declined = 0.5;
    /// Returns the P(favourable) at which both are worth the same, within (0, 1).
    double break_even() const {
        return slope > 0 ? std::clamp(-intercept / slope, 1e-6, 1 - 1e-6) : 0.5;
    }
    /// Returns the share of the impacts' range from which on an approval is worth more than a
    /// decline, likewise.
    double impact_break_even() const { return std::clamp(declined, 1e-6, 1 - 1e-6); }
    double value(double p) const { return std::clamp(slope * p + intercept, -1.0, 1.0); }
};

/// Returns the map from the mean impacts of an approval by label: the declared ones or, for a
/// reported impact, those in the development set. Errors: failed_precondition "no_impacts".
base::Result<ScoreMap> score_map(const training_set::DevelopmentSet& development,
                                 const domain::Impact& impact);

/// Returns the learner and its options, the threshold by default where an approval is expected to
/// be worth as much as a decline. Errors: chosen_learner()'s.
base::Result<ChosenLearner> chosen_at(const Recipe& recipe, const ScoreMap& map);

/// Returns medians of numbers and the most frequent categories: reason codes compare applicants
/// with this row.
std::vector<float> reference_row(const training_set::DevelopmentSet& development);

/// Returns P(approve) of every row; 0 where the policy needs a cell that the row has not (these are
/// not used).
std::vector<double> approvals_of(const training_set::DevelopmentSet& development,
                                 const model::Policy& policy);

/// The links that the next one stands on.
struct LinksBefore {
    std::vector<model::Link> links;
    bool distilled = false;  // the champion's chain was too long, and was distilled into one
};
/// Returns the champion's chain on a schema whose first features are the champion's, perhaps by
/// other names; each link reads what it read, and gives the same.
std::vector<model::Link> carried_links(const model::Policy& champion,
                                       const dataset::FeatureSchema& schema);

/// Returns the champion's chain on the features of the set; one of recipe.max_links is distilled
/// first. Errors: distil()'s.
base::Result<LinksBefore> links_before(const training_set::DevelopmentSet& development,
                                       const model::Policy& champion, const Recipe& recipe,
                                       base::ThreadPool* pool);

}  // namespace rampart::training
