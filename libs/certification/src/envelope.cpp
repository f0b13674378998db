#include "rampart/certification/envelope.hpp"

#include "json_archive.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/certification/reasons.hpp"

namespace rampart::certification {
namespace {

using base::make_error;

struct Signature {
    std::string keyid, sig;
};
template <class A>
void members(A& a, Signature& s) {
    a("keyid", s.keyid);
    a("sig", s.sig);
}

struct Envelope {
    std::string payload_type, payload;
    std::vector<Signature> signatures;
};
template <class A>
void members(A& a, Envelope& e) {
    a("payloadType", e.payload_type);
    a("payload", e.payload);
    a("signatures", e.signatures);
}

/// Returns the signed bytes: type and payload with their lengths, so that neither can be taken for
/// the other.
std::string pre_authentication_encoding(std::string_view type, std::string_view payload) {
    return fmt::format("DSSEv1 {} {} {} {}", type.size(), type, payload.size(), payload);
}

}  // namespace

std::string sign_envelope(std::string_view type, std::string_view payload,
                          const base::SigningKey& key) {
    const std::string signature = key.sign(pre_authentication_encoding(type, payload));
    return JsonWriter::write(Envelope{std::string(type),
                                      base::to_base64(payload),
                                      {{key.public_key().id(), base::to_base64(signature)}}});
}

base::Result<std::string> open_envelope(std::string_view type, std::string_view bytes,
                                        const base::VerifyingKey& key) {
    if (bytes.size() > base::limits::kMaxCertificateBytes) {
        return make_error(Reason::kCertificateTooLong, "{} bytes; a certificate has at most {}",
                          bytes.size(), base::limits::kMaxCertificateBytes);
    }
    auto envelope = JsonReader::read<Envelope>(bytes);
    if (!envelope) return envelope.error().with_context("not a certificate, or cut off");
    if (envelope->payload_type != type) {
        return make_error(Reason::kOtherPayload, "payload type '{}' is not '{}'",
                          envelope->payload_type, type);
    }
    if (envelope->signatures.size() != 1) {
        return make_error(Reason::kBadSignatures, "{} signatures; a certificate has one",
                          envelope->signatures.size());
    }
    const Signature& signature = envelope->signatures[0];
    if (signature.keyid != key.id()) {
        return make_error(Reason::kOtherKey,
                          "signed with key {}, to be checked with key {}: give the "
                          "signer's public key",
                          signature.keyid, key.id());
    }
    RAMPART_TRY(std::string payload, base::from_base64(envelope->payload));
    RAMPART_TRY(const std::string raw, base::from_base64(signature.sig));
    if (!key.verify(pre_authentication_encoding(type, payload), raw)) {
        return make_error(Reason::kBadSignature,
                          "the signature does not hold: the certificate was "
                          "changed after signing");
    }
    return payload;
}

std::string signer_of(std::string_view bytes) {
    if (bytes.size() > base::limits::kMaxCertificateBytes) return {};
    const auto envelope = JsonReader::read<Envelope>(bytes);
    return envelope && envelope->signatures.size() == 1 ? envelope->signatures[0].keyid
                                                        : std::string();
}

}  // namespace rampart::certification
