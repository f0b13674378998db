#pragma once

#include <filesystem>

#include "rampart/base/result.hpp"
#include "rampart/storage/encryption.hpp"

/// Where the keys of encrypted databases lie: in the store that they are part of.
namespace rampart::runtime {

/// Where a store has the key of its databases. Earlier ones are in keys/retired.
inline std::filesystem::path store_key_file(const std::filesystem::path& store) {
    return store / "keys" / "store";
}

/// Returns the keys of a database: those of the nearest folder above it that has a store key. The
/// key that is current, its earlier ones, and all that this process has met before. Errors: those
/// of load_secret().
base::Result<storage::FileKeys> keys_of_database(const std::filesystem::path& database);

/// Lets all databases that this process opens from now on have keys so. Programs that open
/// databases call it first. Thread safe.
void use_store_keys();

/// Lets this process read what is encrypted with the key in a file, wherever it lies: backups are
/// in no store. Errors: those of load_secret(). Thread safe.
base::Status read_with_key(const std::filesystem::path& file);

}  // namespace rampart::runtime
