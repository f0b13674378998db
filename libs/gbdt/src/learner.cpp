#include "rampart/gbdt/learner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "rampart/base/limits.hpp"
#include "rampart/base/random.hpp"
#include "rampart/gbdt/log_loss.hpp"
#include "tree_grower.hpp"

namespace rampart::gbdt {
namespace {

using base::Result;
namespace limits = base::limits;

template <class T>
base::Status check_range(std::string_view field, T value, T lo, T hi) {
    if (value >= lo && value <= hi) return base::ok();
    return base::out_of_range("bad_learner_parameter", "{} is {}; allowed are {} to {}", field,
                              value, lo, hi);
}

base::Status check_fraction(std::string_view field, double value) {
    if (value > 0 && value <= 1) return base::ok();
    return base::out_of_range("bad_learner_parameter", "{} is {}; allowed is above 0 up to 1",
                              field, value);
}

base::Status check_validation(const dataset::Dataset& data, const dataset::Dataset* validation,
                              const LearnerParams& params) {
    if (validation == nullptr) {
        if (params.early_stopping_rounds == 0) return base::ok();
        return base::invalid_argument("no_validation_set",
                                      "early_stopping_rounds is {} but there is no "
                                      "validation set; give one or set it to 0",
                                      params.early_stopping_rounds);
    }
    if (!(validation->schema == data.schema)) {
        return base::invalid_argument("other_schema",
                                      "the validation set has another feature schema than the "
                                      "training set");
    }
    if (validation->rows() == 0) {
        return base::invalid_argument("no_rows", "the validation set has no rows");
    }
    if (const auto status = check_columns(*validation); !status) {
        return status.error().with_context("validation set");
    }
    return base::ok();
}

/// The leaf that the row falls into: Tree::predict on columns.
double walk(const model::Tree& tree, const std::vector<std::vector<float>>& columns, size_t row) {
    const model::TreeNode* node = &tree.nodes.front();
    while (node->feature >= 0) {
        const float x = columns[static_cast<size_t>(node->feature)][row];
        bool left = node->default_left;
        if (!std::isnan(x) && node->categories < 0) left = x <= node->threshold;
        if (!std::isnan(x) && node->categories >= 0) {
            const auto& set = tree.category_sets[static_cast<size_t>(node->categories)];
            const auto code = static_cast<size_t>(x);
            left = (set[code / 64] >> (code % 64) & 1) != 0;
        }
        node = &tree.nodes[static_cast<size_t>(left ? node->left : node->right)];
    }
    return node->value;
}

/// One run of boosting.
class Run {
  public:
    Run(const dataset::Dataset& data, Objective& objective, const LearnerParams& params,
        base::ThreadPool* pool, const BinnedData& binned)
        : data_(data),
          objective_(objective),
          params_(params),
          grower_(binned, params, pool),
          random_(params.seed),
          g_(data.rows()),
          h_(data.rows()),
          gradients_(data.rows()) {}

    Result<model::Ensemble> boost(const dataset::Dataset* validation,
                                  const ProgressCallback& progress) {
        ensemble_.base_score = objective_.initial_score();
        if (!(std::abs(ensemble_.base_score) <= model::kMaxRawValue)) {
            return base::internal_error("bad_initial_score", "objective '{}' starts at {}",
                                        objective_.name(), ensemble_.base_score);
        }
        scores_.assign(data_.rows(), ensemble_.base_score);
        const bool stop_early = params_.early_stopping_rounds > 0;
        if (stop_early) {
            validation_scores_.assign(validation->rows(), ensemble_.base_score);
            best_loss_ = mean_log_loss(*validation, validation_scores_);
        }
        for (int iteration = 0; iteration < params_.trees; ++iteration) {
            RAMPART_RETURN_IF_ERROR(add_tree(iteration));
            objective_.after_tree(iteration, scores_);
            const bool enough = stop_early && is_enough(*validation);
            if (progress && !progress({iteration + 1, params_.trees, scores_})) break;
            if (enough) break;
        }
        if (stop_early) ensemble_.trees.resize(best_trees_);
        return std::move(ensemble_);
    }

  private:
    base::Status add_tree(int iteration) {
        objective_.gradients(scores_, g_, h_);
        for (size_t row = 0; row < g_.size(); ++row) {
            if (!std::isfinite(g_[row]) || !std::isfinite(h_[row]) || !(h_[row] > 0)) {
                return base::internal_error("bad_gradient",
                                            "objective '{}', iteration {}, row {}: g = {}, h = {}; "
                                            "wanted are finite numbers and h > 0",
                                            objective_.name(), iteration, row, g_[row], h_[row]);
            }
            gradients_[row] = {g_[row], h_[row]};
        }
        base::Random random = random_.fork(static_cast<uint64_t>(iteration));
        auto rows = sample(data_.rows(), params_.row_fraction, random);
        const auto features = sample(data_.columns.size(), params_.feature_fraction, random);
        GrownTree grown = grower_.grow(gradients_, std::move(rows), features);
        update_scores(grown);
        ensemble_.trees.push_back(std::move(grown.tree));
        return base::ok();
    }

