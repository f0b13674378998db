#include "cut_columns.hpp"

#include <algorithm>
#include <limits>

namespace rampart::model {

CutColumns::CutColumns(const Ensemble& ensemble) {
    std::map<uint32_t, std::vector<float>> thresholds;
    for (const Tree& tree : ensemble.trees) {
        for (const TreeNode& node : tree.nodes) {
            if (node.feature < 0 || node.categories >= 0) continue;
            thresholds[static_cast<uint32_t>(node.feature)].push_back(node.threshold);
        }
    }
    for (auto& [feature, values] : thresholds) {
        std::sort(values.begin(), values.end());
        values.erase(std::unique(values.begin(), values.end()), values.end());
        ranges_[feature] = {static_cast<uint32_t>(columns_.size()),
                            static_cast<uint32_t>(cuts_.size()),
                            static_cast<uint32_t>(values.size())};
        add_columns(feature, values);
    }
}

void CutColumns::add_columns(uint32_t feature, std::span<const float> cuts) {
    for (size_t at = 0; at < cuts.size(); at += kMostCuts) {
        const auto part = cuts.subspan(at, std::min(kMostCuts, cuts.size() - at));
        columns_.push_back({feature, static_cast<uint32_t>(cuts_.size()),
                            static_cast<uint32_t>(part.size()),
                            static_cast<uint32_t>(ladders_.size())});
        cuts_.insert(cuts_.end(), part.begin(), part.end());
        ladders_.resize(ladders_.size() + kLadder, std::numeric_limits<float>::infinity());
        float* ladder = ladders_.data() + columns_.back().ladder;
        for (size_t i = 0; i < part.size(); ++i) {
            ladder[kRung + i] = part[i];
            if (i % kRung == kRung - 1) ladder[i / kRung] = part[i];
        }
    }
}

CutPlace CutColumns::place(const TreeNode& node) const {
    const Range& range = ranges_.at(static_cast<uint32_t>(node.feature));
    const auto cuts = std::span(cuts_).subspan(range.first, range.count);
    const auto at = static_cast<size_t>(std::lower_bound(cuts.begin(), cuts.end(), node.threshold) -
                                        cuts.begin());
    return {range.column + static_cast<uint32_t>(at / kMostCuts),
            static_cast<uint8_t>(at % kMostCuts)};
}

}  // namespace rampart::model
