#include "rampart/sealed_log/sealed_log.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "rampart/streaming/bookmark.hpp"
#include "rampart/wire/event_codec.hpp"
#include "rampart/wire/fence.hpp"
#include "rampart/wire/record_codec.hpp"
#include "rampart/wire/topics.hpp"
#include "support/loan_makers.hpp"
#include "support/memory_log.hpp"

namespace rampart::sealed_log {
namespace {

namespace fs = std::filesystem;
using streaming::Offset;
using streaming::PartitionId;
using support::day;
using support::make_decision;

const PartitionId kOnly(0);

class SealedLogTest : public testing::Test {
  protected:
    SealedLogTest() {
        fs::remove_all(folder);
        below.create("decisions", 1);
        below.create("outcomes", 1);
        keys = std::move(*privacy::PersonKeys::open(folder, std::string(32, 's')));
    }
    ~SealedLogTest() override {
        keys.reset();
        fs::remove_all(folder);
    }
    SealedLog log(bool seals = true) { return {below, below, *keys, "decisions", seals}; }
    void append(SealedLog& to, const streaming::Record& record) {
        ASSERT_TRUE(to.append_to("decisions", kOnly, std::span(&record, 1)));
    }
    std::vector<streaming::StoredRecord> all(const streaming::Reader& from) {
        return from.read("decisions", kOnly, Offset(0), 100).value();
    }

