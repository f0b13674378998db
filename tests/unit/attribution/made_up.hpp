#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "rampart/attribution/probability.hpp"
#include "rampart/attribution/reference_set.hpp"
#include "rampart/attribution/units.hpp"
#include "rampart/base/random.hpp"
#include "rampart/model/policy.hpp"

/// Made-up policies of every kind, and applicants with ties and missing values.
namespace rampart::attribution::testing {

/// Parts that a learned link can have.
enum class Part { kTrees, kMixture, kCalibrated, kAdjusted, kLinear, kStrata, kGroups, kLevels };
inline constexpr Part kParts[] = {Part::kTrees,  Part::kMixture, Part::kCalibrated, Part::kAdjusted,
                                  Part::kLinear, Part::kStrata,  Part::kGroups,     Part::kLevels};

/// Returns features f0, f1, …: every third is a category, the others numbers.
inline dataset::FeatureSchema schema_of(size_t features) {
    std::vector<dataset::FeatureSpec> specs;
    for (size_t j = 0; j < features; ++j)
        specs.push_back(
            j % 3 == 2
                ? dataset::FeatureSpec{fmt::format("f{}", j),
                                       dataset::FeatureKind::kCategorical,
                                       {"a", "b", "c"}}
                : dataset::FeatureSpec{fmt::format("f{}", j), dataset::FeatureKind::kNumeric, {}});
    return dataset::FeatureSchema::create(std::move(specs)).value();
}

class MadeUp {
  public:
    MadeUp(uint64_t seed, size_t features) : random_(seed), schema_(schema_of(features)) {}

    base::Random& random() { return random_; }
    const dataset::FeatureSchema& schema() const { return schema_; }

    /// Makes a row of few different values; one in ten is missing.
    std::vector<float> row() {
        std::vector<float> row;
        for (size_t j = 0; j < schema_.size(); ++j)
            row.push_back(random_.bernoulli(0.1)
                              ? std::nanf("")
                              : static_cast<float>(random_.below(numeric(j) ? 5 : 3)));
        return row;
    }
    std::vector<float> rows(size_t n) {
        std::vector<float> out;
        for (size_t i = 0; i < n; ++i) {
            const auto one = row();
            out.insert(out.end(), one.begin(), one.end());
        }
        return out;
    }

    /// Makes a chain of `links`; the first of several is a declared rule.
    model::Policy policy(size_t links, std::optional<Part> part = {}) {
        std::vector<model::Link> chain;
        bool groups = false;
        for (size_t i = 0; i < links; ++i) {
            if (i == 0 && links > 1) {
                chain.emplace_back(model::BootstrapLink{"f0", {{0, 0.2}, {4, 0.9}}, 0.4});
                continue;
            }
            chain.emplace_back(link(part ? *part : kParts[random_.below(std::size(kParts))]));
            groups |= std::get<model::LearnedLink>(chain.back()).group_aware();
        }
        auto made = model::Policy::create(
            schema_, std::move(chain),
            groups ? std::vector<std::string>{"x", "y"} : std::vector<std::string>(), {});
        EXPECT_TRUE(made) << made.error().message;
        return *std::move(made);
    }

    model::LearnedLink link(Part part) {
        model::LearnedLink link;
        link.ensemble = ensemble();
        link.ramp = ramp(1);
        link.kappa = random_.uniform(0.3, 1);
        link.exploit_chain = random_.bernoulli(0.5);
        const auto mode = random_.below(3);
        if (mode > 0)
            link.exploration = {
                mode == 1 ? model::ExplorationMode::kOneSided : model::ExplorationMode::kTwoSided,
                0.05};
        switch (part) {
            case Part::kTrees:
                break;
            case Part::kMixture:
                link.additional_ensembles = {ensemble()};
                link.members = {{0, 0, 0.25, {}, 0}, {1, 0, 0.5, ramp(1), 0}, {0, 2, 0.25, {}, 0}};
                break;
            case Part::kCalibrated:
                link.calibrations = {model::BetaMap{0.5, 1.5, 0.3},
                                     model::PolylineMap{{0.2, 0.8}, {0.1, 0.7}}};
                break;
            case Part::kAdjusted:
                link.adjustments = {
                    {model::GroupBlindAdjustment::Given::kNothing, {ensemble()}, {0.4, -0.3}}};
                break;
            case Part::kLinear:
                link.linears = {linear()};
                link.members = {{0, 0, 1, {}, 1}};
                break;
            case Part::kStrata:
                link.strata = model::Strata{0, 2, {2}, {}, 1};
                link.ramp = ramp(4);
                break;
            case Part::kGroups:
                link.ramp = ramp(2);
                break;
            case Part::kLevels:
                link.scale = {model::ScoreScale::Kind::kUnit, 8};
                link.members = {{0, 1, 0.5, {}, 0}, {0, 0, 0.5, {}, 0}};
                break;
        }
        return link;
    }

  private:
    bool numeric(size_t j) const {
        return schema_.features()[j].kind == dataset::FeatureKind::kNumeric;
    }
    /// Makes a ramp, in one case of four a step.
    model::RampRule ramp(size_t entries) {
        model::RampRule ramp;
        ramp.gamma = random_.bernoulli(0.25) ? 0 : random_.uniform(0.3, 2);
        ramp.offset = 0.5;
        ramp.thresholds.clear();
        for (size_t i = 0; i < entries; ++i) ramp.thresholds.push_back(random_.uniform(-0.4, 0.6));
        ramp.ties.assign(entries, 1.0);
        return ramp;
    }
    model::Ensemble ensemble() {
        model::Ensemble ensemble;
        ensemble.base_score = random_.normal() / 2;
        for (int i = 0; i < 6; ++i) ensemble.trees.push_back(tree());
        return ensemble;
    }
    /// Makes a tree of three splits.
    model::Tree tree() {
        model::Tree tree;
        tree.nodes.resize(7);
        for (int32_t i = 0; i < 3; ++i) {
            auto& node = tree.nodes[static_cast<size_t>(i)];
            const size_t j = random_.below(schema_.size());
            node.feature = static_cast<int32_t>(j);
            node.left = 2 * i + 1;
            node.right = 2 * i + 2;
            node.default_left = random_.bernoulli(0.5);
            if (numeric(j)) {
                node.threshold = static_cast<float>(random_.below(4)) + 0.5f;
            } else {
                node.categories = static_cast<int32_t>(tree.category_sets.size());
                tree.category_sets.push_back({1 + random_.below(6)});
            }
        }
        for (size_t i = 3; i < 7; ++i) tree.nodes[i].value = random_.normal();
        return tree;
    }
    model::LinearModel linear() {
        model::LinearModel linear;
        for (size_t j = 0; j < schema_.size(); ++j) {
            linear.slope.push_back(numeric(j) ? random_.normal() / 3 : 0);
            linear.mean.push_back(numeric(j) ? 2 : 0);
            linear.category.emplace_back();
            if (!numeric(j)) linear.category.back() = {random_.normal(), 0, random_.normal()};
        }
        return linear;
    }

    base::Random random_;
    dataset::FeatureSchema schema_;
};

/// Returns the group that a policy reads.
inline std::optional<size_t> group_for(const model::Policy& policy, size_t group = 1) {
    return policy.group_aware() ? std::optional(group) : std::nullopt;
}

}  // namespace rampart::attribution::testing
