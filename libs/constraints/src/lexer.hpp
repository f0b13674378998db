#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"

namespace rampart::constraints {

struct Token {
    enum class Kind {
        kNumber,
        kWord,    // a name or a word of the language
        kQuoted,  // a name in backticks
        kText,    // a string
        kSign,    // an operator or a bracket
        kEnd,
    };
    Kind kind = Kind::kEnd;
    std::string content{};  // texts: without quotes and escapes
    double number = 0;
    size_t column = 1;  // position of its first character

    bool is(std::string_view sign) const { return kind == Kind::kSign && content == sign; }
    bool is_word(std::string_view word) const { return kind == Kind::kWord && content == word; }
};

/// Splits a text into tokens, the last one kEnd. Errors as parse()'s.
base::Result<std::vector<Token>> tokens_of(std::string_view text);

/// Returns "column 7, at 'xyz'"; a long content is cut.
std::string where(const Token& token);

}  // namespace rampart::constraints
