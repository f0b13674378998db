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
    static std::string seal(privacy::PersonKeys& keys) {
        const privacy::Letter letter{domain::PersonId("anna"), "d-1", "content"};
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

TEST_F(KeyFeedTest, ARecordThatIsNoKeyOrOfAnotherSecretIsAnError) {
    const auto one = open("1");
    seal(*one);
    const auto other = open("2", 'x');
    EXPECT_EQ(feed_.fetch(*other).error().reason, "bad_person_key");
    const streaming::Record garbage{"no hex", "\x01", {}, {}};
    ASSERT_TRUE(log_.append("person-keys", std::span(&garbage, 1)));
    EXPECT_EQ(feed_.fetch(*one).error().reason, "bad_person_key");
}

}  // namespace
}  // namespace rampart::sealed_log
