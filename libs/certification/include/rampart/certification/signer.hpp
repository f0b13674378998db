#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/base/signing.hpp"

/// The keys of a gate over time: the one in use, and those that it was signed with before.
namespace rampart::certification {

/// Reads one or more public keys, one PEM block after the other; the first is the one in use.
/// Error: invalid_argument "bad_key".
base::Result<std::vector<base::VerifyingKey>> read_keys(std::string_view pem);

/// Writes them so that read_keys() reads them.
std::string write_keys(std::span<const base::VerifyingKey> keys);

/// Returns the key that a certificate or a head names as its signer's, or the first if it names
/// none of them: the check of the signature then says so. `keys` is not empty.
const base::VerifyingKey& signer_among(std::string_view envelope,
                                       std::span<const base::VerifyingKey> keys);

}  // namespace rampart::certification
