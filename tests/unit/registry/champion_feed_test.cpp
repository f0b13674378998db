#include "rampart/registry/champion_feed.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

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
    /// Returns the champion that the follower hands over next; one of `refused` is not taken.
    static std::optional<ChampionFollower::Champion> follow(
        ChampionFollower& follower, const std::set<domain::PolicyId>& refused = {}) {
        std::optional<ChampionFollower::Champion> taken;
        const auto status = follower.follow([&](const auto& champion) -> base::Status {
            if (refused.contains(champion.policy->id))
                return base::Error{base::ErrorCode::kFailedPrecondition, "refused", "by the test"};
            taken = champion;
            return base::ok();
        });
        EXPECT_TRUE(status) << status.error().message;
        return taken;
    }
    static std::string trouble(const ChampionFollower& follower) {
        return follower.state() ? "" : follower.state().error().reason;
    }
    /// Leaves the last record of each key, as compaction does.
    void compact() {
        std::map<std::string, streaming::Record> last;
        for (const auto& stored : log_.topics["policies"].partitions[0])
            last[stored.record.key] = stored.record;
        log_.topics["policies"].partitions[0].clear();
        for (const auto& [key, record] : last) ASSERT_TRUE(log_.append("policies", {&record, 1}));
    }

    void write(const std::string& key, const std::string& value) {
        const streaming::Record record{key, value, {}, {}};
        ASSERT_TRUE(log_.append("policies", {&record, 1}));
    }
    std::string of_a_later_release(const SchemaNotice& notice) const {
        auto bytes = encode(notice, key_);
        bytes[0] = 2;
        return bytes;
    }

    support::MemoryLog log_;
    base::SigningKey key_ = base::SigningKey::from_raw(key_bytes('a')).value();
    ChampionPublisher publisher_{log_, log_, "policies", key_};
    const std::string first_ = model::encode_model_file(policy(100));
    const std::string second_ = model::encode_model_file(policy(200));
    const std::string third_ = model::encode_model_file(policy(300));
};

TEST_F(ChampionFeed, FollowersGetEachChampionOnceAndLateOnesTheLast) {
    auto early = follower();
    EXPECT_FALSE(follow(early));
    ASSERT_TRUE(publisher_.publish(champion(1, first_, false), first_, 7));
    const auto one = follow(early);
    ASSERT_TRUE(one);
    EXPECT_EQ(one->policy->id, model::policy_id_of(first_));
    EXPECT_FALSE(one->notice.certified);
    EXPECT_FALSE(follow(early));
    ASSERT_TRUE(publisher_.publish(champion(2, second_), second_, 7));
    ASSERT_TRUE(publisher_.publish(champion(2, second_), second_, 7));  // writes nothing
    EXPECT_EQ(log_.topics["policies"].partitions[0].size(), 4u);
    ASSERT_TRUE(publisher_.publish(champion(3, first_), first_, 7));  // a rollback
    for (auto* reader : {&early}) EXPECT_EQ(follow(*reader)->policy->id, one->policy->id);
    auto late = follower();
    EXPECT_EQ(follow(late)->notice.sequence, 3u);
}

TEST_F(ChampionFeed, ATopicThatWasTruncatedIsReadFromItsBeginningAndNoEarlierChampionComesBack) {
    auto reader = follower();
    ASSERT_TRUE(publisher_.publish(champion(1, first_), first_, 7));
    ASSERT_TRUE(publisher_.publish(champion(2, second_), second_, 7));
    ASSERT_TRUE(follow(reader));
    log_.topics["policies"].partitions[0].resize(2);  // the second champion is lost
    EXPECT_FALSE(follow(reader));
    EXPECT_EQ(reader.taken()->sequence, 2u);
    EXPECT_EQ(trouble(reader), "");
    ASSERT_TRUE(publisher_.publish(champion(3, third_), third_, 7));
    EXPECT_EQ(follow(reader)->notice.sequence, 3u);
    log_.topics["policies"].failure =
        base::Error{base::ErrorCode::kOutOfRange, "offset_ahead", "ends before"};
    EXPECT_EQ(reader.follow([](const auto&) { return base::ok(); }).error().reason, "offset_ahead");
}

