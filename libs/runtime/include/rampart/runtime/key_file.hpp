#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/passphrase.hpp"
#include "rampart/base/result.hpp"

/// The keys of a store in one file, under a passphrase.
namespace rampart::runtime {

inline constexpr size_t kMinPassphraseBytes = 12;
inline constexpr size_t kMaxKeyFileBytes = 1 << 20;

/// A key as its file in the store holds it.
struct StoredKey {
    std::string name;  // "draw"
    std::string id;    // as the registry records it
    bool retired = false;
    std::string content;  // the file's: hex digits, or the PEM of a retired signing key
    bool operator==(const StoredKey&) const = default;
};

/// Returns three lines of text: format, derivation of the key (scrypt, its cost and salt), and the
/// keys in base64, sealed with AES-256-GCM over the first two lines. Error: invalid_argument
/// "short_passphrase".
base::Result<std::string> wrap_keys(const std::vector<StoredKey>& keys, std::string_view passphrase,
                                    const base::ScryptCost& cost = {});

/// Errors: invalid_argument "bad_key_file" (not such a file, cut off, or of another format);
/// permission_denied "wrong_passphrase", also where the file was changed.
base::Result<std::vector<StoredKey>> unwrap_keys(std::string_view file,
                                                 std::string_view passphrase);

}  // namespace rampart::runtime
