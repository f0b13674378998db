#pragma once

#include <vector>

#include "rampart/domain/decision.hpp"
#include "rampart/loan_stream/stream.hpp"
#include "services/rampartd/node.hpp"
#include "tools/demo/report.hpp"

namespace rampart::demo {

/// Creates the report of a finished run: the service's decisions, the policies, gate runs and
/// ledger in its store, and whether the hidden outcomes confirm each certificate. The truth about
/// declined applicants is read only here.
base::Result<Report> judge(const loan_stream::Stream& stream,
                           const std::vector<domain::Decision>& decisions, rampartd::Node& node);

}  // namespace rampart::demo
