#include "link_features.hpp"

#include <algorithm>

#include "rampart/training/reasons.hpp"

namespace rampart::training {

std::set<size_t> features_read(const model::LearnedLink& link) {
    std::set<size_t> read;
    for_each_ensemble(link, [&](const model::Ensemble& ensemble) {
        for (const auto& tree : ensemble.trees)
            for (const auto& node : tree.nodes)
                if (node.feature >= 0) read.insert(static_cast<size_t>(node.feature));
    });
    for (const auto& linear : link.linears) {
        for (size_t j = 0; j < linear.slope.size(); ++j) {
            const auto& terms = linear.category[j];
            const bool categorical =
                std::any_of(terms.begin(), terms.end(), [](double x) { return x != 0; });
            if (linear.slope[j] != 0 || categorical) read.insert(j);
        }
    }
    if (link.strata) read.insert(link.strata->feature);
    return read;
}

std::string retired_feature_read(const model::LearnedLink& link,
                                 const training_set::DevelopmentSet& development) {
    if (development.retired.empty()) return {};
    for (const size_t feature : features_read(link))
        if (feature < development.retired.size() && development.retired[feature])
            return development.schema.features()[feature].name;
    return {};
}

base::Status check_not_retired(const model::LearnedLink& link,
                               const training_set::DevelopmentSet& development) {
    const auto name = retired_feature_read(link, development);
    if (name.empty()) return base::ok();
    return base::make_error(Reason::kRetiredFeature,
                            "the model reads the feature '{}', which is retired: producers cease "
                            "to send it, and nothing new may depend on it",
                            name);
}

}  // namespace rampart::training
