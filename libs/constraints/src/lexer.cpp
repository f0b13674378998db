#include "lexer.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "rampart/base/limits.hpp"
#include "rampart/base/utf8.hpp"
#include "rampart/constraints/parse.hpp"
#include "rampart/constraints/reasons.hpp"
#include "words.hpp"

namespace rampart::constraints {
namespace {

using base::make_error;
using base::Result;

constexpr size_t kShown = 40;  // bytes of the input that an error repeats

std::string shown(std::string_view content) {
    if (content.size() <= kShown) return std::string(content);
    size_t length = 0;
    while (length < kShown) {
        length += std::max<size_t>(1, base::utf8_length(content.substr(length)));
    }
    return std::string(content.substr(0, length)) + "…";
}

/// Signs of other languages, and their form in this one.
struct Foreign {
    std::string_view sign, instead;
};
constexpr std::array<Foreign, 8> kForeign{{{"==", "write = in a condition"},
                                           {"&&", "write: and"},
                                           {"||", "write: or"},
                                           {"<>", "write !="},
                                           {"≥", "write >="},
                                           {"≤", "write <="},
                                           {"≠", "write !="},
                                           {"%", "write 0.05 for 5 %"}}};
constexpr std::array<std::string_view, 15> kSigns{">=", "<=", "!=", "=", "<", ">", "+", "-",
                                                  "*",  "/",  "(",  ")", ",", "|", "!"};

class Lexer {
  public:
    explicit Lexer(std::string_view text) : rest_(text) {}

    Result<std::vector<Token>> run() {
        std::vector<Token> out;
        while (true) {
            while (!rest_.empty() && is_space(rest_.front())) take(1);
            start_ = column_;
            if (rest_.empty()) break;
            RAMPART_TRY(Token token, next());
            token.column = start_;
            out.push_back(std::move(token));
        }
        out.push_back({.column = column_});
        return out;
    }

  private:
    static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

    std::string_view take(size_t bytes) {
        const std::string_view taken = rest_.substr(0, bytes);
        column_ += static_cast<size_t>(std::count_if(
            taken.begin(), taken.end(), [](char c) { return (c & '\xc0') != '\x80'; }));
        rest_.remove_prefix(taken.size());
        return taken;
    }

    template <class... Args>
    base::Error error(fmt::format_string<Args...> format, Args&&... args) const {
        return make_error(Reason::kConstraintSyntax, "column {}: {}", start_,
                          fmt::format(format, std::forward<Args>(args)...));
    }

    Result<Token> next() {
        const char c = rest_.front();
        if (is_digit(c) || (c == '.' && rest_.size() > 1 && is_digit(rest_[1]))) return number();
        if (is_name_start(c)) {
            const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_name_part);
            const auto word = take(static_cast<size_t>(end - rest_.begin()));
            return Token{.kind = Token::Kind::kWord, .content = std::string(word)};
        }
        if (c == '`') return quoted_name();
        if (c == '"' || c == '\'') return quoted_text(c);
        for (const Foreign& foreign : kForeign) {
            if (rest_.starts_with(foreign.sign)) {
                return error("'{}' is not of this language: {}", foreign.sign, foreign.instead);
            }
        }
        for (const std::string_view sign : kSigns) {
            if (!rest_.starts_with(sign)) continue;
            take(sign.size());
            return Token{.kind = Token::Kind::kSign, .content = std::string(sign)};
        }
        return error(
            "'{}' is no part of a constraint; a name with such a character stands in "
            "`backticks`, a value in \"quotes\"",
            rest_.substr(0, std::max<size_t>(1, base::utf8_length(rest_))));
    }

    Result<Token> number() {
        Token token{.kind = Token::Kind::kNumber};
        const auto [end, fault] =
            std::from_chars(rest_.data(), rest_.data() + rest_.size(), token.number);
        const auto length = static_cast<size_t>(end - rest_.data());
        if (fault == std::errc::result_out_of_range) {
            return error("the number {} is too large or too small", shown(rest_.substr(0, length)));
        }
        token.content = std::string(take(length));
        if (!rest_.empty() && is_name_part(rest_.front())) {
            return error("'{}{}' is no number", shown(token.content), rest_.front());
        }
        return token;
    }

    Result<Token> quoted_name() {
        const size_t end = rest_.find('`', 1);
        if (end == std::string_view::npos) return error("the name has no second backtick");
        const std::string name(rest_.substr(1, end - 1));
        RAMPART_RETURN_IF_ERROR(check_content(name, base::limits::kMaxNameBytes));
        if (name.empty()) return error("there is no name between the backticks");
        take(end + 1);
        return Token{.kind = Token::Kind::kQuoted, .content = name};
    }

    Result<Token> quoted_text(char quote) {
        std::string content;
        size_t i = 1;
        for (; i < rest_.size() && rest_[i] != quote; ++i) {
            if (rest_[i] == '\\') {
                ++i;
                const bool known =
                    i < rest_.size() && (rest_[i] == '\\' || rest_[i] == '"' || rest_[i] == '\'');
                if (!known) return error("in a text, a backslash stands before \\, \" or '");
            }
            content += rest_[i];
        }
        if (i >= rest_.size()) return error("the text has no closing {}", quote);
        RAMPART_RETURN_IF_ERROR(check_content(content, base::limits::kMaxTextBytes));
        take(i + 1);
        return Token{.kind = Token::Kind::kText, .content = content};
    }

    base::Status check_content(std::string_view content, size_t most) const {
        if (content.size() > most) {
            return error("{} bytes between the quotes; at most {} are allowed", content.size(),
                         most);
        }
        const bool control = std::any_of(content.begin(), content.end(), [](char c) {
            return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
        });
        if (control || !base::is_utf8(content)) {
            return error("between the quotes stands a control character or no UTF-8");
        }
        return base::ok();
    }

    std::string_view rest_;
    size_t column_ = 1, start_ = 1;
};

}  // namespace

Result<std::vector<Token>> tokens_of(std::string_view text) {
    if (text.size() > kMaxTextBytes) {
        return make_error(Reason::kConstraintLimit,
                          "the constraint has {} bytes, at most {} are allowed: split it "
                          "into several",
                          text.size(), kMaxTextBytes);
    }
    if (!base::is_utf8(text)) {
        return make_error(Reason::kConstraintSyntax, "the constraint is no UTF-8 text");
    }
    return Lexer(text).run();
}

std::string where(const Token& token) {
    if (token.kind == Token::Kind::kEnd) return fmt::format("column {}, at the end", token.column);
    return fmt::format("column {}, at '{}'", token.column, shown(token.content));
}

}  // namespace rampart::constraints
