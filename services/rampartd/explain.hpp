#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rampart/attribution/cited.hpp"
#include "rampart/attribution/waterfall.hpp"
#include "services/rampartd/node.hpp"

namespace rampart::rampartd {

/// Decisions by then below which the reference set is taken from all that are held.
inline constexpr size_t kFewDecisions = 1000;

/// Why a decision came out as it did; P is that of the whole policy.
struct DecisionExplanation {
    domain::Decision decision;
    std::vector<dataset::FeatureSpec> features;  // the policy's
    bool group_read = false;                     // the policy reads the applicant's group
    std::vector<float> row;                      // the application, encoded
    std::vector<attribution::LinkStep> steps;
    std::vector<attribution::Unit> units;
    attribution::ReferenceSet reference;
    std::vector<float> nearest;  // its row that is nearest to the application
    base::Digest nearest_digest;
    attribution::ShapleyValues values;
    std::optional<attribution::Cited> cited;  // for a decline
};

/// Explains a decision that this node's indices hold (`attribution`). The reference set is chosen
/// from kReferencePool other applicants: those with the smallest numbers by a hash of policy and
/// decision, among the decisions made no later than this one, whatever policy made them; where
/// those are fewer than kFewDecisions, among all that are held. Who is erased is not among them,
/// nor whose features the policy's schema does not have. Errors: not_found "unknown_decision";
/// attribution::probability_of's, among them data_loss "replay_mismatch"; units_of's;
/// failed_precondition "no_reference_set"; storage's.
base::Result<DecisionExplanation> explain_decision(
    Node& node, const std::string& decision, std::span<const attribution::FeatureGroup> groups);

}  // namespace rampart::rampartd
