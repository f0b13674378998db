#include "rampart/model/ensemble.hpp"

#include <algorithm>
#include <cmath>

#include "rampart/base/limits.hpp"
#include "rampart/dataset/category_limit.hpp"
#include "rampart/model/leaf_of.hpp"
#include "rampart/model/reasons.hpp"

namespace rampart::model {
namespace {

namespace limits = base::limits;

bool in_set(const std::vector<uint64_t>& set, float x) {
    if (!(x >= 0) || x >= static_cast<float>(set.size() * 64)) return false;
    const auto code = static_cast<size_t>(x);
    return (set[code / 64] >> (code % 64) & 1) != 0;
}

bool goes_left(const Tree& tree, const TreeNode& node, float x) {
    if (std::isnan(x)) return node.default_left;
    if (node.categories < 0) return x <= node.threshold;
    return in_set(tree.category_sets[static_cast<size_t>(node.categories)], x);
}

/// Checks one tree; the caller adds the tree's position to errors.
class TreeCheck {
  public:
    TreeCheck(const Tree& tree, size_t features) : tree_(tree), features_(features) {}

    base::Status run() {
        const size_t n = tree_.nodes.size();
        if (n == 0 || n > 2 * limits::kMaxLeaves - 1) {
            return base::make_error(Reason::kBadTreeSize, "{} nodes; allowed are 1 to {}", n,
                                    2 * limits::kMaxLeaves - 1);
        }
        if (tree_.category_sets.size() > n) return bad_sets("more category sets than nodes");
        for (const auto& set : tree_.category_sets) {
            if (set.empty() || set.size() > (dataset::kMostCategories + 63) / 64) {
                return bad_sets("a category set that is empty or too long");
            }
        }
        reached_.assign(n, 0);
        reached_[0] = 1;
        for (size_t i = 0; i < n; ++i) {
            if (const auto status = check_node(i); !status) {
                return status.error().with_context(fmt::format("node {}", i));
            }
        }
        return base::ok();
    }

  private:
    static base::Error bad_sets(std::string_view what) {
        return base::make_error(Reason::kBadCategorySet, "{}", what);
    }
    static base::Error bad_node(std::string_view what) {
        return base::make_error(Reason::kBadNode, "{}", what);
    }

    /// Checks a node. Children come after their parent, so that every node's state is final here.
    base::Status check_node(size_t i) {
        const TreeNode& node = tree_.nodes[i];
        if (reached_[i] != 1)
            return bad_node(reached_[i] == 0 ? "cannot be reached" : "has two parents");
        if (!(std::abs(node.value) <= kMaxRawValue) || !std::isfinite(node.threshold) ||
            !std::isfinite(node.gain) || !std::isfinite(node.cover) || node.cover < 0) {
            return bad_node("has a number that is not finite or out of range");
        }
        if (node.feature == -1) {
            const bool bare = node.left == -1 && node.right == -1 && node.categories == -1;
            return bare ? base::ok() : bad_node("is a leaf with children or categories");
        }
        if (node.feature < 0 || static_cast<size_t>(node.feature) >= features_) {
            return bad_node(fmt::format("splits feature {} of {}", node.feature, features_));
        }
        for (const int32_t child : {node.left, node.right}) {
            if (child <= static_cast<int32_t>(i) ||
                static_cast<size_t>(child) >= tree_.nodes.size()) {
                return bad_node(fmt::format("has child {}, outside {} to {}", child, i + 1,
                                            tree_.nodes.size() - 1));
            }
            reached_[static_cast<size_t>(child)] =
                static_cast<uint8_t>(std::min(2, reached_[static_cast<size_t>(child)] + 1));
        }
        if (node.categories < -1 ||
            node.categories >= static_cast<int32_t>(tree_.category_sets.size())) {
            return bad_node(fmt::format("has category set {} of {}", node.categories,
                                        tree_.category_sets.size()));
        }
        return base::ok();
    }

