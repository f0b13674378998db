#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "curves.hpp"

namespace rampart::calibration {
namespace {

constexpr double kCertain = 1e-9;  // this near to 0 or 1
constexpr double kPull = 1e-6;     // towards a = b = 1, beside a mean loss
constexpr int kMostSteps = 200;    // Newton's; ten are usual
constexpr int kMostHalvings = 60;  // most halvings of one step
constexpr double kStill = 1e-13;   // a gradient this small is rounding

using Vector = std::array<double, 3>;
using Matrix = std::array<Vector, 3>;

/// One score as the regression sees it.
struct Case {
    Vector x{};         // what multiplies a, b and c
    double target = 0;  // between Platt's
    double weight = 0;  // all cases: 1
};

double softplus(double z) { return z > 0 ? z + std::log1p(std::exp(-z)) : std::log1p(std::exp(z)); }

/// The parameters that may move; a and b as one when tied.
struct Freedom {
    bool a = true, b = true, tied = false;
};

struct Slope {
    double loss = 0;
    Vector gradient{};
    Matrix curvature{};
};

double loss_of(const std::vector<Case>& cases, const Vector& p) {
    double sum = 0;
    for (const auto& one : cases) {
        const double z = p[0] * one.x[0] + p[1] * one.x[1] + p[2];
        sum += one.weight * (softplus(z) - one.target * z);
    }
    return sum + kPull / 2 * ((p[0] - 1) * (p[0] - 1) + (p[1] - 1) * (p[1] - 1));
}

Slope slope_of(const std::vector<Case>& cases, const Vector& p) {
    Slope slope;
    for (const auto& one : cases) {
        const double z = p[0] * one.x[0] + p[1] * one.x[1] + p[2];
        const double said = z > 0 ? 1 / (1 + std::exp(-z)) : std::exp(z) / (1 + std::exp(z));
        const double off = one.weight * (said - one.target), bend = one.weight * said * (1 - said);
        for (size_t i = 0; i < 3; ++i) {
            slope.gradient[i] += off * one.x[i];
            for (size_t j = 0; j <= i; ++j) slope.curvature[i][j] += bend * one.x[i] * one.x[j];
        }
    }
    for (size_t i = 0; i < 2; ++i) {
        slope.gradient[i] += kPull * (p[i] - 1);
        slope.curvature[i][i] += kPull;
    }
    for (size_t i = 0; i < 3; ++i)
        for (size_t j = 0; j < i; ++j) slope.curvature[j][i] = slope.curvature[i][j];
    return slope;
}

/// Directions that the parameters may move in, as columns of a basis.
std::vector<Vector> basis_of(const Freedom& free) {
    std::vector<Vector> basis{{0, 0, 1}};
    if (free.tied) {
        if (free.a) basis.push_back({1, 1, 0});
        return basis;
    }
    if (free.a) basis.push_back({1, 0, 0});
    if (free.b) basis.push_back({0, 1, 0});
    return basis;
}

/// Solves m·x = v by Gauss with pivots, m symmetric and positive but for rounding.
Vector solved(Matrix m, Vector v, size_t size) {
    for (size_t i = 0; i < size; ++i) {
        size_t pivot = i;
        for (size_t r = i + 1; r < size; ++r)
            if (std::abs(m[r][i]) > std::abs(m[pivot][i])) pivot = r;
        std::swap(m[i], m[pivot]);
        std::swap(v[i], v[pivot]);
        for (size_t r = i + 1; r < size; ++r) {
            const double factor = m[r][i] / m[i][i];
            for (size_t c = i; c < size; ++c) m[r][c] -= factor * m[i][c];
            v[r] -= factor * v[i];
        }
    }
    Vector x{};
    for (size_t i = size; i-- > 0;) {
        x[i] = v[i];
        for (size_t c = i + 1; c < size; ++c) x[i] -= m[i][c] * x[c];
        x[i] /= m[i][i];
    }
    return x;
}

double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// Newton's direction within the basis.
Vector newton_step(const Slope& slope, const std::vector<Vector>& basis, Vector& gradient) {
    Matrix m{};
    for (size_t i = 0; i < basis.size(); ++i) {
        gradient[i] = dot(basis[i], slope.gradient);
        for (size_t j = 0; j < basis.size(); ++j)
            for (size_t r = 0; r < 3; ++r)
                m[i][j] += basis[i][r] * dot(slope.curvature[r], basis[j]);
        m[i][i] += 1e-12;  // c where every row is certain
    }
    const Vector along = solved(m, gradient, basis.size());
    Vector step{};
    for (size_t i = 0; i < basis.size(); ++i)
        for (size_t r = 0; r < 3; ++r) step[r] -= along[i] * basis[i][r];
    return step;
}

/// The least loss where only what is free moves. The loss is convex and grows without end in every
/// direction, because no target is 0 or 1.
Vector minimised(const std::vector<Case>& cases, const Freedom& free) {
    Vector p{free.a ? 1.0 : 0.0, free.b ? 1.0 : 0.0, 0};
    const auto basis = basis_of(free);
    double loss = loss_of(cases, p);
    for (int taken = 0; taken < kMostSteps; ++taken) {
        const Slope slope = slope_of(cases, p);
        Vector gradient{};
        const Vector step = newton_step(slope, basis, gradient);
        if (std::abs(dot(step, slope.gradient)) < kStill * kStill) break;
        double length = 1;
        Vector tried = p;
        double tried_loss = std::numeric_limits<double>::infinity();
        for (int halving = 0; halving < kMostHalvings; ++halving, length /= 2) {
            for (size_t i = 0; i < 3; ++i) tried[i] = p[i] + length * step[i];
            tried_loss = loss_of(cases, tried);
            if (tried_loss <= loss + 1e-4 * length * dot(step, slope.gradient)) break;
        }
        if (!(tried_loss < loss)) break;  // as deep as rounding lets it go
        p = tried;
        loss = tried_loss;
    }
    return p;
}

/// Where scores are held within.
struct Edges {
    double lo = 0, hi = 1;
    bool saturated = false;
};

Edges edges_of(const std::vector<ScoreCell>& cells) {
    double least = 0.5, most = 0.5;  // range of the others; without any 1/4 and 3/4
    bool saturated = false;
    for (const auto& cell : cells) {
        const bool certain = cell.score < kCertain || cell.score > 1 - kCertain;
        saturated = saturated || certain;
        if (certain) continue;
        least = std::min(least, cell.score);
        most = std::max(most, cell.score);
    }
    return {least / 2, 1 - (1 - most) / 2, saturated};
}

std::vector<Case> cases_of(const CalibrationCells& cells, const Edges& edges) {
    double total = 0;
    for (const auto& cell : cells.cells) total += cell.weight;
    std::vector<Case> cases;
    cases.reserve(cells.cells.size());
    for (const auto& cell : cells.cells) {
        const double p = std::clamp(cell.score, edges.lo, edges.hi);
        const double share = cell.hits / cell.weight;
        cases.push_back({{std::log(p), -std::log1p(-p), 1},
                         share * cells.highest + (1 - share) * cells.lowest,
                         cell.weight / total});
    }
    return cases;
}

/// Bounds: the best of the faces whose own optimum keeps them is the optimum.
Vector bounded_minimum(const std::vector<Case>& cases, bool tied) {
    std::vector<Freedom> faces;
    if (tied)
        faces = {{true, true, true}, {false, false, true}};
    else
        faces = {{true, true}, {true, false}, {false, true}, {false, false}};
    Vector best{0, 0, 0};
    double least = std::numeric_limits<double>::infinity();
    for (const auto& face : faces) {
        const Vector p = minimised(cases, face);
        if (p[0] < 0 || p[1] < 0) continue;
        if (const double loss = loss_of(cases, p); loss < least) {
            least = loss;
            best = p;
        }
        if (face.a && face.b) break;  // free of the bounds and within them: nothing is better
    }
    return best;
}

/// Points at even log odds between the edges.
model::PolylineMap polyline_of(const model::BetaMap& curve, const Edges& edges, size_t points) {
    const double lo = std::log(edges.lo / (1 - edges.lo)), hi = std::log(edges.hi / (1 - edges.hi));
    model::PolylineMap map;
    for (size_t i = 0; i < points; ++i) {
        const double share = static_cast<double>(i) / static_cast<double>(points - 1);
        const double x = 1 / (1 + std::exp(-(lo + share * (hi - lo))));
        if (!map.x.empty() && x <= map.x.back()) continue;
        map.x.push_back(x);
        map.y.push_back(std::max(curve.apply(x), map.y.empty() ? 0.0 : map.y.back()));
    }
    return map;
}

}  // namespace

model::Calibration fit_beta(const CalibrationCells& cells, bool tied, size_t points) {
    const Edges edges = edges_of(cells.cells);
    const Vector best = bounded_minimum(cases_of(cells, edges), tied);
    const model::BetaMap curve{best[0], best[1], best[2]};
    if (!edges.saturated) return curve;
    return polyline_of(curve, edges, points);
}

}  // namespace rampart::calibration
