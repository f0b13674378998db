#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "rampart/base/result.hpp"

/// People as points whose squared Euclidean distance is the fair distance d_x^2 of BuDRO
/// (Vargo et al. 2021, section 2.1): projected off the sensitive subspace, standardised and rotated
/// already.
namespace rampart::budro {

/// Coordinates lie in [-kMostCoordinate, kMostCoordinate].
inline constexpr double kMostCoordinate = 1e6;

struct Points {
    size_t rows = 0, dimensions = 0;
    std::vector<double> values;  // [rows x dimensions] row-major

    std::span<const double> row(size_t i) const {
        return std::span(values).subspan(i * dimensions, dimensions);
    }
};

/// Checks the points: 1 … limits::kMaxRows rows, 0 … limits::kMaxFeatures dimensions (0: all rows
/// are alike), values finite and within kMostCoordinate. Errors: no_rows, too_large, bad_size,
/// bad_coordinate.
base::Status validate(const Points& points);

/// Sum of squared differences, added up in the order of the dimensions: the same bits wherever it
/// is computed, and whichever of the two comes first. Both spans have one length.
double squared_distance(std::span<const double> a, std::span<const double> b);

}  // namespace rampart::budro
