// What the nodes of one group tell each other through topics.
#include <gtest/gtest.h>

#include <filesystem>

#include "rampart/base/digest.hpp"
#include "rampart/model/model_file.hpp"
#include "services/rampartd/attribute_feed.hpp"
#include "services/rampartd/champion_feed.hpp"
#include "services/rampartd/log_settings.hpp"
#include "support/memory_log.hpp"

namespace rampart::rampartd {
namespace {

std::string key_bytes(char c) { return std::string(32, c); }

model::Policy policy(double at) {
    model::BootstrapLink link;
    link.feature = "income";
    link.points = {{0, 0.1}, {at, 0.9}};
    return model::Policy::create(dataset::FeatureSchema::create({{"income", dataset::FeatureKind::kNumeric, {}}}).value(),
                                 {link}, {}, {{"learner", "bootstrap"}})
        .value();
}

class ChampionFeed : public testing::Test {
  protected:
    ChampionFeed() { log_.create("policies", 1); }

    registry::Promotion champion(uint64_t sequence, const std::string& file, bool certified = true) {
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

TEST_F(ChampionFeed, AnotherModelUnderTheChampionsNameIsPassedOver) {
    auto promotion = champion(1, first_);
    ASSERT_TRUE(publisher_.publish(promotion, second_));  // the id of one, the bytes of another
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
    const auto folder = std::filesystem::path(testing::TempDir()) /
                        ("feed" + base::to_hex(base::random_bytes(8)));
    const auto catalog = [] {
        return protected_attributes::AttributeCatalog::create({{"sex", {"female", "male"}}}, true).value();
    };
    const auto one = protected_attributes::ProtectedStore::open(folder / "1", catalog()).value();
    const auto two = protected_attributes::ProtectedStore::open(folder / "2", catalog()).value();
    AttributeFeed told(log, log, "protected-attributes", *one), other(log, log, "protected-attributes", *two);
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

std::string settings_error(const std::string& text) {
    auto root = config::parse(text, "x.toml").value();
    const auto settings = read_log_settings(root, "/etc");
    const auto status = root.finish();
    return status ? "" : status.error().message;
}

TEST(LogSettings, SayWhatIsWrongWithThem) {
    EXPECT_EQ(settings_error(""), "");
    const std::string kafka = "[kafka]\nbootstrap_servers = \"a:1\"\nnode = \"n\"\n";
    EXPECT_EQ(settings_error("[log]\nbroker = \"kafka\"\nown = [0, 2]\nfollow = [1]\n" + kafka), "");
    for (const auto& [text, word] : std::vector<std::pair<std::string, std::string>>{
             {"[log]\nown = [0]\n", "embedded"},
             {"[log]\nbroker = \"kafka\"\n[kafka]\nbootstrap_servers = \"a:1\"\n", "node"},
             {"[log]\nbroker = \"kafka\"\n[kafka]\nnode = \"n\"\n", "bootstrap_servers"},
             {"[log]\nbroker = \"kafka\"\nown = [4]\n" + kafka, "0 to 3"},
             {"[log]\nbroker = \"kafka\"\nown = [1, 1]\n" + kafka, "twice"},
             {"[log]\nbroker = \"kafka\"\nown = [1]\nfollow = [1]\n" + kafka, "owned already"},
             {"[log]\nbroker = \"kafka\"\nfollow = [1]\n" + kafka, "own"},
             {kafka + "securty = \"tls\"\n", "securty"}}) {
        EXPECT_NE(settings_error(text).find(word), std::string::npos) << text << settings_error(text);
    }
}

}  // namespace
}  // namespace rampart::rampartd
