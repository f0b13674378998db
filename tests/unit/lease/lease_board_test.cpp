#include "rampart/lease/lease_board.hpp"

#include <gtest/gtest.h>

#include "support/memory_log.hpp"

namespace rampart::lease {
namespace {

using enum LeaseRecord::Kind;
using streaming::Offset;
using streaming::PartitionId;

const PartitionId kZero(0);

class LeaseBoardTest : public testing::Test {
  protected:
    LeaseBoardTest() { log_.create("leases", 1); }

    /// Sessions are named like their node. Returns the offset.
    Offset say(LeaseRecord::Kind kind, const std::string& node, uint64_t epoch,
               std::optional<Offset> replaces = {}, const std::string& key = "g/0") {
        std::string session = node;
        session.resize(16, '.');
        const LeaseRecord record{kind, epoch, replaces, base::Duration::seconds(1), node, session};
        return raw(key, encode(record));
    }
    Offset raw(const std::string& key, const std::string& value) {
        const streaming::Record record{key, value, {}, {}};
        return log_.append("leases", {&record, 1}).value().front().offset;
    }
    /// Who holds partition 0 for a reader who begins now: "node/epoch", "-" in front: released.
    std::string told() { return told_by(log_); }
    static std::string told_by(const streaming::Reader& log) {
        LeaseBoard board(log, "leases", "g");
        EXPECT_TRUE(board.refresh());
        const Lease* lease = board.find(kZero);
        if (lease == nullptr) return "";
        return fmt::format("{}{}/{}", lease->released ? "-" : "", lease->node, lease->epoch);
    }
    /// What is left of the log when of each key only the last record stays.
    support::MemoryLog compacted() const {
        support::MemoryLog out;
        out.create("leases", 1);
        std::map<std::string, streaming::Record> last;
        for (const auto& stored : log_.topics.at("leases").partitions[0]) {
            last[stored.record.key] = stored.record;
        }
        for (const auto& [key, record] : last) EXPECT_TRUE(out.append("leases", {&record, 1}));
        return out;
    }

