#include "fragments.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rampart::model {
namespace {

bool in_words(const std::vector<uint64_t>& words, size_t code) {
    return code / 64 < words.size() && (words[code / 64] >> (code % 64) & 1) != 0;
}

/// Selects the nodes of a fragment. Prefers nodes that most rows reach, so that a second
/// fragment is rarely needed.
std::vector<bool> pick_nodes(const Tree& tree, size_t root) {
    std::vector<bool> picked(tree.nodes.size(), false);
    std::vector<size_t> exits{root};
    const auto asks = [&](size_t node) { return tree.nodes[node].feature >= 0; };
    while (exits.size() < Fragment::kExits) {
        const auto widest = std::max_element(exits.begin(), exits.end(), [&](size_t a, size_t b) {
            return std::pair(asks(a), tree.nodes[a].cover) <
                   std::pair(asks(b), tree.nodes[b].cover);
        });
        if (!asks(*widest)) break;
        picked[*widest] = true;
        const TreeNode& node = tree.nodes[*widest];
        *widest = static_cast<size_t>(node.left);
        exits.push_back(static_cast<size_t>(node.right));
    }
    return picked;
}

/// Numbers nodes and exits from left to right.
class Numbering {
  public:
    Numbering(const Tree& tree, size_t root) : tree_(tree), picked_(pick_nodes(tree, root)) {
        visit(root);
    }
    std::vector<size_t> nodes, exits;  // nodes and exits, as indices in the tree
    std::vector<size_t> first_exits;   // per node: the leftmost exit below it

  private:
    /// Visits the subtree. The recursion depth is at most the number of a fragment's nodes.
    void visit(size_t at) {
        if (!picked_[at]) {
            exits.push_back(at);
            return;
        }
        const size_t first = exits.size();
        visit(static_cast<size_t>(tree_.nodes[at].left));
        nodes.push_back(at);
        first_exits.push_back(first);
        visit(static_cast<size_t>(tree_.nodes[at].right));
    }
    const Tree& tree_;
    std::vector<bool> picked_;
};

}  // namespace

std::optional<Fragments> Fragments::create(const Ensemble& ensemble) {
    std::map<uint32_t, uint32_t> codes;
    for (const Tree& tree : ensemble.trees) {
        for (const TreeNode& node : tree.nodes) {
            if (node.feature < 0 || node.categories < 0) continue;
            const auto& words = tree.category_sets[static_cast<size_t>(node.categories)];
            auto& most = codes[static_cast<uint32_t>(node.feature)];
            most = std::max(most, static_cast<uint32_t>(words.size() * 64));
            if (most > kMostCodes) return std::nullopt;
        }
    }
    if (codes.size() > kMostCodeFeatures) return std::nullopt;
    CutColumns cuts(ensemble);
    if (cuts.columns().size() > kMostColumns) return std::nullopt;
    Fragments out(std::move(cuts));
    for (const auto& [feature, count] : codes) {
        out.code_place_[feature] = static_cast<uint32_t>(out.codes_.size());
        out.codes_.push_back({feature, count});
    }
    out.asked_.resize(out.codes_.size());
    for (const Tree& tree : ensemble.trees) {
        out.add_tree(tree);
        if (out.asked_count_ > kMostAnswers) return std::nullopt;
    }
    out.lay_out_answers();
    return out;
}

/// Builds fragments from the root down; an exit into another fragment gets its number once that
/// exists.
void Fragments::add_tree(const Tree& tree) {
    roots_.push_back(static_cast<uint32_t>(fragments_.size()));
    std::vector<OpenExit> open;
    add_fragment(tree, 0, open);
    for (size_t next = 0; next < open.size(); ++next) {
        const auto [node, place] = open[next];
        exits_[place] = static_cast<double>(add_fragment(tree, node, open));
    }
}

uint32_t Fragments::add_fragment(const Tree& tree, size_t root, std::vector<OpenExit>& open) {
    const Numbering numbers(tree, root);
    Fragment fragment;
    for (size_t i = 0; i < numbers.nodes.size(); ++i) {
        const TreeNode& node = tree.nodes[numbers.nodes[i]];
        fragment.reach[i] = static_cast<uint8_t>(255 - numbers.first_exits[i]);
        if (node.categories >= 0) continue;
        const CutPlace place = cuts_.place(node);
        fragment.column[i] = static_cast<uint8_t>(1 + place.column);
        fragment.cut[i] = place.cut;
        if (node.default_left) fragment.default_left |= 1u << i;
    }
    add_words(fragment, tree, numbers.nodes);
    fragment.exits = static_cast<uint32_t>(exits_.size());
    for (size_t e = 0; e < numbers.exits.size(); ++e) {
        const TreeNode& node = tree.nodes[numbers.exits[e]];
        exits_.push_back(node.value);
        if (node.feature < 0) continue;
        fragment.deeper |= 1u << e;
        open.push_back({numbers.exits[e], exits_.size() - 1});
    }
    fragments_.push_back(fragment);
    return static_cast<uint32_t>(fragments_.size() - 1);
}

void Fragments::add_words(Fragment& fragment, const Tree& tree, std::span<const size_t> nodes) {
    std::map<uint32_t, std::vector<size_t>> by_feature;  // bits
    for (size_t bit = 0; bit < nodes.size(); ++bit) {
        const TreeNode& node = tree.nodes[nodes[bit]];
        if (node.categories < 0) continue;
        by_feature[code_place_.at(static_cast<uint32_t>(node.feature))].push_back(bit);
    }
    fragment.words = static_cast<uint32_t>(words_.size());
    fragment.word_count = static_cast<uint32_t>(by_feature.size());
    for (const auto& [place, bits] : by_feature) {
        words_.push_back({place, codes_[place].askers++});
        const uint32_t codes = codes_[place].codes;
        asked_count_ += codes + 2;
        for (uint32_t code = 0; code < codes + 2; ++code) {
            uint32_t answer = 0;
            for (const size_t bit : bits) {
                const TreeNode& node = tree.nodes[nodes[bit]];
                const auto& set = tree.category_sets[static_cast<size_t>(node.categories)];
                const bool left = code == codes ? node.default_left : in_words(set, code);
                if (left) answer |= 1u << bit;
            }
            asked_[place].push_back(answer);
        }
    }
}

void Fragments::lay_out_answers() {
    for (size_t place = 0; place < codes_.size(); ++place) {
        CodeFeature& feature = codes_[place];
        feature.first = static_cast<uint32_t>(answers_.size());
        for (size_t code = 0; code < feature.codes + 2; ++code) {
            for (size_t asker = 0; asker < feature.askers; ++asker)
                answers_.push_back(asked_[place][asker * (feature.codes + 2) + code]);
        }
    }
    asked_.clear();
}

/// Sets codes[f] to the offset of the results for the code of feature f.
void Fragments::make_codes(const float* row, uint32_t* codes) const {
    for (const CodeFeature& feature : codes_) {
        const float x = row[feature.feature];
        const bool code = x >= 0 && x < static_cast<float>(feature.codes);
        const uint32_t at = std::isnan(x) ? feature.codes
                            : code        ? static_cast<uint32_t>(x)
                                          : feature.codes + 1;
        *codes++ = feature.first + at * feature.askers;
    }
}

}  // namespace rampart::model
