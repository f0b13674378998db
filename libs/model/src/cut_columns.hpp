#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "rampart/model/ensemble.hpp"

/// The thresholds of an ensemble as columns of bytes: what the engines compare instead of floats.
namespace rampart::model {

inline constexpr size_t kMostCuts = 254;  // of a column
inline constexpr uint8_t kMissingByte = 255;

/// At most 254 thresholds of a feature. A value's byte is how many of them lie below it, or
/// kMissingByte.
struct CutColumn {
    uint32_t feature = 0;
    uint32_t first = 0;  // in CutColumns::cuts
    uint32_t count = 0;
    uint32_t ladder = 0;  // in CutColumns::ladders
};

/// Where a numeric node finds its answer: a value that is there goes left iff its byte <= cut.
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
    void add_columns(uint32_t feature, std::span<const float> cuts);

    std::vector<CutColumn> columns_;
    std::vector<float> cuts_, ladders_;
    // of each feature: its first column, and where its cuts are
    struct Range {
        uint32_t column = 0, first = 0, count = 0;
    };
    std::map<uint32_t, Range> ranges_;
};

}  // namespace rampart::model
