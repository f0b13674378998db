#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rampart/certification/delta_ledger.hpp"
#include "rampart/registry/model_registry.hpp"

namespace rampart::registry {

/// What decided at a time, and on what evidence, as the registry has it: of the node that trains.
struct Live {
    base::TimePoint at;
    std::vector<domain::ArmShare> decides;       // policies and shares; none: no policy was there
    std::optional<Promotion> champion;           // also where rules decided
    std::optional<PromotionProposal> proposal;   // by which the champion was approved
    std::string certificate;                     // the champion's public name; empty: uncertified
    std::optional<AssignmentPeriod> assignment;  // also where rules decided
    std::vector<Stop> stops;                     // in force then
    std::optional<certification::EpochOpened> epoch;  // the error budget's; nullopt: none yet
};

/// Returns who decided at the time: the first policy where rules only decided, the arms of an
/// assignment, or the champion. Errors: those of the registry; data_loss: its ledger is damaged.
base::Result<Live> live_at(const ModelRegistry& registry, base::TimePoint at);

/// Returns it as one JSON object: what GET /v1/policies/at answers.
std::string to_json(const Live& live);
/// Returns an assignment as one JSON object, as GET /v1/assignments shows it.
std::string to_json(const AssignmentPeriod& period);

}  // namespace rampart::registry
