#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"

/// Databases whose files are encrypted at rest. Each encrypted file says at its beginning with
/// which key, so that files under several keys, and plain ones, may lie side by side: the way to
/// encryption, or to another key, is to write the files anew.
///
/// AES-256 in counter mode, a key for each file, derived from the store's key and a random number
/// in the file's header; the header has a MAC. Contents have none: RocksDB's checksums find what
/// the disk damages, and not what is changed on purpose. Names, lengths and times of files, and the
/// names of column families, stay readable.
namespace rampart::storage {

inline constexpr size_t kFileKeyBytes = 32;
inline constexpr size_t kFileKeyIdBytes = 16;

struct FileKey {
    std::string id;      // kFileKeyIdBytes characters, not secret
    std::string secret;  // kFileKeyBytes
};

struct FileKeys {
    std::optional<FileKey> current;    // for files that are written; nullopt: they are plain
    std::vector<FileKey> others;       // further ones, whose files can be read
    std::filesystem::path where = {};  // the file that has `current`, or should: for messages
};

/// Returns the keys of the database in a folder, or that is to be made there.
using FileKeySource = std::function<base::Result<FileKeys>(const std::filesystem::path& database)>;

/// Lets the databases that this process opens from now on have keys. Without a source there are
/// none: new files are plain, and encrypted ones are refused. Thread safe.
///
/// Errors of all that opens a database, beside the source's own: failed_precondition "no_file_key":
/// a file is encrypted with a key that is not there, or the database is encrypted, is to be
/// written, and has no key for that; data_loss "corrupt": the header of a file is damaged.
void set_file_key_source(FileKeySource source);

struct FilesAtRest {
    uint64_t plain = 0;                      // number of files
    std::map<std::string, uint64_t> by_key;  // the same, by the id of the key
};
/// Counts the files of a database that hold what was written to it. Needs no key, and no lock: of
/// one that is in use, files may come and go.
base::Result<FilesAtRest> files_at_rest(const std::filesystem::path& database);

/// Writes all files of a database anew, with the key that it has now. It must not be open. What
/// was in a file stays readable on the disk until the file system uses its blocks again. Needs room
/// for the largest column family twice.
base::Status rewrite_files(const std::filesystem::path& database);

/// Hands on the content of a file of a database, decrypted where it is encrypted, in
/// pieces of up to 1 MiB.
base::Status read_file_at_rest(const std::filesystem::path& file,
                               const std::function<base::Status(std::string_view)>& take);

/// Copies a database that is not open to the folder `to`, which does not exist: each file under the
/// key that databases there have.
base::Status copy_database_files(const std::filesystem::path& from,
                                 const std::filesystem::path& to);

}  // namespace rampart::storage
