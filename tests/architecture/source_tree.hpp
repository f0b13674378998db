#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/places.hpp"

/// The project's own source files, as the tests of this folder look at them.
namespace rampart::architecture {

namespace fs = std::filesystem;

inline std::string read_text(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

inline std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

/// Relative paths under `folder` of the checkout with one of the extensions, sorted.
inline std::vector<fs::path> source_files(const fs::path& folder,
                                          const std::set<std::string>& extensions = {".hpp",
                                                                                     ".cpp"}) {
    const fs::path root(test_support::source_dir());
    std::vector<fs::path> files;
    if (!fs::exists(root / folder)) return files;
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
        if (entry.is_regular_file() && extensions.contains(entry.path().extension().string())) {
            files.push_back(fs::relative(entry.path(), root));
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

/// Returns the folder of what CMake has written for these tests.
inline fs::path written_by_cmake() { return test_support::build_dir() + "/tests/architecture"; }

inline std::string read_source(const fs::path& relative) {
    return read_text(fs::path(test_support::source_dir()) / relative);
}

/// `text` from `from` on to just after the literal or comment that begins there; `from` itself when
/// none does.
inline size_t skip_literal_or_comment(const std::string& text, size_t from) {
    const auto after = [&](const std::string& end, size_t start) {
        const size_t found = text.find(end, start);
        return found == std::string::npos ? text.size() : found + end.size();
    };
    if (text.compare(from, 2, "//") == 0) return std::min(text.find('\n', from), text.size());
    if (text.compare(from, 2, "/*") == 0) return after("*/", from + 2);
    if (text.compare(from, 2, "R\"") == 0) {
        const size_t open = text.find('(', from);
        return after(")" + text.substr(from + 2, open - from - 2) + "\"", open);
    }
    const char quote = text[from];
    const bool digit_separator = quote == '\'' && from > 0 && std::isxdigit(text[from - 1]);
    if ((quote != '"' && quote != '\'') || digit_separator) return from;
    for (size_t i = from + 1; i < text.size(); ++i) {
        if (text[i] == '\\') {
            ++i;
        } else if (text[i] == quote) {
            return i + 1;
        }
    }
    return text.size();
}

/// The code without comments and the content of literals; line breaks stay.
inline std::string code_only(const std::string& text) {
    std::string code;
    for (size_t i = 0; i < text.size();) {
        const size_t end = skip_literal_or_comment(text, i);
        if (end == i) {
            code += text[i++];
            continue;
        }
        for (; i < end; ++i) {
            if (text[i] == '\n') code += '\n';
        }
        code += ' ';
    }
    return code;
}

/// What stands in `#include "…"` (quoted) or `#include <…>`.
inline std::vector<std::string> includes_of(const std::string& text, bool quoted) {
    const std::string open = quoted ? "#include \"" : "#include <";
    std::vector<std::string> includes;
    for (const auto& line : lines_of(text)) {
        if (line.starts_with(open)) {
            includes.push_back(
                line.substr(open.size(), line.find(quoted ? '"' : '>', open.size()) - open.size()));
        }
    }
    return includes;
}

/// Library -> the libraries that it declares to depend on.
inline std::map<std::string, std::set<std::string>> declared_dependencies() {
    std::map<std::string, std::set<std::string>> graph;
    for (const auto& line : lines_of(read_text(written_by_cmake() / "library_graph.txt"))) {
        std::istringstream words(line.substr(line.find(':') + 1));
        auto& deps = graph[line.substr(0, line.find(':'))];
        for (std::string word; words >> word;) deps.insert(word);
    }
    return graph;
}

}  // namespace rampart::architecture
