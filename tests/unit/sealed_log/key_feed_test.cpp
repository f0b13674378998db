#include "rampart/sealed_log/key_feed.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "rampart/base/digest.hpp"
#include "support/memory_log.hpp"

namespace rampart::sealed_log {
namespace {

class FixedClock final : public base::Clock {
  public:
    base::TimePoint now() const override { return base::TimePoint::from_micros(5); }
};

class KeyFeedTest : public testing::Test {
  protected:
    KeyFeedTest() { log_.create("person-keys", 1); }
    ~KeyFeedTest() override { std::filesystem::remove_all(folder_); }
    std::unique_ptr<privacy::PersonKeys> open(const std::string& name, char secret = 's') {
        return privacy::PersonKeys::open(folder_ / name, std::string(32, secret), &feed_).value();
    }
    static std::string seal(privacy::PersonKeys& keys, const std::string& person = "anna") {
        const privacy::Letter letter{domain::PersonId(person), "d-1", "content"};
        return keys.seal(std::span(&letter, 1)).value().front();
    }
    std::filesystem::path folder_ =
        std::filesystem::path(testing::TempDir()) / ("keys" + base::to_hex(base::random_bytes(8)));
    support::MemoryLog log_;
    FixedClock clock_;
    KeyFeed feed_{log_, log_, clock_, "person-keys"};
};

TEST_F(KeyFeedTest, AKeyMadeAtOneNodeOpensAtAnotherUntilItIsDestroyed) {
    const auto one = open("1"), two = open("2");
    const auto envelope = seal(*one);
    EXPECT_EQ(two->unseal("d-1", envelope).value(), "content");
    EXPECT_EQ(one->destroy(domain::PersonId("anna")).value(), 1u);
    ASSERT_TRUE(feed_.fetch(*two));
    EXPECT_EQ(two->unseal("d-1", envelope).value(), std::nullopt);
    const auto& records = log_.topics["person-keys"].partitions[0];
    ASSERT_EQ(records.size(), 2u);
    EXPECT_EQ(records[0].record.key, records[1].record.key);  // so that the broker drops the first
    EXPECT_EQ(records[1].record.value, "\x02");
    EXPECT_EQ(records[0].record.value.find(one->tag_of(domain::PersonId("anna")).value()),
              std::string::npos);
}

TEST_F(KeyFeedTest, ReadsOnWhereItStoodAlsoWhereTheTopicWasCompacted) {
    const auto one = open("1");
    const auto envelope = seal(*one);
    ASSERT_TRUE(one->destroy(domain::PersonId("anna")));
    auto& topic = log_.topics["person-keys"];
    topic.partitions[0].erase(topic.partitions[0].begin());  // what the broker does later
    topic.begin[streaming::PartitionId(0)] = 1;
    const auto late = open("late");
    EXPECT_EQ(late->unseal("d-1", envelope).value(), std::nullopt);
    const auto cursor = late->cursor().value();
    ASSERT_TRUE(feed_.fetch(*late));
    EXPECT_EQ(late->cursor().value(), cursor);
}

TEST_F(KeyFeedTest, ARecordThatIsNoKeyOrOfAnotherSecretStopsNoOther) {
    const auto one = open("1"), other = open("2", 'x');
    const auto before = seal(*one);
    seal(*other);  // at a node with another secret
    const streaming::Record garbage{"no hex", "\x01", {}, {}};
    ASSERT_TRUE(log_.append("person-keys", std::span(&garbage, 1)));
    const auto after = seal(*one, "bert");

    const auto late = open("late");
    KeyFeed feed(log_, log_, clock_, "person-keys");
    EXPECT_TRUE(feed.state());
    ASSERT_TRUE(feed.fetch(*late));
    EXPECT_EQ(late->unseal("d-1", before).value(), "content");
    EXPECT_EQ(late->unseal("d-1", after).value(), "content");
    ASSERT_FALSE(feed.state());
    EXPECT_EQ(feed.state().error().reason, "bad_person_key");
    EXPECT_NE(feed.state().error().message.find("2 records"), std::string::npos)
        << feed.state().error().message;
    EXPECT_NE(feed.state().error().message.find("offset 1: "), std::string::npos);
    ASSERT_TRUE(feed.fetch(*late));
    EXPECT_NE(feed.state().error().message.find("2 records"), std::string::npos) << "read once";
}

TEST_F(KeyFeedTest, WhatIsSealedWithAKeyThatWasPassedOverCannotBeReadUntilItIsThere) {
    const auto one = open("1");
    const auto envelope = seal(*one);
    auto& record = log_.topics["person-keys"].partitions[0][0].record;
    const std::string good = record.value;
    record.value.back() ^= 1;
    const auto two = open("2");
    EXPECT_EQ(two->unseal("d-1", envelope).error().reason, "unknown_person_key");
    ASSERT_EQ(two->missing()->size(), 1u);
    EXPECT_EQ(two->missing()->front().name, "d-1");
    ASSERT_TRUE(
        log_.append("person-keys", std::vector{streaming::Record{record.key, good, {}, {}}}));
    EXPECT_EQ(two->unseal("d-1", envelope).value(), "content");
    EXPECT_TRUE(two->missing()->empty());
}

TEST_F(KeyFeedTest, AKeyThatIsLostIsGivenUpForAllNodes) {
    const auto one = open("1");
    const auto envelope = seal(*one);
    log_.topics["person-keys"].partitions[0].clear();  // and node 1 is gone
    const auto two = open("2"), three = open("3");
    EXPECT_FALSE(two->unseal("d-1", envelope));
    const auto missing = two->missing().value();
    ASSERT_TRUE(two->give_up(missing));
    EXPECT_EQ(two->unseal("d-1", envelope).value(), std::nullopt);
    EXPECT_EQ(three->unseal("d-1", envelope).value(), std::nullopt);
    EXPECT_TRUE(two->missing()->empty());
    ASSERT_TRUE(one->refresh());
    EXPECT_EQ(one->unseal("d-1", envelope).value(), std::nullopt);
    // a key that is here is not given up
    const auto other = seal(*two, "bert");
    ASSERT_TRUE(two->give_up(
        std::vector{privacy::PersonKeys::Missing{other.substr(1, privacy::kKeyIdBytes), "d-1"}}));
    EXPECT_EQ(two->unseal("d-1", other).value(), "content");
}

TEST_F(KeyFeedTest, ATopicThatWasCutOffIsReadAgainAndFilledUp) {
    const auto one = open("1"), two = open("2");
    const auto anna = seal(*one), bert = seal(*one, "bert");
    ASSERT_TRUE(one->destroy(domain::PersonId("bert")));
    KeyFeed feed(log_, log_, clock_, "person-keys");
    ASSERT_TRUE(feed.fetch(*one));
    ASSERT_TRUE(feed.state());
    log_.topics["person-keys"].partitions[0].clear();
    const auto carl = seal(*two, "carl");

    ASSERT_TRUE(feed.fetch(*one));
    ASSERT_FALSE(feed.state());
    EXPECT_EQ(feed.state().error().reason, "offset_ahead") << feed.state().error().message;
    EXPECT_EQ(one->unseal("d-1", carl).value(), "content") << "what came since is read";
    EXPECT_EQ(one->unseal("d-1", anna).value(), "content") << "nothing is forgotten";
    const auto late = open("late");
    EXPECT_FALSE(late->unseal("d-1", anna));
    KeyFeed restarted(log_, log_, clock_, "person-keys");
    ASSERT_TRUE(restarted.fetch(*one));
    EXPECT_FALSE(restarted.state()) << "a restart does not heal it";

    ASSERT_TRUE(restarted.accept(*one));
    EXPECT_TRUE(restarted.state());
    ASSERT_TRUE(restarted.fetch(*one));
    EXPECT_TRUE(restarted.state());
    EXPECT_EQ(late->unseal("d-1", anna).value(), "content");
    EXPECT_EQ(late->unseal("d-1", bert).value(), std::nullopt) << "destroyed stays destroyed";
    EXPECT_EQ(late->unseal("d-1", carl).value(), "content");
}

TEST_F(KeyFeedTest, ATopicOfAnotherClusterOrWithOtherRecordsIsReadAgain) {
    const auto one = open("1"), two = open("2");
    const auto anna = seal(*one);
    KeyFeed feed(log_, log_, clock_, "person-keys");
    ASSERT_TRUE(feed.fetch(*one));
    auto& topic = log_.topics["person-keys"];
    topic.partitions[0].clear();
    const auto bert = seal(*two, "bert"),
               carl = seal(*two, "carl");  // as many as were read, or more
    KeyFeed restarted(log_, log_, clock_, "person-keys");
    ASSERT_TRUE(restarted.fetch(*one));
    ASSERT_FALSE(restarted.state());
    EXPECT_EQ(restarted.state().error().reason, "topic_recreated");
    EXPECT_EQ(one->unseal("d-1", bert).value(), "content");
    ASSERT_TRUE(restarted.accept(*one));
    topic.identity = "mirror";
    ASSERT_TRUE(restarted.fetch(*one));
    EXPECT_EQ(restarted.state().error().reason, "topic_recreated");
    EXPECT_NE(restarted.state().error().message.find("'mirror'"), std::string::npos);
}

}  // namespace
}  // namespace rampart::sealed_log
