#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/domain/outcome.hpp"

namespace rampart::domain {

/// A quantity that is measured for each decision, some time after it.
struct Measure {
    std::string name;
    double lo = 0, hi = 1;   // declared range of the value, inclusive
    int horizon_months = 6;  // the value refers to decision time + horizon
    base::Duration grace;    // longest delay of reports after the horizon
    bool operator==(const Measure&) const = default;

    /// Returns decision time + horizon + grace: the record is complete then, outcome or none.
    base::TimePoint maturity(base::TimePoint decided) const {
        return base::add_months(decided, horizon_months) + grace;
    }
};

/// Effect of a decision on the applicant's life, in declared units within [lo, hi]. Either computed
/// from the label measure (Liu et al. 2018: repaid +75, default -150) or reported as a measure of
/// its own.
struct Impact {
    std::string units;                   // "credit score points"
    double lo = 0, hi = 0;               // declared range [a, b], part of the metric's definition
    std::optional<std::string> measure;  // name of a reported measure; empty: from the label
    double favourable = 0, unfavourable = 0;  // impact of an approval with label 1, with label 0
    double declined = 0;                      // known impact of a decline
    bool operator==(const Impact&) const = default;
};

/// A loan product, as declared in its configuration.
struct Product {
    std::string name;
    Measure label;                  // Y: 1 favourable (repaid), 0 not; range [0, 1]
    std::vector<Measure> measures;  // further measures
    Impact impact;
    bool operator==(const Product&) const = default;

    const Measure* find_measure(std::string_view name) const;  // label included; nullptr if unknown
    std::vector<Measure> all_measures() const;                 // label first
};

/// Checks ranges, horizons (1 to 600 months), unique names, impact values within [lo, hi].
base::Status validate(const Product& product);

/// Checks that the outcome's measure is declared and its value in range (a label: 0 or 1).
base::Status check_outcome(const Product& product, const Outcome& outcome);

/// Returns the impact on an approved applicant; nullopt: not known (yet).
std::optional<double> impact_of_approval(const Impact& impact, std::optional<double> label,
                                         std::optional<double> measured);

}  // namespace rampart::domain
