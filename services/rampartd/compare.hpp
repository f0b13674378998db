#pragma once

#include <optional>
#include <string>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/training/policy_comparison.hpp"
#include "services/rampartd/node.hpp"

namespace rampart::rampartd {

/// Which policies to compare, and on which decisions.
struct CompareRequest {
    std::string first, second;                // ids of registered models
    std::optional<base::TimePoint> from, to;  // about applications with from <= event time < to
    double confidence = 0.95;                 // each interval's, in (0, 1)
};

/// What came of it.
struct CompareReport {
    training::LoggedComparison comparison;
    base::TimePoint as_known_at;
    base::TimePoint registered;   // when the later of the two policies was
    training_set::Extent extent;  // the development side's
    std::string impact_units;
};

/// Compares two policies on what the joined state has of persons of the development side, as known
/// when the clock moved last. Of a person of the vault no record is read. Errors: check_trains's;
/// not_found "unknown_model"; "bad_time": `to` is not after `from`; "no_rows" where the window has
/// no matured decision; training::compare_policies's; storage's.
base::Result<CompareReport> compare_on_log(Node& node, const CompareRequest& request);

}  // namespace rampart::rampartd
