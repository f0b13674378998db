#pragma once

#include <string>
#include <string_view>

#include "rampart/base/strong_type.hpp"
#include "rampart/domain/ids.hpp"

namespace rampart::privacy {

inline constexpr size_t kPersonTagBytes = 16;

/// Stands for a person where the id must not be: who lacks the secret can neither turn it back nor
/// try ids out.
using PersonTag = base::StrongType<std::string, struct PersonTagTag>;

/// The first kPersonTagBytes of HMAC-SHA-256(secret, "person" ‖ id).
PersonTag person_tag(std::string_view secret, const domain::PersonId& person);

}  // namespace rampart::privacy
