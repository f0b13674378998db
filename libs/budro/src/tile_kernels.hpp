#pragma once

#include <cstddef>
#include <cstdint>

#include "rampart/model/instruction_set.hpp"
#include "tiles.hpp"

/// The inner loops of the search, for each set of instructions.
namespace rampart::budro {

/// A value to reach in single precision: a lane is a candidate iff loss - eta·s >= best.
struct Screen {
    const float* losses;  // [kLanes] of the tile
    float eta;
    float best;
    float least;                // no s is below
    float prune_threshold = 0;  // at most `best`: a tile in which no lane reaches it is pruned
};

struct Look {
    uint32_t open;
    float most;  // no lane's loss - eta·s is greater
};

struct TileKernels {
    /// found: the columns t of n (a multiple of kLanes) with row[t] <= max(0, greatest[t] - best).
    /// Returns how many.
    size_t (*scan)(const uint16_t* row, size_t n, const uint16_t* greatest, uint16_t best,
                   uint32_t* found);
    /// Finds the same columns except those with known[t] + rise[t] < sought.
    size_t (*scan_unknown)(const uint16_t* row, size_t n, const uint16_t* greatest, uint16_t best,
                           const uint16_t* known, const uint16_t* rise, uint16_t sought,
                           uint32_t* found);
    /// Returns bit l for each lane l of tile t that is a candidate, distances being from point (as
    /// Tiles::row).
    uint32_t (*screen)(const Tiles& tiles, size_t t, const float* point, const Screen& screen);
    /// Returns the same for all lanes, and the greatest loss - eta·s: over all dimensions, or over
    /// so many that the tile is pruned.
    Look (*look)(const Tiles& tiles, size_t t, const float* point, const Screen& screen);
    /// s[kLanes]: sums of squares from point to the points of tile t.
    void (*distances)(const Tiles& tiles, size_t t, const float* point, float* s);
};

const TileKernels& tile_kernels(model::InstructionSet set);

}  // namespace rampart::budro
