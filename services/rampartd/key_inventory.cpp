#include "services/rampartd/key_inventory.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/runtime/reasons.hpp"
#include "rampart/runtime/secrets.hpp"
#include "rampart/storage/folder.hpp"
#include "services/rampartd/store_key.hpp"

namespace rampart::rampartd {

using base::Result;
using base::Status;
using runtime::StoredKey;
namespace fs = std::filesystem;

namespace {

constexpr std::array<std::string_view, 7> kNames{"arm",     "draw",  "evidence", "person",
                                                 "signing", "split", "store"};
constexpr size_t kMaxKeyBytes = 1024;

/// Returns the secret that a key's file holds, as load_secret() does, from its content.
std::optional<std::string> secret_in(std::string_view content) {
    if (!content.empty() && content.back() == '\n') content.remove_suffix(1);
    auto secret = base::from_hex(content);
    if (!secret || secret->size() != 32) return std::nullopt;
    return *std::move(secret);
}

/// Returns whether the content is the key of this id. Of a retired signing key only the public part
/// is kept, which does not tell its id: the registry compares it.
bool fits(const StoredKey& key, const std::vector<registry::KeyChange>& changes) {
    if (key.retired && key.name == "signing") {
        const auto change = std::find_if(changes.begin(), changes.end(),
                                         [&](const auto& one) { return one.from == key.id; });
        return change == changes.end() ? base::VerifyingKey::from_pem(key.content).has_value()
                                       : change->public_key == key.content;
    }
    const auto secret = secret_in(key.content);
    return secret && runtime::secret_id(*secret) == key.id;
}

/// Adds when a key was made, as the audit log has it.
Status date(std::vector<ListedKey>& keys, const registry::ModelRegistry& registry) {
    RAMPART_TRY(const auto entries, registry.audit_entries());
    for (auto& key : keys) {
        for (const auto& entry : entries) {
            const auto it =
                entry.action == "keys" ? entry.details.find(key.name) : entry.details.end();
            const bool made = it != entry.details.end() && it->second == key.id;
            if (made && !key.made) key.made = entry.at;
        }
        for (const auto& change : registry.key_changes()) {
            if (change.name == key.name && change.to == key.id) key.made = change.at;
        }
    }
    return base::ok();
}

/// Looks into the file of a key.
Result<KeyState> state_of(const ListedKey& key, bool retired,
                          const std::vector<registry::KeyChange>& changes) {
    const auto content = base::read_file(key.file, kMaxKeyBytes);
    if (!content && content.error().code == base::ErrorCode::kNotFound) return KeyState::kMissing;
    if (!content) return content.error();
    if (!fits({key.name, key.id, retired, *content}, changes)) return KeyState::kOther;
    return retired ? KeyState::kRetired : KeyState::kInUse;
}

/// Adds the key `person`, whose id the registry does not record, where there is one or has to be.
Status add_person(const KeyPlaces& places, std::vector<ListedKey>& keys) {
    ListedKey key{"person", "", places.file_of("person"), {}, {}, KeyState::kInUse};
    const auto content = base::read_file(key.file, kMaxKeyBytes);
    if (!content && content.error().code != base::ErrorCode::kNotFound) return content.error();
    if (!content) {
        if (!storage::is_database(places.store / "privacy" / "keys")) return base::ok();
        key.state = KeyState::kMissing;
    } else if (const auto secret = secret_in(*content)) {
        key.id = runtime::secret_id(*secret);
    } else {
        key.state = KeyState::kOther;
    }
    keys.push_back(std::move(key));
    return base::ok();
}

base::Error other_key(const fs::path& file, std::string_view what) {
    return base::make_error(base::Reason::kOtherKey, "{}: {}; nothing was imported", file.string(),
                            what);
}

fs::path place_of(const KeyPlaces& places, const StoredKey& key) {
    return key.retired ? retired_file(places.store, key.id) : places.file_of(key.name);
}

/// Checks a key before anything is written; true: it is there already.
Result<bool> check_import(const KeyPlaces& places, const registry::ModelRegistry* registry,
                          const StoredKey& key) {
    const auto changes =
        registry == nullptr ? std::vector<registry::KeyChange>() : registry->key_changes();
    const bool named = std::find(kNames.begin(), kNames.end(), key.name) != kNames.end();
    // the id of a retired key becomes the name of a file
    const bool id = key.id.size() == 16 && base::from_hex(key.id).has_value();
    if (!named || !id || !fits(key, changes))
        return base::make_error(runtime::Reason::kBadKeyFile, "key '{}' with id '{}' is none",
                                key.name, key.id);
    const auto file = place_of(places, key);
    if (registry != nullptr) {
        const auto ids = registry->recorded_keys();
        const auto it = ids.find(key.name);
        const bool retired = std::any_of(changes.begin(), changes.end(), [&](const auto& one) {
            return one.name == key.name && one.from == key.id;
        });
        // files of databases name their key; the registry does not
        if (key.retired && !retired && key.name != "store")
            return other_key(file, "the registry knows no key of this id that is retired");
        if (!key.retired && it != ids.end() && it->second != key.id)
            return other_key(file, fmt::format("the key to import has the id {}, the store's {}",
                                               key.id, it->second));
    }
    const auto there = base::read_file(file, kMaxKeyBytes);
    if (!there && there.error().code == base::ErrorCode::kNotFound) return false;
    if (!there) return there.error();
    if (*there == key.content) return true;
    return other_key(file, "another key is there");
}

/// Files that are written beside their places first, and taken back unless all are put there.
class Staged {
  public:
    Staged() = default;
    ~Staged() {
        std::error_code ignored;
        for (const auto& file : waiting_) fs::remove(file, ignored);
        for (const auto& file : placed_) fs::remove(file, ignored);
        for (const auto& folder : folders_) fs::remove(folder, ignored);  // where empty
    }
    Staged(const Staged&) = delete;
    Staged& operator=(const Staged&) = delete;

