#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "rampart/model/ensemble.hpp"

/// The thresholds of an ensemble as columns of bytes: the engines compare bytes, not floats.
namespace rampart::model {

inline constexpr size_t kMostCuts = 254;  // per column
inline constexpr uint8_t kMissingByte = 255;

/// At most 254 thresholds of a feature. The byte of a value is the number of thresholds below
/// it, or kMissingByte.
struct CutColumn {
    uint32_t feature = 0;
    uint32_t first = 0;  // in CutColumns::cuts
    uint32_t count = 0;
    uint32_t ladder = 0;  // in CutColumns::ladders
};

/// Cut of a numeric node: a value that is not missing goes left iff its byte <= cut.
struct CutPlace {
    uint32_t column = 0;
    uint8_t cut = 0;
};

/// Ladder of a column: every 16th cut (16 rungs), then its cuts, 17 times 16; unused entries are
/// infinity. The byte of x is 16 · (rungs below x) + (cuts below x among the next 16).
inline constexpr size_t kRung = 16, kLadder = kRung + 17 * kRung;

class CutColumns {
  public:
    explicit CutColumns(const Ensemble& ensemble);

    const std::vector<CutColumn>& columns() const { return columns_; }  // per feature
    std::span<const float> cuts(const CutColumn& column) const {
        return std::span(cuts_).subspan(column.first, column.count);
    }
    const float* ladder(const CutColumn& column) const { return ladders_.data() + column.ladder; }
    /// Returns the cut of a numeric node of that ensemble.
    CutPlace place(const TreeNode& node) const;

  private:
    void add_columns(uint32_t feature, std::span<const float> cuts);

    std::vector<CutColumn> columns_;
    std::vector<float> cuts_, ladders_;
    // first column of each feature, and location of its cuts
    struct Range {
        uint32_t column = 0, first = 0, count = 0;
    };
    std::map<uint32_t, Range> ranges_;
};

}  // namespace rampart::model
