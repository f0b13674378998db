#include "tiles.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rampart::budro {
namespace {

/// The dimension in which some points are spread most.
size_t widest(const SupportPoints& points, std::span<const uint32_t> some) {
    const size_t d = points.dimensions;
    // so many say enough
    const size_t stride = std::max<size_t>(1, some.size() / 256);
    std::vector<double> sum(d), squares(d);
    double count = 0;
    for (size_t i = 0; i < some.size(); i += stride, ++count) {
        const auto point = points.at(some[i]);
        for (size_t k = 0; k < d; ++k) {
            sum[k] += point[k];
            squares[k] += point[k] * point[k];
        }
    }
    size_t best = 0;
    double most = -1;
    for (size_t k = 0; k < d; ++k) {
        const double variance = squares[k] - sum[k] * sum[k] / count;
        if (variance <= most) continue;
        most = variance;
        best = k;
    }
    return best;
}

/// Halves at a multiple of kLanes until one tile is left; not recursive, so that no input is deep.
void arrange(const SupportPoints& points, std::vector<uint32_t>& order) {
    std::vector<std::pair<size_t, size_t>> open{{0, order.size()}};
    while (!open.empty()) {
        const auto [first, last] = open.back();
        open.pop_back();
        const size_t tiles = (last - first + kLanes - 1) / kLanes;
        if (tiles <= 1 || points.dimensions == 0) continue;
        const auto part = std::span(order).subspan(first, last - first);
        const size_t k = widest(points, part), middle = tiles / 2 * kLanes;
        std::nth_element(part.begin(), part.begin() + static_cast<ptrdiff_t>(middle), part.end(),
                         [&](uint32_t a, uint32_t b) {
                             const double x = points.at(a)[k], y = points.at(b)[k];
                             return x != y ? x < y : a < b;
                         });
        open.push_back({first, first + middle});
        open.push_back({first + middle, last});
    }
}

}  // namespace

Tiles::Tiles(const SupportPoints& points)
    : dimensions_(points.dimensions),
      padded_((points.dimensions + 7) / 8 * 8),
      tiles_((points.count() + kLanes - 1) / kLanes),
      order_(points.count()),
      slot_(points.count()) {
    std::iota(order_.begin(), order_.end(), 0);
    arrange(points, order_);
    for (uint32_t slot = 0; slot < order_.size(); ++slot) slot_[order_[slot]] = slot;
    order_.resize(tiles_ * kLanes, kNoPoint);

    std::vector<double> centre(dimensions_);
    const auto n = static_cast<double>(points.count());
    for (size_t p = 0; p < points.count(); ++p)
        for (size_t k = 0; k < dimensions_; ++k) centre[k] += points.at(p)[k] / n;
    values_.resize(tiles_ * dimensions_ * kLanes);
    rows_.resize(tiles_ * kLanes * padded_);
    double farthest = 0, sum = 0, largest = 0;
    for (size_t slot = 0; slot < order_.size(); ++slot) {
        const uint32_t point =
            order_[slot] == kNoPoint ? order_[slot / kLanes * kLanes] : order_[slot];
        double norm = 0;
        for (size_t k = 0; k < dimensions_; ++k) {
            const double x = points.at(point)[k] - centre[k];
            norm += x * x;
            largest = std::max(largest, std::abs(points.at(point)[k]));
            rows_[slot * padded_ + k] = static_cast<float>(x);
            values_[(slot / kLanes * dimensions_ + k) * kLanes + slot % kLanes] =
                static_cast<float>(x);
        }
        farthest = std::max(farthest, norm);
        if (order_[slot] != kNoPoint) sum += norm;
    }
    mean_distance_ = 2 * sum / n;
    greatest_distance_ = 4.01 * farthest;
    // A point is off by 2^-24 of its distance from the centre, and by what taking off the centre
    // rounds; two of them and then the squares and sums, 2^-24 each. (a - b)² >= (1 - α) a² - b²/α.
    const double dimensions = static_cast<double>(dimensions_);
    const double off = std::ldexp(1.01 * std::sqrt(farthest), -23) +
                       std::ldexp(largest * std::sqrt(dimensions), -50);
    const double alpha = std::ldexp(1, -14);
    shrink_ = 1 - alpha - std::ldexp(dimensions + 4, -23);
    offset_ = 1.01 * off * off / alpha;
}

}  // namespace rampart::budro
