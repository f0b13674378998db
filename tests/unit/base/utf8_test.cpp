#include "rampart/base/utf8.hpp"

#include <gtest/gtest.h>

namespace rampart::base {
namespace {

TEST(Utf8, IsCheckedByTheLetter) {
    EXPECT_TRUE(is_utf8(""));
    EXPECT_TRUE(is_utf8("plain"));
    EXPECT_TRUE(is_utf8("Straße € 𝄞"));
    EXPECT_TRUE(is_utf8("\xf4\x8f\xbf\xbf"));   // U+10FFFF
    EXPECT_FALSE(is_utf8("M\xfcller"));         // Latin-1
    EXPECT_FALSE(is_utf8("\xc0\x80"));          // overlong
    EXPECT_FALSE(is_utf8("\xe0\x9f\xbf"));      // overlong
    EXPECT_FALSE(is_utf8("\xf0\x8f\xbf\xbf"));  // overlong
    EXPECT_FALSE(is_utf8("\xed\xa0\x80"));      // a surrogate
    EXPECT_FALSE(is_utf8("\xf4\x90\x80\x80"));  // past the last character
    EXPECT_FALSE(is_utf8("\xe2\x82"));          // cut off
}

TEST(Utf8, ACharacterHasOneToFourBytes) {
    EXPECT_EQ(utf8_length(""), 0u);
    EXPECT_EQ(utf8_length(std::string_view("\0x", 2)), 1u);
    EXPECT_EQ(utf8_length("ßx"), 2u);
    EXPECT_EQ(utf8_length("€x"), 3u);
    EXPECT_EQ(utf8_length("𝄞x"), 4u);
    EXPECT_EQ(utf8_length("\x80x"), 0u);
}

TEST(Utf8, EachByteThatIsInNoCharacterIsReplacedAndTheRestIsKept) {
    EXPECT_EQ(to_utf8(""), "");
    EXPECT_EQ(to_utf8("Straße € 𝄞"), "Straße € 𝄞");
    EXPECT_EQ(to_utf8("caf\xe9"), "caf\uFFFD");
    EXPECT_EQ(to_utf8("\xe2\x82ß\xff"), "\uFFFD\uFFFDß\uFFFD");
}

}  // namespace
}  // namespace rampart::base
