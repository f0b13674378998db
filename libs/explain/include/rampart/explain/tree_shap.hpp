#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/base/thread_pool.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/model/batch_engine.hpp"
#include "rampart/model/ensemble.hpp"

/// Shapley values of an ensemble's raw score: the contribution of each feature to a row's score.
///
/// phi[0 … d-1] and a base value (the score if no feature is known) sum to predict_raw(row). The
/// meaning of "not known" depends on the variant:
///
/// - Path-dependent (Lundberg et al. 2020, "From local explanations to global understanding with
///   explainable AI for trees"): a split on an unknown feature sends the row both ways, weighted by
///   the training rows of each branch (TreeNode::cover). Needs no data; treats correlated features
///   as the trees do.
/// - Interventional (same paper): an unknown feature takes its value in a row of a reference set,
///   averaged over that set. Needs a fixed reference set; describes the function, whatever
///   correlations the training data had.
///
/// Both are exact. Path-dependent: the Shapley value is the integral over t in [0, 1] of the
/// derivative of the game's multilinear extension along its diagonal (Owen 1972, "Multilinear
/// extensions of games"); for a tree this is a polynomial in t whose degree is below the number k
/// of distinct features on a path, so Gauss-Legendre quadrature with k / 2 points is exact up to
/// rounding. One pass down and one up give all features at once (the order of Yu et al. 2022,
/// "Linear TreeSHAP"): O(nodes · k / 2) per row and tree, all terms between the leaf values, no
/// division. Interventional: per reference row one traversal of the leaves that a mixture of both
/// rows can reach, O(leaves) (Lundberg et al. 2020, supplementary section 2).
namespace rampart::explain {

inline constexpr size_t kMaxReferenceRows = 10'000;

class ShapEngine;

/// Explainer of one ensemble; keeps no reference to it. Immutable, safe to use from many threads,
/// each with a Workspace of its own. The same row gives the same bits alone, in a batch, with any
/// number of threads and on any processor.
class TreeShap {
  public:
    /// Fails as model::validate does; failed_precondition "no_cover": a split whose branches both
    /// have cover 0 (a model imported without it); out_of_range "too_deep_to_explain": trees so
    /// deep that the tables would take more than 1 GiB. Every instruction set gives the same bits;
    /// it must be supported by the processor.
    static base::Result<TreeShap> path_dependent(
        const model::Ensemble& ensemble, size_t features,
        model::InstructionSet set = model::fastest_supported());

    /// reference: [r][features], r in 1 … kMaxReferenceRows, encoded, finite or NaN; weights: [r]
    /// finite and > 0, or empty: all 1. Fails as model::validate does; invalid_argument
    /// "bad_reference"; out_of_range "too_many_reference_rows".
    static base::Result<TreeShap> interventional(const model::Ensemble& ensemble, size_t features,
                                                 std::span<const float> reference,
                                                 std::span<const double> weights = {});

    TreeShap(TreeShap&&) noexcept;
    TreeShap& operator=(TreeShap&&) noexcept;
    ~TreeShap();

    size_t features() const { return features_; }
    /// Returns the raw score if no feature is known.
    double base_value() const;

    /// Working memory of one thread; created for one TreeShap and reusable.
    struct Workspace {
        std::vector<double> numbers;
        std::vector<uint8_t> bytes;
    };
    Workspace workspace() const;

    /// Explains one row. row: [features] encoded; phi: [features], overwritten, in units of the raw
    /// score. Does not allocate.
    void explain(std::span<const float> row, std::span<double> phi, Workspace& workspace) const;

    /// Explains rows [n][features]; phi: [n][features], overwritten. pool may be nullptr.
    void explain_rows(std::span<const float> rows, std::span<double> phi,
                      base::ThreadPool* pool) const;

    /// Explains the given rows of a data set, in that order; phi: [rows.size()][features],
    /// overwritten. The data set must have features() columns.
    void explain_rows(const dataset::Dataset& data, std::span<const uint32_t> rows,
                      std::span<double> phi, base::ThreadPool* pool) const;

  private:
    TreeShap(std::unique_ptr<const ShapEngine> engine, size_t features);
    std::unique_ptr<const ShapEngine> engine_;
    size_t features_;
};

}  // namespace rampart::explain
