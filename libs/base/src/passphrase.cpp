#include "rampart/base/passphrase.hpp"

#include <openssl/evp.h>

#include <algorithm>

#include "rampart/base/aead.hpp"
#include "rampart/base/check.hpp"
#include "rampart/base/reasons.hpp"

namespace rampart::base {
namespace {

Status check_range(const char* name, unsigned value, unsigned least, unsigned most) {
    if (value >= least && value <= most) return ok();
    return make_error(Reason::kBadNumber, "scrypt: {} is {}, not {} to {}", name, value, least,
                      most);
}

}  // namespace

Result<std::string> key_from_passphrase(std::string_view passphrase, std::string_view salt,
                                        const ScryptCost& cost) {
    RAMPART_RETURN_IF_ERROR(check_range("r", cost.r, 1, 16));
    // section 2: N is less than 2^(128 r / 8)
    RAMPART_RETURN_IF_ERROR(check_range("log2_n", cost.log2_n, 10, std::min(20u, 16 * cost.r - 1)));
    RAMPART_RETURN_IF_ERROR(check_range("p", cost.p, 1, 8));
    const uint64_t n = uint64_t{1} << cost.log2_n;
    const uint64_t memory = 128 * uint64_t{cost.r} * (n + cost.p + 2) + (1u << 20);
    std::string key(kAeadKeyBytes, '\0');
    const int derived =
        EVP_PBE_scrypt(passphrase.data(), passphrase.size(),
                       reinterpret_cast<const unsigned char*>(salt.data()), salt.size(), n, cost.r,
                       cost.p, memory, reinterpret_cast<unsigned char*>(key.data()), key.size());
    RAMPART_CHECK(derived == 1, "scrypt with {} MiB", memory >> 20);
    return key;
}

}  // namespace rampart::base
