#pragma once

#include <cstdint>
#include <vector>

#include "distance_table.hpp"
#include "tile_losses.hpp"

namespace rampart::budro {

/// What is remembered from round to round: the greatest value that sources could have in a column
/// of tiles, when it was last looked at. With C, the sum over rounds of the greatest rise of any
/// loss in the column,
///   value now <= value then + C now - C then + fall of the price · d²
/// where only d² <= (greatest loss - value sought) / price matters: who is further away has less.
/// So a column that was searched without a result is not searched again before its losses have
/// risen enough.
///
/// A row for each run of sources who share a row of the DistanceTable and a label. Entries are
/// value less C in steps of 16 bits, rounded up; the greatest says that nothing is known.
class ValueTable {
  public:
    static constexpr uint16_t kUnknown = UINT16_MAX;

    static size_t bytes(size_t runs, const DistanceTable& table) {
        return runs * table.padded_columns() * sizeof(uint16_t);
    }
    /// labels: of the runs. With `remembers` false it knows nothing, and holds nothing.
    ValueTable(std::vector<uint8_t> labels, size_t classes, const Tiles& tiles,
               const DistanceTable& table, bool remembers, base::ThreadPool* pool);

    void begin_round(const std::vector<TileLosses>& losses);
    bool remembers() const { return remembers_; }

    const uint16_t* row(size_t run) const { return steps_.data() + run * stride_; }
    /// C by column less the lowest, in steps rounded up.
    const uint16_t* rise(size_t label) const { return rise_steps_[label].data(); }
    /// A value sought at a price, as steps rounded down, to compare entries + rise() with.
    uint16_t steps_of_sought(size_t run, double sought, double price) const;
    /// No value of any source of the run in the column is greater at this price.
    void note(size_t run, size_t column, double most, double price);

    size_t bytes() const { return steps_.size() * sizeof(uint16_t); }

  private:
    void add_rises(const TileLosses& now, size_t label);
    void rescale(double base, double scale);

    const Tiles& tiles_;
    base::ThreadPool* pool_;
    size_t columns_, in_column_, stride_;
    bool remembers_;
    double base_ = 0, scale_ = 0;  // steps = (value - base) · scale
    std::vector<uint8_t> labels_;
    std::vector<double> price_;    // by run: the highest at which something was noted
    std::vector<double> most_;     // greatest loss, by class
    std::vector<uint16_t> steps_;  // [runs x stride]
    std::vector<std::vector<double>> losses_, rise_;  // by class; point, column
    std::vector<double> lowest_rise_;                 // by class
    std::vector<std::vector<uint16_t>> rise_steps_;
};

}  // namespace rampart::budro
