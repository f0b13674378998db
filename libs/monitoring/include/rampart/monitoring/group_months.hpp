#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/stats/interval.hpp"

/// What was decided and what became of it, by protected group and month.
///
/// Every decision is one value: a person with several in a month counts several times, so that
/// intervals take them for independent. Figures of outcomes are of matured decisions alone: those
/// of a month whose last days have not matured are of its first days, and no fall. They are about
/// decisions of these persons, by the policies that decided; nothing is weighted.
namespace rampart::monitoring {

/// Fewer values than these say too little: a rate and an interval are left out ("too few to say").
inline constexpr uint64_t kFewestForRate = 20;
inline constexpr uint64_t kFewestOfEach = 10;     // outcomes, good and bad, for a mean's interval
inline constexpr uint64_t kFewestForMean = 30;    // whose interval assumes that a mean is normal
inline constexpr double kMonthConfidence = 0.95;  // each interval's

/// A decision. Views last as long as the call.
struct MonthCase {
    std::string_view month;             // "2005-04", of the application
    std::span<const uint32_t> groups;   // indices into the names, increasing
    double p_approve = 0;               // probability that was drawn from
    bool approved = false;              // as was done in the end, by people too
    bool matured = false;               // the horizon of the label is over
    bool censored = false;              // approved, and no outcome will come
    std::optional<double> label = {};   // if approved and known: 1 favourable, 0 not
    bool impact_matured = false;        // the horizon of the impact is over
    std::optional<double> impact = {};  // if known; of a decline the declared one
};

/// A share of counted values.
struct Share {
    uint64_t hits = 0, of = 0;
    /// nullopt: under kFewestForRate values.
    std::optional<double> value() const;
    std::optional<stats::Interval> interval() const;  // Wilson's
};

/// A sum of numbers.
struct Mean {
    uint64_t n = 0;
    double mean = 0, squares = 0;  // squares: the sum of squared differences from the mean
    void add(double value);
    void add(const Mean& other);
    std::optional<double> value() const;              // nullopt: under kFewestForRate values
    std::optional<stats::Interval> interval() const;  // Student's; nullopt: under kFewestForMean
};

/// One group in one month, or in several.
struct GroupMonth {
    uint64_t decisions = 0, approved = 0, matured = 0;
    double p_approve = 0;                 // sum
    uint64_t matured_approved = 0;        // their outcome should be known
    uint64_t labelled = 0, censored = 0;  // the others never came
    uint64_t unfavourable = 0;            // labels below 0.5
    uint64_t impact_due = 0;              // decisions whose impact has matured, known or not
    Mean impact;                          // matured decisions with a known one

    void add(const MonthCase& one);
    void add(const GroupMonth& other);
    Share approval() const { return {approved, decisions}; }
    Share bad() const { return {unfavourable, labelled}; }
    /// Returns nullopt also where good or bad outcomes are under kFewestOfEach: the few decide it.
    std::optional<stats::Interval> impact_interval() const;
};

/// The approval of a group divided by that of the reference group of its attribute.
struct ImpactRatio {
    double ratio = 0;
    stats::Interval interval;  // from Wilson's of both
};
/// Returns nullopt where either has under kFewestForRate decisions, or the reference approves none.
std::optional<ImpactRatio> impact_ratio(const GroupMonth& group, const GroupMonth& reference);

/// Counts by month and group, in memory that depends on these alone.
class GroupMonths {
  public:
    /// `names`: "sex=female", "sex=female,age=old"; groups of the same attributes are compared.
    /// `references`: groups by which the others of their attribute are compared; of an attribute
    /// without one it is the group with most decisions. invalid_argument "unknown_group";
    /// "two_references": of one attribute.
    static base::Result<GroupMonths> create(std::vector<std::string> names,
                                            const std::vector<std::string>& references = {});

    void add(const MonthCase& one);

    const std::vector<std::string>& names() const { return names_; }
    std::vector<std::string> months() const;  // those with a decision, in order
    /// Returns the counts of a month; of all without a group. Zeros where there are none.
    GroupMonth of(const std::string& month, std::optional<uint32_t> group = {}) const;
    GroupMonth whole(std::optional<uint32_t> group = {}) const;  // all months
    /// Returns the group by which this one is compared; itself: it is the reference.
    uint32_t reference_of(uint32_t group) const;

  private:
    std::string attributes_of(uint32_t group) const;

    std::vector<std::string> names_;
    std::map<std::string, uint32_t, std::less<>> declared_;               // by attributes
    std::map<std::string, std::vector<GroupMonth>, std::less<>> counts_;  // [names + 1], all last
};

}  // namespace rampart::monitoring