TEST_F(ChampionFeed, WhatTheTopicHasLostIsPublishedAgainAndOnlyThat) {
    auto& topic = log_.topics["policies"];
    auto& records = topic.partitions[0];
    ASSERT_TRUE(publisher_.publish(champion(1, first_), first_, 7, "one"));
    ASSERT_TRUE(publisher_.publish(champion(2, second_), second_, 7, "two"));
    auto before = follower();
    ASSERT_TRUE(follow(before));
    // each with what comes after it; "another": a topic that is longer
    const std::map<std::string, std::function<void()>> losses{
        {"notice", [&] { records.pop_back(); }},
        {"schema", [&] { records.resize(records.size() - 2); }},
        {"file", [&] { records.resize(records.size() - 3); }},
        {"all", [&] { records.clear(); }},
        {"another",
         [&] {
             records.clear();
             for (int i = 0; i < 20; ++i) write("other", "record");
         }},
        {"beginning", [&] {
             log_.drop_front("policies", streaming::PartitionId(0),
                             static_cast<int64_t>(records.size()) - 1);
         }}};
    const auto publish = [&](uint64_t epoch) {
        ASSERT_TRUE(publisher_.look_for_loss());
        ASSERT_TRUE(publisher_.publish(champion(2, second_), second_, epoch, "two"));
    };
    for (const auto& [what, lose] : losses) {
        publish(7);
        const auto kept = records.size();
        for (int round = 0; round < 3; ++round) publish(7);
        ASSERT_EQ(records.size(), kept) << what << ": nothing was lost";
        lose();
        const auto left = records.size();
        publish(7);
        EXPECT_EQ(records.size(), left + 3) << what;
        auto late = follower();
        const auto found = follow(late);
        ASSERT_TRUE(found) << what;
        EXPECT_EQ(found->policy->id, model::policy_id_of(second_)) << what;
        EXPECT_EQ(late.schema().value()->features, "two") << what;
        EXPECT_FALSE(follow(before)) << what << ": who had it has it";
        for (int round = 0; round < 3; ++round) publish(7);
        EXPECT_EQ(records.size(), left + 3) << what << ": once";
    }
    // under a later epoch the file is not written again; it can be lost all the same
    const auto size = records.size();
    publish(8);
    ASSERT_EQ(records.size(), size + 2);
    const streaming::PartitionId only(0);
    log_.drop_front("policies", only, static_cast<int64_t>(size) - 3);
    publish(8);
    EXPECT_EQ(records.size(), 5u) << "that was of no use any more";
    log_.drop_front("policies", only, 1);
    publish(8);
    EXPECT_EQ(records.size(), 7u) << "four that were left, and three anew";
    auto late = follower();
    EXPECT_EQ(follow(late)->notice.epoch, 8u);
    // what does not answer has lost nothing
    topic.failure = {base::ErrorCode::kUnavailable, "away", "the log"};
    records.clear();
    EXPECT_EQ(publisher_.look_for_loss().error().reason, "away");
    EXPECT_TRUE(publisher_.is_published(champion(2, second_), 8));
    topic.failure = {};
    publish(8);
    EXPECT_EQ(records.size(), 3u);
}

TEST_F(ChampionFeed, TheNewestEpochIsThatOfANoticeWhoeverSignedIt) {
    const auto newest = [&] { return newest_epoch(log_, "policies").value(); };
    EXPECT_EQ(newest(), 0u);
    ASSERT_TRUE(publisher_.publish(champion(1, first_), first_, 9, "one"));
    EXPECT_EQ(newest(), 9u);
    const auto stranger = base::SigningKey::from_raw(key_bytes('b')).value();
    ASSERT_TRUE(ChampionPublisher(log_, log_, "policies", stranger)
                    .publish(champion(1, first_), first_, 7));
    EXPECT_EQ(newest(), 9u) << "not that of the last";
    write("champion/10", "cannot be read");
    EXPECT_EQ(newest(), 10u);
    for (const char* other : {"champion", "champion/", "champion/-1", "champion/11x", "schema/12",
                              "champions/13", "champion/99999999999999999999"})
        write(other, "x");
    EXPECT_EQ(newest(), 10u);
    log_.topics["policies"].failure = {base::ErrorCode::kUnavailable, "away", "the log"};
    EXPECT_EQ(newest_epoch(log_, "policies").error().reason, "away");
}

