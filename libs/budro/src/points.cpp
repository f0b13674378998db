#include "rampart/budro/points.hpp"

#include <cmath>

#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/budro/reasons.hpp"

namespace rampart::budro {

base::Status validate(const Points& points) {
    if (points.rows == 0) return base::make_error(base::Reason::kNoRows, "there are no points");
    if (points.rows > base::limits::kMaxRows || points.dimensions > base::limits::kMaxFeatures) {
        return base::make_error(
            base::Reason::kTooLarge, "{} points of {} dimensions; at most {} of {} are allowed",
            points.rows, points.dimensions, base::limits::kMaxRows, base::limits::kMaxFeatures);
    }
    if (points.values.size() != points.rows * points.dimensions) {
        return base::make_error(base::Reason::kBadSize,
                                "{} coordinates for {} points of {} dimensions",
                                points.values.size(), points.rows, points.dimensions);
    }
    for (size_t k = 0; k < points.values.size(); ++k) {
        if (std::abs(points.values[k]) <= kMostCoordinate) continue;  // false for NaN
        return base::make_error(
            Reason::kBadCoordinate,
            "point {}, dimension {}: {} is not a number within ±{}; fill in what is missing and "
            "standardise before measuring distances",
            k / points.dimensions, k % points.dimensions, points.values[k], kMostCoordinate);
    }
    return base::ok();
}

double squared_distance(std::span<const double> a, std::span<const double> b) {
    double sum = 0;
    for (size_t k = 0; k < a.size(); ++k) {
        const double difference = a[k] - b[k];
        sum += difference * difference;
    }
    return sum;
}

}  // namespace rampart::budro