    const Tree& tree_;
    size_t features_;
    std::vector<uint8_t> reached_;  // number of parents, 2 for more
};

base::Status check_split(const Tree& tree, const TreeNode& node, const dataset::FeatureSpec& spec) {
    const bool categorical = spec.kind == dataset::FeatureKind::kCategorical;
    if (categorical != (node.categories >= 0)) {
        return base::make_error(Reason::kWrongSplitKind, "splits {} feature '{}' by {}",
                                categorical ? "categorical" : "numeric", spec.name,
                                categorical ? "a threshold" : "categories");
    }
    if (!categorical) return base::ok();
    const auto& set = tree.category_sets[static_cast<size_t>(node.categories)];
    for (size_t code = spec.categories.size(); code < set.size() * 64; ++code) {
        if ((set[code / 64] >> (code % 64) & 1) == 0) continue;
        return base::make_error(Reason::kUnknownCategory, "feature '{}' has no category code {}",
                                spec.name, code);
    }
    return base::ok();
}

}  // namespace

size_t leaf_of(const Tree& tree, std::span<const float> row) {
    const TreeNode* node = &tree.nodes.front();
    while (node->feature >= 0) {
        const float x = row[static_cast<size_t>(node->feature)];
        const auto next = goes_left(tree, *node, x) ? node->left : node->right;
        node = &tree.nodes[static_cast<size_t>(next)];
    }
    return static_cast<size_t>(node - tree.nodes.data());
}

double Tree::predict(std::span<const float> row) const { return nodes[leaf_of(*this, row)].value; }

double Ensemble::predict_raw(std::span<const float> row) const {
    return predict_raw(row, trees.size());
}

double Ensemble::predict_raw(std::span<const float> row, size_t trees_used) const {
    double sum = base_score;
    for (size_t t = 0; t < std::min(trees_used, trees.size()); ++t) sum += trees[t].predict(row);
    return sum;
}

base::Status validate(const Ensemble& ensemble, size_t features) {
    if (ensemble.trees.size() > limits::kMaxTrees) {
        return base::make_error(Reason::kTooManyTrees, "{} trees; allowed are {}",
                                ensemble.trees.size(), limits::kMaxTrees);
    }
    if (!(std::abs(ensemble.base_score) <= kMaxRawValue)) {
        return base::make_error(Reason::kBadBaseScore,
                                "base score {}; allowed is a magnitude up to {}",
                                ensemble.base_score, kMaxRawValue);
    }
    for (size_t t = 0; t < ensemble.trees.size(); ++t) {
        if (const auto status = TreeCheck(ensemble.trees[t], features).run(); !status) {
            return status.error().with_context(fmt::format("tree {}", t));
        }
    }
    return base::ok();
}

base::Status validate(const Ensemble& ensemble, const dataset::FeatureSchema& schema) {
    RAMPART_RETURN_IF_ERROR(validate(ensemble, schema.size()));
    for (size_t t = 0; t < ensemble.trees.size(); ++t) {
        const Tree& tree = ensemble.trees[t];
        for (size_t i = 0; i < tree.nodes.size(); ++i) {
            const TreeNode& node = tree.nodes[i];
            if (node.feature < 0) continue;
            const auto& spec = schema.features()[static_cast<size_t>(node.feature)];
            if (const auto status = check_split(tree, node, spec); !status) {
                return status.error().with_context(fmt::format("tree {}: node {}", t, i));
            }
        }
    }
    return base::ok();
}

bool reads_a_feature(const Ensemble& ensemble) {
    return std::any_of(ensemble.trees.begin(), ensemble.trees.end(), [](const Tree& tree) {
        return std::any_of(tree.nodes.begin(), tree.nodes.end(),
                           [](const TreeNode& node) { return node.feature >= 0; });
    });
}

double sigmoid(double raw) {
    if (raw >= 0) return 1 / (1 + std::exp(-raw));
    const double e = std::exp(raw);
    return e / (1 + e);
}

}  // namespace rampart::model
