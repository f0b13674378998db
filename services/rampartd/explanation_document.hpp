#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rampart/notices/cited.hpp"
#include "services/rampartd/explain.hpp"

namespace rampart::rampartd {

/// Returns what GET /v1/decisions/{id}/explanation answers, as schemas/http/openapi.yaml has it: a
/// JSON document of numbers and text, without the values of any applicant.
std::string to_json(const DecisionExplanation& of);

/// Returns the cited reasons of such a document, most important first; empty: it has none. Errors:
/// failed_precondition "unknown_code": another release has written it.
base::Result<std::vector<notices::Cited>> cited_in(std::string_view document);

}  // namespace rampart::rampartd
