#include "tree_grower.hpp"

#include <algorithm>
#include <limits>

#include "rampart/base/check.hpp"
#include "work.hpp"

namespace rampart::gbdt {
namespace {

/// Returns the sets of the parameters plus, for each feature in none, a set of its own.
std::vector<std::vector<uint32_t>> complete(std::vector<std::vector<uint32_t>> sets,
                                            size_t features) {
    if (sets.empty()) return sets;
    std::vector<bool> named(features);
    for (const auto& set : sets)
        for (const uint32_t feature : set) named[feature] = true;
    for (uint32_t f = 0; f < features; ++f)
        if (!named[f]) sets.push_back({f});
    return sets;
}

bool contains(const std::vector<uint32_t>& set, size_t feature) {
    return std::find(set.begin(), set.end(), feature) != set.end();
}

}  // namespace

TreeGrower::TreeGrower(const BinnedData& data, const LearnerParams& params, base::ThreadPool* pool)
    : data_(data),
      params_(params),
      pool_(pool),
      interactions_(complete(params.interactions, data.columns.size())),
      filler_(data, pool),
      partition_(pool) {
    constexpr size_t kFewest = 4;
    const size_t fit = kHistogramBytes / Histogram::bytes(data.histogram_size());
    histograms_left_ = std::max(kFewest, fit);
}

int TreeGrower::direction(size_t feature) const {
    return params_.monotone.empty() ? 0 : params_.monotone[feature];
}

bool TreeGrower::can_split(const Leaf& leaf) const {
    if (params_.max_depth > 0 && leaf.depth >= params_.max_depth) return false;
    return leaf.sums.rows >= 2 * static_cast<uint32_t>(params_.min_rows_in_leaf) &&
           static_cast<double>(leaf.sums.h) * scale_.h >= 2 * params_.min_hessian_in_leaf;
}

bool TreeGrower::may_use(const Leaf& leaf, size_t feature) const {
    if (interactions_.empty()) return true;
    return std::any_of(leaf.sets.begin(), leaf.sets.end(),
                       [&](uint32_t set) { return contains(interactions_[set], feature); });
}

void TreeGrower::fill(const Leaf& leaf) {
    filler_.fill(entries_.subspan(leaf.begin, leaf.rows()), tiles_, *leaf.histogram);
}

/// Finds the best split over all features, compared in their order.
void TreeGrower::find_best(Leaf& leaf) {
    if (!can_split(leaf)) return;
    const LeafView view{leaf.sums, scale_, leaf.bounds};
    found_.assign(features_.size(), Split{});
    const auto find = [&](size_t i) {
        const size_t f = features_[i];
        if (!may_use(leaf, f)) return;
        found_[i] = find_split(data_.mapper.features()[f], part_of(*leaf.histogram, data_, f), view,
                               direction(f), params_);
    };
    constexpr size_t kAtOnce = 16;  // fewer would not be worth waking a thread
    run_workers(pool_, (features_.size() + kAtOnce - 1) / kAtOnce, [&](size_t, size_t part) {
        const size_t end = std::min(features_.size(), (part + 1) * kAtOnce);
        for (size_t i = part * kAtOnce; i < end; ++i) find(i);
    });
    for (size_t i = 0; i < found_.size(); ++i) {
        if (found_[i].gain > leaf.split.gain) {
            leaf.split = found_[i];
            leaf.feature = features_[i];
        }
    }
}

/// Returns a free buffer; if all are in use, that of the open leaf with the smallest gain.
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
        RAMPART_CHECK(least != nullptr, "no histogram buffer is free");
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

/// Computes histogram and best split of a leaf without a parent to subtract from.
void TreeGrower::evaluate(Leaf& leaf) {
    if (!can_split(leaf)) return;
    leaf.histogram = take_histogram();
    fill(leaf);
    find_best(leaf);
    if (leaf.split.gain == 0) release(leaf);
}

/// Does the same for two leaves whose parent's histogram is available: it becomes the larger one's.
void TreeGrower::evaluate(Leaf& smaller, Leaf& larger, std::unique_ptr<Histogram> parent) {
    larger.histogram = std::move(parent);
    if (can_split(smaller) || can_split(larger)) {
        smaller.histogram = take_histogram();
        fill(smaller);
        subtract(*larger.histogram, *smaller.histogram);
        find_best(smaller);
        find_best(larger);
    }
    for (Leaf* leaf : {&smaller, &larger}) {
        if (leaf->split.gain == 0) release(*leaf);
    }
}

/// Turns the leaf's node into an inner node with two new leaves.
void TreeGrower::write_node(const Leaf& leaf) {
    const auto left = static_cast<int32_t>(tree_.nodes.size());
    tree_.nodes.resize(tree_.nodes.size() + 2);
    splits_.resize(tree_.nodes.size());
    splits_[static_cast<size_t>(leaf.node)] = leaf.split;
    model::TreeNode& node = tree_.nodes[static_cast<size_t>(leaf.node)];
    node.feature = static_cast<int32_t>(leaf.feature);
    node.left = left;
    node.right = left + 1;
    node.default_left = leaf.split.missing_left;
    const dataset::FeatureBins& bins = data_.mapper.features()[leaf.feature];
    if (bins.kind == dataset::FeatureKind::kNumeric) {
        // beyond the last cut: all numbers go left, missing goes right
        node.threshold = leaf.split.bin < bins.cuts.size() ? bins.cuts[leaf.split.bin]
                                                           : std::numeric_limits<float>::max();
        return;
    }
    const size_t codes = bins.bin_of_code.size();
    auto& set = tree_.category_sets.emplace_back((codes + 63) / 64);
    node.categories = static_cast<int32_t>(tree_.category_sets.size()) - 1;
    for (size_t code = 0; code < codes; ++code) {
        // a code without training rows counts as missing
        if (leaf.split.left.test(bins.bin_of_code[code]))
            set[code / 64] |= uint64_t{1} << (code % 64);
    }
}

TreeGrower::Leaf TreeGrower::child(const Leaf& parent, bool left, size_t middle) const {
    const Split& split = parent.split;
    Leaf leaf{tree_.nodes[static_cast<size_t>(parent.node)].left + (left ? 0 : 1),
              left ? parent.begin : middle,
              left ? middle : parent.end,
              parent.depth + 1,
              left ? split.left_sums : split.right_sums,
              parent.bounds};
    for (const uint32_t set : parent.sets) {
        if (contains(interactions_[set], parent.feature)) leaf.sets.push_back(set);
    }
    const int rising = direction(parent.feature);
    if (rising == 0) return leaf;
    const auto value = [&](const IntSums& sums) {
        return leaf_value(
            {static_cast<double>(sums.g) * scale_.g, static_cast<double>(sums.h) * scale_.h},
            params_, parent.bounds);
    };
    const double between = (value(split.left_sums) + value(split.right_sums)) / 2;
    const bool lower = left == (rising > 0);
    (lower ? leaf.bounds.hi : leaf.bounds.lo) = between;
    return leaf;
}

void TreeGrower::split_leaf(size_t index, bool last) {
    Leaf parent = std::move(leaves_[index]);
    leaves_.erase(leaves_.begin() + static_cast<long>(index));
    write_node(parent);
    const size_t lefts = partition_.run(entries_.subspan(parent.begin, parent.rows()),
                                        data_.columns[parent.feature], parent.split.left);
    RAMPART_CHECK(lefts == parent.split.left_sums.rows, "{} rows went left, expected {}", lefts,
                  parent.split.left_sums.rows);
    Leaf left = child(parent, true, parent.begin + lefts);
    Leaf right = child(parent, false, parent.begin + lefts);
    if (last) {
        release(parent);
    } else if (parent.histogram == nullptr) {
        evaluate(left);
        // added in between, so that its histogram buffer can be reclaimed
        leaves_.push_back(std::move(left));
        evaluate(right);
        leaves_.push_back(std::move(right));
        return;
    } else if (left.rows() <= right.rows()) {
        evaluate(left, right, std::move(parent.histogram));
    } else {
        evaluate(right, left, std::move(parent.histogram));
    }
    leaves_.push_back(std::move(left));
    leaves_.push_back(std::move(right));
}

/// Sums over one feature, because every row has one bin of each feature.
IntSums TreeGrower::sums_of_root(const Histogram& histogram) const {
    IntSums all;
    const size_t begin = data_.offsets[features_[0]];
    for (size_t b = 0; b < data_.bins_of(features_[0]); ++b) all = all + histogram.at(begin + b);
    return all;
}

GrownTree TreeGrower::grow(std::span<Entry> entries, const Scale& scale,
                           std::span<const uint32_t> features) {
    entries_ = entries;
    scale_ = scale;
    features_ = features;
    tiles_.assign(data_.tiles.size(), false);
    for (size_t t = 0; t < tiles_.size(); ++t) {
        const Tile& tile = data_.tiles[t];
        const auto first = std::lower_bound(features.begin(), features.end(), tile.first);
        tiles_[t] = first != features.end() && *first < tile.first + tile.features;
    }
    for (Leaf& leaf : leaves_) release(leaf);
    leaves_.clear();
    tree_ = {};
    tree_.nodes.resize(1);
    splits_.assign(1, Split{});
    Leaf root{0, 0, entries_.size(), 0, {}};
    for (uint32_t set = 0; set < interactions_.size(); ++set) root.sets.push_back(set);
    root.histogram = take_histogram();
    fill(root);
    root.sums = sums_of_root(*root.histogram);
    find_best(root);
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
        grown.leaves.push_back({leaf.node, leaf.bounds, entries_.subspan(leaf.begin, leaf.rows())});
    }
    grown.tree = std::move(tree_);
    grown.splits = std::move(splits_);
    return grown;
}

}  // namespace rampart::gbdt
