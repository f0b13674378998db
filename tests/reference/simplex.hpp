#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <span>

#include "reference/ramp_classes.hpp"

namespace rampart::reference {

/// The point of the simplex that is nearest to v, into v. The result is v - level where that is
/// above 0 (Held, Wolfe, Crowder 1974).
inline void project_onto_simplex(std::span<double> v) {
    std::array<double, kMaxRampClasses> sorted{};
    std::copy(v.begin(), v.end(), sorted.begin());
    std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(v.size()),
              std::greater<>());
    double sum = 0, level = 0;
    for (size_t m = 0; m < v.size(); ++m) {
        sum += sorted[m];
        const double tried = (sum - 1) / static_cast<double>(m + 1);
        if (m > 0 && sorted[m] <= tried) break;
        level = tried;
    }
    for (double& x : v) x = std::max(0.0, x - level);
}

}  // namespace rampart::reference