TEST_F(ChampionFeed, WhatIsNotSignedByTheTrainerDecidesNothing) {
    const auto stranger = base::SigningKey::from_raw(key_bytes('b')).value();
    ASSERT_TRUE(ChampionPublisher(log_, log_, "policies", stranger)
                    .publish(champion(9, first_), first_, 7));
    auto reader = follower();
    EXPECT_FALSE(follow(reader));
    ASSERT_TRUE(publisher_.publish(champion(1, second_), second_, 7));
    EXPECT_EQ(follow(reader)->policy->id, model::policy_id_of(second_));
}

TEST_F(ChampionFeed, NoticesOfARetiredKeyCountForThoseWhoKnowIt) {
    const auto next = base::SigningKey::from_raw(key_bytes('n')).value();
    ASSERT_TRUE(publisher_.publish(champion(1, first_), first_, 7));
    ChampionFollower both(log_, "policies", {next.public_key(), key_.public_key()});
    ChampionFollower anew(log_, "policies", {next.public_key()});
    auto old = follower();
    EXPECT_EQ(follow(both)->policy->id, model::policy_id_of(first_));
    EXPECT_FALSE(follow(anew)) << "a key that was taken away does not decide";
    EXPECT_TRUE(follow(old));
    ASSERT_TRUE(
        ChampionPublisher(log_, log_, "policies", next).publish(champion(2, second_), second_, 7));
    EXPECT_EQ(follow(both)->policy->id, model::policy_id_of(second_));
    EXPECT_EQ(follow(anew)->policy->id, model::policy_id_of(second_));
    EXPECT_FALSE(follow(old)) << "it goes on with the champion that it has";
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
    EXPECT_FALSE(follow(reader));
}

TEST_F(ChampionFeed, WhatAProcessWritesThatTrainsNoMoreDoesNotCount) {
    ChampionPublisher late(log_, log_, "policies", key_);
    ASSERT_TRUE(late.publish(champion(3, first_), first_, 7));
    auto reader = follower();
    EXPECT_EQ(follow(reader)->notice.epoch, 7u);
    ASSERT_TRUE(publisher_.publish(champion(2, second_), second_, 8));
    EXPECT_EQ(follow(reader)->policy->id, model::policy_id_of(second_))
        << "a later epoch, whatever the number of the promotion";
    ASSERT_TRUE(late.publish(champion(4, first_), first_, 7));
    EXPECT_FALSE(follow(reader));
    auto anew = follower();
    EXPECT_EQ(follow(anew)->policy->id, model::policy_id_of(second_));
    compact();
    auto after = follower();
    EXPECT_EQ(follow(after)->policy->id, model::policy_id_of(second_));
}

TEST_F(ChampionFeed, TheSameChampionUnderALaterEpochIsNoNewOne) {
    auto reader = follower();
    ASSERT_TRUE(publisher_.publish(champion(1, first_), first_, 7));
    ASSERT_TRUE(follow(reader));
    EXPECT_TRUE(publisher_.is_published(champion(1, first_), 7));
    EXPECT_FALSE(publisher_.is_published(champion(1, first_), 8));
    ASSERT_TRUE(publisher_.publish(champion(1, first_), first_, 8));
    EXPECT_EQ(log_.topics["policies"].partitions[0].size(), 3u) << "the model is there";
    EXPECT_FALSE(follow(reader));
    ASSERT_TRUE(
        ChampionPublisher(log_, log_, "policies", key_).publish(champion(2, second_), second_, 7));
    EXPECT_FALSE(follow(reader)) << "the later epoch was read";
}

TEST_F(ChampionFeed, ANoticeOfAnEarlierReleaseCountsUntilThereIsOneWithAnEpoch) {
    ASSERT_TRUE(publisher_.publish(champion(5, first_), first_, 0));
    EXPECT_EQ(log_.topics["policies"].partitions[0].back().record.key, "champion");
    EXPECT_EQ(log_.topics["policies"].partitions[0].back().record.value[0], 1);
    auto reader = follower();
    EXPECT_EQ(follow(reader)->policy->id, model::policy_id_of(first_));
    ASSERT_TRUE(publisher_.publish(champion(2, second_), second_, 1));
    EXPECT_EQ(log_.topics["policies"].partitions[0].back().record.key, "champion/1");
    EXPECT_EQ(follow(reader)->policy->id, model::policy_id_of(second_));
}

