#pragma once

#include "rampart/budro/outcome_loss.hpp"

namespace rampart::reference {

/// Returns the squared loss for BuDRO (Vargo et al. 2021 take any smooth loss): a score is the
/// answer itself, (score - y)² / 2, at most 1e6.
std::shared_ptr<const budro::OutcomeLoss> make_squared_outcome_loss();

}  // namespace rampart::reference
