#include "value_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "chunks.hpp"

namespace rampart::budro {
namespace {

constexpr double kMost = ValueTable::kUnknown - 1;
/// Steps cover so many times the span of losses, until that has grown to three times what it was.
/// So many of them lie below the least loss: values less rises do.
constexpr double kSpans = 12, kBelow = 4;

}  // namespace

ValueTable::ValueTable(std::vector<uint8_t> labels, size_t classes, const Tiles& tiles,
                       const DistanceTable& table, bool remembers, base::ThreadPool* pool)
    : tiles_(tiles),
      pool_(pool),
      columns_(table.columns()),
      in_column_(table.tiles_in_column()),
      stride_(table.padded_columns()),
      remembers_(remembers),
      labels_(std::move(labels)),
      price_(labels_.size()),
      most_(classes),
      losses_(classes),
      rise_(classes, std::vector<double>(columns_)),
      lowest_rise_(classes),
      rise_steps_(classes, std::vector<uint16_t>(stride_)) {
    if (remembers_) steps_.assign(labels_.size() * stride_, kUnknown);
}

void ValueTable::begin_round(const std::vector<TileLosses>& now) {
    if (!remembers_) return;
    double least = std::numeric_limits<double>::infinity(), most = -least, risen = 0;
    for (size_t c = 0; c < now.size(); ++c) {
        least = std::min(least, now[c].least);
        most = std::max(most, now[c].most);
        most_[c] = now[c].most;
        if (!losses_[c].empty()) add_rises(now[c], c);
        losses_[c] = now[c].by_point;
        for (const double rise : rise_[c]) risen = std::max(risen, std::abs(rise));
    }
    const double span = most - least;
    const bool outgrown = kSpans / 3 * span * scale_ > kMost;
    const bool risen_far = kSpans * risen * scale_ > kBelow / 2 * kMost;
    if (outgrown || risen_far || scale_ == 0)
        rescale(least - kBelow * span, span > 0 ? kMost / (kSpans * span) : 0);
    for (size_t c = 0; c < now.size(); ++c) {
        lowest_rise_[c] = *std::min_element(rise_[c].begin(), rise_[c].end());
        for (size_t column = 0; column < columns_; ++column)
            rise_steps_[c][column] = static_cast<uint16_t>(
                std::min(std::ceil((rise_[c][column] - lowest_rise_[c]) * scale_) + 1, kMost));
    }
}

void ValueTable::add_rises(const TileLosses& now, size_t label) {
    const size_t slots = in_column_ * kLanes;
    for_chunks(pool_, columns_, 256, [&](size_t, size_t first, size_t last) {
        for (size_t column = first; column < last; ++column) {
            double rise = -std::numeric_limits<double>::infinity();
            const size_t end = std::min(tiles_.order().size(), (column + 1) * slots);
            for (size_t slot = column * slots; slot < end; ++slot) {
                const uint32_t point = tiles_.order()[slot];
                if (point == Tiles::kNoPoint) continue;
                rise = std::max(rise, now.by_point[point] - losses_[label][point]);
            }
            rise_[label][column] += rise;
        }
    });
}

/// Other steps; and rises begin at 0 again: what they were goes into the entries.
void ValueTable::rescale(double base, double scale) {
    const double before = scale_ > 0 ? 1 / scale_ : 0, shift = base_ - base;
    for_chunks(pool_, labels_.size(), 64, [&](size_t, size_t first, size_t last) {
        for (size_t run = first; run < last; ++run) {
            uint16_t* const steps = steps_.data() + run * stride_;
            const auto& rise = rise_[labels_[run]];
            for (size_t column = 0; column < columns_; ++column) {
                if (steps[column] == kUnknown) continue;
                const double value = steps[column] * before + shift + rise[column];
                steps[column] = static_cast<uint16_t>(
                    std::clamp(std::ceil(value * scale) + 1, 0.0, double{kUnknown}));
            }
        }
    });
    for (auto& of_class : rise_) std::fill(of_class.begin(), of_class.end(), 0);
    base_ = base;
    scale_ = scale;
}

uint16_t ValueTable::steps_of_sought(size_t run, double sought, double price) const {
    if (!remembers_) return 0;
    const double then = price_[run];
    const double fall = price < then ? (then - price) * (most_[labels_[run]] - sought) / price : 0;
    const double least = sought - fall - lowest_rise_[labels_[run]];
    const double steps = std::floor((least - base_) * scale_) - 1;
    return static_cast<uint16_t>(std::clamp(steps, 0.0, kMost));
}

void ValueTable::note(size_t run, size_t column, double most, double price) {
    if (!remembers_) return;
    const double known = most - base_ - rise_[labels_[run]][column];
    steps_[run * stride_ + column] = static_cast<uint16_t>(
        std::clamp(std::ceil(known * scale_) + 1, 0.0, static_cast<double>(kUnknown)));
    price_[run] = std::max(price_[run], price);
}

}  // namespace rampart::budro