TEST_F(ChampionFeed, TheSchemaIsThatOfTheLatestEpochAsItWasSaidLast) {
    const auto schema_at = [](const ChampionFollower& reader) {
        const auto found = reader.schema().value();
        EXPECT_EQ(found, reader.find_schema().value());
        return found ? found->features : "none";
    };
    auto reader = follower();
    ASSERT_TRUE(publisher_.publish(champion(1, first_), first_, 7));
    ASSERT_TRUE(follow(reader));
    EXPECT_EQ(schema_at(reader), "none") << "of an earlier release";
    EXPECT_EQ(log_.topics["policies"].partitions[0].size(), 2u);
    ASSERT_TRUE(publisher_.publish(champion(2, second_), second_, 7, "one"));
    const auto& records = log_.topics["policies"].partitions[0];
    ASSERT_EQ(records.size(), 5u);
    EXPECT_EQ(records[3].record.key, "schema/7");
    EXPECT_EQ(records[4].record.key, "champion/7") << "who reads it has the schema";
    std::string seen;
    ASSERT_TRUE(reader.follow([&](const auto&) {
        seen = schema_at(reader);
        return base::ok();
    }));
    EXPECT_EQ(seen, "one") << "when the champion is handed over";
    // a start of the node that trains: the champion and the epoch are the same
    ChampionPublisher anew(log_, log_, "policies", key_);
    ASSERT_TRUE(anew.publish(champion(2, second_), second_, 7, "two"));
    EXPECT_FALSE(follow(reader));
    EXPECT_EQ(schema_at(reader), "two");
    ASSERT_TRUE(anew.publish(champion(2, second_), second_, 8, "three"));
    ASSERT_TRUE(publisher_.publish(champion(3, third_), third_, 7, "one"));
    EXPECT_FALSE(follow(reader));
    EXPECT_EQ(schema_at(reader), "three") << "who has trained before does not count";
    compact();
    auto late = follower();
    ASSERT_TRUE(follow(late));
    EXPECT_EQ(schema_at(late), "three");
}

TEST_F(ChampionFeed, ASchemaThatDoesNotCountIsSaidAndTheOneBeforeStays) {
    const auto stranger = base::SigningKey::from_raw(key_bytes('b')).value();
    auto reader = follower();
    ASSERT_TRUE(publisher_.publish(champion(1, first_), first_, 7, "one"));
    ASSERT_TRUE(follow(reader));
    write("schema/7", encode(SchemaNotice{7, "two"}, stranger));
    EXPECT_FALSE(follow(reader));
    EXPECT_EQ(trouble(reader), "");
    EXPECT_EQ(reader.schema().value()->features, "one");
    EXPECT_EQ(reader.find_schema().value()->features, "one");
    auto anew = follower();
    ASSERT_TRUE(follow(anew));
    write("schema/7", of_a_later_release({7, "two"}));
    for (auto* one : {&reader, &anew}) {
        EXPECT_FALSE(follow(*one));
        EXPECT_EQ(trouble(*one), "");
        EXPECT_EQ(one->schema().value()->features, "one") << "its sender may have no key";
        EXPECT_EQ(one->find_schema().value()->features, "one");
    }
    auto last = follower();
    ASSERT_TRUE(follow(last));
    EXPECT_EQ(last.schema().value()->features, "one");
    ASSERT_TRUE(publisher_.publish(champion(2, second_), second_, 8, "three"));
    for (auto* one : {&reader, &anew}) {
        EXPECT_TRUE(follow(*one));
        EXPECT_EQ(one->schema().value()->features, "three");
        EXPECT_EQ(trouble(*one), "");
    }
    EXPECT_EQ(reader.find_schema().value()->features, "three");
}

TEST_F(ChampionFeed, ASchemaWhoseKeyAnotherRecordHasTakenIsPublishedAgain) {
    ASSERT_TRUE(publisher_.publish(champion(1, first_), first_, 7, "one"));
    auto& records = log_.topics["policies"].partitions[0];
    ASSERT_EQ(records.size(), 3u);
    records[1].record.value = of_a_later_release({7, "two"});  // as compaction leaves it
    auto late = follower();
    ASSERT_TRUE(follow(late));
    EXPECT_EQ(late.schema().error().reason, "bad_notice");
    EXPECT_EQ(late.find_schema().value(), std::nullopt) << "none that can be read";
    for (int round = 0; round < 3; ++round) {
        ASSERT_TRUE(publisher_.look_for_loss());
        ASSERT_TRUE(publisher_.publish(champion(1, first_), first_, 7, "one"));
        EXPECT_EQ(records.size(), 6u) << "once";
    }
    EXPECT_FALSE(follow(late));
    EXPECT_EQ(late.schema().value()->features, "one");
    EXPECT_EQ(trouble(late), "");
}

