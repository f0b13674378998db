#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "rampart/base/random.hpp"
#include "rampart/model/policy.hpp"

/// Random but valid pieces of policies, the same for the same generator.
namespace rampart::model {

inline constexpr size_t kCategories = 70;  // more than a word of bits

/// Features 0 … numeric-1 are numbers, the last one is a category.
inline dataset::FeatureSchema example_schema(size_t numeric = 3) {
    std::vector<dataset::FeatureSpec> features;
    for (size_t i = 0; i < numeric; ++i) {
        features.push_back({"x" + std::to_string(i), dataset::FeatureKind::kNumeric, {}});
    }
    std::vector<std::string> categories;
    for (size_t i = 0; i < kCategories; ++i) categories.push_back("c" + std::to_string(i));
    features.push_back({"c", dataset::FeatureKind::kCategorical, categories});
    return dataset::FeatureSchema::create(features).value();
}

inline Tree random_tree(base::Random& random, size_t leaves, size_t numeric = 3) {
    Tree tree;
    tree.nodes.resize(1);
    std::vector<size_t> open{0};
    while (open.size() < leaves) {
        const size_t pick = random.below(open.size());
        const size_t at = open[pick];
        const auto left = static_cast<int32_t>(tree.nodes.size());
        tree.nodes.resize(tree.nodes.size() + 2);
        TreeNode& node = tree.nodes[at];
        node.feature = static_cast<int32_t>(random.below(numeric + 1));
        node.left = left;
        node.right = left + 1;
        node.default_left = random.bernoulli(0.5);
        node.cover = random.uniform(1, 100);
        node.gain = random.uniform();
        if (static_cast<size_t>(node.feature) < numeric) {
            node.threshold = static_cast<float>(random.normal());
        } else {
            node.categories = static_cast<int32_t>(tree.category_sets.size());
            tree.category_sets.push_back(
                {random.next(), random.next() & ((1u << (kCategories - 64)) - 1)});
        }
        open[pick] = static_cast<size_t>(left);
        open.push_back(static_cast<size_t>(left) + 1);
    }
    for (const size_t leaf : open) {
        tree.nodes[leaf].value = random.normal();
        tree.nodes[leaf].cover = random.uniform(1, 10);
    }
    return tree;
}

inline Ensemble random_ensemble(base::Random& random, size_t trees, size_t most_leaves = 31) {
    Ensemble ensemble;
    ensemble.base_score = random.normal();
    for (size_t t = 0; t < trees; ++t) {
        ensemble.trees.push_back(random_tree(random, 1 + random.below(most_leaves)));
    }
    return ensemble;
}

inline std::vector<float> random_row(base::Random& random, size_t numeric = 3) {
    constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> row;
    for (size_t i = 0; i < numeric; ++i) {
        row.push_back(random.bernoulli(0.2) ? kMissing : static_cast<float>(random.normal()));
    }
    row.push_back(random.bernoulli(0.2) ? kMissing : static_cast<float>(random.below(kCategories)));
    return row;
}

inline BootstrapLink example_bootstrap() { return {"x0", {{-1, 0.1}, {1, 0.9}}, 0.3}; }

inline RampRule random_ramp(base::Random& random, size_t groups) {
    RampRule ramp;
    ramp.gamma = random.bernoulli(0.3) ? 0 : random.uniform(0.01, 2);
    ramp.offset = random.bernoulli(0.5) ? 0.5 : 0;
    ramp.thresholds.assign(groups, 0);
    ramp.ties.assign(groups, 0);
    for (double& threshold : ramp.thresholds) threshold = random.uniform(-1, 1);
    for (double& tie : ramp.ties) tie = random.uniform();
    return ramp;
}

inline LearnedLink random_link(base::Random& random, size_t groups) {
    LearnedLink link;
    link.ensemble = random_ensemble(random, random.below(5), 8);
    link.score_slope = random.uniform(-3, 3);
    link.score_intercept = random.uniform(-1, 1);
    link.ramp = random_ramp(random, groups);
    const ExplorationMode modes[] = {ExplorationMode::kNone, ExplorationMode::kOneSided,
                                     ExplorationMode::kTwoSided};
    link.exploration = {modes[random.below(3)], random.uniform(0, 0.4)};
    link.kappa = random.uniform(0.05, 1);
    return link;
}

inline Calibration random_calibration(base::Random& random) {
    if (random.bernoulli(0.5))
        return BetaMap{random.uniform(0, 3), random.uniform(0, 3), random.normal()};
    PolylineMap map;
    double x = 0, y = 0;
    for (size_t points = 1 + random.below(5); points > 0; --points) {
        x += random.uniform(0.01, 0.2);
        y += random.uniform(0, 0.2);
        map.x.push_back(x);
        map.y.push_back(y);
    }
    return map;
}

inline GroupBlindAdjustment random_pull(base::Random& random, GroupBlindAdjustment::Given given) {
    GroupBlindAdjustment pull{given, {}, {}};
    pull.amounts.resize(2 + random.below(3));
    for (double& amount : pull.amounts) amount = random.uniform(-0.5, 0.5);
    pull.posteriors.resize(pull.amounts.size() == 2 ? 1 : pull.amounts.size());
    for (auto& posterior : pull.posteriors) posterior = random_ensemble(random, random.below(5), 8);
    return pull;
}

/// With calibrations, by group or not, slopes and pulls, or without some of them.
inline LearnedLink random_calibrated_link(base::Random& random, size_t groups) {
    LearnedLink link = random_link(random, groups);
    link.calibrations.resize(random.bernoulli(0.3) ? 0 : random.bernoulli(0.5) ? 1 : groups);
    for (auto& calibration : link.calibrations) calibration = random_calibration(random);
    link.ramp.slopes.resize(random.bernoulli(0.3) ? 0 : groups);
    for (double& slope : link.ramp.slopes) slope = random.uniform(-1, 2);
    for (const auto given :
         {GroupBlindAdjustment::Given::kNothing, GroupBlindAdjustment::Given::kFavourable,
          GroupBlindAdjustment::Given::kUnfavourable}) {
        if (random.bernoulli(0.5)) link.adjustments.push_back(random_pull(random, given));
    }
    return link;
}

/// With strata of one of the features and, of each group in each of them, a threshold of its own.
inline LearnedLink random_stratified_link(base::Random& random, size_t groups) {
    LearnedLink link = random_link(random, groups);
    Strata strata{.feature = static_cast<uint32_t>(random.below(4))};
    strata.count = static_cast<uint32_t>(2 + random.below(4));
    const bool own = random.bernoulli(0.5);
    const size_t valued = strata.count - (own ? 1 : 0);
    strata.missing = own ? strata.count - 1 : static_cast<uint32_t>(random.below(valued));
    if (strata.feature == 3) {
        for (size_t code = 0; code < kCategories; ++code)
            strata.of_category.push_back(static_cast<uint32_t>(code % valued));
    } else {
        for (size_t i = 1; i < valued; ++i)
            strata.cuts.push_back(static_cast<float>(random.uniform() + static_cast<double>(i)));
    }
    link.ramp = random_ramp(random, strata.count * groups);
    link.strata = std::move(strata);
    return link;
}

/// Weights that are drawn evenly and add up to 1.
inline std::vector<double> random_weights(base::Random& random, size_t count) {
    std::vector<double> weights(count);
    double sum = 0;
    for (double& weight : weights) sum += weight = random.uniform(0.01, 1);
    for (double& weight : weights) weight /= sum;
    return weights;
}

/// A link of up to `most` members, in any order, whose ensembles are all used.
inline LearnedLink random_mixture(base::Random& random, size_t groups, size_t most = 12) {
    LearnedLink link = random_link(random, groups);
    link.additional_ensembles.resize(random.below(3));
    for (auto& other : link.additional_ensembles)
        other = random_ensemble(random, random.below(80), 8);
    if (random.bernoulli(0.5)) link.ensemble = random_ensemble(random, random.below(80), 8);
    const size_t ensembles = 1 + link.additional_ensembles.size();
    const auto weights = random_weights(random, ensembles + random.below(most));
    for (size_t m = 0; m < weights.size(); ++m) {
        Member member;
        member.ensemble = static_cast<uint32_t>(m < ensembles ? m : random.below(ensembles));
        const auto& ensemble =
            member.ensemble == 0 ? link.ensemble : link.additional_ensembles[member.ensemble - 1];
        member.trees = static_cast<uint32_t>(random.below(ensemble.trees.size() + 1));
        member.weight = weights[m];
        if (random.bernoulli(0.5))
            member.ramp = random_ramp(random, random.bernoulli(0.5) ? groups : 1);
        link.members.push_back(member);
    }
    return link;
}

inline LinearModel random_linear(base::Random& random, size_t numeric = 3) {
    LinearModel linear;
    linear.intercept = random.uniform(-0.5, 1);
    for (size_t i = 0; i < numeric; ++i) {
        linear.slope.push_back(random.bernoulli(0.2) ? 0 : random.normal() / 4);
        linear.mean.push_back(random.normal());
        linear.category.emplace_back();
    }
    linear.slope.push_back(0);
    linear.mean.push_back(0);
    auto& codes = linear.category.emplace_back(kCategories);
    for (double& code : codes) code = random.normal() / 8;
    return linear;
}

/// A mixture on the unit scale, with levels or without, some of its members linear.
inline LearnedLink random_score_link(base::Random& random, size_t groups) {
    LearnedLink link = random_mixture(random, groups);
    link.scale = {ScoreScale::Kind::kUnit, static_cast<uint32_t>(random.below(50))};
    link.linears.resize(random.below(3));
    for (auto& linear : link.linears) linear = random_linear(random);
    for (uint32_t i = 0; i < link.linears.size(); ++i) {
        link.members.push_back(link.members[0]);
        link.members.back().linear = i + 1;
        link.members.back().weight = link.members[0].weight /= 2;
    }
    return link;
}

inline std::vector<std::string> group_names(size_t groups) {
    std::vector<std::string> names;
    for (size_t g = 0; groups > 1 && g < groups; ++g) names.push_back("g" + std::to_string(g));
    return names;
}

/// groups = 1: group-blind.
inline std::vector<Link> random_links(base::Random& random, size_t count, size_t groups,
                                      bool bootstrap) {
    std::vector<Link> links;
    if (bootstrap) links.emplace_back(example_bootstrap());
    while (links.size() < count) links.emplace_back(random_link(random, groups));
    return links;
}

inline Policy random_policy(base::Random& random, size_t count, size_t groups, bool bootstrap) {
    const bool aware = groups > 1 && count > (bootstrap ? 1u : 0u);
    return Policy::create(example_schema(), random_links(random, count, groups, bootstrap),
                          aware ? group_names(groups) : std::vector<std::string>{},
                          {{"learner", "test"}, {"seed", "7"}})
        .value();
}

}  // namespace rampart::model
