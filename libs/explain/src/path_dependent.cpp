#include <algorithm>
#include <map>

#include "flat_trees.hpp"
#include "quadrature.hpp"
#include "rampart/explain/reasons.hpp"
#include "rampart/model/instruction_set.hpp"
#include "shap_engine.hpp"

/// Path-dependent TreeSHAP by quadrature.
///
/// Let each feature be known with probability t, independently. On a path that splits on feature f,
/// let z be the product of the weights (shares of cover) of the branches taken at f, and o = 1 if
/// the row itself takes all of them, otherwise 0. A row that knows f with probability t follows the
/// path with F = t·o + (1-t)·z, so a node is reached with P(t), the product of F over the features
/// above it, and V(t) is the mean of the leaves below it, given that. At a split on f that the row
/// reaches with o = 1, z, F, with h the child that the row takes and c the other:
///
///     V = V_c + a·(V_h - V_c),  a = (t + (1-t)·z·w_h) / F     probability of h at the node
///     da/dt along f alone = z·w_c / F^2
///     phi_f += integral over t of P·(z·w_c / F^2)·(V_h - V_c)
///
/// If the row has left the path at an earlier split on f, the split uses weights only and f gains
/// nothing. The integrand, summed over a tree's splits on f, is a polynomial of degree below the
/// number of features on a path.
namespace rampart::explain {
namespace {

constexpr size_t kLanes = 4;
constexpr size_t kMaxTableNumbers = size_t{1} << 27;  // 1 GiB
typedef double Lanes __attribute__((vector_size(kLanes * sizeof(double)), aligned(8), may_alias));

/// A split. Children are renumbered: a tree's splits first, then its leaves, each
/// in the tree's order.
struct Split {
    FlatNode node;
    uint32_t along = 0;       // 1 + nearest edge above on the same feature; 0: none
    uint32_t inverse_at = 0;  // 1 / F in the table of inverses, which begins with ones
    /// Share of cover by side; product of the shares of this feature's branches to that side.
    double part[4] = {};
};

struct PathTree {
    size_t first = 0, splits = 0;  // in the table of splits
    size_t leaves = 0;             // columns of the table of leaves: splits + 1
    const Quadrature* grid = nullptr;
};

/// Values of a split for one row. A split that the row does not reach by this feature's branches (o
/// = 0) has a constant share, a gain of 0 and F = 1.
struct Turn {
    uint32_t taken, other;  // children
    uint32_t inverse_at;
    double gain;  // z·w_c
};

/// One row in one tree. kVectors is the number of vectors that hold the quadrature's points; 0: the
/// number is `vectors`.
template <size_t kVectors>
struct Kernel {
    const FlatTrees* trees;
    const Split* splits;
    size_t count;
    size_t vectors;
    const double* at;        // [points]
    const double* inverses;  // the table
    double* reach;           // [nodes][points] P, times the quadrature's weight
    double* share;           // [nodes][points] a
    double* value;           // [nodes][points] V; the caller sets it at leaves
    Turn* turns;             // [splits]
    uint32_t* along;  // [1 + 2·splits] at e + 1: whether the row takes edge e and all edges above
                      // it on the same feature; [0] is 1

    [[gnu::always_inline]] size_t width() const { return kVectors > 0 ? kVectors : vectors; }
    /// Calls step(v) for every vector.
    template <class Step>
    [[gnu::always_inline]] void for_each(Step step) const {
        if constexpr (kVectors == 1) {
            step(0);
        } else if constexpr (kVectors == 2) {
            step(0);
            step(1);
        } else {
            for (size_t v = 0; v < vectors; ++v) step(v);
        }
    }
    [[gnu::always_inline]] static Lanes* lanes(double* base) {
        return reinterpret_cast<Lanes*>(base);
    }
    [[gnu::always_inline]] static const Lanes* lanes(const double* base) {
        return reinterpret_cast<const Lanes*>(base);
    }

    /// Without data-dependent branches: the way of a row cannot be predicted.
    [[gnu::always_inline]] void down(const float* row) const {
        constexpr double kHot[2] = {0, 1};
        for (size_t i = 0; i < count; ++i) {
            const Split& split = splits[i];
            const unsigned side = trees->side_of(split.node, row[split.node.feature]);
            const uint32_t hot = along[split.along];
            along[1 + 2 * i + side] = hot;
            along[2 + 2 * i - side] = 0;
            const double z = split.part[2 * hot + side];
            const double slope = kHot[hot] * (1 - z);
            const uint32_t inverse_at = hot * split.inverse_at;
            const uint32_t taken_at = split.node.child[side], other_at = split.node.child[1 - side];
            turns[i] = {taken_at, other_at, inverse_at, kHot[hot] * split.part[3 - side]};
            const Lanes* points = lanes(at);
            const Lanes* p = lanes(reach) + i * width();
            const Lanes* inverse = lanes(inverses + inverse_at);
            Lanes* a = lanes(share) + i * width();
            Lanes* taken = lanes(reach) + taken_at * width();
            Lanes* other = lanes(reach) + other_at * width();
            for_each([=](size_t v) __attribute__((always_inline)) {
                const Lanes part = (z + slope * points[v]) * inverse[v];
                const Lanes all = p[v], there = all * part;
                a[v] = part;
                taken[v] = there;
                other[v] = all - there;
            });
        }
    }