TEST_F(ChampionFeed, ASchemaThatNoKeyHasSignedIsNotPassedOverWhereItIsTheOnlyOneOfItsChampion) {
    const auto stranger = base::SigningKey::from_raw(key_bytes('b')).value();
    ASSERT_TRUE(publisher_.publish(champion(1, first_), first_, 7, "one"));
    write("schema/7", encode(SchemaNotice{7, "two"}, stranger));
    compact();
    auto reader = follower();
    ASSERT_TRUE(follow(reader));
    EXPECT_EQ(reader.schema().error().reason, "bad_signature");
    ChampionPublisher again(log_, log_, "policies", key_);
    ASSERT_TRUE(again.publish(champion(1, first_), first_, 8, "one"));
    EXPECT_FALSE(follow(reader)) << "the same champion";
    EXPECT_EQ(reader.schema().value()->features, "one");
    EXPECT_EQ(trouble(reader), "");
    // a signed one of another epoch is not taken for that of this one
    write("schema/8", encode(SchemaNotice{7, "two"}, key_));
    EXPECT_FALSE(follow(reader));
    EXPECT_EQ(trouble(reader), "");
    EXPECT_EQ(reader.schema().value()->features, "one");
}

TEST_F(ChampionFeed, BeforeThereIsAChampionNoSchemaCountsAndNoneIsInTheWay) {
    const auto stranger = base::SigningKey::from_raw(key_bytes('b')).value();
    for (const uint64_t epoch : {0, 1, 7})
        write(schema_notice_key(epoch), encode(SchemaNotice{epoch, "strange"}, stranger));
    write("schema/2", of_a_later_release({2, "later"}));
    auto reader = follower();
    EXPECT_FALSE(follow(reader));
    EXPECT_EQ(trouble(reader), "");
    EXPECT_EQ(reader.schema().value(), std::nullopt);
    ASSERT_TRUE(publisher_.publish(champion(1, first_), first_, 1, "one"));
    ASSERT_TRUE(follow(reader));
    EXPECT_EQ(reader.schema().value()->features, "one");
}

/// It may take the training over: what it says has to have grown from what was said before.
TEST_F(ChampionFeed, AFollowerKeepsTheSchemaThatItHasReadThoughTheTopicHasItNoMore) {
    const auto stranger = base::SigningKey::from_raw(key_bytes('b')).value();
    ASSERT_TRUE(publisher_.publish(champion(1, first_), first_, 7, "one"));
    auto reader = follower();
    ASSERT_TRUE(follow(reader));
    write("schema/7", encode(SchemaNotice{7, "two"}, stranger));
    compact();
    EXPECT_EQ(follower().find_schema().value(), std::nullopt) << "none that counts is left";
    EXPECT_EQ(reader.find_schema().value()->features, "one");
    EXPECT_FALSE(follow(reader));
    EXPECT_EQ(reader.find_schema().value()->features, "one");
    EXPECT_EQ(reader.schema().value()->features, "one");
}

