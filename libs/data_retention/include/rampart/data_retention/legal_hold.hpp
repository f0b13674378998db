#pragma once

#include <string>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/domain/ids.hpp"
#include "rampart/privacy/person_keys.hpp"
#include "rampart/privacy/register.hpp"
#include "rampart/registry/model_registry.hpp"

namespace rampart::data_retention {

/// A legal hold that is to be placed on a person's data, or lifted.
struct HoldRequest {
    domain::PersonId person;
    std::string matter, reason, actor;  // for the register and the audit log
    base::TimePoint now;
    std::string until;  // ISO 8601; empty: until it is lifted. Not of a hold that is lifted
};

/// What holds work with; all of it has to outlive the call.
struct HoldDeps {
    privacy::PersonKeys& keys;
    privacy::Register& list;
    registry::ModelRegistry& registry;
};

/// Forbids the erasure of the person until the hold ends or is lifted. It is in the audit log
/// before it is in the register. Errors: parse_iso8601's; Register::add's; the registry's.
base::Result<privacy::Hold> place_hold(const HoldDeps& deps, const HoldRequest& request);

/// Lifts the hold of this matter, in the same order. Errors: Register::remove's; the registry's.
base::Result<privacy::Hold> lift_hold(const HoldDeps& deps, const HoldRequest& request);

}  // namespace rampart::data_retention
