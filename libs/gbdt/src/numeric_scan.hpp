#pragma once

#include "split_finder.hpp"

namespace rampart::gbdt {

/// The best cut of a numeric feature, if leaf values are unbounded.
struct CutScan {
    bool found = false;
    size_t bin = 0;  // the last bin on the left
    bool missing_left = false;
    IntSums left = {};
};

/// Tries every cut with missing values on either side, in straight loops. On a tie returns the
/// lowest bin, missing to the right first.
CutScan scan_cuts(const FeatureHistogram& bins, const LeafView& leaf, const LearnerParams& params);

}  // namespace rampart::gbdt
