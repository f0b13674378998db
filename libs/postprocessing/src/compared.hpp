#pragma once

#include <functional>

#include "rampart/postprocessing/postprocessor.hpp"

/// Groups that a criterion compares, and how far decisions keep it.
namespace rampart::postprocessing {

/// Groups that are compared, made of groups of the rows.
struct Compared {
    std::vector<int32_t> of_cell;    // [cells of the rows: Rows::cell_of] in 0 … groups-1
    std::vector<std::string> names;  // [groups]
    size_t groups = 0;
    std::vector<int32_t> strata;  // [groups] those of one stratum are compared; empty: all
    std::vector<std::string> features = {};       // names of the strata by a feature; empty: none
    std::vector<size_t> feature_stratum_of = {};  // [groups] index in `features`, where there are

    size_t stratum_of(size_t k) const {
        return strata.empty() ? 0 : static_cast<size_t>(strata[k]);
    }
    /// Returns the index of the group that a row with a known group is of.
    size_t of(const Rows& rows, size_t row) const {
        return static_cast<size_t>(of_cell[rows.cell_of(row)]);
    }
    /// Returns the rule with an entry for each cell of the rows.
    model::RampRule expanded(const model::RampRule& rule) const;
};

/// Returns the groups as they are; `within`: those that share the attribute's value are compared.
/// Errors: unknown_attribute.
base::Result<Compared> compare_groups(const std::vector<std::string>& names,
                                      const std::string& within);

/// Returns the groups that have `member` in their names against the others, within each value of an
/// attribute; empty: two groups as they are and, of more without `within`, the largest against the
/// others. Errors: unknown_attribute; no_such_member.
base::Result<Compared> compare_member(const Rows& rows, const std::string& member,
                                      const std::string& within);

/// Returns the same groups, compared in each of the rows' strata alone; without strata as they are.
Compared within_strata(Compared compared, const Rows& rows);

/// Returns group and tolerance of a text GROUP:NUMBER. Errors: bad_group_tolerance.
base::Result<std::pair<std::string, double>> group_tolerance(const std::string& text);
/// Returns the error bad_group_tolerance about a text whose group is none of the names.
base::Error no_such_group(const std::string& text, const std::vector<std::string>& names);

/// Rows, and what was decided about them.
struct MeasuredRows {
    const Rows& rows;
    std::span<const double> approve;
    const Compared& compared;
};

enum class Among { kAll, kFavourable, kUnfavourable };

/// Measures the approval rates among the rows named, by pairs of groups of a stratum: of two
/// groups with tolerances a and b the rates may differ by (a + b) / 2. The text has the largest
/// difference in each stratum by a feature. Errors: group_without_rows; no_labels.
base::Result<Kept> kept_rate(const MeasuredRows& measured, Among among,
                             const std::function<double(size_t)>& tolerance);

/// Measures the covariance of approval and membership within each stratum of two groups. Errors:
/// as above.
base::Result<Kept> kept_covariance(const MeasuredRows& measured, double tolerance);

}  // namespace rampart::postprocessing
