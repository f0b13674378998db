#pragma once

#include <filesystem>
#include <string>

#include "rampart/base/clock.hpp"
#include "rampart/base/signing.hpp"
#include "rampart/registry/model_registry.hpp"

/// The change of a key of a store. It has happened as soon as the registry has recorded it; a crash
/// before or after leaves a store that the next start puts right.
namespace rampart::rampartd {

/// What people ask of the keys of a store, for the audit log.
struct KeyRequest {
    std::string actor, reason;
    base::TimePoint at;
};

/// The end of the name of a file that an import has not put in its place yet.
inline constexpr const char* kUnplaced = ".import";

/// Where a key that is no longer in use lies.
std::filesystem::path retired_file(const std::filesystem::path& store, const std::string& id);

/// Puts a new key in the place of `draw` or `signing`. The one before goes to keys/retired: the
/// draw key itself, by which earlier decisions are replayed; of the signing key only the public
/// part, which the registry keeps, too. No node may be starting on the store (StoreStart).
///
/// Errors: failed_precondition "key_stays": the message says what a change of this key would break;
/// "other_key": the file is not the store's key; "run_open": a run of the gate has to end with the
/// key with which it began.
base::Result<registry::KeyChange> change_key(const std::filesystem::path& store,
                                             registry::ModelRegistry& registry,
                                             const std::string& name, const KeyRequest& request);

/// Ends a change that a crash cut off: a recorded one is completed, any other taken back. What an
/// import has left is removed. No node may be starting on the store.
base::Status settle_key_change(const std::filesystem::path& store);

/// Writes gate.pub.pem: the public key in use, and those before it.
base::Status write_gate_keys(const std::filesystem::path& store,
                             const registry::ModelRegistry& registry,
                             const base::VerifyingKey& current);

}  // namespace rampart::rampartd
