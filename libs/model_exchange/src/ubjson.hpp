#pragma once

#include <boost/json/value.hpp>
#include <string_view>

#include "rampart/base/result.hpp"

/// Universal Binary JSON (ubjson.org, draft 12), as far as XGBoost writes it: the numbers i U I l L
/// d D, texts, true, false, null, objects, arrays, and arrays of a declared length and of a
/// declared type of number. Numbers are big-endian.
namespace rampart::model_exchange {

/// Returns whether the bytes begin as an object in binary and not as one in text.
bool is_ubjson(std::string_view bytes);

/// Reads one object, which has to fill the bytes. Objects and arrays may be nested 32 deep; memory
/// is a multiple of the size of the input, whatever counts it declares. Fails with invalid_argument
/// "bad_ubjson", which names the byte and what was expected there.
base::Result<boost::json::value> read_ubjson(std::string_view bytes);

}  // namespace rampart::model_exchange