    /// A share of 0 … n-1, rounded up, ascending, each subset equally likely (Knuth's algorithm S).
    static std::vector<uint32_t> sample(size_t n, double fraction, base::Random& random) {
        std::vector<uint32_t> picked;
        if (fraction >= 1) {
            picked.resize(n);
            std::iota(picked.begin(), picked.end(), 0);
            return picked;
        }
        const auto wanted = static_cast<size_t>(std::ceil(fraction * static_cast<double>(n)));
        picked.reserve(wanted);
        for (size_t i = 0; i < n && picked.size() < wanted; ++i) {
            if (random.below(n - i) < wanted - picked.size())
                picked.push_back(static_cast<uint32_t>(i));
        }
        return picked;
    }

    void update_scores(GrownTree& grown) {
        auto& nodes = grown.tree.nodes;
        const bool sampled = params_.row_fraction < 1;
        for (const GrownLeaf& leaf : grown.leaves) {
            model::TreeNode& node = nodes[static_cast<size_t>(leaf.node)];
            for (const uint32_t row : leaf.rows) {
                node.cover += data_.weight_of(row);
                if (!sampled) scores_[row] += node.value;
            }
        }
        // children stand after their parents
        for (size_t i = nodes.size(); i-- > 0;) {
            if (nodes[i].feature < 0) continue;
            nodes[i].cover = nodes[static_cast<size_t>(nodes[i].left)].cover +
                             nodes[static_cast<size_t>(nodes[i].right)].cover;
        }
        for (size_t row = 0; sampled && row < scores_.size(); ++row) {
            scores_[row] += walk(grown.tree, data_.columns, row);
        }
    }

    /// Scores the validation set with the newest tree; true when it has not got better for long
    /// enough.
    bool is_enough(const dataset::Dataset& validation) {
        for (size_t row = 0; row < validation.rows(); ++row) {
            validation_scores_[row] += walk(ensemble_.trees.back(), validation.columns, row);
        }
        const double loss = mean_log_loss(validation, validation_scores_);
        if (loss < best_loss_) {
            best_loss_ = loss;
            best_trees_ = ensemble_.trees.size();
        }
        return ensemble_.trees.size() - best_trees_ >=
               static_cast<size_t>(params_.early_stopping_rounds);
    }

    const dataset::Dataset& data_;
    Objective& objective_;
    const LearnerParams& params_;
    TreeGrower grower_;
    base::Random random_;
    std::vector<float> g_, h_;
    std::vector<Gradient> gradients_;
    std::vector<double> scores_, validation_scores_;
    model::Ensemble ensemble_;
    double best_loss_ = std::numeric_limits<double>::infinity();
    size_t best_trees_ = 0;
};

}  // namespace

base::Status validate(const LearnerParams& params) {
    constexpr int kManyRows = static_cast<int>(limits::kMaxRows);
    constexpr double kLarge = 1e12;
    RAMPART_RETURN_IF_ERROR(
        check_range("trees", params.trees, 1, static_cast<int>(limits::kMaxTrees)));
    RAMPART_RETURN_IF_ERROR(check_fraction("learning_rate", params.learning_rate));
    RAMPART_RETURN_IF_ERROR(
        check_range("leaves", params.leaves, 2, static_cast<int>(limits::kMaxLeaves)));
    RAMPART_RETURN_IF_ERROR(
        check_range("max_depth", params.max_depth, 0, static_cast<int>(limits::kMaxLeaves)));
    RAMPART_RETURN_IF_ERROR(check_range("min_rows_in_leaf", params.min_rows_in_leaf, 1, kManyRows));
    RAMPART_RETURN_IF_ERROR(
        check_range("min_hessian_in_leaf", params.min_hessian_in_leaf, 0.0, kLarge));
    RAMPART_RETURN_IF_ERROR(check_range("l1", params.l1, 0.0, kLarge));
    RAMPART_RETURN_IF_ERROR(check_range("l2", params.l2, 0.0, kLarge));
    RAMPART_RETURN_IF_ERROR(check_range("min_gain", params.min_gain, 0.0, kLarge));
    RAMPART_RETURN_IF_ERROR(check_range("max_bins", params.max_bins, 2, 255));
    RAMPART_RETURN_IF_ERROR(check_fraction("feature_fraction", params.feature_fraction));
    RAMPART_RETURN_IF_ERROR(check_fraction("row_fraction", params.row_fraction));
    RAMPART_RETURN_IF_ERROR(check_range("category_smooth", params.category_smooth, 0.0, kLarge));
    RAMPART_RETURN_IF_ERROR(
        check_range("max_category_threshold", params.max_category_threshold, 1, 256));
    return check_range("early_stopping_rounds", params.early_stopping_rounds, 0,
                       static_cast<int>(limits::kMaxTrees));
}

Result<model::Ensemble> train(const dataset::Dataset& data, Objective& objective,
                              const LearnerParams& params, base::ThreadPool* pool,
                              const dataset::Dataset* validation,
                              const ProgressCallback& progress) {
    RAMPART_RETURN_IF_ERROR(validate(params));
    if (data.rows() == 0) return base::invalid_argument("no_rows", "the training set has no rows");
    RAMPART_RETURN_IF_ERROR(check_columns(data));
    RAMPART_RETURN_IF_ERROR(check_validation(data, validation, params));
    RAMPART_TRY(const BinnedData binned,
                BinnedData::create(data, static_cast<size_t>(params.max_bins), pool));
    return Run(data, objective, params, pool, binned).boost(validation, progress);
}

}  // namespace rampart::gbdt
