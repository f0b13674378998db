#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "exceptions.hpp"
#include "source_tree.hpp"
#include "support/places.hpp"

/// What documents name has to be there.
namespace rampart::architecture {
namespace {

constexpr const char* kFolders[] = {"libs/", "services/", "tools/", "tests/", "schemas/", "ops/"};

// The list may only shrink. Lower this with it.
constexpr size_t kMissingPaths = 0;

/// Targets of links "](target)" that are neither addresses nor places in the same page.
std::vector<std::string> links_in(const std::string& text) {
    std::vector<std::string> links;
    for (size_t at = text.find("]("); at != std::string::npos; at = text.find("](", at + 1)) {
        const auto link = text.substr(at + 2, text.find(')', at) - at - 2);
        if (link.find("://") == std::string::npos && !link.starts_with("#"))
            links.push_back(link.substr(0, link.find('#')));
    }
    return links;
}

/// Words in backticks that begin with a folder of the project and have no placeholder.
std::vector<std::string> paths_in(const std::string& text) {
    std::vector<std::string> paths;
    for (size_t at = text.find('`'); at != std::string::npos;) {
        const size_t end = text.find('`', at + 1);
        if (end == std::string::npos) break;
        const auto word = text.substr(at + 1, end - at - 1);
        const bool ours = std::any_of(std::begin(kFolders), std::end(kFolders),
                                      [&](const char* folder) { return word.starts_with(folder); });
        if (ours && word.find_first_of(" *<{$|") == std::string::npos &&
            std::none_of(word.begin(), word.end(),
                         [](char c) { return std::isupper(static_cast<unsigned char>(c)); }))
            paths.push_back(word);
        at = text.find('`', end + 1);
    }
    return paths;
}

/// "page target" -> why, for each of `targets` that is not in `folder`, the page's own or the root.
void add_missing(Exceptions& missing, const fs::path& page, const fs::path& folder,
                 const std::vector<std::string>& targets) {
    for (const auto& target : targets)
        if (!fs::exists(fs::path(test_support::source_dir()) / folder / target))
            missing[page.string() + " " + target] = "is not there";
}

TEST(Documents, NameNothingThatIsNotThere) {
    std::vector<fs::path> pages{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md",
                                "THIRD_PARTY_NOTICES.md"};
    for (const char* folder : kFolders) {
        const auto found = source_files(folder, {".md"});
        pages.insert(pages.end(), found.begin(), found.end());
    }
    ASSERT_GT(pages.size(), 50u);
    Exceptions missing;
    for (const auto& page : pages) {
        const auto text = read_source(page);
        add_missing(missing, page, page.parent_path(), links_in(text));
        if (page.parent_path().empty()) add_missing(missing, page, "", paths_in(text));
    }
    const auto list = read_exceptions("missing_paths.txt");
    print_if_asked("missing_paths.txt", missing, list, false);
    EXPECT_THAT(differences(missing, list, false), testing::IsEmpty());
    EXPECT_LE(list.size(), kMissingPaths) << "the list may only shrink";
}

/// Returns the tests that the last column of a table names, "`A\\|B`", each with its alternatives.
std::vector<std::string> tests_in(const std::string& page) {
    std::vector<std::string> names;
    for (const auto& line : lines_of(page)) {
        if (!line.starts_with("| ") || !line.ends_with("` |")) continue;
        const size_t end = line.size() - 3, begin = line.rfind('`', end - 1) + 1;
        std::string name;
        for (size_t i = begin; i <= end; ++i) {
            if (i < end && line[i] != '\\' && line[i] != '|') {
                name += line[i];
            } else if (!name.empty()) {
                names.push_back(std::exchange(name, {}));
            }
        }
    }
    return names;
}

/// Returns those that are part of no test's name.
std::vector<std::string> without_a_test(const std::vector<std::string>& names) {
    std::string all;
    for (const auto& file : source_files("tests", {".cpp"})) {
        const auto text = read_source(file);
        for (size_t at = text.find("\nTEST"); at != std::string::npos;
             at = text.find("\nTEST", at + 1))
            all += text.substr(at, text.find(')', at) - at);
    }
    std::vector<std::string> missing;
    for (const auto& name : names) {
        const bool command = name.starts_with("ops/test");
        if (!command && all.find(name) == std::string::npos) missing.push_back(name);
    }
    return missing;
}

TEST(Documents, EachDefenceNamesTestsThatThereAre) {
    const auto names = tests_in(read_source("SECURITY.md"));
    EXPECT_GT(names.size(), 20u);
    EXPECT_THAT(without_a_test(names), testing::IsEmpty());
    const std::string planted = "| a | b | c | `LinkClosure\\|NoSuchTest` |\n| x | y |\n";
    EXPECT_THAT(without_a_test(tests_in(planted)), testing::ElementsAre("NoSuchTest"));
}

TEST(Documents, APlantedNameOfWhatIsNotThereIsFound) {
    const std::string page =
        "[a](README.md) [b](nowhere.md#x) [c](#here) [d](https://example.org/x) `libs/base/src` "
        "`libs/nowhere.cpp` `libs/ROOM` `libs/*/README.md` `nowhere`\n";
    EXPECT_THAT(links_in(page), testing::ElementsAre("README.md", "nowhere.md"));
    EXPECT_THAT(paths_in(page), testing::ElementsAre("libs/base/src", "libs/nowhere.cpp"));
    Exceptions missing;
    add_missing(missing, "page.md", "", links_in(page));
    add_missing(missing, "page.md", "", paths_in(page));
    EXPECT_THAT(missing, testing::ElementsAre(testing::Key("page.md libs/nowhere.cpp"),
                                              testing::Key("page.md nowhere.md")));
}

}  // namespace
}  // namespace rampart::architecture
