#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "rampart/base/random.hpp"

namespace rampart::dataset {

/// Some rows of a file of any length, drawn at random without replacement, and how labels and
/// missing cells meet in all of them. Reservoir sampling (Vitter 1985, algorithm R).
class RowSample {
  public:
    static constexpr size_t kMostRows = 50'000, kMostCells = 4'000'000;
    struct Cell {
        double number = 0;  // NaN: missing, or no number
        uint64_t text = 0;  // hash; 0: missing
    };
    /// Rows by label, and those of them in which a column is missing.
    using Counts = std::array<uint64_t, 2>;

    explicit RowSample(size_t columns);

    /// Takes a row; label nullopt: it has none.
    void add(std::span<const std::string_view> cells, const std::vector<bool>& missing,
             std::optional<bool> label);

    size_t rows() const { return labels_.size(); }
    uint64_t seen() const { return seen_; }
    const Cell& cell(size_t row, size_t column) const { return cells_[row * columns_ + column]; }
    std::optional<bool> label(size_t row) const { return labels_[row]; }
    const Counts& labelled() const { return labelled_; }
    const Counts& missing(size_t column) const { return missing_[column]; }

  private:
    size_t columns_, most_;
    uint64_t seen_ = 0;
    base::Random random_;
    std::vector<Cell> cells_;  // [rows·columns]
    std::vector<std::optional<bool>> labels_;
    Counts labelled_{};
    std::vector<Counts> missing_;
};

}  // namespace rampart::dataset
