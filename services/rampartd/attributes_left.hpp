#pragma once

#include <filesystem>

#include "rampart/base/clock.hpp"
#include "rampart/registry/model_registry.hpp"

namespace rampart::rampartd {

/// Deletes STORE/protected if it may hold a person's attributes. For a node on a shared log that
/// does not read the topic of protected attributes any more: no erasure would reach what it read
/// before, and the topic has it. The audit log has it first ("protected_attributes_removed"); after
/// a crash on the way the next start does it again. No one may have the folder open.
///
/// Fails with failed_precondition "attributes_left" if the store has the right to train, or trained
/// under a release that had no such right: it alone knows which attributes were in force when.
base::Status remove_attributes_left(const std::filesystem::path& store,
                                    registry::ModelRegistry& registry, base::TimePoint now);

}  // namespace rampart::rampartd
