#pragma once

#include <cstddef>
#include <vector>

#include "rampart/model/calibration.hpp"

namespace rampart::calibration {

/// Labelled rows of one score: how much weight has label 1, and how much there is.
struct ScoreCell {
    double score = 0;
    double hits = 0;
    double weight = 0;
};

/// Rows in a form that all maps are fitted from.
struct CalibrationCells {
    std::vector<ScoreCell> cells;  // by rising score, no score twice
    /// Platt's targets (1999, section 2.2): what certain rows may at most say, by label. With n
    /// effective rows of a label they are 1 / (n + 2) and 1 - 1 / (n + 2).
    double lowest = 0, highest = 1;
};

/// Pool adjacent violators: the nondecreasing function with the least weighted squared error to the
/// labels, as a polyline: a pool of scores [x, x'] with mean y is the piece (x, y) - (x', y), and
/// neighbouring pools are joined by a line where no row was. So it says on the fitting rows exactly
/// what the regression says, but for the targets, which it never leaves. At most `max_points`
/// points (>= 2): the neighbouring pools whose union costs the least are united first.
model::PolylineMap fit_isotonic(const CalibrationCells& cells, size_t max_points);

/// The least weighted log loss to Platt's targets over a, b >= 0 (Kull et al. 2017), or over a = b
/// >= 0 when `tied` (Platt). A pull of 1e-6 towards a = b = 1 decides where the rows do not: one
/// score, scores all near an end.
///
/// Scores of exactly 0 or 1 (nearer than 1e-9) have no log odds. They are taken as half as far from
/// the end as the nearest of the others, as for votes of k neighbours 1 / 2k; then the map is the
/// curve's polyline of `points` points (>= 2), level beyond there. Else it is the curve itself.
model::Calibration fit_beta(const CalibrationCells& cells, bool tied, size_t points);

}  // namespace rampart::calibration
