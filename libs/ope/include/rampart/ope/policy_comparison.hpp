#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/ope/estimator.hpp"
#include "rampart/ope/logged_feedback.hpp"

/// Two policies on the same logged decisions: who is decided otherwise, and what that is worth.
///
/// Both decide by the same draw, as in use, where the draw is the applicant's: with P(approve) p
/// and q a record is approved by both with probability min(p, q), by the first alone with max(p -
/// q, 0), by the second alone with max(q - p, 0).
///
/// Values are means of the estimates Z of estimator.hpp, so unbiased if the logged probabilities
/// are those that were drawn from and outcomes do not depend on which policy decided. Intervals are
/// Student's t over persons, two-sided: approximate, and the wrong side of nothing rare and severe.
namespace rampart::ope {

/// Fewest persons of a figure, and fewest that the outcomes have to be worth (effective).
inline constexpr size_t kFewestPersons = 30;

/// Shares of records; they sum to 1.
struct SwapShares {
    double both = 0, first_only = 0, second_only = 0, neither = 0;
};

/// What the log says of a mean impact per record, or of a difference of two.
struct MeanImpact {
    /// The estimate, with what is not known at its least and at its most: the same number twice
    /// where all is known. nullopt: too few persons, or outcomes worth too few.
    std::optional<Interval> mean{};
    std::optional<Interval> interval{};  // around it; nullopt where `mean` is
    double effective = 0;    // persons that the outcomes are worth: (sum w)^2 / sum w^2 of |w|
    size_t missing = 0;      // records whose outcome counts and is not on record
    size_t unsupported = 0;  // records for which the log never takes an action that counts
};

/// Some of the records.
struct ComparedRecords {
    std::string name;
    size_t records = 0, persons = 0;
    std::optional<SwapShares> approved{};  // nullopt: fewer than kFewestPersons
    /// Population stability index of P(approve), from the first policy's to the second's, in
    /// tenths: sum over tenths of (b - a) ln(b / a); an empty one counts as 1e-4.
    std::optional<double> psi{};
    MeanImpact first{}, second{}, difference{};  // difference: second - first
};

struct PolicyComparison {
    ComparedRecords all;
    std::vector<ComparedRecords> groups;  // in the order of the decisions; also those without one
    std::vector<ComparedRecords> bands;   // up to ten, of equal numbers, by score
    size_t in_no_group = 0;               // records
};

/// What is compared.
struct PoliciesOnLog {
    const LoggedFeedback& feedback;  // reference: the first policy; candidate: the second
    std::span<const double> score;   // [records] finite, for bands
    ImpactModel model;               // range, known impact of declines, control variates
    double confidence = 0.95;        // each interval's by itself
};

/// Compares. The decisions have to pass validate(). Errors: invalid_argument "no_rows";
/// "bad_delta" for a confidence outside (0, 1).
base::Result<PolicyComparison> compare_policies(const PoliciesOnLog& compared);

}  // namespace rampart::ope
