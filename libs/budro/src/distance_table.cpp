#include "distance_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "chunks.hpp"

namespace rampart::budro {
namespace {

constexpr double kMostSteps = 65535;

size_t padded(size_t columns) { return (columns + kLanes - 1) / kLanes * kLanes; }
size_t tiles_for(size_t points) { return (points + kLanes - 1) / kLanes; }
size_t groups_for(size_t points, size_t tiles_in_group) {
    return (tiles_for(points) + tiles_in_group - 1) / tiles_in_group;
}

}  // namespace

size_t DistanceTable::bytes_by_point(size_t points) {
    return tiles_for(points) * kLanes * padded(tiles_for(points)) * sizeof(uint16_t);
}

size_t DistanceTable::bytes_by_group(size_t points, size_t tiles_in_group) {
    const size_t groups = groups_for(points, tiles_in_group);
    return groups * padded(groups) * sizeof(uint16_t) + groups * padded(groups) / 8;
}

DistanceTable::DistanceTable(const Tiles& tiles, const TileKernels& kernels, size_t tiles_in_group,
                             base::ThreadPool* pool)
    : tiles_(tiles), kernels_(kernels), tiles_in_group_(tiles_in_group) {
    const size_t points = tiles.order().size();
    columns_ = by_point() ? tiles.count() : groups_for(points, tiles_in_group);
    rows_ = by_point() ? points : columns_;
    stride_ = padded(columns_);
    // distances above twice the mean are saturated
    const double most = 2 * tiles.mean_distance();
    scale_ = most > 0 ? kMostSteps / most : 1;
    steps_.assign(rows_ * stride_, std::numeric_limits<uint16_t>::max());
    if (by_point()) {
        fill_by_point(pool);
    } else {
        exact_.assign((rows_ * stride_ + 7) / 8, 0);
        fill_by_boxes(pool);
    }
}

uint16_t DistanceTable::to_steps(float s) const {
    const double least = static_cast<double>(s) * tiles_.shrink() - tiles_.offset();
    return static_cast<uint16_t>(std::clamp(std::floor(least * scale_), 0.0, kMostSteps));
}

/// Both tiles' entries about each other.
void DistanceTable::meet(size_t a, size_t b) {
    std::array<float, kLanes> s{}, least;
    least.fill(std::numeric_limits<float>::infinity());
    for (size_t l = 0; l < kLanes; ++l) {
        kernels_.distances(tiles_, b, tiles_.row(a * kLanes + l), s.data());
        float nearest = s[0];
        for (size_t m = 0; m < kLanes; ++m) {
            nearest = std::min(nearest, s[m]);
            least[m] = std::min(least[m], s[m]);
        }
        steps_[(a * kLanes + l) * stride_ + b] = to_steps(nearest);
    }
    for (size_t m = 0; m < kLanes; ++m) steps_[(b * kLanes + m) * stride_ + a] = to_steps(least[m]);
}

void DistanceTable::fill_by_point(base::ThreadPool* pool) {
    // the first tile meets all, the last only itself: the longest tasks come first
    for_chunks(pool, tiles_.count(), 1, [&](size_t a, size_t, size_t) {
        for (size_t b = a; b < tiles_.count(); ++b) meet(a, b);
    });
}

void DistanceTable::fill_by_boxes(base::ThreadPool* pool) {
    const size_t d = tiles_.dimensions(), in_group = tiles_in_group_ * kLanes;
    std::vector<float> low(columns_ * d), high(columns_ * d);
    for_chunks(pool, columns_, 64, [&](size_t, size_t first, size_t last) {
        for (size_t group = first; group < last; ++group) {
            float* const lo = low.data() + group * d;
            float* const hi = high.data() + group * d;
            std::fill(lo, lo + d, std::numeric_limits<float>::infinity());
            std::fill(hi, hi + d, -std::numeric_limits<float>::infinity());
            const size_t end = std::min(tiles_.order().size(), (group + 1) * in_group);
            for (size_t slot = group * in_group; slot < end; ++slot) {
                for (size_t k = 0; k < d; ++k) {
                    const float x = tiles_.row(slot)[k];
                    lo[k] = std::min(lo[k], x);
                    hi[k] = std::max(hi[k], x);
                }
            }
        }
    });
    for_chunks(pool, rows_, 4, [&](size_t, size_t first, size_t last) {
        for (size_t a = first; a < last; ++a) {
            for (size_t b = 0; b < columns_; ++b) {
                float s = 0;
                for (size_t k = 0; k < d; ++k) {
                    const float above = low[b * d + k] - high[a * d + k];
                    const float below = low[a * d + k] - high[b * d + k];
                    const float apart = std::max(std::max(above, below), 0.0f);
                    s += apart * apart;
                }
                steps_[a * stride_ + b] = to_steps(s);
            }
        }
    });
}

uint16_t DistanceTable::refine(size_t row, size_t column) {
    const size_t at = row * stride_ + column;
    if (by_point() || (exact_[at / 8] >> (at % 8) & 1) != 0) return steps_[at];
    std::array<float, kLanes> s{};
    float least = std::numeric_limits<float>::infinity();
    const size_t last_tile = std::min(tiles_.count(), (column + 1) * tiles_in_group_);
    const size_t first_slot = row * tiles_in_group_ * kLanes;
    const size_t last_slot = std::min(tiles_.order().size(), first_slot + tiles_in_group_ * kLanes);
    for (size_t slot = first_slot; slot < last_slot; ++slot) {
        for (size_t t = column * tiles_in_group_; t < last_tile; ++t) {
            kernels_.distances(tiles_, t, tiles_.row(slot), s.data());
            least = std::min(least, *std::min_element(s.begin(), s.end()));
        }
    }
    steps_[at] = to_steps(least);
    exact_[at / 8] |= static_cast<uint8_t>(1u << (at % 8));
    return steps_[at];
}

}  // namespace rampart::budro
