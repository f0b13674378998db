#include "row_sample.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include "rampart/dataset/text.hpp"

namespace rampart::dataset {

RowSample::RowSample(size_t columns)
    : columns_(columns),
      most_(std::clamp(kMostCells / std::max<size_t>(columns, 1), size_t{500}, kMostRows)),
      random_(27),
      missing_(columns) {}

void RowSample::add(std::span<const std::string_view> cells, const std::vector<bool>& missing,
                    std::optional<bool> label) {
    if (label) {
        ++labelled_[*label];
        for (size_t i = 0; i < columns_; ++i) missing_[i][*label] += missing[i];
    }
    size_t row = rows();
    ++seen_;
    if (row < most_) {
        labels_.emplace_back();
        cells_.resize(cells_.size() + columns_);
    } else {
        row = random_.below(seen_);
        if (row >= most_) return;
    }
    labels_[row] = label;
    for (size_t i = 0; i < columns_; ++i) {
        Cell& cell = cells_[row * columns_ + i];
        cell = {std::numeric_limits<double>::quiet_NaN(), 0};
        if (missing[i]) continue;
        cell.text = std::hash<std::string_view>{}(cells[i]) | 1;
        if (const auto number = parse_number(cells[i])) cell.number = *number;
    }
}

}  // namespace rampart::dataset
