#pragma once

#include <bit>
#include <boost/json.hpp>
#include <cstdint>
#include <string>
#include <string_view>

/// Universal Binary JSON as XGBoost writes it, made of JSON.
namespace rampart::model_exchange {

/// Returns the `bytes` lowest bytes of a number, the highest first.
inline std::string big_endian(uint64_t bits, size_t bytes) {
    std::string out;
    for (size_t i = bytes; i-- > 0;) out += static_cast<char>(bits >> 8 * i & 0xff);
    return out;
}

inline std::string ubjson_length(size_t size) { return "L" + big_endian(size, 8); }

inline std::string ubjson_name(std::string_view name) {
    return ubjson_length(name.size()) + std::string(name);
}

inline std::string ubjson_float(double x) {
    return big_endian(std::bit_cast<uint32_t>(static_cast<float>(x)), 4);
}

/// Writes a value. Lists of numbers become arrays of floats of a declared type, with null as NaN;
/// others have a declared count.
inline std::string as_ubjson(const boost::json::value& value) {
    if (value.is_null()) return "Z";
    if (value.is_bool()) return value.get_bool() ? "T" : "F";
    if (value.is_number()) return "d" + ubjson_float(value.to_number<double>());
    if (value.is_string()) return "S" + ubjson_name(std::string_view(value.get_string()));
    std::string out;
    if (value.is_object()) {
        for (const auto& [name, one] : value.get_object())
            out += ubjson_name(name) + as_ubjson(one);
        return "{" + out + "}";
    }
    bool numbers = true;
    for (const auto& one : value.get_array())
        numbers = numbers && (one.is_number() || one.is_null());
    for (const auto& one : value.get_array())
        out += !numbers ? as_ubjson(one)
                        : ubjson_float(one.is_null() ? std::bit_cast<float>(0x7fc00000u)
                                                     : one.to_number<double>());
    return (numbers ? "[$d#" : "[#") + ubjson_length(value.get_array().size()) + out;
}

}  // namespace rampart::model_exchange
