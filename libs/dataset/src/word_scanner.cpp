#include "word_scanner.hpp"

#include <algorithm>

namespace rampart::dataset {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

}  // namespace

void WordScanner::skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
}

bool WordScanner::take(char c) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
}

base::Result<std::string> WordScanner::name(std::string_view ends) {
    skip_blanks();
    std::string out;
    if (at_ < text_.size() && text_[at_] == '\'') {
        const size_t opened = at_++;
        while (at_ < text_.size()) {
            if (text_[at_] != '\'') {
                out += text_[at_++];
            } else if (text_.substr(at_).starts_with("''")) {
                out += '\'';
                at_ += 2;
            } else {
                ++at_;
                if (out.empty()) return wrong("a name is empty");
                skip_blanks();
                return out;
            }
        }
        at_ = opened;
        return wrong("the quote is not closed");
    }
    const size_t end = std::min(text_.find_first_of(ends, at_), text_.size());
    std::string_view word = text_.substr(at_, end - at_);
    while (!word.empty() && is_blank(word.back())) word.remove_suffix(1);
    if (word.empty()) return wrong("a name is wanted");
    at_ = end;
    return std::string(word);
}

base::Error WordScanner::wrong(std::string_view message) const {
    return base::make_error(reason_, "{} '{}', character {}: {}", what_, text_, at_ + 1, message);
}

std::string quoted_name(std::string_view name, std::string_view specials) {
    const bool plain = !name.empty() && !is_blank(name.front()) && !is_blank(name.back()) &&
                       name.find('\'') == std::string_view::npos &&
                       name.find_first_of(specials) == std::string_view::npos;
    if (plain) return std::string(name);
    std::string out = "'";
    for (const char c : name) out += c == '\'' ? "''" : std::string(1, c);
    return out + '\'';
}

}  // namespace rampart::dataset