    fs::path folder = fs::path(testing::TempDir()) /
                      (std::string("sealed_log_") + std::to_string(::getpid()) +
                       testing::UnitTest::GetInstance()->current_test_info()->name());
    support::MemoryLog below;
    std::unique_ptr<privacy::PersonKeys> keys;
};

TEST_F(SealedLogTest, WhatIsReadIsWhatWasAppendedAndBelowItCannotBeRead) {
    auto sealed = log();
    auto decision = make_decision("1", day(3));
    decision.application.features = {{"job", std::string("lighthouse keeper")}};
    const auto record = wire::to_record(decision, 7);
    append(sealed, record);
    EXPECT_EQ(all(sealed).at(0).record, record);
    EXPECT_EQ(all(sealed).at(0).seal, streaming::Seal::kOpened);
    const auto stored = all(below).at(0).record;
    EXPECT_EQ(stored.key, record.key);
    EXPECT_EQ(stored.timestamp, record.timestamp);
    EXPECT_EQ(wire::writer_mark(stored)->epoch, 7u);
    EXPECT_EQ(stored.headers.at(0).value, wire::kSealedDecisionSchema);
    EXPECT_EQ(stored.value.find("lighthouse"), std::string::npos);
    EXPECT_EQ(stored.value.find("p-1"), std::string::npos);
    EXPECT_NE(record.value.find("lighthouse"), std::string::npos);
}

TEST_F(SealedLogTest, ADecisionWhoseKeyIsDestroyedReadsAsItsErasure) {
    auto sealed = log();
    append(sealed, wire::to_record(make_decision("1", day(3)), 0));
    append(sealed, wire::to_record(make_decision("2", day(4)), 0));
    ASSERT_TRUE(keys->destroy(domain::PersonId("p-1")));
    const auto records = all(sealed);
    ASSERT_EQ(records.size(), 2u);
    EXPECT_EQ(records[0].seal, streaming::Seal::kErased);
    EXPECT_TRUE(wire::is_erasure(records[0].record));
    EXPECT_EQ(wire::decode_erasure(records[0].record, kOnly, 1)->decision.value(), "d-1");
    EXPECT_EQ(records[1].seal, streaming::Seal::kOpened);
    EXPECT_EQ(wire::decode_decision(records[1].record.value).value(), make_decision("2", day(4)));
}

TEST_F(SealedLogTest, ABookmarkBehindADecisionStillFitsWhenThatIsErased) {
    auto sealed = log();
    append(sealed, wire::to_record(make_decision("1", day(3)), 0));
    const auto mark = streaming::bookmark_after(all(sealed).at(0));
    EXPECT_TRUE(streaming::check_bookmark(sealed, "decisions", kOnly, mark));
    ASSERT_TRUE(keys->destroy(domain::PersonId("p-1")));
    EXPECT_TRUE(streaming::check_bookmark(sealed, "decisions", kOnly, mark));
    // another log under the same name is still noticed
    below.topics["decisions"].partitions[0][0].record =
        wire::to_record(make_decision("2", day(3)), 0);
    EXPECT_EQ(streaming::check_bookmark(sealed, "decisions", kOnly, mark).error().reason,
              "topic_recreated");
}

TEST_F(SealedLogTest, FencesErasuresAndWhatIsInTheClearPassAsTheyAre) {
    auto sealed = log(), clear = log(false);
    const auto fence = wire::fence_record(3, "node-a", day(1));
    const auto erasure = wire::to_record(domain::Erasure{domain::DecisionId("d-9"), day(1)});
    append(sealed, fence);
    append(sealed, erasure);
    append(clear, wire::to_record(make_decision("1", day(3)), 0));
    append(sealed, wire::to_record(make_decision("2", day(3)), 0));
    EXPECT_EQ(all(below).at(0).record, fence);
    EXPECT_EQ(all(below).at(1).record, erasure);
    EXPECT_EQ(all(below).at(2).record, wire::to_record(make_decision("1", day(3)), 0));
    for (const SealedLog* reader : {&sealed, &clear}) {
        const auto records = all(*reader);
        ASSERT_EQ(records.size(), 4u);
        EXPECT_EQ(records[0].record, fence);
        EXPECT_EQ(records[3].record, wire::to_record(make_decision("2", day(3)), 0));
    }
}

TEST_F(SealedLogTest, OtherTopicsAreLeftAlone) {
    auto sealed = log();
    const auto record = wire::to_record(make_decision("1", day(3)), 0);
    ASSERT_TRUE(sealed.append("outcomes", std::span(&record, 1)));
    EXPECT_EQ(below.read("outcomes", kOnly, Offset(0), 9)->at(0).record, record);
    EXPECT_EQ(sealed.read("outcomes", kOnly, Offset(0), 9)->at(0).record, record);
    EXPECT_EQ(sealed.partitions("outcomes").value(), 1);
    EXPECT_EQ(sealed.identity("outcomes").value(), below.identity("outcomes").value());
    EXPECT_EQ(sealed.begin_offset("outcomes", kOnly).value(), Offset(0));
    EXPECT_EQ(sealed.end_offset("outcomes", kOnly).value(), Offset(1));
}

TEST_F(SealedLogTest, AnUnknownKeyStopsReadingThereAndDamageDoesNot) {
    auto sealed = log();
    append(sealed, wire::to_record(make_decision("1", day(3)), 0));
    append(sealed, wire::to_record(make_decision("2", day(3)), 0));
    append(sealed, wire::to_record(make_decision("3", day(3)), 0));
    auto& records = below.topics["decisions"].partitions[0];
    records[2].record.value[40] ^= 1;  // in the third record, within the ciphertext
    records[1].record.value[5] ^= 1;   // in the second record, within the key id
    EXPECT_EQ(all(sealed).size(), 1u);
    const auto stopped = sealed.read("decisions", kOnly, Offset(1), 9);
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().reason, "unknown_person_key");
    const auto damaged = sealed.read("decisions", kOnly, Offset(2), 9).value();
    EXPECT_EQ(damaged.at(0).record.headers.at(0).value, wire::kSealedDecisionSchema);
    EXPECT_EQ(wire::decode_decision(damaged.at(0).record, kOnly, 1).error().reason,
              "unknown_schema");
}

TEST_F(SealedLogTest, ADecisionThatCannotBeReadIsNotSealed) {
    auto sealed = log();
    auto record = wire::to_record(make_decision("1", day(3)), 0);
    record.value = "garbage";
    EXPECT_EQ(sealed.append_to("decisions", kOnly, std::span(&record, 1)).error().reason,
              "not_a_message");
    EXPECT_TRUE(all(below).empty());
}

/// Protected attributes, which the view knows by their topic alone.
class SealedAttributes : public SealedLogTest {
  protected:
    SealedAttributes() { below.create("protected-attributes", 1); }
    SealedLog log(bool seals = true) {
        return {below, below, *keys, "decisions", seals, "protected-attributes"};
    }
    static streaming::Record stated(const std::string& person) {
        return {person, "she is a lighthouse keeper", day(3), {{"schema", "A/1"}, {"stated", "7"}}};
    }
    void append(SealedLog& to, const streaming::Record& record) {
        ASSERT_TRUE(to.append_to("protected-attributes", kOnly, std::span(&record, 1)));
    }
    std::vector<streaming::StoredRecord> all(const streaming::Reader& from) {
        return from.read("protected-attributes", kOnly, Offset(0), 100).value();
    }
    std::vector<streaming::StoredRecord>& stored() {
        return below.topics["protected-attributes"].partitions[0];
    }
};

TEST_F(SealedAttributes, AreReadAsTheyWereStatedAndCannotBeReadBelow) {
    auto sealed = log();
    append(sealed, stated("ann"));
    ASSERT_TRUE(sealed.append("protected-attributes", std::vector{stated("bert")}));
    for (const auto& position :
         sealed.append_each("protected-attributes", std::vector{stated("carol")}))
        ASSERT_TRUE(position);
    ASSERT_EQ(all(sealed).size(), 3u);
    size_t i = 0;
    for (const char* person : {"ann", "bert", "carol"}) {
        EXPECT_EQ(all(sealed)[i].record, stated(person));
        EXPECT_EQ(all(sealed)[i].seal, streaming::Seal::kOpened);
        auto below_it = all(below)[i++].record;
        EXPECT_EQ(below_it.value.find("lighthouse"), std::string::npos);
        EXPECT_EQ(below_it.value.find(person), std::string::npos);
        EXPECT_EQ(below_it.headers[0].value, "A/1+sealed/1");
        below_it.value = stated(person).value;
        below_it.headers[0].value = "A/1";
        EXPECT_EQ(below_it, stated(person)) << "key, time and other headers stay";
    }
    auto nameless = stated("ann");
    nameless.headers.clear();
    append(sealed, nameless);
    EXPECT_EQ(all(below)[3].record.value.find("lighthouse"), std::string::npos);
    EXPECT_EQ(all(sealed)[3].record.value, nameless.value);
}

TEST_F(SealedAttributes, OfADestroyedKeyReadAsTheErasureAndThoseOfTheNextKeyDoNot) {
    auto sealed = log();
    append(sealed, stated("ann"));
    append(sealed, stated("bert"));
    ASSERT_TRUE(keys->destroy(domain::PersonId("ann")));
    append(sealed, stated("ann"));
    const auto records = all(sealed);
    ASSERT_EQ(records.size(), 3u);
    EXPECT_EQ(records[0].record.key, "ann");
    EXPECT_EQ(records[0].record.value, "");
    EXPECT_EQ(records[0].seal, streaming::Seal::kErased);
    EXPECT_EQ(records[1].record, stated("bert"));
    EXPECT_EQ(records[2].record, stated("ann"));
}

TEST_F(SealedAttributes, ErasuresAndWhatOthersWrotePassAsTheyAre) {
    auto sealed = log(), clear = log(false);
    const streaming::Record tombstone{"ann", "", day(1), {}};
    append(sealed, tombstone);
    append(clear, stated("bert"));
    append(sealed, stated("carol"));
    ASSERT_TRUE(below.append("protected-attributes", std::vector{stated("other-system")}));
    EXPECT_EQ(all(below)[0].record, tombstone);
    EXPECT_EQ(all(below)[1].record, stated("bert"));
    for (const SealedLog* reader : {&sealed, &clear}) {
        const auto records = all(*reader);
        ASSERT_EQ(records.size(), 4u);
        EXPECT_EQ(records[0].record, tombstone);
        EXPECT_EQ(records[1].record, stated("bert"));
        EXPECT_EQ(records[1].seal, streaming::Seal::kNone);
        EXPECT_EQ(records[2].record, stated("carol"));
        EXPECT_EQ(records[3].record, stated("other-system"));
    }
}

TEST_F(SealedAttributes, AnEnvelopeCountsForItsPersonAndItsTopicOnly) {
    auto sealed = log();
    append(sealed, stated("p-1"));
    append(sealed, stated("p-2"));
    auto moved = stored()[0].record;
    moved.key = "p-2";
    const auto decision = wire::to_record(make_decision("1", day(3)), 0);
    ASSERT_TRUE(sealed.append("decisions", std::span(&decision, 1)));
    auto crossed = stored()[0].record;
    crossed.value = below.topics["decisions"].partitions[0][0].record.value;
    ASSERT_TRUE(below.append("protected-attributes", std::vector{moved, crossed}));
    const auto records = all(sealed);
    ASSERT_EQ(records.size(), 4u);
    EXPECT_EQ(records[2].record, moved) << "not opened";
    EXPECT_EQ(records[3].record, crossed);
}

TEST_F(SealedAttributes, AKeyThatIsNotHereStopsReadingThereAndNamesNoPerson) {
    auto sealed = log();
    append(sealed, stated("bert"));
    append(sealed, stated("annabelle"));
    stored()[1].record.value[5] ^= 1;  // in the key id
    EXPECT_EQ(all(sealed).size(), 1u);
    const auto stopped = sealed.read("protected-attributes", kOnly, Offset(1), 9);
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().reason, "unknown_person_key");
    EXPECT_EQ(stopped.error().message.find("annabelle"), std::string::npos);
    const auto missing = keys->missing().value();
    ASSERT_EQ(missing.size(), 1u);
    EXPECT_TRUE(missing[0].name.starts_with(kAttributesName)) << missing[0].name;
    EXPECT_EQ(missing[0].name.find("annabelle"), std::string::npos);
    ASSERT_TRUE(keys->give_up(missing));
    EXPECT_EQ(all(sealed)[1].seal, streaming::Seal::kErased);
}

}  // namespace
}  // namespace rampart::sealed_log