    [[gnu::always_inline]] void up(double* phi) const {
        for (size_t i = count; i-- > 0;) {
            const Turn turn = turns[i];
            const Lanes* inverse = lanes(inverses + turn.inverse_at);
            const Lanes* taken = lanes(value) + turn.taken * width();
            const Lanes* other = lanes(value) + turn.other * width();
            const Lanes* a = lanes(share) + i * width();
            const Lanes* p = lanes(reach) + i * width();
            Lanes* out = lanes(value) + i * width();
            Lanes sum{};
            for_each([ =, &sum ](size_t v) __attribute__((always_inline)) {
                const Lanes step = taken[v] - other[v];
                sum += p[v] * (inverse[v] * inverse[v]) * step;
                out[v] = other[v] + a[v] * step;
            });
            phi[splits[i].node.feature] += turn.gain * ((sum[0] + sum[1]) + (sum[2] + sum[3]));
        }
    }
};

template <size_t kVectors>
[[gnu::always_inline]] inline void run_rows(Kernel<kVectors> kernel, const float* rows, size_t n,
                                            size_t features, double* phi) {
    for (size_t i = 0; i < n; ++i) {
        kernel.down(rows + i * features);
        kernel.up(phi + i * features);
    }
}

template <size_t kVectors>
void run_portable(const Kernel<kVectors>& kernel, const float* rows, size_t n, size_t features,
                  double* phi) {
    run_rows(kernel, rows, n, features, phi);
}

template <size_t kVectors>
RAMPART_AVX2 void run_avx2(const Kernel<kVectors>& kernel, const float* rows, size_t n,
                           size_t features, double* phi) {
    run_rows(kernel, rows, n, features, phi);
}

/// Returns the points needed: p points integrate degrees below 2p exactly; a path with k features
/// has degree k - 1.
size_t points_of(size_t path_features) {
    return std::max<size_t>(1, (path_features + 2 * kLanes - 1) / (2 * kLanes)) * kLanes;
}

base::Status check_size(const FlatTrees& trees) {
    size_t total = 3 * trees.most_nodes * points_of(trees.path_features);
    for (const auto& tree : trees.trees) {
        for (const auto& node : trees.nodes_of(tree)) {
            if (node.feature >= 0 && node.same >= 0) total += points_of(tree.path_features);
        }
    }
    if (total <= kMaxTableNumbers) return base::ok();
    return base::make_error(Reason::kTooDeepToExplain,
                            "path-dependent contributions of these trees need tables of {} "
                            "numbers; allowed are {}: explain it against a reference set",
                            total, kMaxTableNumbers);
}

class PathDependent : public ShapEngine {
  public:
    PathDependent(const model::Ensemble& ensemble, size_t features, model::InstructionSet set)
        : trees_(ensemble, features),
          features_(features),
          avx2_(set == model::InstructionSet::kAvx2) {}

    /// Fails if the model does not allow it; otherwise the engine is ready.
    base::Status prepare(const model::Ensemble& ensemble) {
        RAMPART_RETURN_IF_ERROR(check_size(trees_));
        inverses_.assign(points_of(trees_.path_features), 1.0);
        base_value_ = ensemble.base_score;
        size_t next = 0;  // trees_ does not contain single-leaf trees
        for (size_t t = 0; t < ensemble.trees.size(); ++t) {
            const auto& source = ensemble.trees[t];
            if (source.nodes.size() == 1) {
                base_value_ += source.nodes[0].value;
                continue;
            }
            if (const auto status = add(source, trees_.trees[next++]); !status) {
                return status.error().with_context(fmt::format("tree {}", t));
            }
        }
        return base::ok();
    }

    double base_value() const override { return base_value_; }
    size_t numbers() const override {
        return 3 * trees_.most_nodes * points_of(trees_.path_features);
    }
    size_t bytes() const override {
        return (sizeof(Turn) + 2 * sizeof(uint32_t)) * trees_.most_nodes + sizeof(uint32_t);
    }

    void add(const float* rows, size_t n, double* phi,
             TreeShap::Workspace& workspace) const override {
        for (const auto& tree : path_trees_) {
            switch (tree.grid->at.size() / kLanes) {
                case 1:
                    add_tree<1>(tree, rows, n, phi, workspace);
                    break;
                case 2:
                    add_tree<2>(tree, rows, n, phi, workspace);
                    break;
                default:
                    add_tree<0>(tree, rows, n, phi, workspace);
            }
        }
    }

