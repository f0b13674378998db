#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "rampart/model/ensemble.hpp"

/// The thresholds of an ensemble as columns of bytes: what the engines compare instead of floats.
namespace rampart::model {

inline constexpr size_t kMostCuts = 255;  // of a column

/// At most 255 thresholds of a feature, of nodes that send missing values the same way.
struct CutColumn {
    uint32_t feature = 0;
    bool default_left = false;
    uint32_t first = 0;  // in CutColumns::cuts
    uint32_t count = 0;
    uint32_t ladder = 0;  // in CutColumns::ladders

    bool short_one() const { return count <= kShort; }
    static constexpr uint32_t kShort = 16;
};

/// Where a numeric node finds its answer: left iff byte of `column` <= cut.
struct CutPlace {
    uint32_t column = 0;
    uint8_t cut = 0;
};

/// Ladder of a column: its every 16th cut (16 of them), then its cuts, 17 times 16; infinity where
/// there are none. The byte of x is 16 · (rungs below x) + (cuts below x among the 16 that follow).
inline constexpr size_t kRung = 16, kLadder = kRung + 17 * kRung;

class CutColumns {
  public:
    explicit CutColumns(const Ensemble& ensemble);

    const std::vector<CutColumn>& columns() const { return columns_; }  // by feature
    std::span<const float> cuts(const CutColumn& column) const {
        return std::span(cuts_).subspan(column.first, column.count);
    }
    const float* ladder(const CutColumn& column) const { return ladders_.data() + column.ladder; }
    /// Of a numeric node of that ensemble.
    CutPlace place(const TreeNode& node) const;

  private:
    void add_columns(uint32_t feature, bool default_left, std::span<const float> cuts);

    std::vector<CutColumn> columns_;
    std::vector<float> cuts_, ladders_;
    // of each (feature, default_left): first column, and where its cuts begin and end
    struct Range {
        uint32_t column = 0, first = 0, count = 0;
    };
    std::map<std::pair<uint32_t, bool>, Range> ranges_;
};

}  // namespace rampart::model
