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

/// Shapley values of an ensemble's raw score: what each feature of a row added to the score.
///
/// phi[0 … d-1] and a base value (the score when nothing is known) sum to predict_raw(row). What
/// "not known" means is the variant:
///
/// - Path-dependent (Lundberg et al. 2020, "From local explanations to global understanding with
///   explainable AI for trees"): a split on an unknown feature sends the row both ways, weighted by
///   the training rows that went there (TreeNode::cover). Needs no data, reads correlated features
///   as the trees do.
/// - Interventional (same paper): an unknown feature takes the value that it has in a row of a
///   reference set, and the average over that set counts. Needs the set to be pinned; says what the
///   function does, whatever correlations the training data had.
///
/// Both are exact. Path-dependent: the Shapley value is the integral over t in [0, 1] of the
/// derivative of the game's multilinear extension along its diagonal (Owen 1972, "Multilinear
/// extensions of games"); for a tree this is a polynomial in t whose degree is below the number k
/// of different features on a path, so that Gauss-Legendre quadrature with k / 2 points has no
/// error but rounding. One pass down and one up give all features at once (the order of Yu et al.
/// 2022, "Linear TreeSHAP"): O(nodes · k / 2) a row and tree, all terms between the leaf values, no
/// division. Interventional: one walk for each reference row over the leaves that a mixture of the
/// two rows can reach, O(leaves) (Lundberg et al. 2020, supplementary section 2).
namespace rampart::explain {

inline constexpr size_t kMaxReferenceRows = 10'000;

class ShapEngine;

/// Made once of an ensemble, keeps no reference to it. Immutable, safe to use from many threads,
/// each with a Workspace of its own. The same row gives the same bits alone, in a batch, with any
/// number of threads and on any processor.
class TreeShap {
  public:
    /// Errors: what model::validate says; failed_precondition "no_cover": a split whose branches
    /// both have cover 0 (a model imported without it); out_of_range "too_deep_to_explain": trees
    /// so deep that the tables would take more than 1 GiB. Every instruction set gives the same
    /// bits; it has to be supported.
    static base::Result<TreeShap> path_dependent(
        const model::Ensemble& ensemble, size_t features,
        model::InstructionSet set = model::fastest_supported());

    /// reference: [r][features], r in 1 … kMaxReferenceRows, encoded, finite or NaN; weights: [r]
    /// finite and > 0, or empty: all 1. Errors: what model::validate says; invalid_argument
    /// "bad_reference"; out_of_range "too_many_reference_rows".
    static base::Result<TreeShap> interventional(const model::Ensemble& ensemble, size_t features,
                                                 std::span<const float> reference,
                                                 std::span<const double> weights = {});

    TreeShap(TreeShap&&) noexcept;
    TreeShap& operator=(TreeShap&&) noexcept;
    ~TreeShap();

    size_t features() const { return features_; }
    /// The raw score when no feature is known.
    double base_value() const;

    /// The memory that one thread computes in; made for one TreeShap, used again and again.
    struct Workspace {
        std::vector<double> numbers;
        std::vector<uint8_t> bytes;
    };
    Workspace workspace() const;

    /// row: [features] encoded; phi: [features], overwritten, in units of the raw score. Allocates
    /// nothing.
    void explain(std::span<const float> row, std::span<double> phi, Workspace& workspace) const;

    /// rows: [n][features]; phi: [n][features], overwritten. pool may be nullptr.
    void explain_rows(std::span<const float> rows, std::span<double> phi,
                      base::ThreadPool* pool) const;

    /// The rows given of a data set, in that order; phi: [rows.size()][features], overwritten. The
    /// data set's columns are as many as features().
    void explain_rows(const dataset::Dataset& data, std::span<const uint32_t> rows,
                      std::span<double> phi, base::ThreadPool* pool) const;

  private:
    TreeShap(std::unique_ptr<const ShapEngine> engine, size_t features);
    std::unique_ptr<const ShapEngine> engine_;
    size_t features_;
};

}  // namespace rampart::explain
