// Protected attributes on a shared log, as nodes read and write them: the view that seals, the
// feed, the keys of persons and the stores together.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "rampart/base/digest.hpp"
#include "rampart/protected_attributes/attribute_feed.hpp"
#include "rampart/protected_attributes/codec.hpp"
#include "rampart/sealed_log/key_feed.hpp"
#include "rampart/sealed_log/sealed_log.hpp"
#include "support/byte_scan.hpp"
#include "support/memory_log.hpp"

namespace rampart::rampartd {
namespace {

namespace fs = std::filesystem;
using domain::PersonId;
using protected_attributes::AttributeCatalog;
using protected_attributes::AttributeFeed;
using protected_attributes::ProtectedAttributes;
using protected_attributes::ProtectedStore;

const std::string kTopic = "protected-attributes";
const std::string kMarker = "kx7QvW2mZp9RtYb4NcLs8JdH";  // a value of an attribute

base::TimePoint at(int64_t micros) { return base::TimePoint::from_micros(micros); }

class FixedClock final : public base::Clock {
  public:
    base::TimePoint now() const override { return at(5); }
};

ProtectedAttributes attributes_of(const std::string& person, int64_t micros,
                                  const std::string& value = kMarker) {
    return {PersonId(person), at(micros), {{"origin", value}}};
}

/// A node, as far as it has to do with protected attributes.
class Reader {
  public:
    Reader(const fs::path& folder, support::MemoryLog& log)
        : key_feed_(log, log, clock_, "person-keys"),
          keys(
              privacy::PersonKeys::open(folder / "keys", std::string(32, 's'), &key_feed_).value()),
          view_(log, log, *keys, "decisions", true, kTopic),
          store(ProtectedStore::open(
                    folder / "protected",
                    AttributeCatalog::create({{"origin", {kMarker, "elsewhere"}}}, true).value())
                    .value()),
          feed(view_, view_, kTopic, *store) {}

    void state(const ProtectedAttributes& one, int64_t now) {
        ASSERT_TRUE(feed.publish(std::span(&one, 1), at(now)));
    }
    /// Reads as a node does: the keys first. Returns the reason of the error.
    std::string read(int64_t now = 1000) {
        const auto fresh = keys->refresh();
        EXPECT_TRUE(fresh);
        const auto status = feed.catch_up(at(now));
        return status ? "" : status.error().reason;
    }
    bool knows(const std::string& person) const {
        return store->get(PersonId(person)).value().has_value();
    }

  private:
    FixedClock clock_;
    sealed_log::KeyFeed key_feed_;

  public:
    std::unique_ptr<privacy::PersonKeys> keys;

  private:
    sealed_log::SealedLog view_;

  public:
    std::unique_ptr<ProtectedStore> store;
    AttributeFeed feed;
};

class AttributesOnTheLog : public testing::Test {
  protected:
    AttributesOnTheLog() {
        log_.create(kTopic, 1);
        log_.create("person-keys", 1);
    }
    ~AttributesOnTheLog() override { fs::remove_all(folder_); }
    std::unique_ptr<Reader> open(const std::string& name) {
        fs::create_directories(folder_ / name);
        return std::make_unique<Reader>(folder_ / name, log_);
    }
    bool in_the_log() {
        for (const auto& [name, topic] : log_.topics)
            for (const auto& partition : topic.partitions)
                for (const auto& stored : partition)
                    if (test_support::has_trace(stored.record.value, kMarker)) return true;
        return false;
    }

