#include "rampart/protected_attributes/attribute_feed.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "rampart/base/digest.hpp"
#include "rampart/protected_attributes/codec.hpp"
#include "support/memory_log.hpp"

namespace rampart::protected_attributes {
namespace {

const auto kNow = base::TimePoint::from_micros(10);

TEST(AttributeFeed, WhatIsStatedToOneNodeIsKnownToAll) {
    support::MemoryLog log;
    log.create("protected-attributes", 1);
    const auto folder =
        std::filesystem::path(testing::TempDir()) / ("feed" + base::to_hex(base::random_bytes(8)));
    const auto catalog = [] {
        return AttributeCatalog::create({{"sex", {"female", "male"}}}, true).value();
    };
    const auto one = ProtectedStore::open(folder / "1", catalog()).value();
    const auto two = ProtectedStore::open(folder / "2", catalog()).value();
    AttributeFeed told(log, log, "protected-attributes", *one),
        other(log, log, "protected-attributes", *two);
    const ProtectedAttributes person{
        domain::PersonId("p"), base::TimePoint::from_micros(5), {{"sex", "female"}}};
    ASSERT_TRUE(told.publish(std::span(&person, 1), kNow));
    auto wrong = person;
    wrong.attributes["sex"] = "unheard of";
    EXPECT_FALSE(told.publish(std::span(&wrong, 1), kNow));
    const streaming::Record poison{"q", "\xff", base::TimePoint(), {}};
    ASSERT_TRUE(log.append("protected-attributes", std::span(&poison, 1)));
    for (auto* feed : {&told, &other}) ASSERT_TRUE(feed->catch_up(kNow));
    EXPECT_EQ(one->get(person.person).value(), person);
    EXPECT_EQ(two->get(person.person).value(), person);
    // known from the statement on at every node, however late it reads of it
    const auto late = ProtectedStore::open(folder / "3", catalog()).value();
    AttributeFeed reader(log, log, "protected-attributes", *late);
    ASSERT_TRUE(reader.catch_up(base::TimePoint::from_micros(1000)));
    EXPECT_EQ(late->membership_at(person.person, kNow).value(),
              late->membership(person.person).value());
    EXPECT_TRUE(late->membership_at(person.person, kNow)->cell);
    EXPECT_EQ(late->membership_at(person.person, base::TimePoint::from_micros(9)).value(),
              Membership());
}

TEST(AttributeFeed, WhatDoesNotSayWhenItWasStatedIsKnownFromItsReadingOn) {
    support::MemoryLog log;
    log.create("protected-attributes", 1);
    const auto folder =
        std::filesystem::path(testing::TempDir()) / ("feed" + base::to_hex(base::random_bytes(8)));
    const auto catalog = AttributeCatalog::create({{"sex", {"female", "male"}}}, true).value();
    const auto store = ProtectedStore::open(folder, catalog).value();
    const domain::PersonId ann("ann"), bert("bert");
    for (const auto& [id, headers] :
         {std::pair(ann, std::vector<streaming::Header>{}), {bert, {{"stated", "5x"}}}}) {
        const ProtectedAttributes one{id, base::TimePoint::from_micros(1), {{"sex", "male"}}};
        const streaming::Record record{id.value(), encode(one), one.event_time, headers};
        ASSERT_TRUE(log.append("protected-attributes", std::span(&record, 1)));
    }
    AttributeFeed feed(log, log, "protected-attributes", *store);
    ASSERT_TRUE(feed.catch_up(kNow));
    for (const auto& person : {ann, bert}) {
        EXPECT_TRUE(store->membership_at(person, kNow)->cell);
        EXPECT_FALSE(store->membership_at(person, base::TimePoint::from_micros(9))->cell);
    }
    std::filesystem::remove_all(folder);
}

TEST(AttributeFeed, ATopicThatWasTruncatedIsReadFromItsBeginningAndNothingIsForgotten) {
    support::MemoryLog log;
    log.create("protected-attributes", 1);
    const auto folder =
        std::filesystem::path(testing::TempDir()) / ("feed" + base::to_hex(base::random_bytes(8)));
    const auto catalog = AttributeCatalog::create({{"sex", {"female", "male"}}}, true).value();
    const auto store = ProtectedStore::open(folder, catalog).value();
    AttributeFeed feed(log, log, "protected-attributes", *store);
    const auto state = [&](const std::string& name) {
        const ProtectedAttributes one{
            domain::PersonId(name), base::TimePoint::from_micros(1), {{"sex", "male"}}};
        ASSERT_TRUE(feed.publish(std::span(&one, 1), kNow));
    };
    const auto known = [&](const std::string& name) {
        return store->membership(domain::PersonId(name))->cell.has_value();
    };
    for (const char* name : {"ann", "bert", "carl"}) state(name);
    ASSERT_TRUE(feed.catch_up(kNow));
    log.topics["protected-attributes"].partitions[0].clear();
    state("dora");
    ASSERT_TRUE(feed.catch_up(kNow));
    for (const char* name : {"ann", "bert", "carl", "dora"}) EXPECT_TRUE(known(name)) << name;
    log.topics["protected-attributes"].failure =
        base::Error{base::ErrorCode::kUnavailable, "timeout", "no answer"};
    state("emil");
    EXPECT_EQ(feed.catch_up(kNow).error().reason, "timeout");
    log.topics["protected-attributes"].failure = {};
    ASSERT_TRUE(feed.catch_up(kNow));
    EXPECT_TRUE(known("emil"));
    std::filesystem::remove_all(folder);
}

TEST(AttributeFeed, WhatLiesUnderAnothersKeyIsPassedOver) {
    support::MemoryLog log;
    log.create("protected-attributes", 1);
    const auto folder =
        std::filesystem::path(testing::TempDir()) / ("feed" + base::to_hex(base::random_bytes(8)));
    const auto catalog = AttributeCatalog::create({{"sex", {"female", "male"}}}, true).value();
    const auto store = ProtectedStore::open(folder, catalog).value();
    const domain::PersonId ann("ann"), bert("bert"), carl("carl");
    const auto append = [&](const std::string& key, const domain::PersonId& person) {
        const ProtectedAttributes one{person, base::TimePoint::from_micros(1), {{"sex", "male"}}};
        const streaming::Record record{key, encode(one), one.event_time, {}};
        ASSERT_TRUE(log.append("protected-attributes", std::span(&record, 1)));
    };
    append("ann", bert);
    append("", bert);
    append("carl", carl);
    AttributeFeed feed(log, log, "protected-attributes", *store);
    ASSERT_TRUE(feed.catch_up(kNow));
    EXPECT_FALSE(store->get(ann).value());
    EXPECT_FALSE(store->get(bert).value());
    EXPECT_TRUE(store->get(carl).value()) << "what comes behind is read";
    std::filesystem::remove_all(folder);
}

TEST(AttributeFeed, APersonErasedAtOneNodeIsErasedAtAll) {
    support::MemoryLog log;
    log.create("protected-attributes", 1);
    const auto folder =
        std::filesystem::path(testing::TempDir()) / ("feed" + base::to_hex(base::random_bytes(8)));
    const auto catalog = AttributeCatalog::create({{"sex", {"female", "male"}}}, true).value();
    const auto store = ProtectedStore::open(folder, catalog).value();
    AttributeFeed feed(log, log, "protected-attributes", *store);
    const domain::PersonId ann("ann"), bert("bert");
    const auto state = [&](const domain::PersonId& person, int64_t at) {
        const ProtectedAttributes one{person, base::TimePoint::from_micros(at), {{"sex", "male"}}};
        ASSERT_TRUE(feed.publish(std::span(&one, 1), kNow));
    };
    state(ann, 1);
    state(bert, 1);
    ASSERT_TRUE(feed.publish_erasure(ann, base::TimePoint::from_micros(2)));
    ASSERT_TRUE(feed.catch_up(kNow));
    EXPECT_FALSE(store->get(ann).value());
    EXPECT_TRUE(store->get(bert).value());
    state(ann, 3);  // returns
    ASSERT_TRUE(feed.catch_up(kNow));
    EXPECT_TRUE(store->get(ann).value());
    EXPECT_EQ(feed.publish_erasure(domain::PersonId(""), {}).error().reason, "bad_id");
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace rampart::protected_attributes
