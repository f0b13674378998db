#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rampart/runtime/key_file.hpp"
#include "rampart/runtime/store_start.hpp"
#include "rampart/storage/encryption.hpp"
#include "services/rampartd/key_inventory.hpp"

/// The key of a store's databases, where these are encrypted. The registry does not record its id,
/// since it is in such a database: the files say themselves which key they need.
namespace rampart::rampartd {

/// Looks, before any database is opened, whether the key is there that the registry's database
/// needs; a first start makes one where `wanted`. Errors: failed_precondition "key_missing",
/// "other_key", "databases_encrypted": there is a key, and it is not wanted.
base::Status check_store_key(runtime::StoreStart& start, const std::filesystem::path& store,
                             bool wanted);

/// Returns the key, and its earlier ones, where there are any; retired keys of other kinds that are
/// secrets, too.
base::Result<std::vector<ListedKey>> list_store_keys(const std::filesystem::path& store);

/// Puts store keys of a copy into their places, so that the registry can be opened; others of
/// `keys` are left alone. Only where databases are encrypted, and only with keys that they name;
/// else it does nothing. Returns the files that were written. Error: failed_precondition
/// "other_key".
base::Result<std::vector<std::filesystem::path>> put_store_keys_back(
    const std::filesystem::path& store, std::span<const runtime::StoredKey> keys);

/// Puts a new key in the place of the one in use, which goes to keys/retired and reads what was
/// encrypted with it, until all is rewritten. No node may be starting on the store. The audit log
/// has the change before it is made: where a crash comes between, ask for it again.
base::Result<registry::KeyChange> change_store_key(const std::filesystem::path& store,
                                                   registry::ModelRegistry& registry,
                                                   const KeyRequest& request);

struct EncryptedStore {
    bool key_made = false;
    std::string key_id;
    /// By database: its files before, and after.
    std::map<std::string, std::pair<storage::FilesAtRest, storage::FilesAtRest>> databases;
};
/// Makes a store key where a store never had one, and writes all databases anew with the key that
/// it has. No node may be serving the store. After a crash it is to be repeated.
base::Result<EncryptedStore> encrypt_store(const std::filesystem::path& store,
                                           const KeyRequest& request);

}  // namespace rampart::rampartd
