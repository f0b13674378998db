#include "rampart/domain/override.hpp"

#include <gtest/gtest.h>

namespace rampart::domain {
namespace {

TEST(Override, SaysWhoDidWhatAndWhy) {
    const Override good{DecisionId("d1"), 0, Action::kApprove, "underwriter-17", "verified", {}};
    EXPECT_TRUE(validate(good));
    auto late = good;
    late.at = base::kLastTime + base::Duration::micros(1);
    EXPECT_EQ(validate(late).error().reason, "bad_time");
    for (const char* field : {"decision_id", "actor", "reason"}) {
        auto bad = good;
        if (field == std::string_view("decision_id")) bad.decision = DecisionId("");
        if (field == std::string_view("actor")) bad.actor = "two words";
        if (field == std::string_view("reason")) bad.reason.assign(129, 'x');
        const auto status = validate(bad);
        ASSERT_FALSE(status) << field;
        EXPECT_EQ(status.error().reason, "bad_id");
        EXPECT_NE(status.error().message.find(field), std::string::npos) << status.error().message;
    }
}

}  // namespace
}  // namespace rampart::domain
