#include "rampart/report/svg_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rampart/report/svg.hpp"

namespace rampart::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(SvgFile, StandsAloneAndSaysWhatItShows) {
    Svg svg(300, 100.5, "x");
    svg.text(1, 2, Anchor::kStart, "a < b");
    const auto file = svg_file(300, 100.5, "loss & gain", "from <1> to '2'\x01", svg.markup());
    EXPECT_THAT(file, StartsWith("<svg xmlns='http://www.w3.org/2000/svg' width='300' "
                                 "height='100.5' viewBox='0 0 300 100.5' role='img' "));
    EXPECT_THAT(file, HasSubstr("<title id='title'>loss &amp; gain</title>\n"));
    EXPECT_THAT(file, HasSubstr("<desc id='description'>from &lt;1&gt; to &#39;2&#39;\xef\xbf\xbd"
                                "</desc>\n"));
    EXPECT_THAT(file, HasSubstr(svg.markup()));
    EXPECT_TRUE(file.ends_with("</svg>\n"));
}

TEST(SvgFile, IsReadableInDarkAndFetchesNothing) {
    const auto file = svg_file(1, 1, "t", "d", "");
    EXPECT_THAT(file, HasSubstr("@media(prefers-color-scheme:dark)"));
    EXPECT_THAT(file, HasSubstr(".paper{fill:var(--paper)}"));
    EXPECT_THAT(file, HasSubstr("<rect class='paper' fill='#fff' width='1' height='1'/>"));
    for (const char* what : {"<script", "href", "url(", "@import", "src="})
        EXPECT_THAT(file, Not(HasSubstr(what)));
}

}  // namespace
}  // namespace rampart::report
