#pragma once

#include <string>
#include <string_view>

#include "rampart/base/result.hpp"
#include "rampart/dataset/reasons.hpp"

namespace rampart::dataset {

/// Reads the small languages of the schema file: names in single quotes or up to one of some ending
/// characters. Errors name the character, from 1.
class WordScanner {
  public:
    WordScanner(std::string_view text, Reason reason, std::string_view what)
        : text_(text), reason_(reason), what_(what) {}

    size_t place() const { return at_; }
    void move_to(size_t place) { at_ = place; }
    bool at_end() const { return at_ == text_.size(); }
    std::string_view rest() const { return text_.substr(at_); }
    void skip_blanks();
    bool take(char c);
    /// Reads a name: quoted, or what stands before one of `ends` or the end, without blanks around
    /// it. Error: there is none, or its quote is not closed.
    base::Result<std::string> name(std::string_view ends);
    /// Returns an error at the present character.
    base::Error wrong(std::string_view message) const;

  private:
    std::string_view text_;
    Reason reason_;
    std::string_view what_;
    size_t at_ = 0;
};

/// Returns a name that WordScanner::name() reads back: in quotes if it has one of `specials`, a
/// quote, or blanks around it.
std::string quoted_name(std::string_view name, std::string_view specials);

}  // namespace rampart::dataset