TEST_F(ChampionFeed, OfATopicThatWasMadeAnewTheSchemaIsThatOfItsNewestChampion) {
    const auto stranger = base::SigningKey::from_raw(key_bytes('b')).value();
    ASSERT_TRUE(publisher_.publish(champion(1, first_), first_, 1, "old one"));
    ASSERT_TRUE(publisher_.publish(champion(2, second_), second_, 9, "old"));
    auto before = follower();
    ASSERT_TRUE(follow(before));
    // what the other topic leaves behind belongs to no champion: unsigned, unreadable and signed
    log_.topics["policies"].partitions[0].clear();
    write("schema/9", encode(SchemaNotice{9, "strange"}, stranger));
    write("schema/20", encode(SchemaNotice{20, "strange"}, stranger));
    write("schema/21", of_a_later_release({21, "later"}));
    write("schema/22", encode(SchemaNotice{22, "without a champion"}, key_));
    write("schema/", "");
    EXPECT_EQ(follower().find_schema().value(), std::nullopt);
    EXPECT_FALSE(follow(before)) << "it notices that the topic is another";
    ChampionPublisher anew(log_, log_, "policies", key_);
    ASSERT_TRUE(anew.publish(champion(1, first_), first_, 2, "new"));
    auto fresh = follower();
    EXPECT_EQ(follow(fresh)->notice.epoch, 2u);
    EXPECT_EQ(fresh.schema().value()->features, "new");
    EXPECT_EQ(fresh.find_schema().value()->features, "new");
    EXPECT_EQ(trouble(fresh), "");
    // who has read the other topic keeps its champion, with the schema that belongs to that one
    EXPECT_FALSE(follow(before));
    EXPECT_EQ(before.taken()->epoch, 9u);
    EXPECT_EQ(before.schema().value()->features, "old");
    ASSERT_TRUE(anew.publish(champion(2, third_), third_, 10, "newest"));
    for (auto* reader : {&before, &fresh}) {
        EXPECT_EQ(follow(*reader)->notice.epoch, 10u);
        EXPECT_EQ(reader->schema().value()->features, "newest");
        EXPECT_EQ(trouble(*reader), "");
    }
}

TEST_F(ChampionFeed, AChampionOfAnEarlierReleaseHasNoSchemaThoughOneBeforeItHad) {
    ASSERT_TRUE(publisher_.publish(champion(1, first_), first_, 7, "one"));
    ASSERT_TRUE(publisher_.publish(champion(2, second_), second_, 8));
    auto reader = follower();
    ASSERT_TRUE(follow(reader));
    EXPECT_EQ(reader.schema().value(), std::nullopt);
    EXPECT_EQ(reader.find_schema().value()->features, "one") << "what was said last";
}

TEST_F(ChampionFeed, AFollowerThatStartsAnewTakesTheChampionAgain) {
    auto reader = follower();
    ASSERT_TRUE(publisher_.publish(champion(1, first_), first_, 7, "one"));
    ASSERT_TRUE(publisher_.publish(champion(2, second_), second_, 7, "one"));
    ASSERT_TRUE(follow(reader));
    EXPECT_FALSE(follow(reader));
    reader.start_anew();
    EXPECT_FALSE(reader.taken());
    EXPECT_EQ(reader.schema().value(), std::nullopt);
    EXPECT_EQ(follow(reader)->notice.sequence, 2u);
    EXPECT_EQ(reader.schema().value()->features, "one");
}

TEST_F(ChampionFeed, AChampionThatIsNotTakenIsSaidUntilOneIs) {
    const std::set<domain::PolicyId> blind{model::policy_id_of(second_)};
    auto reader = follower();
    EXPECT_EQ(trouble(reader), "") << "there is none yet";
    ASSERT_TRUE(publisher_.publish(champion(1, first_, false), first_, 7));
    ASSERT_TRUE(follow(reader, blind));
    ASSERT_TRUE(publisher_.publish(champion(2, second_), second_, 7));
    for (int round = 0; round < 3; ++round) {
        EXPECT_FALSE(follow(reader, blind));
        EXPECT_EQ(trouble(reader), "refused") << round;
        EXPECT_EQ(reader.taken()->sequence, 1u) << "that one decides on";
    }
    EXPECT_NE(reader.state().error().message.find(model::policy_id_of(first_).value() + " decides"),
              std::string::npos)
        << reader.state().error().message;
    ASSERT_TRUE(publisher_.publish(champion(3, third_), third_, 7));
    EXPECT_EQ(follow(reader, blind)->notice.sequence, 3u);
    EXPECT_EQ(trouble(reader), "");
    // it is asked again where the node that trains says it anew
    ASSERT_TRUE(publisher_.publish(champion(4, second_), second_, 7));
    EXPECT_FALSE(follow(reader, blind));
    ASSERT_TRUE(publisher_.publish(champion(4, second_), second_, 8));
    EXPECT_EQ(follow(reader)->notice.epoch, 8u);
    EXPECT_EQ(trouble(reader), "");
}

