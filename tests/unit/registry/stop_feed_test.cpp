#include "rampart/registry/stop_feed.hpp"

#include <gtest/gtest.h>

#include "support/memory_log.hpp"

namespace rampart::registry {
namespace {

using domain::StopKind;

base::TimePoint at(int64_t second) { return base::TimePoint::from_micros(second * 1'000'000); }

class StopFeeds : public testing::Test {
  protected:
    StopFeeds() { log_.create("leases", 1); }
    StopFeed feed(const std::string& group = "g") { return {log_, log_, "leases", group}; }
    std::vector<streaming::StoredRecord>& records() { return log_.topics["leases"].partitions[0]; }
    void append(const std::string& key, const std::string& value) {
        const streaming::Record record{key, value, at(1), {}};
        ASSERT_TRUE(log_.append_to("leases", streaming::PartitionId(0), {&record, 1}));
    }
    static std::map<std::string, Stop> read(StopFeed feed) {
        EXPECT_TRUE(feed.refresh());
        return feed.stops();
    }

    support::MemoryLog log_;
    const Stop begun_{
        {at(5), std::nullopt, StopKind::kRulesOnly, "anna"}, std::string(32, 'a'), "harm"};
    const Stop ended_{{at(5), at(9), StopKind::kRulesOnly, "anna"},
                      std::string(32, 'a'),
                      "harm",
                      "bert",
                      "mended"};
};

TEST_F(StopFeeds, OthersOfTheGroupReadWhatOnePublishes) {
    auto one = feed(), other = feed();
    ASSERT_TRUE(one.refresh());
    ASSERT_TRUE(one.publish(begun_));
    ASSERT_TRUE(other.refresh());
    EXPECT_EQ(other.stops(), (std::map<std::string, Stop>{{begun_.id, begun_}}));
    ASSERT_TRUE(other.publish(ended_));
    EXPECT_EQ(records().size(), 2u) << "the begin is there";
    ASSERT_TRUE(one.refresh());
    EXPECT_EQ(one.stops().at(ended_.id), ended_);
    ASSERT_TRUE(one.publish(ended_));
    EXPECT_EQ(records().size(), 2u);
    EXPECT_TRUE(read(feed("h")).empty());
}

TEST_F(StopFeeds, WhatWasTakenFromTheTopicIsFoundOutAndWrittenAgain) {
    auto one = feed();
    ASSERT_TRUE(one.refresh());
    ASSERT_TRUE(one.publish(begun_));
    ASSERT_TRUE(one.refresh());
    records().clear();  // compaction, after junk under the key
    append("g/stop/" + begun_.id, "junk");
    for (int i = 0; i < 1200; ++i) ASSERT_TRUE(one.refresh());
    ASSERT_TRUE(one.publish(begun_));
    EXPECT_EQ(read(feed()).at(begun_.id), begun_);
}

TEST_F(StopFeeds, ABeginThatIsWrittenAgainReopensNothing) {
    auto one = feed();
    ASSERT_TRUE(one.refresh());
    ASSERT_TRUE(one.publish(ended_));
    const auto begin = records().front().record;
    append(begin.key, begin.value);
    EXPECT_EQ(read(feed()).at(ended_.id), ended_);
    records().erase(records().begin());  // as compaction leaves the topic
    for (size_t i = 0; i < records().size(); ++i)
        records()[i].offset = streaming::Offset(static_cast<int64_t>(i));
    EXPECT_EQ(read(feed()).at(ended_.id), ended_);
}

TEST_F(StopFeeds, WhatIsNoNoticeIsPassedOver) {
    append("g/0", "a lease");
    append("g/stop/" + begun_.id, "nonsense");
    append("g/stop/short", "nonsense");
    auto one = feed();
    ASSERT_TRUE(one.refresh());
    EXPECT_TRUE(one.stops().empty());
    ASSERT_TRUE(one.publish(begun_));
    ASSERT_TRUE(one.refresh());
    EXPECT_EQ(one.stops().size(), 1u);
}

TEST_F(StopFeeds, ATopicThatIsMadeAnewIsReadFromItsBegin) {
    auto one = feed();
    ASSERT_TRUE(one.refresh());
    ASSERT_TRUE(one.publish(begun_));
    ASSERT_TRUE(one.refresh());
    records().clear();
    ASSERT_TRUE(one.refresh());
    EXPECT_TRUE(one.stops().empty());
    ASSERT_TRUE(one.publish(begun_)) << "it is written again";
    EXPECT_EQ(read(feed()).size(), 1u);
    log_.topics["leases"].failure = {base::ErrorCode::kUnavailable, "no_broker", "away"};
    EXPECT_EQ(one.refresh().error().reason, "no_broker");
}

TEST(StopNotices, AreReadAsTheyWereWritten) {
    const StopNotice notice{
        std::string(32, 'a'), StopKind::kExplorationOff, true, at(7), "anna", "why"};
    const auto key = key_of("g", notice), bytes = encode(notice);
    EXPECT_EQ(key, "g/stop/" + notice.id + "/end");
    EXPECT_EQ(decode_stop("g", key, bytes).value(), notice);
    EXPECT_EQ(decode_stop("h", key, bytes).error().reason, "bad_stop");
    EXPECT_EQ(decode_stop("g", key, bytes + "x").error().reason, "bad_stop");
    EXPECT_FALSE(decode_stop("g", key, bytes.substr(0, bytes.size() - 1)));
    auto wrong = bytes;
    wrong[0] = 2;
    EXPECT_EQ(decode_stop("g", key, wrong).error().reason, "bad_stop");
    auto silent = notice;
    silent.who = "";
    EXPECT_EQ(decode_stop("g", key, encode(silent)).error().reason, "bad_stop");
    auto latin = notice;
    latin.reason = "\xFC";
    EXPECT_EQ(decode_stop("g", key, encode(latin)).error().reason, "bad_stop");
    auto early = notice;
    early.at = base::kFirstTime - base::Duration::seconds(1);
    EXPECT_EQ(decode_stop("g", key, encode(early)).error().reason, "bad_stop");
}

}  // namespace
}  // namespace rampart::registry
