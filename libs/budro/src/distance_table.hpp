#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tile_kernels.hpp"
#include "tiles.hpp"

namespace rampart::budro {

/// Lower bounds on squared distances between rows (of one point, or of some tiles) and columns (of
/// some tiles), as whole steps of 16 bits, rounded down; the greatest stands for all above.
///
/// With a row for each point every entry is the least distance to the tile's points, computed once.
/// Else rows and columns are groups of tiles; entries begin as distances of bounding boxes, and
/// refine() makes one exact when a query needs it.
class DistanceTable {
  public:
    /// Bytes of a table with a row for each point.
    static size_t bytes_by_point(size_t points);
    static size_t bytes_by_group(size_t points, size_t tiles_in_group);

    /// tiles_in_group: 0 for a row for each point.
    DistanceTable(const Tiles& tiles, const TileKernels& kernels, size_t tiles_in_group,
                  base::ThreadPool* pool);

    bool by_point() const { return tiles_in_group_ == 0; }
    size_t tiles_in_column() const { return by_point() ? 1 : tiles_in_group_; }
    size_t columns() const { return columns_; }
    size_t padded_columns() const { return stride_; }
    size_t row_of_slot(size_t slot) const {
        return by_point() ? slot : slot / (kLanes * tiles_in_group_);
    }
    const uint16_t* row(size_t r) const { return steps_.data() + r * stride_; }
    double steps_per_unit() const { return scale_; }
    double distance(uint16_t steps) const { return steps / scale_; }

    /// The entry, made exact where it is not. One thread at a time a row.
    uint16_t refine(size_t row, size_t column);

    size_t bytes() const { return steps_.size() * sizeof(uint16_t) + exact_.size() / 8; }

  private:
    uint16_t to_steps(float s) const;
    void fill_by_point(base::ThreadPool* pool);
    void fill_by_boxes(base::ThreadPool* pool);
    void meet(size_t a, size_t b);

    const Tiles& tiles_;
    const TileKernels& kernels_;
    size_t tiles_in_group_, columns_, rows_, stride_;
    double scale_ = 1;
    std::vector<uint16_t> steps_;
    std::vector<uint8_t> exact_;  // by row and column, where there are groups: a bit each
};

}  // namespace rampart::budro
