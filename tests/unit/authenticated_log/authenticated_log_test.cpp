#include "rampart/authenticated_log/authenticated_log.hpp"

#include <gtest/gtest.h>

#include "support/memory_log.hpp"

namespace rampart::authenticated_log {
namespace {

using streaming::Offset;
using streaming::PartitionId;
using streaming::Record;
using streaming::StoredRecord;

const std::string kDecisions = "decisions", kOutcomes = "outcomes";

class AuthenticatedLogTest : public testing::Test {
  protected:
    AuthenticatedLogTest() {
        log_.create(kDecisions, 2);
        log_.create(kOutcomes, 2);
    }
    static AuthenticatedTopics topics(char key = 'k') {
        return {{std::string(32, key)}, {kDecisions}, {}};
    }
    static Record record(const std::string& key, const std::string& value) {
        return {key, value, {}, {{"schema", "s/1"}}};
    }
    /// Returns the values of a partition, as the view shows them.
    std::vector<std::string> values(AuthenticatedLog& view, int partition = 0, int64_t from = 0) {
        std::vector<std::string> out;
        const auto read = view.read(kDecisions, PartitionId(partition), Offset(from), 100).value();
        for (const auto& one : read) out.push_back(one.record.value);
        return out;
    }
    std::vector<StoredRecord>& stored(int partition = 0) {
        return log_.topics[kDecisions].partitions.at(static_cast<size_t>(partition));
    }
    void forge(const Record& record, int partition = 0) {
        ASSERT_TRUE(log_.append_to(kDecisions, PartitionId(partition), {&record, 1}));
    }
    void write(const std::string& key, const std::string& value, int partition = 0) {
        const auto one = record(key, value);
        ASSERT_TRUE(view_.append_to(kDecisions, PartitionId(partition), {&one, 1}));
    }