    const fs::path folder_ =
        fs::path(testing::TempDir()) / ("attributes" + base::to_hex(base::random_bytes(8)));
    support::MemoryLog log_;
};

TEST_F(AttributesOnTheLog, AreSealedThereAndTheSameAtEachNodeAfterARestartAndARebuild) {
    auto a = open("a"), b = open("b");
    a->state(attributes_of("ann", 1), 10);
    a->state(attributes_of("bert", 1, "elsewhere"), 10);
    b->state(attributes_of("ann", 2, "elsewhere"), 20);
    EXPECT_FALSE(in_the_log());
    for (auto* node : {a.get(), b.get()}) ASSERT_EQ(node->read(), "");
    a.reset();
    b.reset();
    a = open("a");
    fs::remove_all(folder_ / "b" / "protected");
    b = open("b");
    const auto late = open("c");  // has neither keys nor attributes yet
    for (auto* node : {a.get(), b.get(), late.get()}) {
        ASSERT_EQ(node->read(5000), "");
        EXPECT_EQ(node->store->get(PersonId("ann")).value(), attributes_of("ann", 2, "elsewhere"));
        EXPECT_EQ(node->store->membership_at(PersonId("ann"), at(9))->cell, std::nullopt);
        const auto then = node->store->membership_at(PersonId("ann"), at(15));
        EXPECT_EQ(then.value(), a->store->membership_at(PersonId("ann"), at(15)).value());
        EXPECT_TRUE(then->cell);
        EXPECT_TRUE(node->knows("bert"));
    }
}

TEST_F(AttributesOnTheLog, AnErasureBetweenWritingAndReadingLeavesNothing) {
    const auto a = open("a"), b = open("b"), blind = open("blind");
    a->state(attributes_of("ann", 1), 10);
    a->state(attributes_of("bert", 1, "elsewhere"), 10);
    // asked at a node that has nothing to do with attributes: it destroys the key, and no more
    EXPECT_TRUE(blind->keys->refresh());
    EXPECT_EQ(blind->keys->destroy(PersonId("ann")).value(), 1u);
    for (auto* node : {a.get(), b.get()}) {
        ASSERT_EQ(node->read(), "");
        EXPECT_FALSE(node->knows("ann"));
        EXPECT_TRUE(node->knows("bert"));
    }
    EXPECT_EQ(test_support::files_with(folder_, kMarker), std::vector<std::string>());
    // the person returns, and is a new one
    b->state(attributes_of("ann", 3), 30);
    EXPECT_FALSE(in_the_log());
    const auto late = open("late");
    for (auto* node : {a.get(), b.get(), late.get()}) {
        ASSERT_EQ(node->read(), "");
        EXPECT_TRUE(node->knows("ann"));
    }
}

TEST_F(AttributesOnTheLog, AnErasureAtANodeWithoutThemReachesWhatWasReadAtTheNextStart) {
    auto a = open("a");
    const auto blind = open("blind");
    a->state(attributes_of("ann", 1), 10);
    ASSERT_EQ(a->read(), "");
    ASSERT_TRUE(a->knows("ann"));
    EXPECT_TRUE(blind->keys->refresh());
    EXPECT_EQ(blind->keys->destroy(PersonId("ann")).value(), 1u);
    a.reset();
    EXPECT_FALSE(test_support::files_with(folder_ / "a", kMarker).empty());
    a = open("a");
    ASSERT_EQ(a->read(), "");
    EXPECT_FALSE(a->knows("ann"));
    EXPECT_EQ(test_support::files_with(folder_ / "a", kMarker), std::vector<std::string>());
}

TEST_F(AttributesOnTheLog, WhatOtherSystemsWrotePlainIsReadAndErasedByATombstone) {
    const auto a = open("a");
    const auto plain = attributes_of("ann", 1);
    const streaming::Record record{"ann", encode(plain), plain.event_time, {}};
    ASSERT_TRUE(log_.append(kTopic, std::span(&record, 1)));
    a->state(attributes_of("bert", 1), 10);
    ASSERT_EQ(a->read(), "");
    EXPECT_EQ(a->store->get(plain.person).value(), plain);
    EXPECT_TRUE(a->knows("bert"));
    ASSERT_TRUE(a->feed.publish_erasure(plain.person, at(20)));
    ASSERT_EQ(a->read(), "");
    EXPECT_FALSE(a->knows("ann"));
    EXPECT_TRUE(a->knows("bert"));
}

TEST_F(AttributesOnTheLog, WithoutTheKeyReadingStandsStillUntilItIsThere) {
    const auto a = open("a");
    a->state(attributes_of("ann", 1), 10);
    a->state(attributes_of("bert", 1), 10);
    auto& published = log_.topics["person-keys"].partitions[0];
    const auto lost = published;
    published.clear();
    const auto b = open("b");
    EXPECT_EQ(b->read(), "unknown_person_key");
    EXPECT_FALSE(b->knows("bert"));
    published = lost;
    EXPECT_EQ(b->read(), "");
    EXPECT_TRUE(b->knows("ann"));
    EXPECT_TRUE(b->knows("bert"));
}

TEST_F(AttributesOnTheLog, AKeyThatIsGivenUpErasesWhatItSealedAndTheRestIsRead) {
    const auto a = open("a");
    a->state(attributes_of("ann", 1), 10);
    a->state(attributes_of("bert", 1), 10);
    auto& published = log_.topics["person-keys"].partitions[0];
    const auto second = published.at(1);
    published.clear();
    const auto b = open("b");
    EXPECT_EQ(b->read(), "unknown_person_key");
    published = {second};
    published[0].offset = streaming::Offset(0);
    const auto lost = b->keys->missing().value();
    ASSERT_EQ(lost.size(), 1u);
    ASSERT_TRUE(b->keys->give_up(lost));
    ASSERT_EQ(b->read(), "");
    EXPECT_FALSE(b->knows("ann"));
    EXPECT_TRUE(b->knows("bert"));
}

}  // namespace
}  // namespace rampart::rampartd
