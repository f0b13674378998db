#pragma once

#include <string>
#include <string_view>

#include "rampart/base/result.hpp"

namespace rampart::base {

/// Cost of a key derivation, in the terms of RFC 7914: memory is 128·r·2^log2_n bytes. The default
/// takes 128 MiB and some tenths of a second.
struct ScryptCost {
    unsigned log2_n = 17;  // 10 to 20, and below 16·r
    unsigned r = 8;        // 1 to 16
    unsigned p = 1;        // 1 to 8
};

/// Derives a key of kAeadKeyBytes from a passphrase (scrypt, RFC 7914). Error: invalid_argument
/// "bad_number" names a cost that is out of its range: it may come from a file of unknown origin.
Result<std::string> key_from_passphrase(std::string_view passphrase, std::string_view salt,
                                        const ScryptCost& cost);

}  // namespace rampart::base
