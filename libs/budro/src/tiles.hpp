#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "rampart/base/thread_pool.hpp"
#include "support_points.hpp"

namespace rampart::budro {

constexpr size_t kLanes = 16;

/// Support points in tiles of sixteen that lie close together (leaves of a k-d tree, split where
/// the spread is greatest), in single precision; and what that precision loses:
///   d² >= shrink · s - offset   for the sum of squares s of two points as computed from here
class Tiles {
  public:
    explicit Tiles(const SupportPoints& points);

    size_t count() const { return tiles_; }
    size_t dimensions() const { return dimensions_; }
    /// Which point is at tile · kLanes + lane; kNoPoint past the last.
    static constexpr uint32_t kNoPoint = UINT32_MAX;
    const std::vector<uint32_t>& order() const { return order_; }
    const std::vector<uint32_t>& slot_of_point() const { return slot_; }
    /// [dimensions][kLanes]; where there is no point, as far away as the tile's first.
    const float* tile(size_t t) const { return values_.data() + t * dimensions_ * kLanes; }
    /// The same by slot: [padded()], zeros after the last dimension.
    const float* row(size_t slot) const { return rows_.data() + slot * padded_; }
    size_t padded() const { return padded_; }  // a multiple of 8

    double shrink() const { return shrink_; }
    double offset() const { return offset_; }
    /// Mean squared distance of two points drawn at random.
    double mean_distance() const { return mean_distance_; }
    /// No two points are further apart (squared).
    double greatest_distance() const { return greatest_distance_; }
    size_t bytes() const {
        return (values_.size() + rows_.size()) * sizeof(float) +
               (order_.size() + slot_.size()) * sizeof(uint32_t);
    }

  private:
    size_t dimensions_ = 0, padded_ = 0, tiles_ = 0;
    std::vector<uint32_t> order_, slot_;
    std::vector<float> values_, rows_;
    double shrink_ = 1, offset_ = 0, mean_distance_ = 0, greatest_distance_ = 0;
};

}  // namespace rampart::budro
