#include "frame/printable.hpp"

#include <gtest/gtest.h>

namespace rampart::cli {
namespace {

TEST(Printable, WritesWhatMovesTheCursorOrEndsTheLineAsItsCode) {
    EXPECT_EQ(printable("Straße € 𝄞 \\x1b"), "Straße € 𝄞 \\x1b");
    EXPECT_EQ(printable("x\n\nLegal holds\r\t\x1b[2J"), "x\\n\\nLegal holds\\x0d\\t\\x1b[2J");
    EXPECT_EQ(printable(std::string_view("\0\x07\x7f", 3)), "\\x00\\x07\\x7f");
    EXPECT_EQ(printable("\u009b2J \u0085 \u00a0"), "\\x9b2J \\x85 \u00a0") << "C1 ends at 9f";
    EXPECT_EQ(printable("caf\xe9 \x9b"), "caf\\xe9 \\x9b") << "no UTF-8";
    EXPECT_EQ(printable(""), "");
}

TEST(Printable, OfMoreThanOneLineTheEndsStay) {
    EXPECT_EQ(printable_lines("a\tb\nc\x1b[2J\r\n\u009b"), "a\tb\nc\\x1b[2J\\x0d\n\\x9b");
}

}  // namespace
}  // namespace rampart::cli
