#include "rampart/registry/champion_feed.hpp"

#include <gtest/gtest.h>

#include "rampart/base/digest.hpp"
#include "rampart/model/model_file.hpp"
#include "support/memory_log.hpp"

namespace rampart::registry {
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

    Promotion champion(uint64_t sequence, const std::string& file, bool certified = true) {
        Promotion promotion;
        promotion.sequence = sequence;
        promotion.policy = model::policy_id_of(file);
        if (certified) promotion.certificate = base::sha256("certificate");
        return promotion;
    }
    ChampionFollower follower() { return {log_, "policies", {key_.public_key()}}; }

    support::MemoryLog log_;
    base::SigningKey key_ = base::SigningKey::from_raw(key_bytes('a')).value();
    ChampionPublisher publisher_{log_, "policies", key_};
    const std::string first_ = model::encode_model_file(policy(100));
    const std::string second_ = model::encode_model_file(policy(200));
};

TEST_F(ChampionFeed, FollowersGetEachChampionOnceAndLateOnesTheLast) {
    auto early = follower();
    EXPECT_FALSE(early.next().value());
    ASSERT_TRUE(publisher_.publish(champion(1, first_, false), first_, 7));
    const auto one = early.next().value();
    ASSERT_TRUE(one);
    EXPECT_EQ(one->policy.id, model::policy_id_of(first_));
    EXPECT_FALSE(one->notice.certified);
    EXPECT_FALSE(early.next().value());
    ASSERT_TRUE(publisher_.publish(champion(2, second_), second_, 7));
    ASSERT_TRUE(publisher_.publish(champion(2, second_), second_, 7));  // writes nothing
    EXPECT_EQ(log_.topics["policies"].partitions[0].size(), 4u);
    ASSERT_TRUE(publisher_.publish(champion(3, first_), first_, 7));  // a rollback
    for (auto* reader : {&early}) EXPECT_EQ(reader->next().value()->policy.id, one->policy.id);
    auto late = follower();
    EXPECT_EQ(late.next().value()->notice.sequence, 3u);
}

TEST_F(ChampionFeed, WhatIsNotSignedByTheTrainerDecidesNothing) {
    const auto stranger = base::SigningKey::from_raw(key_bytes('b')).value();
    ASSERT_TRUE(
        ChampionPublisher(log_, "policies", stranger).publish(champion(9, first_), first_, 7));
    auto reader = follower();
    EXPECT_FALSE(reader.next().value());
    ASSERT_TRUE(publisher_.publish(champion(1, second_), second_, 7));
    EXPECT_EQ(reader.next().value()->policy.id, model::policy_id_of(second_));
}

TEST_F(ChampionFeed, NoticesOfARetiredKeyCountForThoseWhoKnowIt) {
    const auto next = base::SigningKey::from_raw(key_bytes('n')).value();
    ASSERT_TRUE(publisher_.publish(champion(1, first_), first_, 7));
    ChampionFollower both(log_, "policies", {next.public_key(), key_.public_key()});
    ChampionFollower anew(log_, "policies", {next.public_key()});
    auto old = follower();
    EXPECT_EQ(both.next().value()->policy.id, model::policy_id_of(first_));
    EXPECT_FALSE(anew.next().value()) << "a key that was taken away does not decide";
    EXPECT_TRUE(old.next().value());
    ASSERT_TRUE(
        ChampionPublisher(log_, "policies", next).publish(champion(2, second_), second_, 7));
    EXPECT_EQ(both.next().value()->policy.id, model::policy_id_of(second_));
    EXPECT_EQ(anew.next().value()->policy.id, model::policy_id_of(second_));
    EXPECT_FALSE(old.next().value()) << "it goes on with the champion that it has";
}

TEST_F(ChampionFeed, AnotherModelUnderTheChampionsNameIsNeitherPublishedNorTaken) {
    auto promotion = champion(1, first_);
    const auto refused = publisher_.publish(promotion, second_, 7);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "model_digest");
    ASSERT_TRUE(publisher_.publish(promotion, first_, 7));
    // the id of one, the bytes of another
    log_.topics["policies"].partitions[0].front().record.value = second_;
    auto reader = follower();
    EXPECT_FALSE(reader.next().value());
}

TEST_F(ChampionFeed, WhatAProcessWritesThatTrainsNoMoreDoesNotCount) {
    ChampionPublisher late(log_, "policies", key_);
    ASSERT_TRUE(late.publish(champion(3, first_), first_, 7));
    auto reader = follower();
    EXPECT_EQ(reader.next().value()->notice.epoch, 7u);
    ASSERT_TRUE(publisher_.publish(champion(2, second_), second_, 8));
    EXPECT_EQ(reader.next().value()->policy.id, model::policy_id_of(second_))
        << "a later epoch, whatever the number of the promotion";
    ASSERT_TRUE(late.publish(champion(4, first_), first_, 7));
    EXPECT_FALSE(reader.next().value());
    auto anew = follower();
    EXPECT_EQ(anew.next().value()->policy.id, model::policy_id_of(second_));
    // compaction keeps the last record of a key
    auto& records = log_.topics["policies"].partitions[0];
    std::map<std::string, streaming::Record> last;
    for (const auto& stored : records) last[stored.record.key] = stored.record;
    support::MemoryLog compacted;
    compacted.create("policies", 1);
    for (const auto& [key, record] : last) ASSERT_TRUE(compacted.append("policies", {&record, 1}));
    ChampionFollower after(compacted, "policies", {key_.public_key()});
    EXPECT_EQ(after.next().value()->policy.id, model::policy_id_of(second_));
}

TEST_F(ChampionFeed, TheSameChampionUnderALaterEpochIsNoNewOne) {
    auto reader = follower();
    ASSERT_TRUE(publisher_.publish(champion(1, first_), first_, 7));
    ASSERT_TRUE(reader.next().value());
    EXPECT_TRUE(publisher_.is_published(champion(1, first_), 7));
    EXPECT_FALSE(publisher_.is_published(champion(1, first_), 8));
    ASSERT_TRUE(publisher_.publish(champion(1, first_), first_, 8));
    EXPECT_EQ(log_.topics["policies"].partitions[0].size(), 3u) << "the model is there";
    EXPECT_FALSE(reader.next().value());
    ASSERT_TRUE(
        ChampionPublisher(log_, "policies", key_).publish(champion(2, second_), second_, 7));
    EXPECT_FALSE(reader.next().value()) << "the later epoch was read";
}

TEST_F(ChampionFeed, ANoticeOfAnEarlierReleaseCountsUntilThereIsOneWithAnEpoch) {
    ASSERT_TRUE(publisher_.publish(champion(5, first_), first_, 0));
    EXPECT_EQ(log_.topics["policies"].partitions[0].back().record.key, "champion");
    EXPECT_EQ(log_.topics["policies"].partitions[0].back().record.value[0], 1);
    auto reader = follower();
    EXPECT_EQ(reader.next().value()->policy.id, model::policy_id_of(first_));
    ASSERT_TRUE(publisher_.publish(champion(2, second_), second_, 1));
    EXPECT_EQ(log_.topics["policies"].partitions[0].back().record.key, "champion/1");
    EXPECT_EQ(reader.next().value()->policy.id, model::policy_id_of(second_));
}

TEST_F(ChampionFeed, ANoticeIsAllOfItsBytesAndNoOthers) {
    const ChampionNotice notice{4, model::policy_id_of(first_), true, 9};
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

}  // namespace
}  // namespace rampart::registry
