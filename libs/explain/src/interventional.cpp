#include <algorithm>
#include <cmath>

#include "flat_trees.hpp"
#include "rampart/explain/reasons.hpp"
#include "shap_engine.hpp"

namespace rampart::explain {
namespace {

/// Whose value a feature has below a split where the row and the reference take different branches.
enum Owner : uint8_t { kNone = 0, kRow, kReference };

/// Shapley weights of a leaf that needs a features from the row and b from the reference: each of
/// the a gets +value·(a-1)!·b!/(a+b)!, each of the b gets -value·a!·(b-1)!/(a+b)!.
class Weights {
  public:
    explicit Weights(size_t most) : side_(most + 1), of_row_(side_ * side_) {
        // (a-1)!·b!/(a+b)!: 1/(b+1) for a = 1, then times (a-1)/(a+b)
        for (size_t b = 0; b < side_; ++b) {
            double weight = 1 / static_cast<double>(b + 1);
            for (size_t a = 1; a < side_; ++a) {
                if (a > 1) weight *= static_cast<double>(a - 1) / static_cast<double>(a + b);
                of_row_[a * side_ + b] = weight;
            }
        }
    }
    double of_row(size_t a, size_t b) const { return of_row_[a * side_ + b]; }
    double of_reference(size_t a, size_t b) const { return of_row_[b * side_ + a]; }

  private:
    size_t side_;
    std::vector<double> of_row_;  // [a][b]; 0 for a = 0
};

class Interventional : public ShapEngine {
  public:
    Interventional(const model::Ensemble& ensemble, size_t features,
                   std::span<const float> reference, std::span<const double> weights)
        : trees_(ensemble, features),
          features_(features),
          reference_(reference.begin(), reference.end()),
          leaf_weights_(trees_.path_features) {
        const size_t n = reference.size() / features;
        double total = 0;
        for (size_t r = 0; r < n; ++r) total += weights.empty() ? 1.0 : weights[r];
        for (size_t r = 0; r < n; ++r) {
            weights_.push_back((weights.empty() ? 1.0 : weights[r]) / total);
            base_value_ +=
                weights_.back() * ensemble.predict_raw(reference.subspan(r * features, features));
        }
    }

    double base_value() const override { return base_value_; }
    size_t numbers() const override { return 0; }
    size_t bytes() const override { return features_ + trees_.most_nodes; }

    void add(const float* rows, size_t n, double* phi,
             TreeShap::Workspace& workspace) const override {
        uint8_t* const owner = workspace.bytes.data();  // all kNone between calls
        uint8_t* const sides = owner + features_;
        for (const auto& tree : trees_.trees) {
            const auto nodes = trees_.nodes_of(tree);
            for (size_t i = 0; i < n; ++i) {
                const float* row = rows + i * features_;
                for (size_t k = 0; k < nodes.size(); ++k) {
                    const auto& node = nodes[k];
                    if (node.feature < 0) continue;
                    sides[k] = static_cast<uint8_t>(trees_.side_of(node, row[node.feature]));
                }
                Walk walk{*this,
                          nodes.data(),
                          trees_.values.data() + tree.begin,
                          sides,
                          owner,
                          nullptr,
                          0,
                          phi + i * features_};
                for (size_t r = 0; r < weights_.size(); ++r) {
                    walk.reference = reference_.data() + r * features_;
                    walk.weight = weights_[r];
                    walk.below(0, 0, 0);
                }
            }
        }
    }

  private:
    /// Amounts that the leaves below a node add to each feature owned by the row above it, and
    /// subtract from each owned by the reference.
    struct Shares {
        double row, reference;
    };

    /// Traversal of one tree with one row against one reference row.
    struct Walk {
        const Interventional& engine;
        const FlatNode* nodes;
        const double* values;
        const uint8_t* sides;  // sides that the row takes
        uint8_t* owner;
        const float* reference;
        double weight;
        double* phi;

        /// Requires that above `at` a features belong to the row and b to the reference.
        Shares below(size_t at, size_t a, size_t b) {
            while (nodes[at].feature >= 0) {
                const FlatNode& node = nodes[at];
                const unsigned mine = sides[at];
                uint8_t& whose = owner[node.feature];
                if (whose == kRow) {
                    at = node.child[mine];
                    continue;
                }
                const unsigned theirs = engine.trees_.side_of(node, reference[node.feature]);
                if (whose == kReference || mine == theirs) {
                    at = node.child[theirs];
                    continue;
                }
                whose = kRow;
                const Shares x = below(node.child[mine], a + 1, b);
                whose = kReference;
                const Shares r = below(node.child[theirs], a, b + 1);
                whose = kNone;
                phi[node.feature] += weight * (x.row - r.reference);
                return {x.row + r.row, x.reference + r.reference};
            }
            return {values[at] * engine.leaf_weights_.of_row(a, b),
                    values[at] * engine.leaf_weights_.of_reference(a, b)};
        }
    };

    FlatTrees trees_;
    size_t features_;
    std::vector<float> reference_;
    std::vector<double> weights_;  // sum to 1
    Weights leaf_weights_;
    double base_value_ = 0;
};

}  // namespace

base::Result<std::unique_ptr<const ShapEngine>> interventional_engine(
    const model::Ensemble& ensemble, size_t features, std::span<const float> reference,
    std::span<const double> weights) {
    if (features == 0 || reference.empty() || reference.size() % features != 0) {
        return base::make_error(Reason::kBadReference,
                                "{} values are not one or more reference rows of {} features",
                                reference.size(), features);
    }
    const size_t rows = reference.size() / features;
    if (rows > kMaxReferenceRows) {
        return base::make_error(Reason::kTooManyReferenceRows,
                                "{} reference rows; allowed are {}: take a sample", rows,
                                kMaxReferenceRows);
    }
    for (size_t i = 0; i < reference.size(); ++i) {
        if (!std::isinf(reference[i])) continue;
        return base::make_error(Reason::kBadReference,
                                "reference row {} has an infinite value for feature {}",
                                i / features, i % features);
    }
    if (!weights.empty() && weights.size() != rows) {
        return base::make_error(Reason::kBadReference, "{} weights for {} reference rows",
                                weights.size(), rows);
    }
    for (size_t r = 0; r < weights.size(); ++r) {
        if (weights[r] > 0 && weights[r] <= model::kMaxRawValue) continue;
        return base::make_error(
            Reason::kBadReference,
            "reference row {} has weight {}; expected a number above 0, up to {}", r, weights[r],
            model::kMaxRawValue);
    }
    return std::make_unique<const Interventional>(ensemble, features, reference, weights);
}

}  // namespace rampart::explain
