#include "rampart/wire/override_json.hpp"

#include <gtest/gtest.h>

#include "rampart/base/limits.hpp"
#include "records.hpp"

namespace rampart::wire {
namespace {

using namespace testing;

TEST(OverrideJson, WhatIsWrittenIsReadBack) {
    EXPECT_EQ(override_from_json(to_json(sample_override())), sample_override());
    const std::vector batch{sample_override(), sample_override()};
    const auto read = overrides_from_json(to_json(batch));
    ASSERT_TRUE(read);
    EXPECT_TRUE(read->batch);
    EXPECT_EQ(read->overrides, batch);
    EXPECT_FALSE(overrides_from_json(to_json(sample_override()))->batch);
}

TEST(OverrideJson, EachMemberIsRequiredButTheRevision) {
    const std::string full = R"({"decision_id":"d","action_taken":"decline","actor":"a",)"
                             R"("reason":"r","at":"2005-10-01"})";
    ASSERT_TRUE(override_from_json(full));
    EXPECT_EQ(override_from_json(full)->revision, 0u);
    for (const std::string member : {"decision_id", "action_taken", "actor", "reason", "at"}) {
        auto other = full;
        other.replace(other.find(member), member.size(), "x");
        const auto read = override_from_json(other);
        ASSERT_FALSE(read) << member;
        EXPECT_EQ(read.error().reason, "missing_member") << member;
        EXPECT_NE(read.error().message.find(member), std::string::npos);
    }
}

TEST(OverrideJson, AnActionIsOneOfTwoWordsAndUnknownMembersAreErrors) {
    const auto with = [](const std::string& action, const std::string& more) {
        return override_from_json(R"({"decision_id":"d","action_taken":")" + action +
                                  R"(","actor":"a","reason":"r","at":"2005-10-01")" + more + "}");
    };
    EXPECT_EQ(with("APPROVE", "").error().reason, "bad_action");
    EXPECT_EQ(with("approve", R"(,"value":1)").error().reason, "unknown_member");
    EXPECT_EQ(with("approve", R"(,"actor":"b")").error().reason, "duplicate_member");
}

TEST(OverrideJson, ABatchHasALimitAndNamesTheElement) {
    const std::vector<domain::Override> full(base::limits::kMaxBatch, sample_override());
    EXPECT_TRUE(overrides_from_json(to_json(full)));
    auto more = full;
    more.push_back(sample_override());
    EXPECT_FALSE(overrides_from_json(to_json(more)));
    auto bad = sample_override();
    bad.actor = "two words";
    const auto read = overrides_from_json(to_json(std::vector{sample_override(), bad}));
    ASSERT_FALSE(read);
    EXPECT_NE(read.error().message.find("overrides[1]"), std::string::npos);
}

}  // namespace
}  // namespace rampart::wire
