#pragma once

#include <string>
#include <string_view>

#include "rampart/base/result.hpp"
#include "rampart/protected_attributes/record.hpp"

/// Protobuf (schemas/rampart/protected/v1) and JSON forms. Decoding validates and never crashes.
namespace rampart::protected_attributes {

inline constexpr std::string_view kSchema = "rampart.protected_attributes.v1.ProtectedAttributes/1";

/// Encodes deterministically: attributes in the order of their names.
std::string encode(const ProtectedAttributes& person);
/// Fails with data_loss "bad_protobuf": not such a message; invalid_argument "duplicate_attribute";
/// and as validate() does.
base::Result<ProtectedAttributes> decode(std::string_view bytes);

/// Returns {"person_id":"p1","event_time":"2005-04-01T00:00:00Z","attributes":{"sex":"female"}}
std::string to_json(const ProtectedAttributes& person);
/// Accepts exactly these three members. Fails with invalid_argument "bad_json", "unknown_field",
/// "missing_field", "bad_type", "duplicate_field"; and as validate() does.
base::Result<ProtectedAttributes> parse_json(std::string_view text);

}  // namespace rampart::protected_attributes
