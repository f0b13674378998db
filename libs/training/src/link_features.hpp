#pragma once

#include <cstddef>
#include <set>

#include "rampart/base/result.hpp"
#include "rampart/model/policy.hpp"
#include "rampart/training_set/training_set_builder.hpp"

/// What a link reads of an application.
namespace rampart::training {

/// Calls see(ensemble) for each ensemble of the link.
template <class Link, class See>
void for_each_ensemble(Link& link, const See& see) {
    see(link.ensemble);
    for (auto& other : link.additional_ensembles) see(other);
    for (auto& pull : link.adjustments)
        for (auto& posterior : pull.posteriors) see(posterior);
}

/// Returns the features, by index in the policy's schema, that the link's decisions depend on.
std::set<size_t> features_read(const model::LearnedLink& link);

/// Returns the name of a retired feature of the set that the link reads; empty: it reads none.
std::string retired_feature_read(const model::LearnedLink& link,
                                 const training_set::DevelopmentSet& development);

/// Checks that a new link reads no retired feature. Error: failed_precondition "retired_feature".
base::Status check_not_retired(const model::LearnedLink& link,
                               const training_set::DevelopmentSet& development);

}  // namespace rampart::training