TEST_F(ChampionFeed, AStartTakesWhatANodeThatRanOnWouldHave) {
    const std::set<domain::PolicyId> later{model::policy_id_of(second_),
                                           model::policy_id_of(third_)};
    ASSERT_TRUE(publisher_.publish(champion(1, first_, false), first_, 6));
    ASSERT_TRUE(publisher_.publish(champion(2, second_), second_, 7));
    ASSERT_TRUE(publisher_.publish(champion(3, third_), third_, 8));
    auto reader = follower();
    EXPECT_EQ(follow(reader, later)->notice.sequence, 1u);
    EXPECT_EQ(trouble(reader), "refused");
    // a model that does not load
    for (auto& stored : log_.topics["policies"].partitions[0])
        if (stored.record.key == model::policy_id_of(third_).value()) stored.record.value = "x";
    auto other = follower();
    EXPECT_EQ(follow(other)->notice.sequence, 2u);
    EXPECT_EQ(trouble(other), "no_model");
    // the first may have been rolled back since: the topic has no more what came directly after it
    compact();
    ASSERT_TRUE(publisher_.publish(champion(5, second_), second_, 8));
    compact();
    auto late = follower();
    EXPECT_FALSE(follow(late, later));
    EXPECT_EQ(trouble(late), "refused");
    EXPECT_FALSE(late.taken());
    EXPECT_NE(late.state().error().message.find("none decides"), std::string::npos);
}

TEST_F(ChampionFeed, ANoticeThatNoKeySignedIsSaidUntilALaterOneCounts) {
    const auto other = base::SigningKey::from_raw(key_bytes('n')).value();
    auto reader = follower();
    ASSERT_TRUE(
        ChampionPublisher(log_, log_, "policies", other).publish(champion(1, first_), first_, 7));
    EXPECT_FALSE(follow(reader));
    EXPECT_EQ(trouble(reader), "bad_signature");
    EXPECT_FALSE(follow(reader));
    EXPECT_EQ(trouble(reader), "bad_signature") << "though it is read no more";
    ASSERT_TRUE(publisher_.publish(champion(2, second_), second_, 7));
    ASSERT_TRUE(follow(reader));
    EXPECT_EQ(trouble(reader), "");
    ASSERT_TRUE(
        ChampionPublisher(log_, log_, "policies", other).publish(champion(3, first_), first_, 7));
    EXPECT_FALSE(follow(reader));
    EXPECT_EQ(trouble(reader), "bad_signature");
    EXPECT_EQ(reader.taken()->sequence, 2u);
}

TEST_F(ChampionFeed, WhatCannotBeReadCountsAsUnread) {
    ASSERT_TRUE(publisher_.publish(champion(1, first_), first_, 7));
    auto reader = follower();
    log_.topics["policies"].failure = {base::ErrorCode::kUnavailable, "away", "the log"};
    EXPECT_EQ(reader.follow([](const auto&) { return base::ok(); }).error().reason, "away");
    log_.topics["policies"].failure = {};
    EXPECT_EQ(follow(reader)->notice.sequence, 1u);
}

TEST_F(ChampionFeed, FilesAreFoundInTheOrderAskedForByTheirContentAndTheLastOfEach) {
    const auto id = [](const std::string& file) { return model::policy_id_of(file); };
    for (int i = 0; i < 20; ++i) write("filler", "more than one reading has");
    write(id(second_).value(), second_);
    write(id(first_).value(), "damaged");
    write(id(first_).value(), first_);
    write(id(second_).value(), "damaged");
    const auto reader = follower();
    const std::vector<domain::PolicyId> asked{id(first_), id(third_), id(second_), id(first_)};
    const auto found = reader.find_models(asked);
    ASSERT_TRUE(found);
    EXPECT_EQ(*found,
              (std::vector<std::optional<std::string>>{first_, std::nullopt, second_, first_}));
}

TEST_F(ChampionFeed, WhatIsTakenIsTheLatestOnlyInItsPromotionAndEpoch) {
    auto reader = follower();
    EXPECT_FALSE(reader.takes_latest());
    ASSERT_TRUE(publisher_.publish(champion(1, first_), first_, 7));
    ASSERT_TRUE(follow(reader));
    EXPECT_TRUE(reader.takes_latest());
    ASSERT_TRUE(publisher_.publish(champion(2, second_), second_, 8));
    EXPECT_FALSE(follow(reader, {model::policy_id_of(second_)}));
    EXPECT_FALSE(reader.takes_latest());
    ASSERT_TRUE(publisher_.publish(champion(3, first_), first_, 8));
    ASSERT_TRUE(follow(reader));
    EXPECT_TRUE(reader.takes_latest());
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
