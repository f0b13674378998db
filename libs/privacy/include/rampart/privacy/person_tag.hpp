#pragma once

#include <string>
#include <string_view>

#include "rampart/base/strong_type.hpp"
#include "rampart/domain/ids.hpp"

namespace rampart::privacy {

inline constexpr size_t kPersonTagBytes = 16;

/// Pseudonym of a person: without the secret it can neither be inverted nor be
/// found by trying ids.
using PersonTag = base::StrongType<std::string, struct PersonTagTag>;

/// Returns the first kPersonTagBytes of HMAC-SHA-256(secret, "person" ‖ id).
PersonTag person_tag(std::string_view secret, const domain::PersonId& person);

}  // namespace rampart::privacy
