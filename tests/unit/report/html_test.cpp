#include "rampart/report/html.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rampart::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Escaped, MarkupBecomesText) {
    EXPECT_EQ(escaped("<a href=\"x\">Tom & 'Jerry'</a>"),
              "&lt;a href=&quot;x&quot;&gt;Tom &amp; &#39;Jerry&#39;&lt;/a&gt;");
}

TEST(Escaped, ControlCharactersAreReplacedAndLinesStay) {
    EXPECT_EQ(escaped(std::string_view("a\0b\x1b\n\t", 6)),
              "a\xef\xbf\xbd"
              "b\xef\xbf\xbd\n\t");
}

TEST(Html, TextsAreEscapedAndMarkupIsNot) {
    Html html;
    html.title("a < b", "good").paragraph("<script>").raw("<hr/>");
    EXPECT_EQ(html.markup(), "<h1 class='good'>a &lt; b</h1>\n<p>&lt;script&gt;</p>\n<hr/>");
}

TEST(Html, ATableHasAHeadAndCellsWithAClass) {
    Html html;
    html.table({"name", {"value", "left"}}, {{"a&b", Cell::raw("<b>1</b>", "good")}});
    EXPECT_EQ(html.markup(),
              "<div class='scroll'><table>\n"
              "<tr><th>name</th><th class='left'>value</th></tr>\n"
              "<tr><td>a&amp;b</td><td class='good'><b>1</b></td></tr>\n"
              "</table></div>\n");
}

TEST(Html, FactsTakeATextTable) {
    Html html;
    html.facts(rows_of({{"rows", "12"}, {"loss", "<1"}}));
    EXPECT_EQ(html.markup(),
              "<table class='facts'>\n<tr><td>rows</td><td>12</td></tr>\n"
              "<tr><td>loss</td><td>&lt;1</td></tr>\n</table>\n");
}

TEST(Html, AListNumbersItsItems) {
    Html html;
    html.list({"one", "<two>"});
    EXPECT_EQ(html.markup(), "<ol>\n<li>one</li>\n<li>&lt;two&gt;</li>\n</ol>\n");
}

TEST(Html, AFigureHasACaptionAndAUnit) {
    Html html;
    html.figure("Loss", "per row", "<svg/>").figure("Plain", "", "<svg/>");
    EXPECT_EQ(html.markup(),
              "<figure><figcaption>Loss <small>per row</small></figcaption>\n<svg/></figure>\n"
              "<figure><figcaption>Plain</figcaption>\n<svg/></figure>\n");
}

TEST(Document, IsOneFileThatFetchesAndRunsNothing) {
    Html body;
    body.heading("Figures").subheading("more").preformatted("1 < 2");
    const auto page = document("A & B", body);
    EXPECT_TRUE(page.starts_with("<!doctype html>\n<html lang='en'>"));
    EXPECT_THAT(page, HasSubstr("<title>A &amp; B</title>"));
    EXPECT_THAT(page, HasSubstr("<h2>Figures</h2>\n<h3>more</h3>\n<pre>1 &lt; 2</pre>\n</body>"));
    EXPECT_THAT(page, HasSubstr("prefers-color-scheme:dark"));
    for (const char* part : {"<script", "<link", "src=", "http", "@import", "url("})
        EXPECT_THAT(page, Not(HasSubstr(part)));
}

}  // namespace
}  // namespace rampart::report
