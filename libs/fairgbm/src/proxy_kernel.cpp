#include "proxy_kernel.hpp"

#include <algorithm>
#include <cmath>

#include "rampart/base/check.hpp"
#include "rampart/model/instruction_set.hpp"

namespace rampart::fairgbm {
namespace {

constexpr size_t kBlock = 256;
constexpr size_t kLanes = 8;

double softplus(double z) { return std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z))); }

/// log(1 + exp(z + s)) is `margin` on the threshold.
double shift_of(double margin) { return std::log(std::expm1(margin)); }

/// What the rows of a cell need, by cell.
struct Constants {
    std::array<float, 256> push{};    // push · direction for the sigmoid
    std::array<float, 256> odds{};    // factor on the odds: moves the score by its logarithm
    std::array<float, 256> offset{};  // taken off: push where the direction is -1
};

/// exp(z) as a factor on the odds. Bounded: of a score that has run away from the threshold, 0 ·
/// inf or 0 / 0 would otherwise be taken.
float odds_of(double z) { return static_cast<float>(std::exp(std::clamp(z, -60.0, 60.0))); }

Constants constants_of(Proxy proxy, double margin, double threshold, const CellPushes& pushes) {
    Constants out;
    for (size_t cell = 0; cell < pushes.push.size(); ++cell) {
        const float push = pushes.push[cell], direction = pushes.direction[cell];
        if (proxy == Proxy::kSigmoid) {
            out.push[cell] = push * direction;
            out.odds[cell] = odds_of(-threshold);
            continue;
        }
        // sigmoid(s - f) = 1 - sigmoid(f - s): one formula for both directions
        const double shift = shift_of(margin);
        out.push[cell] = push;
        out.odds[cell] = odds_of(direction > 0 ? shift - threshold : -shift - threshold);
        out.offset[cell] = direction > 0 ? 0 : push;
    }
    return out;
}

/// Cross-entropy (kSigmoid false) or sigmoid, whose derivatives follow from p = sigmoid(score).
template <bool kSigmoid, bool kWeighted>
RAMPART_INLINE void logistic_body(const Constants& by_cell, bool curvature, const PushedRows& rows,
                                  float* g, float* h) {
    const float bend = curvature ? 1.0f : 0.0f;
    float push[kBlock], odds[kBlock], offset[kBlock];
    for (size_t first = 0; first < rows.n; first += kBlock) {
        const size_t n = std::min(kBlock, rows.n - first);
        for (size_t i = 0; i < n; ++i) {
            const uint8_t cell = rows.cells[first + i];
            push[i] = by_cell.push[cell];
            odds[i] = by_cell.odds[cell];
            offset[i] = by_cell.offset[cell];
        }
        for (size_t i = 0; i < n; ++i) {
            const size_t at = first + i;
            const float w = kWeighted ? rows.weights[at] : 1.0f;
            const float y = static_cast<float>(static_cast<int32_t>(rows.labels[at]));
            const float p = (kWeighted ? g[at] / w : g[at]) + y;
            const float up = p * odds[i];
            const float r = up / (up + (1.0f - p));
            const float steep = r * (1.0f - r);
            const float slope = kSigmoid ? push[i] * steep : push[i] * r - offset[i];
            const float curve = kSigmoid ? slope * (1.0f - 2.0f * r) : push[i] * steep;
            g[at] += w * slope;
            h[at] += bend * w * (curve > 0 ? curve : 0.0f);
        }
    }
}

using Logistic = void (*)(const Constants&, bool, const PushedRows&, float*, float*);

template <bool kSigmoid, bool kWeighted>
void logistic_portable(const Constants& by_cell, bool curvature, const PushedRows& rows, float* g,
                       float* h) {
    logistic_body<kSigmoid, kWeighted>(by_cell, curvature, rows, g, h);
}
template <bool kSigmoid, bool kWeighted>
RAMPART_AVX2 void logistic_avx2(const Constants& by_cell, bool curvature, const PushedRows& rows,
                                float* g, float* h) {
    logistic_body<kSigmoid, kWeighted>(by_cell, curvature, rows, g, h);
}

template <bool kSigmoid>
Logistic logistic(bool weighted) {
    const bool avx2 = model::fastest_supported() == model::InstructionSet::kAvx2;
    if (weighted) return avx2 ? logistic_avx2<kSigmoid, true> : logistic_portable<kSigmoid, true>;
    return avx2 ? logistic_avx2<kSigmoid, false> : logistic_portable<kSigmoid, false>;
}

