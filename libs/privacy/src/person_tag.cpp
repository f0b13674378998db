#include "rampart/privacy/person_tag.hpp"

#include "rampart/base/digest.hpp"

namespace rampart::privacy {

PersonTag person_tag(std::string_view secret, const domain::PersonId& person) {
    const auto digest = base::hmac_sha256(secret, "person" + person.value());
    return PersonTag(std::string(digest.bytes.begin(), digest.bytes.begin() + kPersonTagBytes));
}

}  // namespace rampart::privacy
