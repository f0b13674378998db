#include "rampart/report/text_table.hpp"

#include <algorithm>

namespace rampart::report {
namespace {

/// Counts the code points of UTF-8 text.
size_t places(const std::string& text) {
    return static_cast<size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

std::string align(const Table& table, size_t left) {
    if (table.empty()) return "";
    std::vector<size_t> widths(table.front().size());
    for (const auto& row : table) {
        for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], places(row[c]));
    }
    std::string out;
    for (const auto& row : table) {
        std::string line;
        for (size_t c = 0; c < row.size(); ++c) {
            const std::string gap(widths[c] - places(row[c]), ' ');
            if (c > 0) line += "  ";
            line += c < left ? row[c] + gap : gap + row[c];
        }
        out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return out;
}

}  // namespace rampart::report
