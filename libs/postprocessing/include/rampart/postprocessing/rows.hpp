#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/base/thread_pool.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/model/policy.hpp"

/// Rows on which rules are fitted, tried and judged.
namespace rampart::postprocessing {

/// Rows with the scores of a model that has not learnt from them.
struct Rows {
    std::vector<double> p;       // [n] the model's P(favourable) in [0, 1], not calibrated
    std::vector<int32_t> group;  // [n] in 0 … group_names.size()-1; -1: not known, and then the row
                                 // is tried only
    std::vector<std::string> group_names;
    std::vector<uint8_t> label = {};  // [n] 1 favourable, 0 not; empty: not known
    std::vector<float> weight = {};   // [n] > 0; empty: all 1
    /// [n * groups] P(group | x), row by row, for each adjustment of a group model in its order.
    std::vector<std::vector<double>> posteriors = {};
    /// Strata of a rule by a feature (add_strata()); nullopt: it has none.
    std::optional<model::Strata> strata = {};
    std::vector<int32_t> stratum = {};  // [n] in 0 … stratum_names.size()-1; empty: no strata
    std::vector<std::string> stratum_names = {};

    size_t size() const { return p.size(); }
    size_t groups() const { return group_names.size(); }
    double weight_of(size_t row) const { return weight.empty() ? 1.0 : weight[row]; }
    /// Returns stratum · groups + group of a row whose group is known: the entry of its ramp.
    size_t cell_of(size_t row) const {
        const auto known = static_cast<size_t>(group[row]);
        return stratum.empty() ? known : static_cast<size_t>(stratum[row]) * groups() + known;
    }
    /// Returns the given rows, in the given order.
    Rows subset(std::span<const uint32_t> rows) const;
    /// Returns labels, weights and groups as a table whose only feature is p.
    dataset::Dataset table() const;
};

/// Estimates of P(group | x) for a group-blind rule: adjustments without amounts.
using GroupModel = std::vector<model::GroupBlindAdjustment>;

/// Fits the estimates that `given` lists to rows with features and groups that no rule is fitted
/// on. Labels are needed where one is given. Errors: calibration::fit_group_posteriors'.
base::Result<GroupModel> learn_groups(const dataset::Dataset& rows,
                                      std::span<const model::GroupBlindAdjustment::Given> given,
                                      int trees, base::ThreadPool* pool);

/// Puts the model's estimates of the features' rows into `rows`, which has as many.
void add_posteriors(const GroupModel& model, const dataset::Dataset& features,
                    base::ThreadPool* pool, Rows& rows);

}  // namespace rampart::postprocessing