  private:
    base::Status add(const model::Tree& source, const FlatTree& tree) {
        const size_t points = points_of(tree.path_features);
        auto [grid, is_new] = grids_.try_emplace(points);
        if (is_new) grid->second = gauss_legendre(points);
        const size_t first = splits_.size();
        const size_t splits = source.nodes.size() / 2;
        path_trees_.push_back({first, splits, leaves_.size(), &grid->second});
        std::vector<uint32_t> place(source.nodes.size());  // new number of each node
        uint32_t next_split = 0, next_leaf = static_cast<uint32_t>(splits);
        for (size_t i = 0; i < place.size(); ++i) {
            const bool leaf = source.nodes[i].feature < 0;
            place[i] = leaf ? next_leaf++ : next_split++;
            if (leaf) leaves_.push_back(source.nodes[i].value);
        }
        for (size_t i = 0; i < place.size(); ++i) {
            const auto& node = source.nodes[i];
            if (node.feature < 0) continue;
            const double left = source.nodes[static_cast<size_t>(node.left)].cover;
            const double right = source.nodes[static_cast<size_t>(node.right)].cover;
            if (!(left + right > 0)) {
                return base::make_error(
                    Reason::kNoCover,
                    "node {}: the number of training rows below it is unknown (the model lacks its "
                    "cover): explain it against a reference set",
                    i);
            }
            Split& split = splits_.emplace_back();
            split.node = trees_.nodes[tree.begin + i];
            for (auto& child : split.node.child) child = place[child];
            weigh(split, left / (left + right), right / (left + right), first, place,
                  grid->second.at);
        }
        base_value_ += mean_of(path_trees_.back());
        return base::ok();
    }

    void weigh(Split& split, double left, double right, size_t first,
               const std::vector<uint32_t>& place, const std::vector<double>& at) {
        double z = 1;
        if (split.node.same >= 0) {
            const auto above = place[static_cast<size_t>(split.node.same / 2)];
            const auto side = static_cast<uint32_t>(split.node.same % 2);
            z = splits_[first + above].part[2 + side];
            split.along = 1 + 2 * above + side;
            split.inverse_at = static_cast<uint32_t>(inverses_.size());
            for (const double t : at) inverses_.push_back(1 / (t + (1 - t) * z));
        }
        split.part[0] = left;
        split.part[1] = right;
        split.part[2] = z * left;
        split.part[3] = z * right;
    }

    double mean_of(const PathTree& tree) const {
        std::vector<double> mean(tree.splits);
        mean.insert(mean.end(), leaves_.end() - static_cast<ptrdiff_t>(tree.splits + 1),
                    leaves_.end());
        for (size_t i = tree.splits; i-- > 0;) {
            const Split& split = splits_[tree.first + i];
            mean[i] = split.part[0] * mean[split.node.child[0]] +
                      split.part[1] * mean[split.node.child[1]];
        }
        return mean[0];
    }

    template <size_t kVectors>
    void add_tree(const PathTree& tree, const float* rows, size_t n, double* phi,
                  TreeShap::Workspace& workspace) const {
        const size_t points = tree.grid->at.size();
        const size_t table = (2 * tree.splits + 1) * points;
        double* const numbers = workspace.numbers.data();
        auto* const turns = reinterpret_cast<Turn*>(workspace.bytes.data());
        auto* const along = reinterpret_cast<uint32_t*>(turns + tree.splits);
        const Kernel<kVectors> kernel{.trees = &trees_,
                                      .splits = splits_.data() + tree.first,
                                      .count = tree.splits,
                                      .vectors = points / kLanes,
                                      .at = tree.grid->at.data(),
                                      .inverses = inverses_.data(),
                                      .reach = numbers,
                                      .share = numbers + table,
                                      .value = numbers + 2 * table,
                                      .turns = turns,
                                      .along = along};
        along[0] = 1;
        std::copy(tree.grid->weight.begin(), tree.grid->weight.end(), kernel.reach);
        for (size_t leaf = 0; leaf <= tree.splits; ++leaf) {
            std::fill_n(kernel.value + (tree.splits + leaf) * points, points,
                        leaves_[tree.leaves + leaf]);
        }
        if (avx2_) return run_avx2(kernel, rows, n, features_, phi);
        run_portable(kernel, rows, n, features_, phi);
    }

    FlatTrees trees_;
    size_t features_;
    bool avx2_;
    std::vector<PathTree> path_trees_;
    std::vector<Split> splits_;
    std::vector<double> leaves_;
    std::vector<double> inverses_;
    std::map<size_t, Quadrature> grids_;  // by number of points
    double base_value_ = 0;
};

}  // namespace

base::Result<std::unique_ptr<const ShapEngine>> path_dependent_engine(
    const model::Ensemble& ensemble, size_t features, model::InstructionSet set) {
    auto engine = std::make_unique<PathDependent>(ensemble, features, set);
    RAMPART_RETURN_IF_ERROR(engine->prepare(ensemble));
    return std::unique_ptr<const ShapEngine>(std::move(engine));
}

}  // namespace rampart::explain
