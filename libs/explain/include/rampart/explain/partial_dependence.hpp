#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/base/thread_pool.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/model/batch_engine.hpp"
#include "rampart/model/ensemble.hpp"

/// How the score moves along one feature while the others stay as they are.
///
/// The curve of a row (individual conditional expectation, Goldstein et al. 2015): its score with
/// the feature replaced by each value of a grid. The mean of the rows' curves by weight is the
/// partial dependence (Friedman 2001, "Greedy function approximation", section 8.2). It says what
/// the function does, also for combinations of values that nobody has.
///
/// Data sets have the ensemble's features. Errors of all: invalid_argument "wrong_width",
/// "no_rows"; out_of_range "no_such_feature", and what dataset::check_columns says.
namespace rampart::explain {

inline constexpr size_t kMaxGridPoints = 4097;  // every category, and missing
inline constexpr size_t kMaxCurvePoints = size_t{1} << 27;

/// Values of one feature, encoded: numbers increasing, or category codes in the schema's order;
/// NaN last where missing is looked at too.
struct Grid {
    size_t feature = 0;
    std::vector<float> values;
};

/// Numeric: the values at `points` evenly spaced quantiles by weight, lowest and highest among
/// them, each once; where ties leave fewer than half of them, as many of the different values,
/// evenly spaced by rank. Categorical: every category. NaN last if a row lacks the feature. points:
/// 2 … 1000; error: out_of_range "bad_points".
base::Result<Grid> grid_of(const dataset::Dataset& data, size_t feature, size_t points);

/// A number from every interval between neighbouring thresholds of the feature in the ensemble, so
/// that the grid misses no step of the score: each threshold, and one value above the last. Past
/// most_points (2 or more) it is thinned evenly. A feature without thresholds has one value, 0.
Grid step_grid(const model::Ensemble& ensemble, size_t feature, size_t most_points);

enum class Scale {
    kRaw,          // the ensemble's raw score
    kProbability,  // its sigmoid
};

/// [grid] mean of the rows' curves, by weight.
base::Result<std::vector<double>> partial_dependence(const model::BatchEngine& engine,
                                                     const dataset::Dataset& data, const Grid& grid,
                                                     Scale scale, base::ThreadPool* pool);

/// [rows][grid] each row's curve. Error: out_of_range "too_many_points": rows · grid past
/// kMaxCurvePoints.
base::Result<std::vector<double>> individual_curves(const model::BatchEngine& engine,
                                                    const dataset::Dataset& data, const Grid& grid,
                                                    Scale scale, base::ThreadPool* pool);

enum class Direction { kFlat, kIncreasing, kDecreasing, kNeither };
std::string_view to_string(Direction direction);  // "flat", "increasing", …

/// Which way the raw score went, from each number of a grid to the next, over all rows.
struct DirectionFound {
    Direction direction = Direction::kFlat;
    double largest_rise = 0, largest_fall = 0;  // of one row in one step, both >= 0
};
/// A step within rounding, 1e-12 of the scores' size, is none. NaN in the grid is passed over.
/// Error: invalid_argument "not_numeric" for a categorical feature.
base::Result<DirectionFound> direction_of(const model::BatchEngine& engine,
                                          const dataset::Dataset& data, const Grid& grid,
                                          base::ThreadPool* pool);

}  // namespace rampart::explain
