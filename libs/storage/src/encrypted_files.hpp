#pragma once

#include <rocksdb/env.h>

#include <filesystem>
#include <memory>
#include <string_view>

#include "rampart/storage/encryption.hpp"

namespace rampart::storage {

inline constexpr std::string_view kNoKeyText = "it is encrypted with the key";
inline constexpr std::string_view kBadHeaderText = "the header of the encrypted file is damaged";

/// An Env over `base` (null: the machine's) in which encrypted files read as what was written into
/// them, and new ones are encrypted with the current key, if there is one. CURRENT, IDENTITY, LOCK
/// and OPTIONS files stay plain: nothing of the content is in them, and others look at them.
std::shared_ptr<rocksdb::Env> with_encryption(std::shared_ptr<rocksdb::Env> base,
                                              std::shared_ptr<const FileKeys> keys);

enum class Access { kRead, kWrite };

/// Does so with the keys that the source has for the database. "no_file_key" where it is to be
/// written, is encrypted, and has no key for new files.
base::Result<std::shared_ptr<rocksdb::Env>> environment_of(const std::filesystem::path& database,
                                                           Access access,
                                                           std::shared_ptr<rocksdb::Env> base = {});

/// Returns what the source has for the database; none where there is no source.
base::Result<FileKeys> file_keys_of(const std::filesystem::path& database);

/// Returns the id of the key with which a file is encrypted; empty: with none. data_loss "corrupt":
/// its header is damaged.
base::Result<std::string> key_id_of(const std::filesystem::path& file);

}  // namespace rampart::storage
