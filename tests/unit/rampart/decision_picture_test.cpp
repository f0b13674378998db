#include "audit/decision_picture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <regex>

#include "rampart/base/file.hpp"
#include "support/places.hpp"

namespace rampart::cli {
namespace {

using attribution::LinkStep;
using ::testing::HasSubstr;
using ::testing::Not;

/// Makes a decline by two learned links after a declared rule: the second reads the group, and is
/// held.
DecisionPicture decline() {
    DecisionPicture picture;
    picture.decision = "d679f55ec802f10f2fde94e4d4327ac1";
    picture.action = "decline";
    picture.policy = "0123456789abcdef0123456789abcdef";
    picture.steps = {
        LinkStep{.link = 1, .bootstrap = true, .rule = 0.6, .explored = 0.6, .approve = 0.6},
        LinkStep{.link = 2,
                 .score = 0.52,
                 .rule = 0.5,
                 .explored = 0.5,
                 .lo = 0.4,
                 .hi = 0.8,
                 .approve = 0.5},
        LinkStep{.link = 3,
                 .reads_group = true,
                 .score = 0.31,
                 .rule = 0,
                 .explored = 0.1,
                 .lo = 0.25,
                 .hi = 0.75,
                 .approve = 0.25}};
    picture.p = 0.25;
    picture.draw = 0.7312;
    picture.units = {{"annual income", {0}}, {"debts <&> \"others'\"", {1}}, {"purpose", {2}}};
    picture.values = {
        .lowered = {0.5, 0.3, -0.1}, .error = {0, 0.02, 0}, .p = 0.25, .reference = 0.95};
    picture.cited = {0, 1};
    return picture;
}

double sum_of(const std::vector<PictureBar>& bars) {
    return std::accumulate(bars.begin(), bars.end(), 0.0, [](double sum, const PictureBar& bar) {
        return sum + (bar.to - bar.from);
    });
}

TEST(DecisionPicture, TheStepsLeadFromNothingToTheDrawnPWithoutAGap) {
    auto picture = decline();
    for (const bool spent : {false, true}) {
        if (spent) picture.p = 0.125;
        const auto bars = step_bars(picture);
        EXPECT_EQ(bars.size(), spent ? 8u : 7u);
        EXPECT_EQ(bars.front().from, 0);
        for (size_t i = 1; i < bars.size(); ++i) EXPECT_EQ(bars[i].from, bars[i - 1].to);
        EXPECT_EQ(bars.back().to, picture.p);
        EXPECT_NEAR(sum_of(bars), picture.p, 1e-12);
    }
    EXPECT_EQ(step_bars(decline())[4].name, "link 3, rule by group");
    EXPECT_EQ(step_bars(decline())[6].name, "link 3, trust region");
    EXPECT_EQ(step_bars(picture).back().name, "exploration spent");
}

TEST(DecisionPicture, TheValuesSumToTheDifferenceAlsoWhereOthersAreOne) {
    auto picture = decline();
    for (const size_t top : {0u, 1u, 2u, 3u, 9u}) {
        picture.top = top;
        const auto bars = value_bars(picture);
        EXPECT_EQ(bars.size(), top == 0 || top > 3 ? 3 : std::min<size_t>(top + 1, 3));
        EXPECT_NEAR(sum_of(bars), picture.values.reference - picture.values.p, 1e-12);
    }
    EXPECT_EQ(value_bars(decline())[0].name, "annual income (reason 1)");
    picture.top = 1;
    EXPECT_EQ(value_bars(picture)[1].name, "2 others");
    EXPECT_NEAR(value_bars(picture)[1].to, 0.2, 1e-12);
}

TEST(DecisionPicture, TheNumbersThatArePrintedSum) {
    const auto svg = draw_picture(decline());
    // the title of each bar ends with its number
    const std::regex number("<rect class='bar [a-z0-9]+'[^>]*><title>[^<]*: ([-+.0-9]+)</title>");
    std::vector<double> printed;
    for (std::sregex_iterator it(svg.begin(), svg.end(), number), end; it != end; ++it)
        printed.push_back(std::stod((*it)[1]));
    ASSERT_EQ(printed.size(), 7u + 1 + 3);
    EXPECT_NEAR(std::accumulate(printed.begin(), printed.begin() + 7, 0.0), printed[7], 7 * 5e-5);
    EXPECT_NEAR(std::accumulate(printed.begin() + 8, printed.end(), 0.0), 0.7, 3 * 5e-5);
}

TEST(DecisionPicture, SaysInWordsWhatItShowsAndEscapesNames) {
    const auto svg = draw_picture(decline());
    EXPECT_THAT(svg, HasSubstr("<title id='title'>decision d679f55ec802f10f2fde94e4d4327ac1: "
                               "decline</title>"));
    EXPECT_THAT(svg, HasSubstr("draw 0.7312 is not below P(approve) 0.2500: decline"));
    EXPECT_THAT(svg, HasSubstr("link 3, trust region +0.1500, to 0.2500"));
    EXPECT_THAT(svg, HasSubstr("debts &lt;&amp;&gt; &quot;others&#39;&quot;"));
    EXPECT_THAT(svg, Not(HasSubstr("<&>")));
}

TEST(DecisionPicture, IsAsTheGoldenOne) {
    const std::string file = test_support::source_dir() + "/tests/golden/decision_picture.svg";
    const auto svg = draw_picture(decline());
    if (std::getenv("RAMPART_WRITE_GOLDENS") != nullptr) {
        ASSERT_TRUE(base::write_file_atomically(file, svg));
    }
    const auto golden = base::read_file(file, 1 << 20);
    ASSERT_TRUE(golden) << golden.error().message;
    EXPECT_EQ(svg, *golden);
}

}  // namespace
}  // namespace rampart::cli
