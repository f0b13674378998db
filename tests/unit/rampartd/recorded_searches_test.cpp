#include "services/rampartd/recorded_searches.hpp"

#include <gtest/gtest.h>

#include "rampart/base/reasons.hpp"

namespace rampart::rampartd {
namespace {

using base::Duration;
using base::TimePoint;

constexpr auto kStart = TimePoint::from_micros(0);

class RecordedSearchesTest : public testing::Test {
  protected:
    bool ask(const std::string& by, const RecordedSearches::Fields& search, Duration after = {}) {
        return searches_.record(by, search, kStart + after).has_value();
    }

    size_t written_ = 0;
    base::Status outcome_;
    RecordedSearches searches_{[this](auto, const auto&) {
        ++written_;
        return outcome_;
    }};
};

TEST_F(RecordedSearchesTest, ASearchIsWrittenOnceAnHour) {
    EXPECT_TRUE(ask("anna", {{"from", "2020-01-01"}}));
    EXPECT_TRUE(ask("anna", {{"from", "2020-01-01"}}, Duration::seconds(3599)));
    EXPECT_EQ(written_, 1u);
    EXPECT_TRUE(ask("anna", {{"from", "2020-01-01"}}, Duration::hours(1)));
    EXPECT_EQ(written_, 2u);
    EXPECT_TRUE(ask("anna", {{"from", "2020-01-01"}}, Duration::hours(1)));
    EXPECT_EQ(written_, 2u);
    EXPECT_TRUE(ask("anna", {{"from", "2020-01-01"}})) << "the clock was set back";
    EXPECT_EQ(written_, 3u);
}

TEST_F(RecordedSearchesTest, AnotherSearchAndAnotherCallerAreEntriesOfTheirOwn) {
    EXPECT_TRUE(ask("anna", {{"a", "b c"}}));
    EXPECT_TRUE(ask("anna", {{"a", "b"}}));
    EXPECT_TRUE(ask("anna", {{"a", "b"}, {"c", "d"}}));
    EXPECT_TRUE(ask("anna", {}));
    EXPECT_TRUE(ask("ann", {}));
    EXPECT_TRUE(ask("anna a 1 b", {}));
    EXPECT_EQ(written_, 6u);
}

TEST_F(RecordedSearchesTest, WhatCouldNotBeWrittenIsWrittenTheNextTime) {
    outcome_ = base::make_error(base::Reason::kBadUsage, "disk full");
    EXPECT_FALSE(ask("anna", {}));
    EXPECT_FALSE(ask("anna", {}));
    outcome_ = base::ok();
    EXPECT_TRUE(ask("anna", {}));
    EXPECT_EQ(written_, 3u);
    EXPECT_TRUE(ask("anna", {}));
    EXPECT_EQ(written_, 3u);
}

TEST_F(RecordedSearchesTest, APrincipalsSearchesAreBoundedWithinAnHour) {
    for (size_t i = 0; i < RecordedSearches::kMost; ++i)
        ASSERT_TRUE(ask("anna", {{"person", std::to_string(i)}}));
    EXPECT_EQ(searches_.record("anna", {{"person", "x"}}, kStart).error().reason,
              "too_many_searches");
    EXPECT_EQ(written_, RecordedSearches::kMost);
    EXPECT_TRUE(ask("anna", {{"person", "0"}})) << "it is on record";
    EXPECT_TRUE(ask("bert", {{"person", "x"}})) << "others have theirs";
    EXPECT_TRUE(ask("anna", {{"person", "x"}}, Duration::hours(1)));
}

}  // namespace
}  // namespace rampart::rampartd
