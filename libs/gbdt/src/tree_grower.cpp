#include "tree_grower.hpp"

#include <algorithm>
#include <limits>

#include "rampart/base/check.hpp"

namespace rampart::gbdt {

TreeGrower::TreeGrower(const BinnedData& data, const LearnerParams& params, base::ThreadPool* pool)
    : data_(data), params_(params), pool_(pool) {
    constexpr size_t kFewest = 4;
    const size_t fit = kHistogramBytes / (data.histogram_size() * sizeof(Sums));
    histograms_left_ = std::max(kFewest, fit);
}

bool TreeGrower::can_split(const Leaf& leaf) const {
    if (params_.max_depth > 0 && leaf.depth >= params_.max_depth) return false;
    return leaf.rows() >= 2 * static_cast<size_t>(params_.min_rows_in_leaf) &&
           leaf.sums.h >= 2 * params_.min_hessian_in_leaf;
}

/// Small jobs are done in the caller: waking threads would cost more.
void TreeGrower::run_features(size_t rows, const std::function<void(size_t)>& task) {
    constexpr size_t kWorthwhile = 1 << 16;
    if (pool_ != nullptr && (rows + 256) * features_.size() >= kWorthwhile) {
        pool_->run(features_.size(), task);
    } else {
        for (size_t i = 0; i < features_.size(); ++i) task(i);
    }
}

/// The leaf's gradients side by side: each feature reads them once.
void TreeGrower::gather(const Leaf& leaf) {
    gathered_.resize(leaf.rows());
    for (size_t i = 0; i < gathered_.size(); ++i) gathered_[i] = gradients_[rows_[leaf.begin + i]];
}

void TreeGrower::fill(const Leaf& leaf, size_t feature) {
    fill_histogram(data_.columns[feature], std::span(rows_).subspan(leaf.begin, leaf.rows()),
                   gathered_, bins_of(*leaf.histogram, data_, feature));
}

void TreeGrower::keep_best(Leaf& leaf, std::vector<Split>& found) {
    for (size_t i = 0; i < found.size(); ++i) {
        if (found[i].gain > leaf.split.gain) {
            leaf.split = found[i];
            leaf.feature = features_[i];
        }
    }
    if (leaf.split.gain == 0) release(leaf);
}

/// One of the buffers; when all are in use, that of the open leaf with the least to gain.
std::unique_ptr<Histogram> TreeGrower::take_histogram() {
    if (free_.empty() && histograms_left_ > 0) {
        --histograms_left_;
        return std::make_unique<Histogram>(data_.histogram_size());
    }
    if (free_.empty()) {
        Leaf* least = nullptr;
        for (Leaf& leaf : leaves_) {
            if (leaf.histogram != nullptr &&
                (least == nullptr || leaf.split.gain < least->split.gain)) {
                least = &leaf;
            }
        }
        RAMPART_CHECK(least != nullptr, "no histogram to be had");
        release(*least);
    }
    auto histogram = std::move(free_.back());
    free_.pop_back();
    return histogram;
}

void TreeGrower::release(Leaf& leaf) {
    if (leaf.histogram != nullptr) free_.push_back(std::move(leaf.histogram));
    leaf.histogram = nullptr;
}

/// Histogram and best split of a leaf that has no parent to subtract from.
void TreeGrower::study(Leaf& leaf) {
    if (!can_split(leaf)) return;
    leaf.histogram = take_histogram();
    gather(leaf);
    found_small_.assign(features_.size(), Split{});
    run_features(leaf.rows(), [&](size_t i) {
        const size_t f = features_[i];
        fill(leaf, f);
        found_small_[i] = find_split(data_.mapper.features()[f], bins_of(*leaf.histogram, data_, f),
                                     leaf.sums, params_);
    });
    keep_best(leaf, found_small_);
}

/// The same for two leaves whose parent's histogram is there: it becomes the larger one's.
void TreeGrower::study(Leaf& smaller, Leaf& larger, std::unique_ptr<Histogram> parent) {
    if (!can_split(smaller) && !can_split(larger)) {
        free_.push_back(std::move(parent));
        return;
    }
    smaller.histogram = take_histogram();
    larger.histogram = std::move(parent);
    gather(smaller);
    found_small_.assign(features_.size(), Split{});
    found_large_.assign(features_.size(), Split{});
    const bool split_smaller = can_split(smaller);
    const bool split_larger = can_split(larger);
    run_features(smaller.rows(), [&](size_t i) {
        const size_t f = features_[i];
        const auto& feature = data_.mapper.features()[f];
        fill(smaller, f);
        const auto small_bins = bins_of(*smaller.histogram, data_, f);
        const auto large_bins = bins_of(*larger.histogram, data_, f);
        subtract_histogram(large_bins, small_bins);
        if (split_smaller) found_small_[i] = find_split(feature, small_bins, smaller.sums, params_);
        if (split_larger) found_large_[i] = find_split(feature, large_bins, larger.sums, params_);
    });
    keep_best(smaller, found_small_);
    keep_best(larger, found_large_);
}

/// Left rows first, both sides in their old order; returns how many go left.
size_t TreeGrower::partition(const Leaf& leaf) {
    const uint8_t* const column = data_.columns[leaf.feature].data();
    uint8_t goes_left[256];
    for (size_t b = 0; b < 256; ++b) goes_left[b] = leaf.split.left.test(b);
    uint32_t* const rows = rows_.data() + leaf.begin;
    const size_t count = leaf.rows();
    moved_.resize(std::max(moved_.size(), count));
    size_t left = 0, right = 0;
    for (size_t i = 0; i < count; ++i) {
        // both are written and one counts: cheaper than a branch that is guessed wrong
        const uint32_t row = rows[i];
        const size_t is_left = goes_left[column[row]];
        rows[left] = row;
        moved_[right] = row;
        left += is_left;
        right += 1 - is_left;
    }
    std::copy_n(moved_.begin(), right, rows + left);
    return left;
}

/// Turns the leaf's node into an inner one with two new leaves.
void TreeGrower::write_node(const Leaf& leaf) {
    const auto left = static_cast<int32_t>(tree_.nodes.size());
    tree_.nodes.resize(tree_.nodes.size() + 2);
    model::TreeNode& node = tree_.nodes[static_cast<size_t>(leaf.node)];
    node.feature = static_cast<int32_t>(leaf.feature);
    node.left = left;
    node.right = left + 1;
    node.default_left = leaf.split.missing_left;
    node.gain = leaf.split.gain;
    const dataset::FeatureBins& bins = data_.mapper.features()[leaf.feature];
    if (bins.kind == dataset::FeatureKind::kNumeric) {
        // past the last cut: all numbers go left, missing ones right
        node.threshold = leaf.split.bin < bins.cuts.size() ? bins.cuts[leaf.split.bin]
                                                           : std::numeric_limits<float>::max();
        return;
    }
    const size_t codes = bins.bin_of_code.size();
    auto& set = tree_.category_sets.emplace_back((codes + 63) / 64);
    node.categories = static_cast<int32_t>(tree_.category_sets.size()) - 1;
    for (size_t code = 0; code < codes; ++code) {
        // a code that the training rows never have counts as missing
        if (leaf.split.left.test(bins.bin_of_code[code]))
            set[code / 64] |= uint64_t{1} << (code % 64);
    }
}

void TreeGrower::split_leaf(size_t index, bool last) {
    Leaf parent = std::move(leaves_[index]);
    leaves_.erase(leaves_.begin() + static_cast<long>(index));
    write_node(parent);
    const size_t middle = parent.begin + partition(parent);
    RAMPART_CHECK(middle - parent.begin == parent.split.left_sums.rows,
                  "{} rows went left, {} announced", middle - parent.begin,
                  parent.split.left_sums.rows);
    const int32_t node = tree_.nodes[static_cast<size_t>(parent.node)].left;
    Leaf left{node, parent.begin, middle, parent.depth + 1, parent.split.left_sums};
    Leaf right{node + 1, middle, parent.end, parent.depth + 1, parent.split.right_sums};
    if (last) {
        release(parent);
    } else if (parent.histogram == nullptr) {
        study(left);
        // pushed in between, so that its histogram can be taken away again
        leaves_.push_back(std::move(left));
        study(right);
        leaves_.push_back(std::move(right));
        return;
    } else if (left.rows() <= right.rows()) {
        study(left, right, std::move(parent.histogram));
    } else {
        study(right, left, std::move(parent.histogram));
    }
    leaves_.push_back(std::move(left));
    leaves_.push_back(std::move(right));
}

GrownTree TreeGrower::grow(std::span<const Gradient> gradients, std::vector<uint32_t> rows,
                           std::span<const uint32_t> features) {
    gradients_ = gradients;
    features_ = features;
    rows_ = std::move(rows);
    for (Leaf& leaf : leaves_) release(leaf);
    leaves_.clear();
    tree_ = {};
    tree_.nodes.resize(1);
    Leaf root{0, 0, rows_.size(), 0, {}};
    for (const uint32_t row : rows_) root.sums += Sums{gradients_[row].g, gradients_[row].h, 1};
    study(root);
    leaves_.push_back(std::move(root));
    while (leaves_.size() < static_cast<size_t>(params_.leaves)) {
        const auto best = std::max_element(
            leaves_.begin(), leaves_.end(),
            [](const Leaf& a, const Leaf& b) { return a.split.gain < b.split.gain; });
        if (best->split.gain == 0) break;
        const bool last = leaves_.size() + 1 == static_cast<size_t>(params_.leaves);
        split_leaf(static_cast<size_t>(best - leaves_.begin()), last);
    }
    GrownTree grown;
    for (const Leaf& leaf : leaves_) {
        tree_.nodes[static_cast<size_t>(leaf.node)].value =
            params_.learning_rate * leaf_value(leaf.sums, params_);
        grown.leaves.push_back({leaf.node, std::span(rows_).subspan(leaf.begin, leaf.rows())});
    }
    grown.tree = std::move(tree_);
    return grown;
}

}  // namespace rampart::gbdt
