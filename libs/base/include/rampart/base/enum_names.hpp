#pragma once

#include <array>
#include <string>
#include <string_view>

#include "rampart/base/result.hpp"

/// Words for the values of an enumeration, as options and files have them.
namespace rampart::base {

template <class E>
struct EnumName {
    E value;
    std::string_view text;
};

/// Returns the first word of the value.
template <class E, size_t kCount>
std::string_view name_of(const std::array<EnumName<E>, kCount>& names, E value) {
    for (const auto& name : names)
        if (name.value == value) return name.text;
    return "?";
}

/// Fails with `reason`, whose word is "unknown_<what>"; the message names the known words.
template <class E, size_t kCount>
Result<E> value_of(const std::array<EnumName<E>, kCount>& names, std::string_view text,
                   AnyReason reason) {
    std::string known;
    for (const auto& name : names) {
        if (name.text == text) return name.value;
        known += fmt::format("{}{}", known.empty() ? "" : ", ", name.text);
    }
    const std::string_view what = reason->word.substr(reason->word.find('_') + 1);
    return make_error(reason, "'{}' is no {}: use one of {}", text.substr(0, 60), what, known);
}

}  // namespace rampart::base
