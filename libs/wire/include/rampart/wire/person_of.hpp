#pragma once

#include <string_view>

#include "rampart/base/result.hpp"
#include "rampart/domain/ids.hpp"

namespace rampart::wire {

/// Whom an encoded decision is about, for a tenth of what decoding it costs: looks at nothing else.
/// data_loss "not_a_message"; invalid_argument as domain::check_id.
base::Result<domain::PersonId> person_of_decision(std::string_view bytes);

}  // namespace rampart::wire
