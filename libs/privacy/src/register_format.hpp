#pragma once

#include <string>
#include <string_view>

#include "rampart/base/bytes.hpp"
#include "rampart/privacy/register.hpp"

/// How erasures lie in the register (schemas/keys.md).
namespace rampart::privacy {

inline constexpr uint8_t kRegisterFormat = 1;

/// Returns the error data_loss "bad_register".
base::Error damaged_register();

base::Result<base::TimePoint> read_time(base::ByteReader& in);

/// Returns what all records of a kind share.
std::string kind_of(const ErasedRecords& records);
/// Reads a kind and, behind it, its number.
base::Result<ErasedRecords> read_erased(base::ByteReader& in);

std::string encode(const PendingErasure& erasure);
/// Reads an erasure in any format. data_loss "bad_register".
base::Result<PendingErasure> decode_erasure(const PersonTag& person, std::string_view value);

}  // namespace rampart::privacy
