#pragma once

#include <cstddef>
#include <cstdint>

#include "rampart/model/instruction_set.hpp"
#include "tiles.hpp"

/// The inner loops of the search, for each set of instructions.
namespace rampart::fairness::budro {

/// What a tile has to reach at one price.
struct Reach {
    const uint16_t* greatest;  // [columns] greatest loss / η in steps of the table, rounded up
    uint16_t best = 0;         // the same of the value to beat, rounded down
};

/// A value to beat in single precision: a lane comes into question iff loss - η·s >= best.
struct Screen {
    const float* losses;  // [kLanes] of the tile
    float eta;
    float best;
};

struct TileKernels {
    /// found: the columns t of n (a multiple of kLanes) with row[t] <= greatest[t] - best for one of
    /// the `prices` reaches. Returns how many.
    size_t (*scan)(const uint16_t* row, size_t n, const Reach* reaches, size_t prices,
                   uint32_t* found);
    /// Bit l: lane l of a tile comes into question at one of the prices. Distances are from
    /// point[dimensions].
    uint32_t (*screen)(const float* tile, const float* point, size_t dimensions,
                       const Screen* screens, size_t prices);
    /// s[kLanes]: sums of squares from point to the tile's places.
    void (*distances)(const float* tile, const float* point, size_t dimensions, float* s);
};

const TileKernels& tile_kernels(model::InstructionSet set);

}  // namespace rampart::fairness::budro
