#pragma once

#include "split_finder.hpp"

namespace rampart::gbdt {

/// The cut of a numeric feature that takes away most, where nothing bounds the leaves' values.
struct CutScan {
    bool found = false;
    size_t bin = 0;  // the last on the left
    bool missing_left = false;
    IntSums left = {};
};

/// Tries every cut with missing values on either side, all of them in straight loops. Of equals the
/// lowest bin, missing to the right first.
CutScan scan_cuts(const FeatureHistogram& bins, const LeafView& leaf, const LearnerParams& params);

}  // namespace rampart::gbdt