/// In lanes, so that the additions need not wait for each other; their order is fixed.
template <bool kWeighted>
RAMPART_INLINE double brier_body(const float* g, const float* weights, size_t n) {
    double sums[kLanes] = {};
    size_t i = 0;
    for (; i + kLanes <= n; i += kLanes)
        for (size_t lane = 0; lane < kLanes; ++lane) {
            const auto slope = static_cast<double>(g[i + lane]);
            const double w = kWeighted ? static_cast<double>(weights[i + lane]) : 1.0;
            sums[lane] += slope * slope / w;
        }
    for (size_t lane = 0; i < n; ++i, ++lane) {
        const auto slope = static_cast<double>(g[i]);
        sums[lane] += slope * slope / (kWeighted ? static_cast<double>(weights[i]) : 1.0);
    }
    double sum = 0;
    for (const double lane : sums) sum += lane;
    return sum;
}

template <bool kWeighted>
double brier_portable(const float* g, const float* weights, size_t n) {
    return brier_body<kWeighted>(g, weights, n);
}
template <bool kWeighted>
RAMPART_AVX2 double brier_avx2(const float* g, const float* weights, size_t n) {
    return brier_body<kWeighted>(g, weights, n);
}

/// Hinge and quadratic.
void add_pointed(bool quadratic, double margin, double threshold, bool curvature,
                 const CellPushes& pushes, const PushedRows& rows, float* g, float* h) {
    for (size_t i = 0; i < rows.n; ++i) {
        const float push = pushes.push[rows.cells[i]];
        const float direction = pushes.direction[rows.cells[i]];
        const auto over = static_cast<float>(
            static_cast<double>(direction) * (rows.scores[i] - threshold) + margin);
        if (push == 0 || over < 0) continue;
        const float w = rows.weights == nullptr ? 1.0f : rows.weights[i];
        g[i] += w * push * direction * (quadratic ? over : 1.0f);
        if (curvature && quadratic && push > 0) h[i] += w * push;
    }
}

}  // namespace

void add_proxy(Proxy proxy, double margin, double threshold, bool curvature,
               const CellPushes& pushes, const PushedRows& rows, float* g, float* h) {
    switch (proxy) {
        case Proxy::kQuadratic:
        case Proxy::kHinge:
            return add_pointed(proxy == Proxy::kQuadratic, margin, threshold, curvature, pushes,
                               rows, g, h);
        case Proxy::kCrossEntropy:
        case Proxy::kSigmoid:
            break;
    }
    const auto constants = constants_of(proxy, margin, threshold, pushes);
    const bool weighted = rows.weights != nullptr;
    const Logistic run =
        proxy == Proxy::kSigmoid ? logistic<true>(weighted) : logistic<false>(weighted);
    run(constants, curvature, rows, g, h);
}

double proxy_loss(Proxy proxy, double margin, double z) {
    switch (proxy) {
        case Proxy::kCrossEntropy:
            return softplus(z + shift_of(margin));
        case Proxy::kQuadratic:
            return std::pow(std::max(0.0, z + margin), 2) / 2;
        case Proxy::kHinge:
            return std::max(0.0, z + margin);
        case Proxy::kSigmoid:
            return 1 / (1 + std::exp(-z));
    }
    return 0;
}

double brier_sum(const float* g, const float* weights, size_t n) {
    const bool avx2 = model::fastest_supported() == model::InstructionSet::kAvx2;
    if (weights != nullptr)
        return avx2 ? brier_avx2<true>(g, weights, n) : brier_portable<true>(g, weights, n);
    return avx2 ? brier_avx2<false>(g, weights, n) : brier_portable<false>(g, weights, n);
}

void add_approved(const PushedRows& rows, double threshold, double* sums, size_t cells) {
    constexpr size_t kTables = 4;  // so that equal cells one after the other do not wait
    if (rows.weights == nullptr) {
        std::array<std::array<uint32_t, 256>, kTables> counts{};
        for (size_t i = 0; i < rows.n; ++i)
            counts[i % kTables][rows.cells[i]] += rows.scores[i] >= threshold ? 1 : 0;
        for (const auto& table : counts)
            for (size_t cell = 0; cell < cells; ++cell) sums[cell] += table[cell];
        return;
    }
    std::array<std::array<double, 256>, kTables> weights{};
    for (size_t i = 0; i < rows.n; ++i)
        weights[i % kTables][rows.cells[i]] +=
            rows.scores[i] >= threshold ? static_cast<double>(rows.weights[i]) : 0.0;
    for (const auto& table : weights)
        for (size_t cell = 0; cell < cells; ++cell) sums[cell] += table[cell];
}

}  // namespace rampart::fairgbm
