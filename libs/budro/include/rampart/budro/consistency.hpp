#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/fairness/group_metrics.hpp"

/// Whether the copy of a row with other protected features is decided alike (Vargo et al. 2021,
/// appendix C.2).
/// Every row is copied with protected features changed; no fair metric is needed for it.
namespace rampart::budro {

struct Setting {
    size_t feature = 0;
    float value = 0;  // encoded; NaN: missing
};

/// Copies of a row, and what is set in each. Two at least.
struct Counterfactual {
    std::string name;
    std::vector<std::vector<Setting>> copies;
    static constexpr size_t kMaxCopies = 4096;
};

/// Parses a counterfactual. "relationship=Husband,Wife": one copy a value. "relationship": one a
/// category. "sex*race": all combinations, each part as before. A numeric feature needs its values:
/// "age=25,60". A category may hold "=", but not "," or "*". Errors: unknown_feature,
/// unknown_category, bad_counterfactual.
base::Result<Counterfactual> parse_counterfactual(std::string_view text,
                                                  const dataset::FeatureSchema& schema);

/// Returns P(approve) of a row that may have been changed; `index` says of which row of the data.
using Approval = std::function<double(std::span<const float> row, size_t index)>;

struct Consistency {
    std::string name;
    size_t copies = 0;
    /// Weighted share of rows decided alike in all copies. With chances: that the same draw decides
    /// alike, 1 - (largest - smallest P(approve)).
    double share = 1;
    /// Where it matters most: rows with the largest difference, at most kMaxShown, largest first,
    /// then by number; none that is decided alike.
    struct Row {
        uint32_t row = 0;
        size_t most = 0, least = 0;  // copies
        double approve_most = 0, approve_least = 0;
    };
    std::vector<Row> rows;
    static constexpr size_t kMaxShown = 20;
};
/// Compares the decisions of a row's copies. Errors: no rows; fewer than two copies or too many; a
/// feature out of range; P(approve) outside [0, 1].
base::Result<Consistency> consistency(const dataset::Dataset& data,
                                      const Counterfactual& counterfactual,
                                      const Approval& approval);

/// Largest differences between groups of the share of right decisions, by label (C.2): TPR among
/// favourable rows, TNR among the others.
struct RateGaps {
    double tpr = 0, tnr = 0;
    double rms() const;  // sqrt((tpr^2 + tnr^2) / 2)
    double max() const;
};
/// Returns the gaps between groups; nullopt: a label that fewer than two groups have.
std::optional<RateGaps> rate_gaps(const fairness::GroupReport& report);

/// Returns the mean of TPR and TNR; nullopt: one label alone.
std::optional<double> balanced_accuracy(const stats::DecisionRates& rates);

}  // namespace rampart::budro
