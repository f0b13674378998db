#include "rampart/notices/words.hpp"

#include <algorithm>
#include <set>

#include "rampart/base/limits.hpp"
#include "text_rules.hpp"

namespace rampart::notices {
namespace {

constexpr std::pair<Direction, std::string_view> kDirections[] = {{Direction::kAny, "any"},
                                                                  {Direction::kLow, "low"},
                                                                  {Direction::kHigh, "high"},
                                                                  {Direction::kMissing, "missing"}};

bool is_language(std::string_view tag) {
    const auto good = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-';
    };
    return tag.size() >= 2 && tag.size() <= 35 && std::all_of(tag.begin(), tag.end(), good);
}

void read_languages(config::Table& root, LenderWords& words) {
    words.languages = root.strings("languages");
    const std::set<std::string> distinct(words.languages.begin(), words.languages.end());
    if (words.languages.empty() || words.languages.size() > kMaxLanguages ||
        distinct.size() != words.languages.size())
        root.fail("languages",
                  fmt::format("give 1 to {} languages, each once, as \"en\"", kMaxLanguages));
    for (const auto& language : words.languages) {
        if (!is_language(language))
            root.fail("languages", fmt::format("'{}' is no language tag such as \"en\" or "
                                               "\"es-MX\"",
                                               language.substr(0, 40)));
    }
}

std::vector<std::string> read_globs(config::Table& table, std::string_view key) {
    auto globs = table.strings(key);
    if (globs.size() > kMaxGlobs)
        table.fail(key, fmt::format("has {} names; at most {}", globs.size(), kMaxGlobs));
    for (const auto& glob : globs) {
        if (glob.empty() || glob.size() > base::limits::kMaxNameBytes)
            table.fail(key, fmt::format("'{}' is no name of 1 to {} bytes", glob.substr(0, 40),
                                        base::limits::kMaxNameBytes));
    }
    return globs;
}

ReasonWords read_reason(config::Table table, const std::vector<std::string>& languages) {
    ReasonWords reason;
    reason.code = table.string("code");
    check_text(table, "code", reason.code, base::limits::kMaxNameBytes);
    const auto by = table.choice(
        "by", {"features", "people", "draw", "draw_alone", "review_open", "review_answered"},
        "features");
    reason.source = by == "people"            ? Source::kPeople
                    : by == "draw"            ? Source::kDraw
                    : by == "draw_alone"      ? Source::kDrawAlone
                    : by == "review_open"     ? Source::kReviewOpen
                    : by == "review_answered" ? Source::kReviewAnswered
                                              : Source::kFeatures;
    if (reason.source == Source::kFeatures) {
        reason.features = read_globs(table, "features");
        const auto direction = table.choice("direction", {"any", "low", "high", "missing"}, "any");
        for (const auto& [value, name] : kDirections)
            if (name == direction) reason.direction = value;
    } else if (table.has("features") || table.has("direction")) {
        table.fail("by", fmt::format("is \"{}\", so that there are neither features nor a "
                                     "direction",
                                     by));
    }
    auto text = table.table("text");
    for (const auto& language : languages) {
        if (!text.has(language)) continue;
        auto& words = reason.text[language] = text.string(language);
        check_text(text, language, words, kMaxReasonText);
    }
    return reason;
}

const ReasonWords* find(const LenderWords& words, auto matches) {
    const auto it = std::find_if(words.reasons.begin(), words.reasons.end(), matches);
    return it == words.reasons.end() ? nullptr : &*it;
}

bool fits_any(const std::vector<std::string>& globs, std::string_view name) {
    return std::any_of(globs.begin(), globs.end(),
                       [&](const auto& glob) { return fits(glob, name); });
}

}  // namespace

std::string_view to_string(Direction direction) {
    return kDirections[static_cast<size_t>(direction)].second;
}

bool fits(std::string_view glob, std::string_view name) {
    size_t g = 0, n = 0, star = std::string_view::npos, resume = 0;
    while (n < name.size()) {
        if (g < glob.size() && glob[g] == '*') {
            star = g++;
            resume = n;
        } else if (g < glob.size() && glob[g] == name[n]) {
            ++g;
            ++n;
        } else if (star != std::string_view::npos) {
            g = star + 1;
            n = ++resume;
        } else {
            return false;
        }
    }
    while (g < glob.size() && glob[g] == '*') ++g;
    return g == glob.size();
}

bool LenderWords::is_never_cited(std::string_view feature) const {
    return fits_any(never_cite, feature);
}

const ReasonWords* LenderWords::of_feature(std::string_view feature, Direction direction) const {
    const auto with = [&](Direction wanted) {
        return find(*this, [&](const ReasonWords& one) {
            return one.direction == wanted && fits_any(one.features, feature);
        });
    };
    const auto* exact = with(direction);
    return exact != nullptr ? exact : with(Direction::kAny);
}

const ReasonWords* LenderWords::of_people(std::string_view code) const {
    return find(*this, [&](const ReasonWords& one) {
        return one.source == Source::kPeople && one.code == code;
    });
}

const ReasonWords* LenderWords::of_source(Source source) const {
    return find(*this, [&](const ReasonWords& one) { return one.source == source; });
}

LenderWords read_words(config::Table root) {
    LenderWords words;
    words.product = root.string("product");
    read_languages(root, words);
    words.never_cite = read_globs(root, "never_cite");
    auto tables = root.tables("reason");
    if (tables.empty() || tables.size() > kMaxReasonWords)
        root.fail("reason", fmt::format("give 1 to {} reasons, each as [[reason]]; here are {}",
                                        kMaxReasonWords, tables.size()));
    for (auto& table : tables) words.reasons.push_back(read_reason(table, words.languages));
    return words;
}

base::Result<LenderWords> read_words_file(const std::filesystem::path& file) {
    RAMPART_TRY(auto root, config::parse_file(file));
    auto words = read_words(root);
    RAMPART_RETURN_IF_ERROR(root.finish());
    return words;
}

}  // namespace rampart::notices
