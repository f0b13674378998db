#include "rampart/report/svg.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace rampart::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Axis, PlacesAreLinearAndKeptWithinTheRange) {
    const Axis axis{10, 20, 100, 300};
    EXPECT_EQ(axis.at(10), 100);
    EXPECT_EQ(axis.at(15), 200);
    EXPECT_EQ(axis.at(20), 300);
    EXPECT_EQ(axis.at(25), 300);
    EXPECT_EQ(axis.at(-5), 100);
}

TEST(Axis, MayRunUpwards) {
    const Axis axis{0, 1, 200, 0};
    EXPECT_EQ(axis.at(0.25), 150);
}

TEST(PaddedRange, IsWiderAtBothEnds) {
    const std::vector<double> values{2, NAN, 12, INFINITY, 7};
    const auto share = padded_range(values, 0.1);
    EXPECT_DOUBLE_EQ(share.lo, 1);
    EXPECT_DOUBLE_EQ(share.hi, 13);
    const auto least = padded_range(values, 0.1, 5);
    EXPECT_DOUBLE_EQ(least.lo, -3);
    EXPECT_DOUBLE_EQ(least.hi, 17);
}

TEST(PaddedRange, OfNothingOrOfOneValueIsNotEmpty) {
    EXPECT_EQ(padded_range({}, 0.1).hi, 1);
    const std::vector<double> same{3, 3};
    EXPECT_EQ(padded_range(same, 0.1).lo, 2.5);
    EXPECT_EQ(padded_range(same, 0.1).hi, 3.5);
}

TEST(Ticks, AreRoundValuesWithinTheAxis) {
    EXPECT_THAT(ticks({-0.3, 1.1, 0, 1}, 5), ElementsAre(0, 0.5, 1));
    EXPECT_THAT(ticks({3, 47, 0, 1}, 5), ElementsAre(10, 20, 30, 40));
    EXPECT_THAT(ticks({0, 1, 0, 1}, 5), testing::SizeIs(6));
    EXPECT_TRUE(ticks({1, 1, 0, 1}, 5).empty());
}

TEST(Ticks, TextHasNoDigitsOfRounding) {
    EXPECT_EQ(tick_text(0.1 + 0.2), "0.3");
    EXPECT_EQ(tick_text(-20), "-20");
    EXPECT_EQ(tick_text(0), "0");
}

TEST(Shortened, CountsCharactersAndNotBytes) {
    EXPECT_EQ(shortened("äöü", 3), "äöü");
    EXPECT_EQ(shortened("äöüß", 3), "äöü…");
}

TEST(Colour, RepeatsAfterNine) {
    EXPECT_EQ(colour(0), "c0");
    EXPECT_EQ(colour(10), "c1");
}

TEST(Svg, AnEmptyOneSaysWhatItShows) {
    EXPECT_EQ(Svg(300, 100.5, "loss < 1", "narrow").markup(),
              "<svg class='narrow' viewBox='0 0 300 100.5' role='img' "
              "aria-label='loss &lt; 1'>\n</svg>\n");
}

TEST(Svg, ShapesTakeAClassPlacesAndATitle) {
    Svg svg(10, 10, "x");
    svg.line("grid", 1, 2, 3, 4)
        .circle("dot", 1, 2, 3, "a & b")
        .rectangle("bar", 1, 2, 3, 4)
        .diamond("truth", 5, 5, 2);
    const auto out = svg.markup();
    EXPECT_THAT(out, HasSubstr("<line class='grid' x1='1.0' y1='2.0' x2='3.0' y2='4.0'/>"));
    EXPECT_THAT(out, HasSubstr("<circle class='dot' cx='1.0' cy='2.0' r='3.0'>"
                               "<title>a &amp; b</title></circle>"));
    EXPECT_THAT(out, HasSubstr("<rect class='bar' x='1.0' y='2.0' width='3.0' height='4.0'/>"));
    EXPECT_THAT(out, HasSubstr("points='5.0,3.0 7.0,5.0 5.0,7.0 3.0,5.0 '/>"));
}

TEST(Svg, ACurveHasAGapWhereAValueIsMissing) {
    Svg svg(10, 10, "x");
    svg.curve("curve", {{0, 1}, {1, 2}, {2, NAN}, {3, 4}, {4, 5}});
    EXPECT_THAT(svg.markup(), HasSubstr("<polyline class='curve' points='0.0,1.0 1.0,2.0 '/>\n"
                                        "<polyline class='curve' points='3.0,4.0 4.0,5.0 '/>\n"));
    Svg nothing(10, 10, "x");
    nothing.curve("curve", {{0, NAN}}).curve("curve", {});
    EXPECT_THAT(nothing.markup(), Not(HasSubstr("<polyline")));
}

TEST(Svg, GroupsAndTextsAreEscaped) {
    Svg svg(10, 10, "x");
    svg.open("c1", "a<b").text(1, 2, Anchor::kEnd, "5 > 4", "tick").slanted_text(3, 4, "&").close();
    EXPECT_THAT(svg.markup(),
                HasSubstr("<g class='c1'><title>a&lt;b</title>\n"
                          "<text class='tick' x='1.0' y='2.0' text-anchor='end'>5 &gt; 4</text>\n"
                          "<text text-anchor='end' transform='translate(3.0 4.0) rotate(-40)'>"
                          "&amp;</text>\n</g>\n"));
}

TEST(Svg, AFrameDrawsLinesTicksAndTitles) {
    Svg svg(200, 100, "x");
    svg.frame({-1, 1, 20, 180}, {0, 1, 80, 10}, {"gap", "accuracy", 2, 2, true});
    const auto out = svg.markup();
    EXPECT_THAT(out, HasSubstr("<line class='zero' x1='100.0' y1='80.0' x2='100.0' y2='10.0'/>"));
    EXPECT_THAT(out, HasSubstr("text-anchor='end'>0.5</text>"));
    EXPECT_THAT(out, HasSubstr(">gap</text>"));
    EXPECT_THAT(out, HasSubstr(">accuracy</text>"));
    Svg bare(200, 100, "x");
    bare.frame({0, 1, 20, 180}, {0, 1, 80, 10}, {.x_lines = false});
    EXPECT_THAT(bare.markup(), Not(HasSubstr("x1='20.0' y1='80.0' x2='20.0'")));
}

TEST(Svg, ALegendNamesTheColours) {
    const std::vector<std::string> names{"gbdt", "fairgbm"};
    Svg svg(10, 10, "x");
    svg.legend(5, 10, names);
    EXPECT_THAT(svg.markup(), HasSubstr("<text class='key c0' x='5.0' y='10.0'"));
    EXPECT_THAT(svg.markup(), HasSubstr("<text class='key c1' x='5.0' y='30.0'"));
}

}  // namespace
}  // namespace rampart::report
