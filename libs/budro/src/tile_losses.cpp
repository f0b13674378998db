#include "tile_losses.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rampart::budro {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMostSteps = 65535;

float up(double x) {
    const auto f = static_cast<float>(x);
    return static_cast<double>(f) < x ? std::nextafter(f, std::numeric_limits<float>::infinity())
                                      : f;
}
float down(double x) { return -up(-x); }

}  // namespace

void TileLosses::fill(std::span<const double> losses, const Tiles& tiles,
                      const DistanceTable& table) {
    by_point.assign(losses.begin(), losses.end());
    by_slot.assign(tiles.order().size(), -std::numeric_limits<float>::infinity());
    by_tile.assign(tiles.count(), -kInfinity);
    by_column.assign(table.columns(), -kInfinity);
    least = kInfinity;
    most = -kInfinity;
    for (size_t slot = 0; slot < by_slot.size(); ++slot) {
        const uint32_t point = tiles.order()[slot];
        if (point == Tiles::kNoPoint) continue;
        const double loss = losses[point];
        by_slot[slot] = up(loss);
        double& tile = by_tile[slot / kLanes];
        tile = std::max(tile, loss);
        least = std::min(least, loss);
        most = std::max(most, loss);
    }
    for (size_t t = 0; t < by_tile.size(); ++t) {
        double& column = by_column[t / table.tiles_in_column()];
        column = std::max(column, by_tile[t]);
    }
}

double TileLosses::largest() const { return std::max(std::abs(least), std::abs(most)); }

void PricedLosses::fill(const TileLosses& of, double price, double slack, const Tiles& tiles,
                        const DistanceTable& table) {
    losses = &of;
    eta = price;
    base = of.least - slack;
    steps = std::min(table.steps_per_unit() / eta, 1e300);
    greatest.assign(table.padded_columns(), 0);
    saturated = false;
    for (size_t t = 0; t < table.columns(); ++t) {
        const double reach = std::ceil((of.by_column[t] - base) * steps) + 1;
        saturated = saturated || reach >= kMostSteps;
        greatest[t] = static_cast<uint16_t>(std::min(reach, kMostSteps));
    }
    eta_down = down(eta * tiles.shrink());
    // what shrinking leaves, and three roundings of numbers no larger than the losses' differences
    const double offset = eta * tiles.offset();
    screen_slack = offset + std::ldexp(4 * of.largest() + slack + offset, -22);
}

uint16_t PricedLosses::steps_of_best(double best) const {
    if (saturated) return 0;
    const double reach = std::floor((best - base) * steps) - 1;
    return static_cast<uint16_t>(std::clamp(reach, 0.0, kMostSteps));
}

float PricedLosses::screen_of_best(double best) const { return down(best - screen_slack); }

}  // namespace rampart::budro
