// What the nodes of one group tell each other through topics.
#include <gtest/gtest.h>

#include <filesystem>

#include "rampart/base/digest.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/runtime/system_clock.hpp"
#include "services/rampartd/attribute_feed.hpp"
#include "services/rampartd/champion_feed.hpp"
#include "services/rampartd/key_feed.hpp"
#include "services/rampartd/log_settings.hpp"
#include "support/memory_log.hpp"

namespace rampart::rampartd {
namespace {

std::string key_bytes(char c) { return std::string(32, c); }

model::Policy policy(double at) {
    model::BootstrapLink link;
    link.feature = "income";
    link.points = {{0, 0.1}, {at, 0.9}};
    return model::Policy::create(
               dataset::FeatureSchema::create({{"income", dataset::FeatureKind::kNumeric, {}}})
                   .value(),
               {link}, {}, {{"learner", "bootstrap"}})
        .value();
}

class ChampionFeed : public testing::Test {
  protected:
    ChampionFeed() { log_.create("policies", 1); }

    registry::Promotion champion(uint64_t sequence, const std::string& file,
                                 bool certified = true) {
        registry::Promotion promotion;
        promotion.sequence = sequence;
        promotion.policy = model::policy_id_of(file);
        if (certified) promotion.certificate = base::sha256("certificate");
        return promotion;
    }
    ChampionFollower follower() { return {log_, "policies", key_.public_key()}; }

