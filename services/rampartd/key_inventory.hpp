#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/decision/draw.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/runtime/key_file.hpp"
#include "services/rampartd/key_change.hpp"
#include "services/rampartd/keys.hpp"

/// The keys of a store: those that it has to have, those that it has, and a copy of them.
namespace rampart::rampartd {

/// Where the keys of a store lie.
struct KeyPlaces {
    std::filesystem::path store;
    std::filesystem::path person;  // file of `person`; empty: in the store
    std::filesystem::path file_of(const std::string& name) const;
};

enum class KeyState {
    kInUse,
    kRetired,
    kMissing,  // the registry has recorded it, and there is no such file
    kOther,    // its file holds another key, or none
};
std::string_view to_string(KeyState state);  // "in use", "retired", "missing", "other"

struct ListedKey {
    std::string name, id;  // id: as recorded
    std::filesystem::path file;
    std::optional<base::TimePoint> made, retired;  // as the audit log has them
    KeyState state = KeyState::kInUse;
};

/// Returns all keys that the store has to have, then the retired ones. Reads only.
base::Result<std::vector<ListedKey>> list_keys(const KeyPlaces& places,
                                               const registry::ModelRegistry& registry);

/// Reads the keys for wrap_keys(). Errors: failed_precondition "key_missing", "other_key", also of
/// a retired one: what is exported is complete.
base::Result<std::vector<runtime::StoredKey>> read_keys(std::span<const ListedKey> keys);

/// Returns the key of draws in use and the retired ones that the store has: those by which its own
/// decisions were drawn. A retired one whose file is not there, or is another key, is left out.
std::vector<decision::DrawKey> draw_keys(const Keys& keys, const registry::ModelRegistry& registry,
                                         const std::filesystem::path& store);

/// Puts the keys into their places, all or, where an error is returned, none; what is there already
/// stays. `registry`: that of the store, in which `request` is recorded; nullptr: there is no store
/// yet. Returns the files that were written. No node may be starting on the store.
///
/// Errors: failed_precondition "other_key": the registry has recorded another id, or another key is
/// there; invalid_argument "bad_key_file": what is to be imported is no set of keys of a store.
base::Result<std::vector<std::filesystem::path>> import_keys(
    const KeyPlaces& places, registry::ModelRegistry* registry,
    std::span<const runtime::StoredKey> keys, const KeyRequest& request);

}  // namespace rampart::rampartd