    support::MemoryLog log_;
};

TEST_F(LeaseBoardTest, OfTwoClaimsAtTheSameTimeTheFirstWins) {
    say(kClaim, "a", 1);
    say(kClaim, "b", 1);
    EXPECT_EQ(told(), "a/1");
    say(kClaim, "b", 2);  // nothing that it saw before
    EXPECT_EQ(told(), "a/1");
}

TEST_F(LeaseBoardTest, AClaimReplacesTheLeaseThatStandsUnderAHigherEpoch) {
    const auto first = say(kClaim, "a", 1);
    say(kClaim, "b", 1, first);
    EXPECT_EQ(told(), "a/1");
    say(kClaim, "b", 5, first);
    EXPECT_EQ(told(), "b/5");
}

TEST_F(LeaseBoardTest, ASignOfLifeInBetweenDefeatsAClaim) {
    const auto first = say(kClaim, "a", 1);
    const auto second = say(kBeat, "a", 1);
    say(kClaim, "b", 2, first);
    EXPECT_EQ(told(), "a/1");
    say(kClaim, "b", 2, second);
    EXPECT_EQ(told(), "b/2");
}

TEST_F(LeaseBoardTest, WhoWasReplacedCanSayNothingAnyMore) {
    const auto first = say(kClaim, "a", 1);
    say(kClaim, "b", 2, first);
    say(kBeat, "a", 1);
    say(kRelease, "a", 1);
    EXPECT_EQ(told(), "b/2");
    say(kRelease, "b", 2);
    EXPECT_EQ(told(), "-b/2");
    say(kBeat, "b", 2);  // sent before, arrived after
    EXPECT_EQ(told(), "-b/2");
}

TEST_F(LeaseBoardTest, CompactionLosesNeitherHolderNorEpoch) {
    const auto first = say(kClaim, "a", 1);
    say(kClaim, "b", 2, first);
    EXPECT_EQ(told_by(compacted()), "b/2");
    say(kBeat, "a", 1);  // the last word is that of a node that had lost
    say(kBeat, "b", 2);
    EXPECT_EQ(told_by(compacted()), "b/2");
    say(kRelease, "b", 2);
    EXPECT_EQ(told_by(compacted()), "-b/2");
}

TEST_F(LeaseBoardTest, ABeatSetsRightWhatALostClaimLeftBehind) {
    say(kClaim, "a", 1);
    say(kClaim, "b", 1);
    auto log = compacted();
    EXPECT_EQ(told_by(log), "b/1");  // the claim that won is gone
    say(kBeat, "a", 1);
    const auto beat = log_.topics.at("leases").partitions[0].back().record;
    ASSERT_TRUE(log.append("leases", {&beat, 1}));
    EXPECT_EQ(told_by(log), "a/1");
}

TEST_F(LeaseBoardTest, WhatIsNoLeaseOrOfAnotherGroupIsPassedOver) {
    say(kClaim, "a", 1);
    raw("g/0", "nonsense");
    raw("", "");
    raw("g/zero", "");
    say(kClaim, "b", 9, {}, "h/0");
    say(kClaim, "c", 1, {}, "g/1");
    LeaseBoard board(log_, "leases", "g");
    ASSERT_TRUE(board.refresh());
    EXPECT_EQ(told(), "a/1");
    EXPECT_EQ(board.leases().size(), 2u);
}

TEST_F(LeaseBoardTest, GoesOnWhereItStood) {
    LeaseBoard board(log_, "leases", "g");
    ASSERT_TRUE(board.refresh());
    EXPECT_EQ(board.find(kZero), nullptr);
    const auto first = say(kClaim, "a", 1);
    ASSERT_TRUE(board.refresh());
    EXPECT_EQ(board.find(kZero)->last_sign, first);
    EXPECT_FALSE(board.find(kZero)->proven);
    const auto second = say(kBeat, "a", 1);
    ASSERT_TRUE(board.refresh());
    EXPECT_EQ(board.find(kZero)->last_sign, second);
    EXPECT_TRUE(board.find(kZero)->proven);
}

TEST_F(LeaseBoardTest, TheAddressIsThatOfTheLastRecordThatCounts) {
    LeaseBoard board(log_, "leases", "g");
    const auto say_at = [&](LeaseRecord::Kind kind, uint64_t epoch, const std::string& address) {
        LeaseRecord record{kind, epoch, {}, base::Duration::seconds(1), "a", std::string(16, 's')};
        record.address = address;
        raw("g/0", encode(record));
        EXPECT_TRUE(board.refresh());
        return board.find(kZero)->address;
    };
    EXPECT_EQ(say_at(kBeat, 1, "http://a:1"), "http://a:1");
    EXPECT_EQ(say_at(kBeat, 3, "http://a:2"), "http://a:2");
    EXPECT_EQ(say_at(kBeat, 2, "http://a:3"), "http://a:2") << "of a lower epoch";
    EXPECT_EQ(say_at(kBeat, 4, ""), "") << "a node that says none any more";
}

TEST_F(LeaseBoardTest, ATopicThatIsMissingOrHasTwoPartitionsIsAnError) {
    EXPECT_EQ(LeaseBoard(log_, "other", "g").refresh().error().reason, "no_topic");
    log_.create("wide", 2);
    EXPECT_EQ(LeaseBoard(log_, "wide", "g").refresh().error().reason, "bad_topic");
}

TEST_F(LeaseBoardTest, ATopicThatWasTruncatedIsReadFromItsBeginningAndEpochsOnlyGrow) {
    LeaseBoard board(log_, "leases", "g");
    const auto holder = [&] {
        EXPECT_TRUE(board.refresh());
        const Lease* lease = board.find(kZero);
        return lease == nullptr ? "" : fmt::format("{}/{}", lease->node, lease->epoch);
    };
    say(kClaim, "a", 4);
    say(kBeat, "a", 4);
    EXPECT_EQ(holder(), "a/4");
    log_.topics.at("leases").partitions[0].clear();
    EXPECT_EQ(holder(), "a/4") << "what is known stays";
    say(kClaim, "b", 3);
    EXPECT_EQ(holder(), "a/4") << "an epoch that was there";
    const auto sign = say(kBeat, "a", 4);
    EXPECT_EQ(holder(), "a/4");
    EXPECT_EQ(board.find(kZero)->last_sign, sign) << "by its place in the topic as it is now";
    say(kClaim, "b", 5, sign);
    EXPECT_EQ(holder(), "b/5");
    EXPECT_EQ(told(), holder()) << "a reader that begins now";
}

TEST_F(LeaseBoardTest, ATopicThatStaysAheadIsAnError) {
    LeaseBoard board(log_, "leases", "g");
    say(kClaim, "a", 1);
    ASSERT_TRUE(board.refresh());
    log_.topics.at("leases").failure =
        base::Error{base::ErrorCode::kOutOfRange, "offset_ahead", "ends before"};
    EXPECT_EQ(board.refresh().error().reason, "offset_ahead");
}

}  // namespace
}  // namespace rampart::lease
