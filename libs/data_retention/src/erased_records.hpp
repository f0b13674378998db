#pragma once

#include <vector>

#include "rampart/data_retention/erasure.hpp"

namespace rampart::data_retention {

/// Counts the person's records for the tally, before anything of them is erased: the first by the
/// service's clock, and of each later month the first that is no repeat. Of decisions that are no
/// longer there one record is counted, of which nothing is known. Reads the decisions of each of
/// these months once. Errors: the joiner's; the attributes'.
base::Result<std::vector<privacy::ErasedRecords>> erased_records(
    const ErasureDeps& deps, const domain::PersonId& person,
    const std::vector<domain::DecisionId>& decisions);

}  // namespace rampart::data_retention
