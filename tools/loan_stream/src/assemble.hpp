#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rampart/loan_stream/stream.hpp"

namespace rampart::loan_stream {

/// An applicant in its source, before outcome reports are added.
struct Draft {
    Applicant applicant;          // without reports
    base::TimePoint observed_at;  // when its label is observed; read only if it has a label
};

/// The applicants of one source, and its properties.
struct Source {
    std::string name;
    dataset::FeatureSchema schema;
    int horizon_months = 0;
    base::Duration grace;
    /// The report arrives in [observed_at - early, observed_at + late], in whole days; late is less
    /// than grace. Zero if the source has real dates.
    int early_days = 0, late_days = 0;
    std::vector<Draft> drafts;  // in any order
};

/// Sorts, samples `rows`, adds reports. Fails without applicants or on repeated application ids.
base::Result<Stream> assemble(Source source, size_t rows, uint64_t seed);

/// Returns the k-th of n times spread evenly over [begin, end).
base::TimePoint spread(base::TimePoint begin, base::TimePoint end, size_t k, size_t n);

}  // namespace rampart::loan_stream