    Status add(const fs::path& file, std::string_view content) {
        RAMPART_RETURN_IF_ERROR(make_folders(file.parent_path()));
        waiting_.push_back(file.string() + kUnplaced);
        places_.push_back(file);
        return base::write_file_atomically(waiting_.back(), content, 0600);
    }
    /// Puts all in their places; a file that came there meanwhile is not replaced.
    Status place() {
        std::error_code failure;
        for (size_t i = 0; i < places_.size() && !failure; ++i) {
            fs::create_hard_link(waiting_[i], places_[i], failure);
            if (!failure) placed_.push_back(places_[i]);
        }
        if (failure)
            return base::make_error(base::Reason::kIoError, "cannot write '{}': {}",
                                    places_[placed_.size()].string(), failure.message());
        for (const auto& file : places_)
            RAMPART_RETURN_IF_ERROR(base::sync_tree(file.parent_path()));
        placed_.clear();
        folders_.clear();
        return base::ok();
    }

  private:
    Status make_folders(const fs::path& folder) {
        std::error_code failure;
        if (fs::exists(folder, failure)) return base::ok();
        if (folder.has_parent_path() && folder.parent_path() != folder)
            RAMPART_RETURN_IF_ERROR(make_folders(folder.parent_path()));
        if (fs::create_directory(folder, failure)) folders_.insert(folders_.begin(), folder);
        if (!failure) fs::permissions(folder, fs::perms::owner_all, failure);
        if (!failure) return base::ok();
        return base::make_error(base::Reason::kIoError, "cannot make '{}': {}", folder.string(),
                                failure.message());
    }

