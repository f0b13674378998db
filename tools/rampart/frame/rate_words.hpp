#pragma once

#include <string>
#include <string_view>

/// The words for rates and criteria of fairness that users type and read. Each notion has one word;
/// the libraries have shorter ones.
namespace rampart::cli {

inline constexpr const char* kStatisticalParity = "statistical_parity";
inline constexpr const char* kEqualOpportunity = "equal_opportunity";
inline constexpr const char* kEqualizedOdds = "equalized_odds";
inline constexpr const char* kCovariance = "covariance";

/// Returns a list of constraints, criteria or bounds as the libraries read it: "fpr,statistical_
/// parity" becomes "fpr,dp". Words that are not known stay, so that the library refuses them.
std::string library_words(std::string_view typed);

/// Returns a text of a library with the users' words.
std::string shown_words(std::string_view text);

}  // namespace rampart::cli
