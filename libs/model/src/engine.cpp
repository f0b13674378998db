#include "rampart/model/engine.hpp"

#include <algorithm>
#include <optional>

#include "fragments.hpp"
#include "rampart/base/check.hpp"
#include "tree_walker.hpp"

namespace rampart::model {

struct Engine::Layout {
    double base_score = 0;
    size_t trees = 0;
    std::optional<Fragments> fragments;  // empty: the walker has the trees
    TreeWalker walker;
};

Engine::Engine(const Ensemble& ensemble, InstructionSet set) {
    RAMPART_CHECK(supports(set), "this machine does not support {}", to_string(set));
    auto layout = std::make_shared<Layout>();
    layout->base_score = ensemble.base_score;
    layout->trees = ensemble.trees.size();
    if (set == InstructionSet::kAvx2) layout->fragments = Fragments::create(ensemble);
    if (!layout->fragments) {
        for (const Tree& tree : ensemble.trees) layout->walker.add_tree(tree);
        layout->walker.finish();
    }
    layout_ = std::move(layout);
}

double Engine::predict_raw(std::span<const float> row) const {
    const double base = layout_->base_score;
    return layout_->fragments ? layout_->fragments->add(base, row.data())
                              : layout_->walker.add(base, row.data());
}

void Engine::predict_prefixes(std::span<const float> row, std::span<double> scores) const {
    RAMPART_CHECK(scores.size() <= layout_->trees, "{} scores of {} trees", scores.size(),
                  layout_->trees);
    if (layout_->fragments) {
        layout_->fragments->add_each(layout_->base_score, row.data(), scores);
    } else {
        layout_->walker.add_each(layout_->base_score, row.data(), scores);
    }
}

}  // namespace rampart::model
