#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/base/thread_pool.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/model/batch_engine.hpp"
#include "rampart/model/ensemble.hpp"

/// Change of the score along one feature while the others keep their values.
///
/// The curve of a row (individual conditional expectation, Goldstein et al. 2015) is its score with
/// the feature replaced by each value of a grid. The weighted mean of the rows' curves is the
/// partial dependence (Friedman 2001, "Greedy function approximation", section 8.2). It describes
/// the function, including combinations of values that no row has.
///
/// Data sets have the ensemble's features. All functions fail with invalid_argument "wrong_width",
/// "no_rows"; out_of_range "no_such_feature"; and as dataset::check_columns does.
namespace rampart::explain {

inline constexpr size_t kMaxGridPoints = 4097;  // every category, and missing
inline constexpr size_t kMaxCurvePoints = size_t{1} << 27;

/// Values of one feature, encoded: increasing numbers, or category codes in the schema's order; NaN
/// last if missing is included.
struct Grid {
    size_t feature = 0;
    std::vector<float> values;
};

/// Returns a grid. Numeric: the values at `points` evenly spaced weighted quantiles, minimum and
/// maximum included, without repeats; if ties leave fewer than half of them, that many distinct
/// values, evenly spaced by rank. Categorical: every category. NaN last if the feature is missing
/// in a row. points: 2 … 1000. Fails with out_of_range "bad_points".
base::Result<Grid> grid_of(const dataset::Dataset& data, size_t feature, size_t points);

/// Returns one number per interval between neighbouring thresholds of the feature in the ensemble,
/// so that the grid contains every step of the score: each threshold, and one value above the last.
/// Thinned evenly to most_points (>= 2). A feature without thresholds has one value, 0.
Grid step_grid(const model::Ensemble& ensemble, size_t feature, size_t most_points);

enum class Scale {
    kRaw,          // the ensemble's raw score
    kProbability,  // its sigmoid
};

/// Returns the weighted mean of the rows' curves, [grid].
base::Result<std::vector<double>> partial_dependence(const model::BatchEngine& engine,
                                                     const dataset::Dataset& data, const Grid& grid,
                                                     Scale scale, base::ThreadPool* pool);

/// Returns each row's curve, [rows][grid]. Fails with out_of_range "too_many_points" if rows · grid
/// exceeds kMaxCurvePoints.
base::Result<std::vector<double>> individual_curves(const model::BatchEngine& engine,
                                                    const dataset::Dataset& data, const Grid& grid,
                                                    Scale scale, base::ThreadPool* pool);

enum class Direction { kFlat, kIncreasing, kDecreasing, kNeither };
std::string_view to_string(Direction direction);  // "flat", "increasing", …

/// Direction of the raw score from each number of a grid to the next, over all rows.
struct DirectionFound {
    Direction direction = Direction::kFlat;
    double largest_rise = 0, largest_fall = 0;  // largest change of one row in one step, both >= 0
};
/// Finds the direction. Steps within rounding, 1e-12 of the scores' size, are ignored, and so is
/// NaN in the grid. Fails with invalid_argument "not_numeric" for a categorical feature.
base::Result<DirectionFound> direction_of(const model::BatchEngine& engine,
                                          const dataset::Dataset& data, const Grid& grid,
                                          base::ThreadPool* pool);

}  // namespace rampart::explain