    support::MemoryLog log_;
    base::SigningKey key_ = base::SigningKey::from_raw(key_bytes('a')).value();
    ChampionPublisher publisher_{log_, "policies", key_};
    const std::string first_ = model::encode_model_file(policy(100));
    const std::string second_ = model::encode_model_file(policy(200));
};

TEST_F(ChampionFeed, FollowersGetEachChampionOnceAndLateOnesTheLast) {
    auto early = follower();
    EXPECT_FALSE(early.next().value());
    ASSERT_TRUE(publisher_.publish(champion(1, first_, false), first_));
    const auto one = early.next().value();
    ASSERT_TRUE(one);
    EXPECT_EQ(one->policy.id, model::policy_id_of(first_));
    EXPECT_FALSE(one->notice.certified);
    EXPECT_FALSE(early.next().value());
    ASSERT_TRUE(publisher_.publish(champion(2, second_), second_));
    ASSERT_TRUE(publisher_.publish(champion(2, second_), second_));  // writes nothing
    EXPECT_EQ(log_.topics["policies"].partitions[0].size(), 4u);
    ASSERT_TRUE(publisher_.publish(champion(3, first_), first_));  // a rollback
    for (auto* reader : {&early}) EXPECT_EQ(reader->next().value()->policy.id, one->policy.id);
    auto late = follower();
    EXPECT_EQ(late.next().value()->notice.sequence, 3u);
}

TEST_F(ChampionFeed, WhatIsNotSignedByTheTrainerDecidesNothing) {
    const auto stranger = base::SigningKey::from_raw(key_bytes('b')).value();
    ASSERT_TRUE(ChampionPublisher(log_, "policies", stranger).publish(champion(9, first_), first_));
    auto reader = follower();
    EXPECT_FALSE(reader.next().value());
    ASSERT_TRUE(publisher_.publish(champion(1, second_), second_));
    EXPECT_EQ(reader.next().value()->policy.id, model::policy_id_of(second_));
}

TEST_F(ChampionFeed, AnotherModelUnderTheChampionsNameIsNeitherPublishedNorTaken) {
    auto promotion = champion(1, first_);
    const auto refused = publisher_.publish(promotion, second_);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "other_model");
    ASSERT_TRUE(publisher_.publish(promotion, first_));
    // the id of one, the bytes of another
    log_.topics["policies"].partitions[0].front().record.value = second_;
    auto reader = follower();
    EXPECT_FALSE(reader.next().value());
}

TEST_F(ChampionFeed, ANoticeIsAllOfItsBytesAndNoOthers) {
    const ChampionNotice notice{4, model::policy_id_of(first_), true};
    const auto bytes = encode(notice, key_);
    EXPECT_EQ(decode_notice(bytes, key_.public_key()).value(), notice);
    for (size_t i = 0; i < bytes.size(); ++i) {
        EXPECT_FALSE(decode_notice(bytes.substr(0, i), key_.public_key()));
        auto bent = bytes;
        bent[i] = static_cast<char>(bent[i] ^ 1);
        EXPECT_FALSE(decode_notice(bent, key_.public_key())) << i;
    }
    EXPECT_FALSE(decode_notice(bytes + "x", key_.public_key()));
}

TEST(AttributeFeed, WhatIsStatedToOneNodeIsKnownToAll) {
    support::MemoryLog log;
    log.create("protected-attributes", 1);
    const auto folder =
        std::filesystem::path(testing::TempDir()) / ("feed" + base::to_hex(base::random_bytes(8)));
    const auto catalog = [] {
        return protected_attributes::AttributeCatalog::create({{"sex", {"female", "male"}}}, true)
            .value();
    };
    const auto one = protected_attributes::ProtectedStore::open(folder / "1", catalog()).value();
    const auto two = protected_attributes::ProtectedStore::open(folder / "2", catalog()).value();
    AttributeFeed told(log, log, "protected-attributes", *one),
        other(log, log, "protected-attributes", *two);
    const protected_attributes::ProtectedAttributes person{
        domain::PersonId("p"), base::TimePoint::from_micros(5), {{"sex", "female"}}};
    ASSERT_TRUE(told.publish(std::span(&person, 1)));
    auto wrong = person;
    wrong.attributes["sex"] = "unheard of";
    EXPECT_FALSE(told.publish(std::span(&wrong, 1)));
    const streaming::Record poison{"q", "\xff", base::TimePoint(), {}};
    ASSERT_TRUE(log.append("protected-attributes", std::span(&poison, 1)));
    for (auto* feed : {&told, &other}) ASSERT_TRUE(feed->catch_up());
    EXPECT_EQ(one->get(person.person).value(), person);
    EXPECT_EQ(two->get(person.person).value(), person);
}

TEST(AttributeFeed, APersonErasedAtOneNodeIsErasedAtAll) {
    support::MemoryLog log;
    log.create("protected-attributes", 1);
    const auto folder =
        std::filesystem::path(testing::TempDir()) / ("feed" + base::to_hex(base::random_bytes(8)));
    const auto catalog =
        protected_attributes::AttributeCatalog::create({{"sex", {"female", "male"}}}, true).value();
    const auto store = protected_attributes::ProtectedStore::open(folder, catalog).value();
    AttributeFeed feed(log, log, "protected-attributes", *store);
    const domain::PersonId ann("ann"), bert("bert");
    const auto state = [&](const domain::PersonId& person, int64_t at) {
        const protected_attributes::ProtectedAttributes one{
            person, base::TimePoint::from_micros(at), {{"sex", "male"}}};
        ASSERT_TRUE(feed.publish(std::span(&one, 1)));
    };
    state(ann, 1);
    state(bert, 1);
    ASSERT_TRUE(feed.publish_erasure(ann, base::TimePoint::from_micros(2)));
    ASSERT_TRUE(feed.catch_up());
    EXPECT_FALSE(store->get(ann).value());
    EXPECT_TRUE(store->get(bert).value());
    state(ann, 3);  // returns
    ASSERT_TRUE(feed.catch_up());
    EXPECT_TRUE(store->get(ann).value());
    EXPECT_EQ(feed.publish_erasure(domain::PersonId(""), {}).error().reason, "bad_id");
    std::filesystem::remove_all(folder);
}

class KeyFeedTest : public testing::Test {
  protected:
    KeyFeedTest() { log_.create("person-keys", 1); }
    ~KeyFeedTest() override { std::filesystem::remove_all(folder_); }
    std::unique_ptr<privacy::PersonKeys> open(const std::string& name, char secret = 's') {
        return privacy::PersonKeys::open(folder_ / name, key_bytes(secret), &feed_).value();
    }
    static std::string seal(privacy::PersonKeys& keys) {
        const privacy::Letter letter{domain::PersonId("anna"), "d-1", "content"};
        return keys.seal(std::span(&letter, 1)).value().front();
    }
    std::filesystem::path folder_ =
        std::filesystem::path(testing::TempDir()) / ("keys" + base::to_hex(base::random_bytes(8)));
    support::MemoryLog log_;
    runtime::ManualClock clock_{base::TimePoint::from_micros(5)};
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

std::string settings_error(const std::string& text) {
    auto root = config::parse(text, "x.toml").value();
    const auto settings = read_log_settings(root, "/etc");
    const auto status = root.finish();
    return status ? "" : status.error().message;
}

TEST(LogSettings, SayWhatIsWrongWithThem) {
    EXPECT_EQ(settings_error(""), "");
    const std::string kafka = "[kafka]\nbootstrap_servers = \"a:1\"\nnode = \"n\"\n";
    EXPECT_EQ(settings_error("[log]\nbroker = \"kafka\"\nown = [0, 2]\nfollow = [1]\n" + kafka),
              "");
    for (const auto& [text, word] : std::vector<std::pair<std::string, std::string>>{
             {"[log]\nown = [0]\n", "embedded"},
             {"[log]\nbroker = \"kafka\"\n[kafka]\nbootstrap_servers = \"a:1\"\n", "node"},
             {"[log]\nbroker = \"kafka\"\n[kafka]\nnode = \"n\"\n", "bootstrap_servers"},
             {"[log]\nbroker = \"kafka\"\nown = [4]\n" + kafka, "0 to 3"},
             {"[log]\nbroker = \"kafka\"\nown = [1, 1]\n" + kafka, "twice"},
             {"[log]\nbroker = \"kafka\"\nown = [1]\nfollow = [1]\n" + kafka, "owned already"},
             {"[log]\nbroker = \"kafka\"\nfollow = [1]\n" + kafka, "own"},
             {kafka + "securty = \"tls\"\n", "securty"}}) {
        EXPECT_NE(settings_error(text).find(word), std::string::npos)
            << text << settings_error(text);
    }
}

}  // namespace
}  // namespace rampart::rampartd
