#pragma once

#include <cstddef>
#include <cstdint>

#include "rampart/model/instruction_set.hpp"
#include "tiles.hpp"

/// The inner loops of the search, for each set of instructions.
namespace rampart::budro {

/// A value to beat in single precision: a lane comes into question iff loss - eta·s >= best.
struct Screen {
    const float* losses;  // [kLanes] of the tile
    float eta;
    float best;
    float least;         // no s is below
    float hopeless = 0;  // where no lane reaches this, at most `best`, it need not be known how far
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
    /// The same of columns that are not known[t] + rise[t] < sought either.
    size_t (*scan_unknown)(const uint16_t* row, size_t n, const uint16_t* greatest, uint16_t best,
                           const uint16_t* known, const uint16_t* rise, uint16_t sought,
                           uint32_t* found);
    /// Bit l: lane l of tile t comes into question, distances being from point (as Tiles::row).
    uint32_t (*screen)(const Tiles& tiles, size_t t, const float* point, const Screen& screen);
    /// The same of all lanes, and the greatest loss - eta·s: of all dimensions, or of so many that
    /// it is hopeless.
    Look (*look)(const Tiles& tiles, size_t t, const float* point, const Screen& screen);
    /// s[kLanes]: sums of squares from point to the places of tile t.
    void (*distances)(const Tiles& tiles, size_t t, const float* point, float* s);
};

const TileKernels& tile_kernels(model::InstructionSet set);

}  // namespace rampart::budro
