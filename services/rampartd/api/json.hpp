#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rampart::rampartd {

/// A JSON value of an answer, as its text.
class Json {
  public:
    using Member = std::pair<std::string, Json>;

    // implicit, so that the members of an object can be written down as they are
    Json(std::nullptr_t) : text_("null") {}
    template <std::same_as<bool> Bool>
    Json(Bool value) : text_(value ? "true" : "false") {}
    template <std::integral Integer>
    requires(!std::same_as<Integer, bool>) Json(Integer value) : text_(std::to_string(value)) {}
    Json(std::string_view value);
    Json(const std::string& value) : Json(std::string_view(value)) {}
    Json(const char* value) : Json(std::string_view(value)) {}

    static Json object(const std::vector<Member>& members);
    static Json array(const std::vector<Json>& values);
    /// What a library has written down as JSON; it has to be that.
    static Json parsed(std::string_view text);

    const std::string& text() const { return text_; }

  private:
    Json() = default;
    std::string text_;
};

}  // namespace rampart::rampartd