    std::vector<fs::path> waiting_, places_, placed_, folders_;
};

}  // namespace

fs::path KeyPlaces::file_of(const std::string& name) const {
    return name == "person" && !person.empty() ? person : store / "keys" / name;
}

std::string_view to_string(KeyState state) {
    switch (state) {
        case KeyState::kInUse:
            return "in use";
        case KeyState::kRetired:
            return "retired";
        case KeyState::kMissing:
            return "missing";
        case KeyState::kOther:
            return "other";
    }
    return "";
}

Result<std::vector<ListedKey>> list_keys(const KeyPlaces& places,
                                         const registry::ModelRegistry& registry) {
    const auto changes = registry.key_changes();
    std::vector<ListedKey> keys;
    for (const auto& [name, id] : registry.recorded_keys()) {
        ListedKey key{name, id, places.file_of(name), {}, {}, KeyState::kInUse};
        RAMPART_TRY(key.state, state_of(key, false, changes));
        keys.push_back(std::move(key));
    }
    RAMPART_RETURN_IF_ERROR(add_person(places, keys));
    std::sort(keys.begin(), keys.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    for (const auto& change : changes) {
        const auto file = retired_file(places.store, change.from);
        ListedKey key{change.name, change.from, file, {}, change.at, KeyState::kRetired};
        RAMPART_TRY(key.state, state_of(key, true, changes));
        keys.push_back(std::move(key));
    }
    RAMPART_TRY(auto of_databases, list_store_keys(places.store));
    std::erase_if(of_databases, [&](const auto& key) {
        return std::any_of(changes.begin(), changes.end(),
                           [&](const auto& change) { return change.from == key.id; });
    });
    std::move(of_databases.begin(), of_databases.end(), std::back_inserter(keys));
    RAMPART_RETURN_IF_ERROR(date(keys, registry));
    return keys;
}

Result<std::vector<StoredKey>> read_keys(std::span<const ListedKey> keys) {
    std::vector<StoredKey> read;
    std::vector<std::string> missing;
    for (const auto& key : keys) {
        if (key.state == KeyState::kMissing) missing.push_back(key.file.string());
        if (key.state == KeyState::kOther)
            return base::make_error(base::Reason::kOtherKey, "{}: not the key with the id {}",
                                    key.file.string(), key.id);
    }
    if (!missing.empty())
        return base::make_error(runtime::Reason::kKeyMissing, "{}: missing",
                                fmt::join(missing, ", "));
    for (const auto& key : keys) {
        RAMPART_TRY(auto content, base::read_file(key.file, kMaxKeyBytes));
        // when a store key was retired is not known
        const bool retired = key.retired || key.state == KeyState::kRetired;
        read.push_back({key.name, key.id, retired, std::move(content)});
    }
    return read;
}

Result<std::vector<fs::path>> import_keys(const KeyPlaces& places,
                                          registry::ModelRegistry* registry,
                                          std::span<const StoredKey> keys,
                                          const KeyRequest& request) {
    Staged staged;
    std::vector<fs::path> written;
    std::vector<std::string> names;
    std::set<fs::path> taken;
    for (const auto& key : keys) {
        RAMPART_TRY(const bool there, check_import(places, registry, key));
        if (!taken.insert(place_of(places, key)).second)
            return base::make_error(runtime::Reason::kBadKeyFile,
                                    "key '{}' with id '{}': the copy has two for '{}'; nothing "
                                    "was imported, export the keys again",
                                    key.name, key.id, place_of(places, key).string());
        if (there) continue;
        written.push_back(place_of(places, key));
        names.push_back(key.retired ? key.id : key.name);
        RAMPART_RETURN_IF_ERROR(staged.add(written.back(), key.content));
    }
    if (written.empty()) return written;
    if (registry != nullptr) {
        RAMPART_RETURN_IF_ERROR(registry->record_operation(
            request.at, request.actor, "keys_imported",
            {{"keys", fmt::format("{}", fmt::join(names, " "))}, {"reason", request.reason}}));
    }
    RAMPART_RETURN_IF_ERROR(staged.place());
    return written;
}

std::vector<decision::DrawKey> draw_keys(const Keys& keys, const registry::ModelRegistry& registry,
                                         const fs::path& store) {
    std::vector<decision::DrawKey> found{{keys.ids.draw, keys.draw}};
    for (const auto& change : registry.key_changes()) {
        if (change.name != "draw") continue;
        auto secret = runtime::load_secret(retired_file(store, change.from));
        if (secret && runtime::secret_id(*secret) == change.from)
            found.push_back({change.from, *std::move(secret)});
    }
    return found;
}

}  // namespace rampart::rampartd
