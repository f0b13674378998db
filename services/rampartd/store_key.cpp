#include "services/rampartd/store_key.hpp"

#include <algorithm>

#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/runtime/reasons.hpp"
#include "rampart/runtime/secrets.hpp"
#include "rampart/runtime/store_keys.hpp"
#include "rampart/storage/folder.hpp"
#include "rampart/storage/inspection.hpp"
#include "services/rampartd/reasons.hpp"

namespace rampart::rampartd {

using base::Result;
using base::Status;
using runtime::store_key_file;
using runtime::StoredKey;
namespace fs = std::filesystem;

namespace {

constexpr const char* kName = "store";
constexpr size_t kMaxKeyBytes = 1024;

fs::path registry_of(const fs::path& store) { return store / "registry" / "registry"; }

bool is_there(const fs::path& file) {
    std::error_code ignored;
    return fs::exists(file, ignored);
}

/// Returns the ids of the keys that the files of the registry's database need; all others have the
/// same, or one of these.
Result<std::vector<std::string>> needed(const fs::path& store) {
    std::vector<std::string> ids;
    if (!storage::is_database(registry_of(store))) return ids;
    RAMPART_TRY(const auto files, storage::files_at_rest(registry_of(store)));
    for (const auto& [id, count] : files.by_key) ids.push_back(id);
    return ids;
}

bool has(const storage::FileKeys& keys, const std::string& id) {
    return (keys.current && keys.current->id == id) ||
           std::any_of(keys.others.begin(), keys.others.end(),
                       [&](const auto& key) { return key.id == id; });
}

Status write_key(const fs::path& file, std::string_view content) {
    std::error_code failure;
    const auto folder = file.parent_path();
    fs::create_directories(folder, failure);
    if (!failure) fs::permissions(folder, fs::perms::owner_all, failure);
    if (failure)
        return base::make_error(base::Reason::kIoError, "cannot make '{}': {}", folder.string(),
                                failure.message());
    RAMPART_RETURN_IF_ERROR(base::write_file_atomically(file, content, 0600));
    return base::sync_tree(folder.parent_path());
}

/// Makes the key of a store that never had one.
Result<std::string> make_key(const fs::path& store, const KeyRequest& request) {
    const auto secret = base::random_bytes(storage::kFileKeyBytes);
    auto id = runtime::secret_id(secret);
    {
        // where it is encrypted, its key is lost, and this is refused
        RAMPART_TRY(const auto registry, registry::ModelRegistry::open(store / "registry"));
        RAMPART_RETURN_IF_ERROR(registry->record_operation(
            request.at, request.actor, "store_key_made", {{"id", id}, {"reason", request.reason}}));
    }
    RAMPART_RETURN_IF_ERROR(write_key(store_key_file(store), base::to_hex(secret) + "\n"));
    return id;
}

}  // namespace

Status check_store_key(runtime::StoreStart& start, const fs::path& store, bool wanted) {
    const auto file = store_key_file(store);
    if (!is_there(file)) {
        RAMPART_TRY(const auto ids, needed(store));
        if (!wanted && ids.empty()) return base::ok();
        if (start.first()) return start.secrets({file}).map([](const auto&) {});
        return base::make_error(
            runtime::Reason::kKeyMissing, "{}: missing, the key of encrypted databases. {}",
            file.string(),
            ids.empty() ? "A store that was never encrypted gets it, once, by `rampart store "
                          "encrypt`; else restore it from your backup of the keys"
                        : "Restore it from your backup of the keys (`rampart keys import`)");
    }
    if (!wanted)
        return base::make_error(Reason::kDatabasesEncrypted,
                                "{} is there, so the databases are encrypted, and "
                                "privacy.encrypt_databases is false",
                                file.string());
    RAMPART_TRY(const auto keys, runtime::keys_of_database(registry_of(store)));
    RAMPART_TRY(const auto ids, needed(store));
    for (const auto& id : ids) {
        if (has(keys, id)) continue;
        return base::make_error(
            base::Reason::kOtherKey,
            "{}: its id is {}, and the registry is encrypted with {}, which is not in keys/retired "
            "either. Restore the file from your backup of the keys (`rampart keys import`)",
            file.string(), keys.current->id, id);
    }
    return base::ok();
}

Result<std::vector<ListedKey>> list_store_keys(const fs::path& store) {
    std::vector<ListedKey> listed;
    const auto file = store_key_file(store);
    if (!is_there(file)) return listed;
    const auto secret = runtime::load_secret(file);
    ListedKey current{kName, secret ? runtime::secret_id(*secret) : "", file, {}, {}, {}};
    current.state = secret ? KeyState::kInUse : KeyState::kOther;
    listed.push_back(current);
    RAMPART_TRY(const auto databases, storage::find_databases(store));
    std::map<std::string, uint64_t> ids;
    for (const auto& name : databases) {
        RAMPART_TRY(const auto files, storage::files_at_rest(store / name));
        for (const auto& [id, count] : files.by_key) ids[id] += count;
    }
    ids.erase(current.id);
    // one that no database needs any more: backups may
    std::error_code none;
    for (auto it = fs::directory_iterator(store / "keys" / "retired", none);
         !none && it != fs::directory_iterator(); it.increment(none))
        ids.try_emplace(it->path().filename().string(), 0);
    for (const auto& [id, count] : ids) {
        const auto place = retired_file(store, id);
        const auto retired = runtime::load_secret(place);
        const bool right = retired && runtime::secret_id(*retired) == id;
        if (!right && count == 0) continue;  // another kind
        ListedKey key{kName, id, place, {}, {}, KeyState::kRetired};
        if (!right) key.state = is_there(place) ? KeyState::kOther : KeyState::kMissing;
        listed.push_back(std::move(key));
    }
    return listed;
}

namespace {

/// Returns the store's keys of a copy, the one in use last: a crash in between leaves none in use
/// without those that older files need. "bad_key_file": one is none, or two are in use.
Result<std::vector<StoredKey>> store_keys_of(std::span<const StoredKey> keys) {
    std::vector<StoredKey> mine;
    size_t in_use = 0;
    for (const auto& key : keys) {
        if (key.name != kName) continue;
        auto hex = std::string_view(key.content);
        if (hex.ends_with('\n')) hex.remove_suffix(1);
        const auto secret = base::from_hex(hex);
        in_use += !key.retired;
        if (!secret || secret->size() != storage::kFileKeyBytes ||
            runtime::secret_id(*secret) != key.id || in_use > 1)
            return base::make_error(runtime::Reason::kBadKeyFile,
                                    "key '{}' with id '{}' is none, or the second one in use",
                                    key.name, key.id);
        mine.push_back(key);
    }
    std::stable_partition(mine.begin(), mine.end(), [](const auto& key) { return key.retired; });
    return mine;
}

}  // namespace

Result<std::vector<fs::path>> put_store_keys_back(const fs::path& store,
                                                  std::span<const StoredKey> keys) {
    std::vector<fs::path> written;
    RAMPART_TRY(const auto ids, needed(store));
    RAMPART_TRY(const auto mine, store_keys_of(keys));
    if (ids.empty() || mine.empty()) return written;
    const auto in_use = store_key_file(store);
    const bool has_one = is_there(in_use);
    const auto here = has_one ? runtime::load_secret(in_use) : base::Result<std::string>("");
    const std::string id_here = has_one && here ? runtime::secret_id(*here) : "";
    for (const auto& id : ids) {
        const bool copied =
            std::any_of(mine.begin(), mine.end(), [&](const auto& key) { return key.id == id; });
        if (!copied && id != id_here && !is_there(retired_file(store, id)))
            return base::make_error(base::Reason::kOtherKey,
                                    "{}: the registry is encrypted with {}, which is not among the "
                                    "keys to import; nothing was imported",
                                    in_use.string(), id);
    }
    for (const auto& key : mine) {
        // beside another one in use it can only be read with
        const bool retired = key.retired || (has_one && key.id != id_here);
        const auto file = retired ? retired_file(store, key.id) : in_use;
        if (is_there(file)) continue;
        RAMPART_RETURN_IF_ERROR(write_key(file, key.content));
        written.push_back(file);
    }
    return written;
}

Result<registry::KeyChange> change_store_key(const fs::path& store,
                                             registry::ModelRegistry& registry,
                                             const KeyRequest& request) {
    const auto file = store_key_file(store);
    RAMPART_TRY(const auto before, runtime::load_secret(file));
    const auto secret = base::random_bytes(storage::kFileKeyBytes);
    registry::KeyChange change{kName, runtime::secret_id(before), runtime::secret_id(secret),
                               request.reason};
    RAMPART_RETURN_IF_ERROR(
        write_key(retired_file(store, change.from), base::to_hex(before) + "\n"));
    RAMPART_RETURN_IF_ERROR(registry.record_operation(
        request.at, request.actor, "store_key_changed",
        {{"from", change.from}, {"to", change.to}, {"reason", request.reason}}));
    RAMPART_RETURN_IF_ERROR(write_key(file, base::to_hex(secret) + "\n"));
    return change;
}

Result<EncryptedStore> encrypt_store(const fs::path& store, const KeyRequest& request) {
    EncryptedStore done;
    if (!is_there(store_key_file(store))) {
        RAMPART_TRY(done.key_id, make_key(store, request));
        done.key_made = true;
    } else {
        RAMPART_TRY(const auto secret, runtime::load_secret(store_key_file(store)));
        done.key_id = runtime::secret_id(secret);
    }
    RAMPART_TRY(const auto databases, storage::find_databases(store));
    for (const auto& name : databases) {
        RAMPART_TRY(auto before, storage::files_at_rest(store / name));
        RAMPART_RETURN_IF_ERROR(storage::rewrite_files(store / name));
        RAMPART_TRY(auto after, storage::files_at_rest(store / name));
        done.databases[name] = {std::move(before), std::move(after)};
    }
    return done;
}

}  // namespace rampart::rampartd
