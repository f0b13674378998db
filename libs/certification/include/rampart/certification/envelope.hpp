#pragma once

#include <string>
#include <string_view>

#include "rampart/base/result.hpp"
#include "rampart/base/signing.hpp"

namespace rampart::certification {

/// Payload type of a certificate.
inline constexpr std::string_view kCertificateType = "application/vnd.rampart.certificate+json";

/// Dead Simple Signing Envelope 1.0 (secure-systems-lab/dsse), with exactly one Ed25519 signature.
std::string sign_envelope(std::string_view type, std::string_view payload,
                          const base::SigningKey& key);

/// The payload, once the signature holds. Errors: data_loss (cut off, not an envelope of ours, not
/// canonical, another type), permission_denied (signed with another key, or bytes were changed).
base::Result<std::string> open_envelope(std::string_view type, std::string_view bytes,
                                        const base::VerifyingKey& key);

/// Returns the id of the key that an envelope names, which nothing vouches for yet; empty: none.
std::string signer_of(std::string_view bytes);

}  // namespace rampart::certification
