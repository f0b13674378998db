#include "rampart/model/two_rows.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "goes_left.hpp"
#include "rampart/base/check.hpp"

namespace rampart::model {
namespace {

constexpr size_t kLowParts = 6;  // rows that differ in these alone lie side by side
constexpr size_t kLowRows = size_t{1} << kLowParts;

/// A leaf, and which rows reach it: those S with S & asked == taken.
struct Reached {
    size_t asked = 0, taken = 0;
    double value = 0;
};

/// Adds kLowRows values; such that the compiler can take several at a time.
void add_block(const double* __restrict from, double* __restrict to) {
    for (size_t i = 0; i < kLowRows; ++i) to[i] += from[i];
}

/// One ensemble and the rows between two.
class Between {
  public:
    Between(const TwoRows& two, double base_score) : two_(two), part_of_(two.row.size(), -1) {
        for (size_t part = 0; part < two.parts.size(); ++part)
            for (const size_t feature : two.parts[part]) part_of_[feature] = static_cast<int>(part);
        blocks_.resize((two.count() + kLowRows - 1) / kLowRows);
        sums_.resize(blocks_.size());
        for (auto& sums : sums_) sums.fill(base_score);
    }

    void add(const Tree& tree) {
        find_leaves(tree);
        size_t asked = 0;
        for (const auto& leaf : leaves_) asked |= leaf.asked;
        const size_t high = asked / kLowRows;
        for (const auto& leaf : leaves_) put(leaf, high);
        for (size_t block = 0; block < sums_.size(); ++block) {
            add_block(blocks_[block & high].data(), sums_[block].data());
        }
    }
    double sum(size_t row) const { return sums_[row / kLowRows][row % kLowRows]; }

  private:
    struct Place {
        int32_t node;
        size_t asked, taken;
    };

    void find_leaves(const Tree& tree) {
        leaves_.clear();
        places_.assign(1, {0, 0, 0});
        while (!places_.empty()) {
            auto [at, asked, taken] = places_.back();
            places_.pop_back();
            const auto* node = &tree.nodes[static_cast<size_t>(at)];
            for (; node->feature >= 0; node = &tree.nodes[static_cast<size_t>(at)]) {
                const auto feature = static_cast<size_t>(node->feature);
                const bool left = goes_left(tree, *node, two_.row[feature]);
                const int part = part_of_[feature];
                const bool other_left =
                    part < 0 ? left : goes_left(tree, *node, two_.other[feature]);
                bool to_left = left;
                if (left != other_left) {
                    const size_t bit = size_t{1} << part;
                    if ((asked & bit) == 0) {  // both branches: the other row's later
                        asked |= bit;
                        places_.push_back(
                            {other_left ? node->left : node->right, asked, taken | bit});
                    } else if ((taken & bit) != 0) {
                        to_left = other_left;
                    }
                }
                at = to_left ? node->left : node->right;
            }
            leaves_.push_back({asked, taken, node->value});
        }
    }

    /// Writes the leaf's value where its rows are, in the blocks of the rows that take nothing but
    /// `high` parts.
    void put(const Reached& leaf, size_t high) {
        constexpr size_t low_mask = kLowRows - 1;
        const size_t free_high = high & ~(leaf.asked / kLowRows);
        const size_t free_low = low_mask & ~leaf.asked;
        size_t more_high = 0;
        do {  // each subset of the free parts once
            auto& block = blocks_[leaf.taken / kLowRows | more_high];
            size_t more_low = 0;
            do {
                block[(leaf.taken & low_mask) | more_low] = leaf.value;
                more_low = (more_low - free_low) & free_low;
            } while (more_low != 0);
            more_high = (more_high - free_high) & free_high;
        } while (more_high != 0);
    }

    const TwoRows& two_;
    std::vector<int> part_of_;  // [d]; -1: as `row` has it
    // kLowRows rows each, of one tree; those where no more than its parts are taken
    std::vector<std::array<double, kLowRows>> blocks_{};
    std::vector<std::array<double, kLowRows>> sums_{};  // all trees so far
    std::vector<Reached> leaves_{};
    std::vector<Place> places_{};
};

}  // namespace

std::vector<float> TwoRows::rows() const {
    const size_t width = row.size();
    std::vector<float> out(count() * width);
    std::copy(row.begin(), row.end(), out.begin());
    for (size_t set = 1; set < count(); ++set) {  // as the row with one part less, but for it
        const float* before = &out[(set & (set - 1)) * width];
        float* const x = &out[set * width];
        std::copy(before, before + width, x);
        for (const size_t feature : parts[static_cast<size_t>(std::countr_zero(set))])
            x[feature] = other[feature];
    }
    return out;
}

void predict_between(const Ensemble& ensemble, const TwoRows& two, std::span<double> out) {
    RAMPART_CHECK(two.parts.size() <= TwoRows::kMostParts && out.size() == two.count() &&
                      two.row.size() == two.other.size(),
                  "{} parts of {} and {} features, {} results", two.parts.size(), two.row.size(),
                  two.other.size(), out.size());
    Between between(two, ensemble.base_score);
    for (const Tree& tree : ensemble.trees) between.add(tree);
    for (size_t row = 0; row < out.size(); ++row) out[row] = between.sum(row);
}

}  // namespace rampart::model
