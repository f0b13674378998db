#include "rampart/privacy/register.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "rampart/base/bytes.hpp"
#include "rampart/storage/database.hpp"
#include "support/byte_scan.hpp"

namespace rampart::privacy {
namespace {

namespace fs = std::filesystem;

base::TimePoint day(int64_t n) { return base::TimePoint() + base::Duration::days(n); }
const PersonTag kAnna(std::string(16, 'a')), kBert(std::string(16, 'b'));

class RegisterTest : public testing::Test {
  protected:
    RegisterTest() {
        fs::remove_all(folder);
        open();
    }
    ~RegisterTest() override {
        list.reset();
        fs::remove_all(folder);
    }
    void open() {
        list.reset();
        list = std::move(*Register::open(folder));
    }
    fs::path folder = fs::path(testing::TempDir()) /
                      (std::string("register_") + std::to_string(::getpid()) +
                       testing::UnitTest::GetInstance()->current_test_info()->name());
    std::unique_ptr<Register> list;
};

Hold hold(const PersonTag& person, std::string matter,
          std::optional<base::TimePoint> until = std::nullopt) {
    return {person, std::move(matter), "a complaint is open", "compliance", day(1), until};
}

TEST_F(RegisterTest, AHoldIsInForceUntilItsEndOrItsRemovalAndSurvivesReopening) {
    ASSERT_TRUE(list->add(hold(kAnna, "court-12", day(10))));
    ASSERT_TRUE(list->add(hold(kAnna, "complaint-7")));
    ASSERT_TRUE(list->add(hold(kBert, "court-12")));
    open();
    EXPECT_EQ(list->holds().value(),
              (std::vector{hold(kAnna, "complaint-7"), hold(kAnna, "court-12", day(10)),
                           hold(kBert, "court-12")}));
    EXPECT_EQ(list->in_force(kAnna, day(9))->size(), 2u);
    EXPECT_EQ(list->in_force(kAnna, day(10)).value(), std::vector{hold(kAnna, "complaint-7")});
    ASSERT_TRUE(list->remove(kAnna, "complaint-7"));
    EXPECT_TRUE(list->in_force(kAnna, day(10))->empty());
    EXPECT_EQ(list->in_force(kBert, day(10))->size(), 1u);
}

TEST_F(RegisterTest, TheSameMatterAgainReplacesTheHold) {
    ASSERT_TRUE(list->add(hold(kAnna, "court-12", day(10))));
    ASSERT_TRUE(list->add(hold(kAnna, "court-12", day(20))));
    EXPECT_EQ(list->holds().value(), std::vector{hold(kAnna, "court-12", day(20))});
}

TEST_F(RegisterTest, WhatMakesNoSenseIsRefused) {
    EXPECT_EQ(list->add(hold(kAnna, "")).error().reason, "bad_id");
    auto nobody = hold(kAnna, "m");
    nobody.actor.clear();
    EXPECT_EQ(list->add(nobody).error().reason, "bad_id");
    auto wordy = hold(kAnna, "m");
    wordy.reason.assign(1024, 'x');
    EXPECT_TRUE(list->add(wordy));
    wordy.reason += 'x';
    EXPECT_EQ(list->add(wordy).error().reason, "reason_too_long");
    EXPECT_EQ(list->remove(kBert, "m").error().reason, "no_hold");
    EXPECT_EQ(list->remove(kAnna, "other").error().reason, "no_hold");
}

TEST_F(RegisterTest, AnErasureUnderWayIsRememberedUntilItIsFinished) {
    const PendingErasure erasure{
        kAnna, day(5), {{"d-1", {{"a-1", day(2), day(3)}}}, {.id = "d-2"}}};
    ASSERT_TRUE(list->begin(erasure));
    open();
    EXPECT_EQ(list->pending(kAnna).value(), erasure);
    EXPECT_EQ(list->pending(kBert).value(), std::nullopt);
    ASSERT_TRUE(list->finish(kAnna));
    EXPECT_EQ(list->pending(kAnna).value(), std::nullopt);
    ASSERT_TRUE(list->finish(kAnna));
}

ErasedRecords erased(std::string month, uint64_t records, std::string cell = "") {
    return {std::move(month), ErasedRecords::Side::kVault, "approve", false, std::move(cell),
            records};
}

TEST_F(RegisterTest, AnErasureThatEndsAddsItsRecordsToTheTallyOnceAndLeavesNoTag) {
    const PersonTag anna("q8\x01vX!z\x7fK3\x02wP0rT"), bert("M4\x03nB?s\x06J7\x05yD1gH");
    EXPECT_TRUE(list->erased()->empty());
    const std::vector<ErasedRecords> of_anna{erased("2005-04", 1, "sex=female"),
                                             erased("2005-06", 1)};
    const PendingErasure begun{anna, day(5), {{.id = "d-1"}}, of_anna};
    ASSERT_TRUE(list->begin(begun));
    open();
    EXPECT_EQ(list->pending(anna).value(), begun);
    EXPECT_EQ(list->erased().value(), of_anna) << "the gate may not see the records any more";
    ASSERT_TRUE(list->begin(begun)) << "after a crash";
    for (int times = 0; times < 2; ++times) {
        ASSERT_TRUE(list->finish(anna));
        open();
        EXPECT_EQ(list->erased().value(), of_anna) << times;
    }
    ASSERT_TRUE(list->begin({bert, day(6), {{.id = "d-2"}}, {{erased("2005-06", 1)}}}));
    const std::vector<ErasedRecords> both{erased("2005-04", 1, "sex=female"), erased("2005-06", 2)};
    EXPECT_EQ(list->erased().value(), both);
    ASSERT_TRUE(list->finish(bert));
    EXPECT_EQ(list->erased().value(), both);
    EXPECT_TRUE(list->clear_log().value()) << "the tally is no note about the log";
    list.reset();
    for (const auto& tag : {anna, bert})
        EXPECT_TRUE(test_support::files_with(folder, tag.value()).empty());
}

/// The erasure of two decisions as an earlier release has noted it.
std::string earlier_format(bool counted) {
    std::string value;
    base::append_u8(value, counted ? 2 : 1);
    base::append_i64(value, day(5).micros());
    base::append_u32(value, 2);
    base::append_field(value, "d-1");
    base::append_field(value, "d-2");
    if (!counted) return value;
    base::append_u32(value, 1);
    base::append_field(value, "2005-04");
    base::append_u8(value, 1);
    base::append_field(value, "approve");
    base::append_u8(value, 0);
    base::append_field(value, "");
    base::append_u64(value, 1);
    return value;
}

TEST_F(RegisterTest, AnErasureInAnEarlierFormatIsReadAndADamagedOneIsNot) {
    const auto read = [&](const std::string& value) {
        list.reset();
        {
            auto database =
                storage::Database::open(folder, {"holds", "erasures", "meta"}, {}).value();
            storage::WriteBatch batch;
            batch.put(storage::ColumnFamily{1}, kAnna.value(), value);
            EXPECT_TRUE(database->write(batch, storage::Sync::kAlways));
        }
        open();
        return list->pending(kAnna);
    };
    PendingErasure earlier{kAnna, day(5), {{.id = "d-1"}, {.id = "d-2"}}};
    EXPECT_EQ(read(earlier_format(false)).value(), earlier);
    earlier.records = {erased("2005-04", 1)};
    EXPECT_EQ(read(earlier_format(true)).value(), earlier);
    for (const char format : {'\0', '\4'}) {
        std::string other = earlier_format(true);
        other[0] = format;
        EXPECT_FALSE(read(other)) << int{format};
    }
    const std::string whole = earlier_format(true);
    for (size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(read(whole.substr(0, size)));
    EXPECT_FALSE(read(whole + "x"));
}

TEST_F(RegisterTest, OfAnErasureThatAnEarlierReleaseBeganOneUnknownRecordCountsMeanwhile) {
    ASSERT_TRUE(list->begin({kAnna, day(5), {{.id = "d-1"}, {.id = "d-2"}}}));
    ASSERT_TRUE(list->begin({kBert, day(5), {}}));
    EXPECT_EQ(list->erased().value(), std::vector<ErasedRecords>{{.records = 1}});
    ASSERT_TRUE(list->finish(kAnna));
    EXPECT_TRUE(list->erased()->empty());
}

TEST_F(RegisterTest, ALogThatWasEverInTheClearStaysNoted) {
    EXPECT_TRUE(list->clear_log().value()) << "nobody knows";
    ASSERT_TRUE(list->note_sealed_log());
    open();
    EXPECT_FALSE(list->clear_log().value());
    ASSERT_TRUE(list->note_clear_log());
    ASSERT_TRUE(list->note_clear_log());
    open();
    EXPECT_TRUE(list->clear_log().value());
}

TEST_F(RegisterTest, ADamagedEntryIsDataLoss) {
    list.reset();
    {
        auto db = std::move(*storage::Database::open(folder, {"holds", "erasures", "meta"}));
        storage::WriteBatch batch;
        batch.put({0}, kAnna.value() + "m", "\x01garbage");
        batch.put({1}, kAnna.value(), "\x02");
        ASSERT_TRUE(db->write(batch, storage::Sync::kAlways));
    }
    open();
    EXPECT_EQ(list->holds().error().code, base::ErrorCode::kDataLoss);
    EXPECT_EQ(list->pending(kAnna).error().code, base::ErrorCode::kDataLoss);
}

}  // namespace
}  // namespace rampart::privacy
