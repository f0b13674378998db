#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "rampart/model/ensemble.hpp"

/// Shapley values by their definition: every subset of the features, a walk through every tree for
/// each. Shares no code with what it checks.
namespace rampart::explain {

/// v(S): bit f of known says whether feature f is in S.
using Game = std::function<double(uint32_t known)>;

inline std::vector<double> shapley_values(size_t features, const Game& game) {
    std::vector<double> v;
    for (uint32_t known = 0; known < (1u << features); ++known) v.push_back(game(known));
    std::vector<double> phi(features);
    for (size_t f = 0; f < features; ++f) {
        for (uint32_t known = 0; known < v.size(); ++known) {
            if ((known >> f & 1) != 0) continue;
            const auto s = static_cast<double>(std::popcount(known));
            const auto d = static_cast<double>(features);
            // |S|! (d - |S| - 1)! / d!
            const double weight =
                std::exp(std::lgamma(s + 1) + std::lgamma(d - s) - std::lgamma(d + 1));
            phi[f] += weight * (v[known | 1u << f] - v[known]);
        }
    }
    return phi;
}

inline bool goes_left(const model::Tree& tree, const model::TreeNode& node, float x) {
    if (std::isnan(x)) return node.default_left;
    if (node.categories < 0) return x <= node.threshold;
    const auto& set = tree.category_sets[static_cast<size_t>(node.categories)];
    const auto code = static_cast<size_t>(x);
    return code / 64 < set.size() && (set[code / 64] >> code % 64 & 1) != 0;
}

/// Unknown features split by cover.
inline double by_cover(const model::Tree& tree, size_t at, std::span<const float> row,
                       uint32_t known) {
    const auto& node = tree.nodes[at];
    if (node.feature < 0) return node.value;
    const auto left = static_cast<size_t>(node.left), right = static_cast<size_t>(node.right);
    if ((known >> node.feature & 1) != 0) {
        const bool l = goes_left(tree, node, row[static_cast<size_t>(node.feature)]);
        return by_cover(tree, l ? left : right, row, known);
    }
    const double l = tree.nodes[left].cover, r = tree.nodes[right].cover;
    return (l * by_cover(tree, left, row, known) + r * by_cover(tree, right, row, known)) / (l + r);
}

inline Game path_dependent_game(const model::Ensemble& ensemble, std::span<const float> row) {
    return [&ensemble, row](uint32_t known) {
        double sum = ensemble.base_score;
        for (const auto& tree : ensemble.trees) sum += by_cover(tree, 0, row, known);
        return sum;
    };
}

/// Unknown features take the values of each reference row in turn.
inline Game interventional_game(const model::Ensemble& ensemble, std::span<const float> row,
                                std::span<const float> reference,
                                std::span<const double> weights = {}) {
    return [&ensemble, row, reference, weights](uint32_t known) {
        const size_t d = row.size();
        double sum = 0, total = 0;
        std::vector<float> mixed(d);
        for (size_t r = 0; r < reference.size() / d; ++r) {
            for (size_t f = 0; f < d; ++f) {
                mixed[f] = (known >> f & 1) != 0 ? row[f] : reference[r * d + f];
            }
            const double w = weights.empty() ? 1 : weights[r];
            sum += w * ensemble.predict_raw(mixed);
            total += w;
        }
        return sum / total;
    };
}

}  // namespace rampart::explain
