#include "rampart/registry/assignment_feed.hpp"

#include <gtest/gtest.h>

#include "support/memory_log.hpp"

namespace rampart::registry {
namespace {

base::TimePoint at(int64_t second) { return base::TimePoint::from_micros(second * 1'000'000); }

class AssignmentFeed : public testing::Test {
  protected:
    AssignmentFeed() { log_.create("policies", 1); }

    AssignmentPublisher publisher() { return {log_, log_, "policies", key_, "arm-key"}; }
    AssignmentFollower follower() { return {log_, "policies", {key_.public_key()}}; }
    static AssignmentPeriod period(const std::string& id, const std::string& challenger) {
        const domain::PolicyId champion(std::string(64, 'c'));
        return {{id, at(1), {{champion, 0.9}, {model::policy_id_of(challenger), 0.1}}},
                "anna",
                std::nullopt,
                ""};
    }
    static std::vector<AssignmentPeriod> ended(std::vector<AssignmentPeriod> periods) {
        periods.back().to = at(9);
        return periods;
    }
    static Promotion promotion(uint64_t sequence) {
        Promotion one;
        one.sequence = sequence;
        return one;
    }
    void publish(AssignmentPublisher& by, const std::vector<AssignmentPeriod>& periods,
                 uint64_t champion, uint64_t epoch) {
        const auto notice = by.notice_of(periods, promotion(champion), epoch);
        ASSERT_TRUE(notice);
        const auto status = by.publish(*notice, [this](const auto& policy) {
            return policy == model::policy_id_of(file_) ? base::Result<std::string>(file_)
                                                        : base::Result<std::string>("another");
        });
        EXPECT_TRUE(status) << status.error().message;
    }
    /// Returns the id of the assignment beside a champion; "none": its node says that there is
    /// none; "silent": it says nothing.
    static std::string beside(AssignmentFollower& by, uint64_t champion, uint64_t epoch) {
        const auto status = by.follow();
        EXPECT_TRUE(status) << status.error().message;
        ChampionNotice notice;
        notice.sequence = champion;
        notice.epoch = epoch;
        const auto found = by.beside(notice);
        if (!found) return "silent";
        return found->assignment ? found->assignment->id : "none";
    }
    std::vector<streaming::StoredRecord>& records() {
        return log_.topics["policies"].partitions[0];
    }

    support::MemoryLog log_;
    base::SigningKey key_ = base::SigningKey::from_raw(std::string(32, 'k')).value();
    const std::string file_ = "a model file";
};

TEST_F(AssignmentFeed, FollowersHaveBeginAndEndAndLateOnesTheLast) {
    auto by = publisher();
    EXPECT_EQ(by.notice_of({}, promotion(1), 7), std::nullopt) << "nothing ever to be said";
    auto early = follower();
    EXPECT_EQ(beside(early, 1, 7), "silent");
    publish(by, {period("one", file_)}, 1, 7);
    ASSERT_EQ(records().size(), 2u);
    EXPECT_EQ(records()[0].record.key, model::policy_id_of(file_).value());
    EXPECT_EQ(records()[0].record.value, file_);
    EXPECT_EQ(beside(early, 1, 7), "one");
    publish(by, {period("one", file_)}, 1, 7);
    EXPECT_EQ(records().size(), 2u) << "said twice";
    publish(by, ended({period("one", file_)}), 1, 7);
    EXPECT_EQ(beside(early, 1, 7), "none");
    publish(by, {ended({period("one", file_)}).front(), period("two", file_)}, 1, 7);
    EXPECT_EQ(beside(early, 1, 7), "two");
    auto late = follower();
    EXPECT_EQ(beside(late, 1, 7), "two");
}

TEST_F(AssignmentFeed, AnAssignmentIsOfOnePromotionAndOneEpoch) {
    auto by = publisher();
    publish(by, {period("one", file_)}, 1, 7);
    auto reader = follower();
    EXPECT_EQ(beside(reader, 2, 7), "silent") << "another champion";
    EXPECT_EQ(beside(reader, 1, 8), "silent") << "another node trains";
    auto next = publisher();
    publish(next, {period("one", file_)}, 1, 8);
    EXPECT_EQ(beside(reader, 1, 8), "one");
    publish(by, ended({period("one", file_)}), 1, 7);
    EXPECT_EQ(beside(reader, 1, 8), "one") << "what a node says late that trains no more";
}

TEST_F(AssignmentFeed, WhatIsWrittenAgainLateOrByOthersChangesNothing) {
    auto by = publisher();
    publish(by, {period("one", file_)}, 1, 7);
    const auto begin = records().back().record;
    publish(by, ended({period("one", file_)}), 1, 7);
    ASSERT_TRUE(log_.append("policies", {&begin, 1}));
    const auto other = base::SigningKey::from_raw(std::string(32, 'o')).value();
    auto forged = decode_assignment_notice(begin.value, key_.public_key()).value();
    forged.change = 9;
    const streaming::Record by_another{assignment_notice_key(7), encode(forged, other), {}, {}};
    ASSERT_TRUE(log_.append("policies", {&by_another, 1}));
    const streaming::Record elsewhere{assignment_notice_key(8), begin.value, {}, {}};
    ASSERT_TRUE(log_.append("policies", {&elsewhere, 1}));
    auto reader = follower();
    EXPECT_EQ(beside(reader, 1, 7), "none");
    EXPECT_EQ(beside(reader, 1, 8), "silent");
}

TEST_F(AssignmentFeed, WhatTheTopicHasLostIsWrittenAgainAndReadFromItsBeginning) {
    auto by = publisher();
    publish(by, {period("one", file_)}, 1, 7);
    auto reader = follower();
    EXPECT_EQ(beside(reader, 1, 7), "one");
    ASSERT_TRUE(by.look_for_loss());
    EXPECT_TRUE(by.is_published(*by.notice_of({period("one", file_)}, promotion(1), 7)));
    records().clear();
    EXPECT_EQ(beside(reader, 1, 7), "one") << "what was read stays";
    ASSERT_TRUE(by.look_for_loss());
    publish(by, {period("one", file_)}, 1, 7);
    EXPECT_EQ(records().size(), 2u);
    auto late = follower();
    EXPECT_EQ(beside(late, 1, 7), "one");
    log_.topics["policies"].failure =
        base::Error{base::ErrorCode::kUnavailable, "away", "no broker"};
    EXPECT_EQ(by.look_for_loss().error().reason, "away");
    EXPECT_EQ(reader.follow().error().reason, "away");
}

TEST_F(AssignmentFeed, AFileThatIsNotTheChallengersIsNotWritten) {
    auto by = publisher();
    const auto notice = by.notice_of({period("one", file_)}, promotion(1), 7);
    const auto status =
        by.publish(*notice, [](const auto&) { return base::Result<std::string>("another file"); });
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().reason, "model_digest");
    EXPECT_TRUE(records().empty());
}

}  // namespace
}  // namespace rampart::registry
