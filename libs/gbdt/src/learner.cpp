#include "rampart/gbdt/learner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "learner_params.hpp"
#include "rampart/base/random.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/dataset/reasons.hpp"
#include "rampart/gbdt/log_loss.hpp"
#include "rampart/gbdt/reasons.hpp"
#include "rampart/model/batch_engine.hpp"
#include "tree_grower.hpp"
#include "work.hpp"

namespace rampart::gbdt {
namespace {

using base::Result;

base::Status check_validation(const dataset::Dataset& data, const dataset::Dataset* validation,
                              const LearnerParams& params) {
    if (validation == nullptr) {
        if (params.early_stopping_rounds == 0) return base::ok();
        return base::make_error(Reason::kNoValidationSet,
                                "early_stopping_rounds is {} but there is no "
                                "validation set; give one or set it to 0",
                                params.early_stopping_rounds);
    }
    if (!(validation->schema == data.schema)) {
        return base::make_error(dataset::Reason::kOtherSchema,
                                "the validation set has another feature schema than the "
                                "training set");
    }
    if (validation->rows() == 0) {
        return base::make_error(base::Reason::kNoRows, "the validation set has no rows");
    }
    if (const auto status = check_columns(*validation); !status) {
        return status.error().with_context("validation set");
    }
    return base::ok();
}

base::Status check_start(const model::Ensemble& start, const dataset::Dataset& data,
                         const LearnerParams& params) {
    if (const auto status = model::validate(start, data.schema); !status) {
        return status.error().with_context("the model to continue from");
    }
    if (start.trees.size() < static_cast<size_t>(params.trees)) return base::ok();
    return base::make_error(Reason::kNothingToTrain,
                            "the model to continue from has {} trees and trees is {}; ask for "
                            "more",
                            start.trees.size(), params.trees);
}

/// Returns the leaf of a row of bins, as a node.
size_t walk(const GrownTree& grown, const std::vector<std::vector<uint8_t>>& columns, size_t row) {
    const model::TreeNode* const nodes = grown.tree.nodes.data();
    size_t at = 0;
    while (nodes[at].feature >= 0) {
        const uint8_t bin = columns[static_cast<size_t>(nodes[at].feature)][row];
        at =
            static_cast<size_t>(grown.splits[at].left.test(bin) ? nodes[at].left : nodes[at].right);
    }
    return at;
}

/// Returns the sum of the trees' values for every row, added in the order of the trees.
std::vector<double> scores_of(const model::Ensemble& ensemble, const dataset::Dataset& data,
                              base::ThreadPool* pool) {
    std::vector<double> scores(data.rows());
    model::BatchEngine(ensemble).predict_raw(model::TableView::of(data), scores, pool);
    return scores;
}

/// Samples a share of 0 … n-1, rounded up, ascending, each subset equally likely (Knuth's algorithm
/// S).
std::vector<uint32_t> sample(size_t n, double fraction, base::Random& random) {
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

struct LeafSums {
    Sums sums;
    double cover = 0;
};

/// One run of boosting.
class Run {
  public:
    Run(const dataset::Dataset& data, Objective& objective, const LearnerParams& params,
        base::ThreadPool* pool, const TrainingOptions& options, const BinnedData& binned)
        : data_(data),
          objective_(objective),
          params_(params),
          pool_(pool),
          options_(options),
          binned_(binned),
          grower_(binned, params, pool),
          random_(params.seed),
          g_(data.rows()),
          h_(data.rows()),
          entries_(data.rows()),
          leaf_of_row_(data.rows()),
          sums_(chunks_of(data.rows())) {}

    Result<model::Ensemble> boost() {
        RAMPART_RETURN_IF_ERROR(begin());
        const bool stop_early = params_.early_stopping_rounds > 0;
        if (stop_early) {
            best_loss_ = validation_loss();
            best_trees_ = ensemble_.trees.size();
        }
        for (int iteration = static_cast<int>(ensemble_.trees.size()); iteration < params_.trees;
             ++iteration) {
            RAMPART_RETURN_IF_ERROR(add_tree(iteration));
            objective_.after_tree(iteration, scores_);
            const bool stop_now = stop_early && should_stop();
            if (options_.progress &&
                !options_.progress({iteration + 1, params_.trees, scores_, validation_scores_}))
                break;
            if (stop_now) break;
        }
        if (stop_early) ensemble_.trees.resize(best_trees_);
        return std::move(ensemble_);
    }

  private:
    base::Status begin() {
        const auto* validation = options_.validation;
        if (validation != nullptr) {
            validation_columns_.resize(data_.columns.size());
            run_tasks(pool_, data_.columns.size(), [&](size_t f) {
                validation_columns_[f] = binned_.mapper.bin_column(f, validation->columns[f]);
            });
        }
        if (options_.start != nullptr) {
            ensemble_ = *options_.start;
            scores_ = scores_of(ensemble_, data_, pool_);
            if (validation != nullptr)
                validation_scores_ = scores_of(ensemble_, *validation, pool_);
            return base::ok();
        }
        ensemble_.base_score = objective_.initial_score();
        if (!(std::abs(ensemble_.base_score) <= model::kMaxRawValue)) {
            return base::make_error(Reason::kBadInitialScore, "objective '{}' starts at {}",
                                    objective_.name(), ensemble_.base_score);
        }
        scores_.assign(data_.rows(), ensemble_.base_score);
        if (validation != nullptr)
            validation_scores_.assign(validation->rows(), ensemble_.base_score);
        return base::ok();
    }

    /// Runs task(chunk, first row, number of rows) over all threads.
    template <class Task>
    void for_chunks(size_t rows, const Task& task) {
        run_tasks(pool_, chunks_of(rows), [&](size_t chunk) {
            const size_t first = chunk * kChunkRows;
            task(chunk, first, std::min(kChunkRows, rows - first));
        });
    }

    base::Status add_tree(int iteration) {
        RAMPART_TRY(const Scale scale, differentiate(iteration));
        base::Random random = random_.fork(static_cast<uint64_t>(iteration));
        // not the run's seed, which is used only to sample rows or features
        const auto seed = static_cast<uint32_t>(base::mix64(static_cast<uint64_t>(iteration)));
        for_chunks(data_.rows(), [&](size_t, size_t first, size_t n) {
            quantise(std::span(g_).subspan(first, n), std::span(h_).subspan(first, n), scale, seed,
                     first, std::span(entries_).subspan(first, n), params_.instructions);
        });
        std::span<Entry> used = entries_;
        if (params_.row_fraction < 1) {
            const auto rows = sample(data_.rows(), params_.row_fraction, random);
            for (size_t i = 0; i < rows.size(); ++i) entries_[i] = entries_[rows[i]];
            used = used.first(rows.size());
        }
        const auto features = sample(data_.columns.size(), params_.feature_fraction, random);
        GrownTree grown = grower_.grow(used, scale, features);
        finish_tree(grown);
        ensemble_.trees.push_back(std::move(grown.tree));
        return base::ok();
    }

    /// Computes the gradients of all rows, and a scale that fits them.
    Result<Scale> differentiate(int iteration) {
        objective_.prepare(scores_);
        std::vector<Extent> extents(chunks_of(data_.rows()));
        for_chunks(data_.rows(), [&](size_t chunk, size_t first, size_t n) {
            const auto g = std::span(g_).subspan(first, n), h = std::span(h_).subspan(first, n);
            objective_.gradients_of_rows(scores_, first, g, h);
            extents[chunk] = extent_of(g, h, params_.instructions);
        });
        Extent all{0, 0, std::numeric_limits<float>::infinity()};
        bool sound = true;
        for (const Extent& extent : extents) {
            sound = sound && std::isfinite(extent.g) && std::isfinite(extent.h);
            all.g = std::max(all.g, extent.g);
            all.h = std::max(all.h, extent.h);
            all.least_h = std::min(all.least_h, extent.least_h);
        }
        if (sound && all.least_h > 0) return scale_for(all);
        size_t row = 0;
        while (std::isfinite(g_[row]) && std::isfinite(h_[row]) && h_[row] > 0) ++row;
        return base::make_error(Reason::kBadGradient,
                                "objective '{}', iteration {}, row {}: g = {}, h = {}; "
                                "expected finite numbers and h > 0",
                                objective_.name(), iteration, row, g_[row], h_[row]);
    }

    /// Sets the fields that the grower leaves open, and adds the tree to all scores.
    void finish_tree(GrownTree& grown) {
        mark_leaves(grown);
        const auto totals = sum_leaves(grown.leaves.size());
        set_values(grown, totals);
        std::vector<double> values;
        std::vector<uint16_t> leaf_of_node(grown.tree.nodes.size());
        for (const GrownLeaf& leaf : grown.leaves) {
            leaf_of_node[static_cast<size_t>(leaf.node)] = static_cast<uint16_t>(values.size());
            values.push_back(grown.tree.nodes[static_cast<size_t>(leaf.node)].value);
        }
        for_chunks(data_.rows(), [&](size_t, size_t first, size_t n) {
            for (size_t row = first; row < first + n; ++row) {
                uint16_t leaf = leaf_of_row_[row];
                if (leaf == kNoLeaf) leaf = leaf_of_node[walk(grown, binned_.columns, row)];
                scores_[row] += values[leaf];
            }
            objective_.rows_scored(scores_, first, n);
        });
        for_chunks(validation_scores_.size(), [&](size_t, size_t first, size_t n) {
            for (size_t row = first; row < first + n; ++row) {
                const size_t node = walk(grown, validation_columns_, row);
                validation_scores_[row] += grown.tree.nodes[node].value;
            }
        });
    }

    /// Sets each row's leaf position in grown.leaves; kNoLeaf for rows outside the sample.
    void mark_leaves(const GrownTree& grown) {
        if (params_.row_fraction < 1) std::fill(leaf_of_row_.begin(), leaf_of_row_.end(), kNoLeaf);
        run_workers(pool_, grown.leaves.size(), [&](size_t, size_t leaf) {
            const auto mark = static_cast<uint16_t>(leaf);
            for (const Entry& entry : grown.leaves[leaf].entries) leaf_of_row_[entry.row] = mark;
        });
    }

    /// Sums over the rows of each leaf: within each chunk, then over the chunks in order.
    std::vector<LeafSums> sum_leaves(size_t leaves) {
        for_chunks(data_.rows(), [&](size_t chunk, size_t first, size_t n) {
            auto& sums = sums_[chunk];
            sums.assign(leaves + 1, LeafSums{});  // the last one is for rows without a leaf
            for (size_t row = first; row < first + n; ++row) {
                LeafSums& leaf = sums[std::min<size_t>(leaf_of_row_[row], leaves)];
                leaf.sums.g += static_cast<double>(g_[row]);
                leaf.sums.h += static_cast<double>(h_[row]);
                leaf.cover += static_cast<double>(data_.weight_of(row));
            }
        });
        std::vector<LeafSums> totals(leaves);
        for (const auto& sums : sums_) {
            for (size_t leaf = 0; leaf < leaves; ++leaf) {
                totals[leaf].sums = totals[leaf].sums + sums[leaf].sums;
                totals[leaf].cover += sums[leaf].cover;
            }
        }
        return totals;
    }

    void set_values(GrownTree& grown, const std::vector<LeafSums>& totals) {
        auto& nodes = grown.tree.nodes;
        run_workers(pool_, grown.leaves.size(), [&](size_t, size_t i) {
            const GrownLeaf& leaf = grown.leaves[i];
            model::TreeNode& node = nodes[static_cast<size_t>(leaf.node)];
            node.cover = totals[i].cover;
            node.value = params_.learning_rate * value_of(leaf, totals[i].sums);
        });
        // children come after their parents
        for (size_t i = nodes.size(); i-- > 0;) {
            if (nodes[i].feature < 0) continue;
            nodes[i].gain = grown.splits[i].gain;
            nodes[i].cover = nodes[static_cast<size_t>(nodes[i].left)].cover +
                             nodes[static_cast<size_t>(nodes[i].right)].cover;
        }
    }

    double value_of(const GrownLeaf& leaf, const Sums& sums) const {
        if (!objective_.sets_leaves()) return leaf_value(sums, params_, leaf.bounds);
        std::vector<uint32_t> rows;
        rows.reserve(leaf.entries.size());
        for (const Entry& entry : leaf.entries) rows.push_back(entry.row);
        return std::clamp(objective_.leaf_value(scores_, rows), leaf.bounds.lo, leaf.bounds.hi);
    }

    double validation_loss() const {
        return options_.validation_loss ? options_.validation_loss(validation_scores_)
                                        : mean_log_loss(*options_.validation, validation_scores_);
    }

    /// Returns true if the validation loss has not improved for early_stopping_rounds.
    bool should_stop() {
        const double loss = validation_loss();
        if (loss < best_loss_) {
            best_loss_ = loss;
            best_trees_ = ensemble_.trees.size();
        }
        return ensemble_.trees.size() - best_trees_ >=
               static_cast<size_t>(params_.early_stopping_rounds);
    }

    static constexpr uint16_t kNoLeaf = std::numeric_limits<uint16_t>::max();

    const dataset::Dataset& data_;
    Objective& objective_;
    const LearnerParams& params_;
    base::ThreadPool* pool_;
    const TrainingOptions& options_;
    const BinnedData& binned_;
    TreeGrower grower_;
    base::Random random_;
    std::vector<float> g_, h_;
    std::vector<Entry> entries_;
    std::vector<uint16_t> leaf_of_row_;
    std::vector<std::vector<LeafSums>> sums_;  // by chunk, then by leaf
    std::vector<double> scores_, validation_scores_;
    std::vector<std::vector<uint8_t>> validation_columns_;
    model::Ensemble ensemble_;
    double best_loss_ = std::numeric_limits<double>::infinity();
    size_t best_trees_ = 0;
};

}  // namespace

Result<model::Ensemble> train(const dataset::Dataset& data, Objective& objective,
                              const LearnerParams& params, base::ThreadPool* pool,
                              const TrainingOptions& options) {
    RAMPART_RETURN_IF_ERROR(validate(params));
    if (data.rows() == 0)
        return base::make_error(base::Reason::kNoRows, "the training set has no rows");
    RAMPART_RETURN_IF_ERROR(check_columns(data));
    RAMPART_RETURN_IF_ERROR(check_against(params, data.schema));
    RAMPART_RETURN_IF_ERROR(check_validation(data, options.validation, params));
    if (options.start != nullptr)
        RAMPART_RETURN_IF_ERROR(check_start(*options.start, data, params));
    if (options.bins != nullptr) {
        RAMPART_RETURN_IF_ERROR(options.bins->check(data, params.max_bins));
        return Run(data, objective, params, pool, options, options.bins->binned()).boost();
    }
    RAMPART_TRY(const BinnedData binned,
                BinnedData::create(data, static_cast<size_t>(params.max_bins), pool));
    return Run(data, objective, params, pool, options, binned).boost();
}

Result<model::Ensemble> train(const dataset::Dataset& data, Objective& objective,
                              const LearnerParams& params, base::ThreadPool* pool,
                              const dataset::Dataset* validation,
                              const ProgressCallback& progress) {
    return train(data, objective, params, pool,
                 TrainingOptions{.validation = validation, .progress = progress});
}

}  // namespace rampart::gbdt
