#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "rampart/base/stream_cipher.hpp"
#include "rampart/storage/encryption.hpp"

namespace rampart::storage {

/// How long the header of an encrypted file is: whole blocks of a disk, so that what is aligned in
/// the content is so in the file.
inline constexpr size_t kFileHeaderBytes = 4096;

/// What a file says of itself at its beginning, of which `begin` has kFileHeaderBytes or, in a
/// shorter file, all.
struct FileHeader {
    enum class Kind {
        kPlain,
        kCutOff,   // an encrypted file without content: its writer was stopped at once
        kDamaged,  // it was one of an encrypted file
        kWhole,
    };
    Kind kind = Kind::kPlain;
    std::string key_id;  // where it is whole
};
/// Judges a file by its beginning.
FileHeader read_header(std::string_view begin);

/// Makes the header of a new file, with a random number of its own.
std::string make_header(const FileKey& key);

/// Returns the cipher of the content behind a whole header; null: this key did not make it.
std::shared_ptr<const base::StreamCipher> cipher_of(std::string_view header, const FileKey& key);

/// Finds a key by its id; null: it is not there.
const FileKey* find_key(const FileKeys& keys, std::string_view id);

}  // namespace rampart::storage
