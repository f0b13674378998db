#include "frame/rate_words.hpp"

#include <array>
#include <cctype>

namespace rampart::cli {
namespace {

struct Word {
    std::string_view typed, library;
};
constexpr std::array<Word, 4> kWords{{{kStatisticalParity, "dp"},
                                      {kEqualOpportunity, "eopp"},
                                      {kEqualizedOdds, "eo"},
                                      {kCovariance, "cov"}}};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Replaces whole words.
std::string replaced(std::string_view text, std::string_view Word::*from,
                     std::string_view Word::*to) {
    std::string out;
    for (size_t at = 0; at < text.size();) {
        size_t end = at;
        while (end < text.size() && is_word(text[end])) ++end;
        if (end == at) {
            out += text[at++];
            continue;
        }
        auto word = text.substr(at, end - at);
        for (const auto& known : kWords) {
            if (known.*from != word) continue;
            word = known.*to;
            break;
        }
        out += word;
        at = end;
    }
    return out;
}

}  // namespace

std::string library_words(std::string_view typed) {
    return replaced(typed, &Word::typed, &Word::library);
}

std::string shown_words(std::string_view text) {
    return replaced(text, &Word::library, &Word::typed);
}

}  // namespace rampart::cli
