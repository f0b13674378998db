#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rampart/loan_stream/stream.hpp"

namespace rampart::loan_stream {

/// An applicant as its source knows it, before the reporting of outcomes.
struct Draft {
    Applicant applicant;          // without reports
    base::TimePoint observed_at;  // when its label shows; read only if it has one
};

/// A source: what it says of all its applicants.
struct Source {
    std::string name;
    dataset::FeatureSchema schema;
    int horizon_months = 0;
    base::Duration grace;
    /// The day of the report within [observed_at - early, observed_at + late], both whole days;
    /// late is less than grace. Zero where the source has real dates.
    int early_days = 0, late_days = 0;
    std::vector<Draft> drafts;  // in any order
};

/// Orders, thins to `rows`, adds the reports. Error: no applicant, repeated application id.
base::Result<Stream> assemble(Source source, size_t rows, uint64_t seed);

/// The k-th of n moments spread evenly over [begin, end).
base::TimePoint spread(base::TimePoint begin, base::TimePoint end, size_t k, size_t n);

}  // namespace rampart::loan_stream
