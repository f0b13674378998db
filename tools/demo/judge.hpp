#pragma once

#include <vector>

#include "rampart/domain/decision.hpp"
#include "rampart/loan_stream/stream.hpp"
#include "services/rampartd/node.hpp"
#include "tools/demo/report.hpp"

namespace rampart::demo {

/// Puts the report of a finished run together: what the service decided, what its store says of
/// policies, gate runs and ledger, and what the hidden outcomes say of each certificate. Only here
/// is the truth about declined applicants looked at.
base::Result<Report> judge(const loan_stream::Stream& stream,
                           const std::vector<domain::Decision>& decisions, rampartd::Node& node);

}  // namespace rampart::demo
