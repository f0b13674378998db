#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <fstream>

#include "cpp_scanner.hpp"
#include "exceptions.hpp"
#include "source_tree.hpp"
#include "support/places.hpp"

/// What a page of code looks like: its columns, its form, the length of its functions.
namespace rampart::architecture {
namespace {

constexpr size_t kMaxColumns = 100;
constexpr size_t kMaxFunctionLines = 70;
// Lists may only shrink. Lower these with them.
constexpr size_t kFilesWithLongLines = 72;
constexpr size_t kLongFunctions = 2;

const std::set<std::string> kSourceFolders{"libs", "services", "tools", "tests"};

// --- columns -------------------------------------------------------------------------------------

/// Characters, not bytes.
size_t columns(const std::string& line) {
    return static_cast<size_t>(std::count_if(line.begin(), line.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;  // not a further byte of UTF-8
    }));
}

/// In Markdown a row of a table cannot be broken, and neither can a link or an address: what is
/// excepted begins with '|', or is short enough without the words that hold "](" or "://".
bool may_be_long(const std::string& line) {
    if (line.find_first_not_of(' ') == line.find('|') && line.find('|') != std::string::npos)
        return true;
    std::istringstream words(line);
    std::string rest;
    bool link = false;
    for (std::string word; words >> word;) {
        const bool is_link =
            word.find("](") != std::string::npos || word.find("://") != std::string::npos;
        link |= is_link;
        if (!is_link) rest += word + " ";
    }
    return link && columns(rest) <= kMaxColumns;
}

size_t long_lines(const std::string& text, bool markdown) {
    size_t found = 0;
    for (const auto& line : lines_of(text))
        found += columns(line) > kMaxColumns && !(markdown && may_be_long(line));
    return found;
}

/// C++, CMake, Python, TypeScript, TOML, Protocol Buffers, YAML, Markdown, and scripts by their
/// first line.
std::vector<fs::path> texts_that_people_read() {
    std::vector<fs::path> texts;
    for (const char* folder : {"libs", "services", "tools", "tests", "schemas", "ops", ".ci"})
        for (const auto& file :
             source_files(folder, {".hpp", ".cpp", ".cmake", ".txt", ".py", ".ts", ".tsx", ".mjs",
                                   ".toml", ".proto", ".yaml", ".md", ""})) {
            const bool data = file.extension() == ".txt" && file.filename() != "CMakeLists.txt";
            const bool script = file.has_extension() || read_source(file).starts_with("#!");
            if (!data && script) texts.push_back(file);
        }
    for (const char* file : {"CMakeLists.txt", "README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"})
        texts.emplace_back(file);
    return texts;
}

TEST(Columns, NoLineIsLongerThanAHundred) {
    const auto texts = texts_that_people_read();
    ASSERT_GT(texts.size(), 1000u);
    Exceptions found;
    for (const auto& file : texts)
        if (const size_t lines = long_lines(read_source(file), file.extension() == ".md");
            lines > 0)
            found[file.string()] = std::to_string(lines);
    const auto list = read_exceptions("long_lines.txt");
    print_if_asked("long_lines.txt", found, list, true);
    EXPECT_THAT(differences(found, list, true), testing::IsEmpty()) << "lines over 100 columns";
    EXPECT_LE(list.size(), kFilesWithLongLines) << "the list may only shrink";
}

TEST(Columns, PlantedLongLinesAreFound) {
    const std::string full(100, 'x');
    EXPECT_EQ(long_lines("a\n" + full + "\nb\n", false), 0u);
    EXPECT_EQ(long_lines("a\n" + full + "y\n" + full + "zz\n", false), 2u);
    std::string characters;
    for (int i = 0; i < 100; ++i) characters += "δ";
    EXPECT_EQ(long_lines(characters, false), 0u);
    EXPECT_EQ(long_lines(characters + "δ", false), 1u);

    EXPECT_EQ(long_lines("| " + full + " |", true), 0u);
    EXPECT_EQ(long_lines("| " + full + " |", false), 1u);
    EXPECT_EQ(long_lines("see https://example.org/" + full, true), 0u);
    EXPECT_EQ(long_lines("see [it](" + full + ")", true), 0u);
    EXPECT_EQ(long_lines("see [it](there) " + full, true), 1u);
    EXPECT_EQ(long_lines("words, words " + full, true), 1u);
}

// --- functions -----------------------------------------------------------------------------------

/// "file name" -> lines, from the first word of the head to the last brace.
Exceptions long_functions(const std::string& file, const std::string& text) {
    Exceptions found;
    for (const auto& definition : scan(text).definitions) {
        const size_t lines = definition.last_line - definition.first_line + 1;
        if (definition.kind == Definition::kFunction && lines > kMaxFunctionLines)
            found[file + " " + definition.name + definition.parameters] = std::to_string(lines);
    }
    return found;
}

TEST(Functions, FitOnAScreen) {
    Exceptions found;
    size_t functions = 0;
    for (const auto& folder : kSourceFolders)
        for (const auto& file : source_files(folder)) {
            const auto text = read_source(file);
            functions += scan(text).definitions.size();
            found.merge(long_functions(file.string(), text));
        }
    ASSERT_GT(functions, 5000u);
    const auto list = read_exceptions("long_functions.txt");
    print_if_asked("long_functions.txt", found, list, true);
    EXPECT_THAT(differences(found, list, true), testing::IsEmpty()) << "over 70 lines";
    EXPECT_LE(list.size(), kLongFunctions) << "the list may only shrink";
}

TEST(Functions, APlantedLongFunctionIsFound) {
    const auto body = [](size_t lines) {
        std::string text = "namespace a {\nint f(int x)\n    const {\n";
        for (size_t i = 0; i + 3 < lines; ++i) text += "    if (x) { ++x; }\n";
        return text + "}\n}\n";
    };
    EXPECT_THAT(long_functions("x.cpp", body(70)), testing::IsEmpty());
    EXPECT_THAT(long_functions("x.cpp", body(71)),
                testing::ElementsAre(testing::Pair("x.cpp a::f(int)const", "71")));
    EXPECT_THAT(long_functions("x.cpp", "struct S {\n" + body(71) + "};\n"), testing::SizeIs(1));
}

TEST(Lists, WhatIsMissingAndWhatIsNotNeededAnyMoreIsFound) {
    const auto list = parse_exceptions("# why\n\nold: 3\nsame: 5\nlonger: 1\n");
    EXPECT_THAT(differences({{"same", "5"}, {"longer", "2"}, {"new", "1"}}, list, true),
                testing::ElementsAre("longer: 2, but its entry says 1", "new: 1",
                                     testing::HasSubstr("old: the entry is not needed")));
    EXPECT_THAT(differences({{"same", ""}, {"longer", ""}, {"old", ""}}, list, false),
                testing::IsEmpty());
}

// --- form ----------------------------------------------------------------------------------------

/// Returns the output of `command`, with its exit code as the last line where that is not 0.
std::string run(const std::string& command) {
    FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
    if (pipe == nullptr) return "cannot start: " + command;
    std::string text;
    char chunk[65536];
    for (size_t n; (n = std::fread(chunk, 1, sizeof chunk, pipe)) > 0;) text.append(chunk, n);
    const int status = ::pclose(pipe);
    if (status != 0) text += "\nexit code " + std::to_string(WEXITSTATUS(status));
    return text;
}

/// Runs `program` over `files` under `root`, with the .clang-format that lies there. Returns what
/// it complains of; that it is missing or of another version, too.
std::string format_faults(const std::string& program, const fs::path& root,
                          const std::vector<fs::path>& files) {
    const auto version = run(program + " --version");
    if (version.find("version 14.0") == std::string::npos)
        return program + " is not clang-format 14 (ops/setup installs it): " + version;
    std::string faults;
    for (size_t from = 0; from < files.size(); from += 300) {
        std::string command =
            "cd '" + root.string() + "' && " + program + " --dry-run -Werror --style=file";
        for (size_t i = from; i < std::min(files.size(), from + 300); ++i)
            command += " '" + files[i].string() + "'";
        faults += run(command);
    }
    return faults;
}

TEST(Format, EveryFileIsAsClangFormatWouldWriteIt) {
    std::vector<fs::path> files;
    for (const auto& folder : kSourceFolders) {
        const auto found = source_files(folder);
        files.insert(files.end(), found.begin(), found.end());
    }
    ASSERT_GT(files.size(), 1000u);
    EXPECT_EQ(format_faults("clang-format-14", test_support::source_dir(), files), "")
        << "mend it with: clang-format-14 -i FILE";
}

TEST(Format, APlantedFaultIsFoundAndAMissingProgramIsNoPass) {
    const fs::path root = fs::path(testing::TempDir()) / "rampart_format_test";
    fs::create_directories(root);
    fs::copy_file(fs::path(test_support::source_dir()) / ".clang-format", root / ".clang-format",
                  fs::copy_options::overwrite_existing);
    std::ofstream(root / "good.cpp") << "int f(int x) { return x; }\n";
    std::ofstream(root / "bad.cpp") << "int f( int x ){\n  return x; }\n";
    EXPECT_EQ(format_faults("clang-format-14", root, {"good.cpp"}), "");
    EXPECT_THAT(format_faults("clang-format-14", root, {"good.cpp", "bad.cpp"}),
                testing::HasSubstr("bad.cpp:1"));
    EXPECT_THAT(format_faults("clang-format-14", root, {"none.cpp"}), testing::Not(""));
    EXPECT_THAT(format_faults("no-such-clang-format", root, {"good.cpp"}),
                testing::HasSubstr("ops/setup"));
    fs::remove_all(root);
}

}  // namespace
}  // namespace rampart::architecture
