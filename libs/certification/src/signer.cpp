#include "rampart/certification/signer.hpp"

#include "rampart/base/check.hpp"
#include "rampart/certification/envelope.hpp"

namespace rampart::certification {

base::Result<std::vector<base::VerifyingKey>> read_keys(std::string_view pem) {
    constexpr std::string_view kEnd = "-----END PUBLIC KEY-----";
    std::vector<base::VerifyingKey> keys;
    while (true) {
        const size_t end = pem.find(kEnd);
        const bool last = end == pem.npos;
        const bool blank = pem.find_first_not_of(" \r\n\t") == pem.npos;
        if (last && blank && !keys.empty()) return keys;
        RAMPART_TRY(auto key,
                    base::VerifyingKey::from_pem(last ? pem : pem.substr(0, end + kEnd.size())));
        keys.push_back(std::move(key));
        if (last) return keys;
        pem.remove_prefix(end + kEnd.size());
    }
}

std::string write_keys(std::span<const base::VerifyingKey> keys) {
    std::string pem;
    for (const auto& key : keys) pem += key.to_pem();
    return pem;
}

const base::VerifyingKey& signer_among(std::string_view envelope,
                                       std::span<const base::VerifyingKey> keys) {
    RAMPART_CHECK(!keys.empty(), "no key to verify with");
    if (envelope.ends_with('\n')) envelope.remove_suffix(1);  // that of a head
    const auto id = signer_of(envelope);
    for (const auto& key : keys) {
        if (key.id() == id) return key;
    }
    return keys.front();
}

}  // namespace rampart::certification