    support::MemoryLog log_;
    AuthenticatedLog view_{log_, log_, topics()};
};

TEST_F(AuthenticatedLogTest, WhatTheGroupWroteIsReadAsItWasWritten) {
    std::vector<Record> records;
    for (int i = 0; i < 20; ++i) records.push_back(record("k" + std::to_string(i), "v"));
    ASSERT_TRUE(view_.append(kDecisions, records));
    for (const auto& placed : view_.append_each(kDecisions, records)) EXPECT_TRUE(placed);
    AuthenticatedLog other(log_, log_, topics());
    size_t seen = 0;
    for (const int partition : {0, 1}) {
        const auto read = other.read(kDecisions, PartitionId(partition), Offset(0), 100).value();
        for (const auto& one : read) {
            const auto n = std::stoul(one.record.key.substr(1));
            EXPECT_EQ(one.record, records.at(n));
            ++seen;
        }
    }
    EXPECT_EQ(seen, 40u);
    EXPECT_EQ(other.passed_over(), (std::map<std::string, uint64_t>{{kDecisions, 0}}));
}

TEST_F(AuthenticatedLogTest, AChangedRecordIsPassedOverWhateverChanged) {
    const std::vector<std::function<void(Record&)>> changes{
        [](Record& r) { r.value += "x"; },
        [](Record& r) { r.key = "other"; },
        [](Record& r) {
            r.headers.insert(r.headers.begin(), {"epoch", "9"});
        },
        [](Record& r) { r.headers.erase(r.headers.begin()); },
        [](Record& r) { r.headers.front().value = "s/2"; },
        [](Record& r) { r.headers.pop_back(); },
        [](Record& r) { r.headers.back().value[3] ^= 1; },
        [](Record& r) { r.headers.back().value.pop_back(); },
        [](Record& r) { r.headers.back().value.clear(); },
        [](Record& r) { r.headers.push_back(r.headers.back()); },
        [](Record& r) { std::swap(r.key, r.value); },
    };
    for (size_t i = 0; i < changes.size(); ++i) {
        write("k", "v");
        changes[i](stored().back().record);
        write("k", "good");
        EXPECT_EQ(values(view_, 0, static_cast<int64_t>(2 * i)), std::vector<std::string>{"good"})
            << "change " << i;
    }
    EXPECT_EQ(view_.passed_over().at(kDecisions), changes.size());
}

TEST_F(AuthenticatedLogTest, ARecordCountsInItsPartitionAndTopicOnly) {
    write("k", "v");
    forge(stored().front().record, 1);
    EXPECT_TRUE(values(view_, 1).empty());
    AuthenticatedTopics both = topics();
    both.topics.insert(kOutcomes);
    AuthenticatedLog wider(log_, log_, both);
    const auto copy = stored().front().record;
    ASSERT_TRUE(log_.append_to(kOutcomes, PartitionId(0), {&copy, 1}));
    EXPECT_TRUE(wider.read(kOutcomes, PartitionId(0), Offset(0), 10)->empty());
}

TEST_F(AuthenticatedLogTest, AnotherGroupsKeyOpensNothing) {
    write("k", "v");
    AuthenticatedLog other(log_, log_, topics('x'));
    EXPECT_TRUE(values(other).empty());
    auto keys = topics('x');
    keys.keys.push_back(std::string(32, 'k'));
    AuthenticatedLog replaced(log_, log_, keys);
    EXPECT_EQ(values(replaced), std::vector<std::string>{"v"}) << "the key before, for reading";
    const auto one = record("k", "new");
    ASSERT_TRUE(replaced.append_to(kDecisions, PartitionId(0), {&one, 1}));
    EXPECT_EQ(values(other, 0, 1), std::vector<std::string>{"new"}) << "the first key writes";
}

TEST_F(AuthenticatedLogTest, BehindAnyNumberOfForgedRecordsTheNextGoodOneIsFound) {
    write("k", "one");
    for (int i = 0; i < 500; ++i) forge(record("k", "forged"));
    EXPECT_EQ(view_.read(kDecisions, PartitionId(0), Offset(1), 10).value().size(), 0u);
    const auto counted = view_.passed_over().at(kDecisions);
    EXPECT_EQ(counted, 500u);
    EXPECT_EQ(view_.read(kDecisions, PartitionId(0), Offset(1), 10).value().size(), 0u);
    EXPECT_EQ(view_.passed_over().at(kDecisions), counted) << "they are not read again";
    write("k", "two");
    const auto found = view_.read(kDecisions, PartitionId(0), Offset(1), 10).value();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found.front().offset, Offset(501));
    EXPECT_EQ(values(view_), (std::vector<std::string>{"one"})) << "of a batch what is good";
}

TEST_F(AuthenticatedLogTest, ATopicThatWasMadeAnewIsReadFromItsBeginning) {
    ASSERT_TRUE(view_.identity(kDecisions));
    for (int i = 0; i < 3; ++i) forge(record("k", "forged"));
    EXPECT_TRUE(values(view_).empty());
    stored().clear();
    log_.topics[kDecisions].identity = "2";
    for (int i = 0; i < 4; ++i) write("k", "good");
    EXPECT_EQ(view_.identity(kDecisions).value(), "2");
    EXPECT_EQ(values(view_).size(), 4u);
}

TEST_F(AuthenticatedLogTest, RecordsFromBeforeTheGroupHadAKeyCountByTheBrokersTime) {
    const auto until = base::TimePoint::from_micros(1000);
    auto options = topics();
    options.unauthenticated_until = until;
    AuthenticatedLog view(log_, log_, options);
    for (const char* value : {"early", "late", "untimed"}) forge(record("k", value));
    stored()[0].appended_at = base::TimePoint::from_micros(999);
    stored()[1].appended_at = until;
    EXPECT_EQ(values(view), std::vector<std::string>{"early"});
    EXPECT_TRUE(values(view_).empty());
    stored()[0].record.headers.push_back({std::string(kMacHeader), "wrong"});
    EXPECT_TRUE(values(view).empty()) << "a wrong MAC is worse than none";
}

TEST_F(AuthenticatedLogTest, OtherTopicsPassThrough) {
    const auto one = record("k", "v");
    ASSERT_TRUE(view_.append(kOutcomes, {&one, 1}));
    for (const int partition : {0, 1}) {
        const auto read = view_.read(kOutcomes, PartitionId(partition), Offset(0), 10).value();
        for (const auto& found : read) EXPECT_EQ(found.record, one);
    }
    EXPECT_EQ(view_.partitions(kDecisions).value(), 2);
    EXPECT_EQ(view_.end_offset(kDecisions, PartitionId(0)).value(), Offset(0));
}

TEST_F(AuthenticatedLogTest, WhatCannotBeBoundIsNotWritten) {
    auto reserved = record("k", "v");
    reserved.headers.push_back({std::string(kMacHeader), "x"});
    EXPECT_EQ(view_.append(kDecisions, {&reserved, 1}).error().reason, "reserved_header");
    const auto keyless = record("", "v");
    EXPECT_EQ(view_.append(kDecisions, {&keyless, 1}).error().reason, "reserved_header");
    EXPECT_EQ(view_.append_each(kDecisions, {&keyless, 1}).front().error().reason,
              "reserved_header");
    ASSERT_TRUE(view_.append_to(kDecisions, PartitionId(1), {&keyless, 1}));
    EXPECT_EQ(values(view_, 1), std::vector<std::string>{"v"});
    EXPECT_TRUE(stored().empty());
}

TEST_F(AuthenticatedLogTest, ErrorsOfTheLogAreItsOwn) {
    EXPECT_EQ(view_.read(kDecisions, PartitionId(0), Offset(7), 10).error().reason, "offset_ahead");
}

}  // namespace
}  // namespace rampart::authenticated_log
