#pragma once

#include <cstddef>
#include <vector>

namespace rampart::explain {

/// Gauss-Legendre quadrature on [0, 1]: the sum of weight[q]·p(at[q]) is the integral of any
/// polynomial p of degree below 2·points. Points increase and lie inside (0, 1).
struct Quadrature {
    std::vector<double> at, weight;
};
Quadrature gauss_legendre(size_t points);

}  // namespace rampart::explain
