#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rampart/data_profile/periods.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/stats/interval.hpp"

/// What a table looks like before any model: distributions, what is missing, who is in it, and how
/// it changes over time. Shares and means are of the rows' weights.
namespace rampart::data_profile {

inline constexpr size_t kMaxBars = 20;       // bars of a feature
inline constexpr double kConfidence = 0.95;  // confidence level of intervals
inline constexpr std::array kQuantiles{0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99};

/// Some of the rows.
struct Part {
    std::string name;
    size_t rows = 0;
    double share = 0;  // share of all rows' weight
    double label = 0;  // share of favourable labels, or the mean target; NaN: no rows
};

/// A protected group.
struct Group {
    Part part;
    /// Wilson's interval of part.label, as if each row had the same weight; nullopt: the labels are
    /// numbers.
    std::optional<stats::Interval> interval;
};

struct Numbers {
    double least = 0, greatest = 0, mean = 0, deviation = 0;
    std::array<double, kQuantiles.size()> quantiles{};  // the least value with so much weight below
};

/// How a feature is in one period.
struct InPeriod {
    double missing = 0;  // share; NaN: the period has no rows
    /// Population stability index from the rows of reference (Profile::reference) to those of the
    /// period, in dataset::value_bins; NaN: a period of reference, or one without rows.
    double shift = 0;
    double by_chance = 0;  // what the index would be on average without any change
    double beyond_chance() const { return shift - by_chance; }
    /// Returns whether the shift is above 0.25 and more than three times what chance gives.
    bool changed() const { return shift > 0.25 && shift > 3 * by_chance; }
};

struct Feature {
    std::string name;
    dataset::FeatureKind kind = dataset::FeatureKind::kNumeric;
    Part missing;
    size_t distinct = 0;             // values that occur, without missing
    std::optional<Numbers> numbers;  // figures of the values that are not missing, if there are any
    /// Numbers: each value if there are at most kMaxBars, else kMaxBars ranges of equal width
    /// between the quantiles 0.01 and 0.99, with what lies beyond in the outer ones. Categories:
    /// the most frequent, the last one "others" where there are more than kMaxBars.
    std::vector<Part> bars;
    std::vector<double> missing_by_group;  // [groups] shares
    std::vector<InPeriod> periods;         // [periods]
    /// Returns the period whose shift is farthest beyond chance; nullopt: none has one.
    std::optional<size_t> most_shifted() const;
};

struct Period {
    Part part;
    std::vector<double> group_shares;  // [groups] of the period's weight
};

struct Profile {
    Part all;
    std::vector<Group> groups;      // empty: no protected columns
    std::vector<Feature> features;  // in the schema's order
    std::vector<Period> periods;    // empty: no time was given
    /// The first periods that together have at least a quarter of the rows.
    size_t reference = 0;
};

/// Describes the table. `periods` has one entry for each row, or none at all. Errors: "no_rows".
base::Result<Profile> profile_of(const dataset::Dataset& data, const Periods& periods);

/// What a person should look at, in words: features that are constant, mostly missing, missing in
/// one group more than in another by a tenth, or shifted by more than 0.25 and three times what
/// chance gives; groups of fewer than 100 rows. Empty: nothing.
std::vector<std::string> findings(const Profile& profile);

}  // namespace rampart::data_profile
