#pragma once

#include <vector>

#include "distance_table.hpp"

namespace rampart::budro {

/// Losses of one class as the tile search reads them.
struct TileLosses {
    std::vector<double> by_point;
    std::vector<float> by_slot;     // rounded up; -infinity where there is no point
    std::vector<double> by_tile;    // greatest
    std::vector<double> by_column;  // greatest; [columns of the table]
    double least = 0, most = 0;

    void fill(std::span<const double> losses, const Tiles& tiles, const DistanceTable& table);
    double largest() const;  // absolute value
};

/// One class at one price.
struct PricedLosses {
    const TileLosses* losses = nullptr;
    double eta = 0;
    double steps = 0;                // steps of the table per unit of loss
    double base = 0;                 // losses are counted from here: no value sought is lower
    std::vector<uint16_t> greatest;  // by column, padded: see Reach
    bool saturated = false;          // then Reach says nothing, and exact bounds decide
    float eta_down = 0;              // for the screen
    double screen_slack = 0;         // by how much single precision may be too low

    /// slack: values so much below the best are sought, too.
    void fill(const TileLosses& of, double price, double slack, const Tiles& tiles,
              const DistanceTable& table);
    uint16_t steps_of_best(double best) const;
    float screen_of_best(double best) const;
};

}  // namespace rampart::budro
