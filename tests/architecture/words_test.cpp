#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "source_tree.hpp"

/// The words of comments: noun phrases and verbs, not fragments that begin with "of", and no words
/// for persons where code is meant.
namespace rampart::architecture {
namespace {

/// Returns the comment of a line, without its slashes, its quoted words as "_"; nullopt: none.
/// `alone`: the line has nothing else.
std::optional<std::string> comment_of(const std::string& line, bool& alone) {
    size_t at = 0;
    while (at < line.size() && line.compare(at, 2, "//") != 0)
        at = std::max(at + 1, skip_literal_or_comment(line, at));
    alone = line.find_first_not_of(' ') == at;
    if (at >= line.size()) return std::nullopt;
    static const std::regex kQuoted("\"[^\"]*\"|`[^`]*`");
    auto text = std::regex_replace(line.substr(at), kQuoted, "_");
    return text.substr(std::min(text.find_first_not_of("/!< "), text.size()));
}

/// Returns the numbers of the lines whose comment begins with "of", unless it continues the line
/// before, or has one of the words.
std::vector<size_t> odd_comments(const std::string& text) {
    static const std::regex kWords("\\b(nobody|somebody|whoever|everybody|told|tells|in vain)\\b",
                                   std::regex::icase);
    static const std::regex kFragment("of\\b", std::regex::icase);
    std::vector<size_t> found;
    size_t number = 0;
    bool before = false;  // the line before was a comment alone
    for (const auto& line : lines_of(text)) {
        bool alone = false;
        const auto comment = comment_of(line, alone);
        ++number;
        if (comment &&
            (std::regex_search(*comment, kWords) ||
             (!(alone && before) &&
              std::regex_search(*comment, kFragment, std::regex_constants::match_continuous))))
            found.push_back(number);
        before = comment && alone;
    }
    return found;
}

TEST(Words, CommentsAreNounPhrasesAndVerbs) {
    std::vector<std::string> found;
    size_t files = 0;
    for (const char* folder : {"libs", "services", "tools", "tests"})
        for (const auto& file : source_files(folder)) {
            ++files;
            for (const size_t line : odd_comments(read_source(file)))
                found.push_back(file.string() + ":" + std::to_string(line));
        }
    ASSERT_GT(files, 1000u);
    EXPECT_THAT(found, testing::IsEmpty())
        << "comments that begin with \"of\", or say nobody, everybody, told … of code";
}

TEST(Words, PlantedOddCommentsAreFound) {
    EXPECT_THAT(odd_comments("int rows = 0;  // of the table\n"), testing::ElementsAre(1));
    EXPECT_THAT(odd_comments("/// Of the table.\nint rows = 0;\n"), testing::ElementsAre(1));
    EXPECT_THAT(odd_comments("/// Nobody reads it.\nint f();  // tells the caller\n"),
                testing::ElementsAre(1, 2));
    EXPECT_THAT(odd_comments("// searched\n// in vain\n"), testing::ElementsAre(2));

    EXPECT_THAT(odd_comments("/// Number of rows\n/// of the table.\nint rows = 0;\n"),
                testing::IsEmpty());
    EXPECT_THAT(odd_comments("int rows = 0;  // rows of the table, offset 1\n"),
                testing::IsEmpty());
    EXPECT_THAT(odd_comments("int f(\"// of\");  // the group \"everybody\"\n"),
                testing::IsEmpty());
    EXPECT_THAT(odd_comments("/// `mass` of the people\n"), testing::IsEmpty());
}

}  // namespace
}  // namespace rampart::architecture
