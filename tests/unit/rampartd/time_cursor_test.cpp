#include "services/rampartd/time_cursor.hpp"

#include <gtest/gtest.h>

namespace rampart::rampartd {
namespace {

TEST(TimeCursor, SaysItsPlace) {
    for (const int64_t micros : {int64_t{0}, int64_t{1'767'225'600'000'001}}) {
        const auto time = base::TimePoint::from_micros(micros);
        EXPECT_EQ(read_time_cursor(time_cursor(time, "a.b")).value(), (TimePlace{time, "a.b"}));
    }
}

TEST(TimeCursor, WhatIsNoneIsRefused) {
    for (const char* text : {"", "7", ".a", "x.a", "7 .a", "99999999999999999999.a",
                             "9223372036854775807.a", "-9223372036854775808.a", "7.", "7.a\nb"})
        EXPECT_FALSE(read_time_cursor(text)) << text;
}

}  // namespace
}  // namespace rampart::rampartd
