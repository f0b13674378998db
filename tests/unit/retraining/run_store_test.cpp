#include "rampart/retraining/run_store.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace rampart::retraining {
namespace {

class RunStoreTest : public testing::Test {
  protected:
    std::filesystem::path folder_ =
        std::filesystem::path(testing::TempDir()) / fmt::format("run_store.{}", ::getpid());
    void SetUp() override { std::filesystem::remove_all(folder_); }
    void TearDown() override { std::filesystem::remove_all(folder_); }
};

TEST_F(RunStoreTest, AStartedRunIsRememberedUntilItIsFinished) {
    StartedRun started;
    started.ordinal = 1;
    started.at = base::TimePoint::from_micros(7);
    started.reference = "reference";
    started.candidate = "candidate";
    started.proposed_by = "anna";
    started.distilled = true;
    started.figures = {{"rows", "12"}, {"trees", "3"}};
    started.matured = 42;
    {
        auto store = RunStore::open(folder_).value();
        EXPECT_FALSE(store.started().value());
        EXPECT_FALSE(store.served_until().value());
        ASSERT_TRUE(store.start(started));
    }
    auto store = RunStore::open(folder_).value();
    const auto found = store.started().value();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->reference, "reference");
    EXPECT_EQ(found->matured, 42u);
    EXPECT_EQ(found->candidate, "candidate");
    EXPECT_EQ(found->proposed_by, "anna");
    EXPECT_TRUE(found->distilled);
    EXPECT_FALSE(found->on_request);
    EXPECT_EQ(found->figures, started.figures);
    RunRecord record;
    record.ordinal = 1;
    record.at = started.at;
    record.verdict = certification::Verdict::kRefused;
    record.reason = "too_few_units";
    record.message = "say \"more\"";
    record.figures = {{"rows", "12"}};
    ASSERT_TRUE(store.finish(record, true));
    EXPECT_FALSE(store.started().value());
    EXPECT_EQ(store.served_until().value(), started.at);
    const auto runs = store.runs().value();
    ASSERT_EQ(runs.size(), 1u);
    EXPECT_EQ(encode(runs[0]), encode(record));
    EXPECT_EQ(store.last_run().value()->message, record.message);
}

TEST_F(RunStoreTest, TrialsAreKeptUntilTheRunIsFinished) {
    const auto one = base::sha256("one"), two = base::sha256("two");
    {
        auto store = RunStore::open(folder_).value();
        EXPECT_EQ(store.trials(one).value(), "");
        ASSERT_TRUE(store.start({.ordinal = 1, .at = {}}));
        ASSERT_TRUE(store.keep_trials(one, "first"));
        ASSERT_TRUE(store.keep_trials(one, "first\nsecond"));
        ASSERT_TRUE(store.keep_trials(two, "other"));
    }
    auto store = RunStore::open(folder_).value();
    EXPECT_EQ(store.trials(one).value(), "first\nsecond");
    EXPECT_EQ(store.trials(two).value(), "other");
    ASSERT_TRUE(store.started().value());
    ASSERT_TRUE(store.serve_until(base::TimePoint::from_micros(3)));
    RunRecord run;
    run.ordinal = 1;
    ASSERT_TRUE(store.finish(run, false));
    EXPECT_EQ(store.trials(one).value(), "");
    EXPECT_EQ(store.trials(two).value(), "");
    EXPECT_TRUE(store.served_until().value()) << "nothing else is removed";
}

TEST_F(RunStoreTest, TheScheduleNeverGoesBackAndOwesNothingToRunsOnRequest) {
    auto store = RunStore::open(folder_).value();
    const auto at = [](int64_t t) { return base::TimePoint::from_micros(t); };
    ASSERT_TRUE(store.serve_until(at(10)));
    ASSERT_TRUE(store.serve_until(at(5)));
    EXPECT_EQ(store.served_until().value(), at(10));
    RunRecord record;
    record.ordinal = 1;
    record.at = at(99);
    ASSERT_TRUE(store.finish(record, false));
    EXPECT_EQ(store.served_until().value(), at(10));
    record.at = at(3);
    ASSERT_TRUE(store.finish(record, true));
    EXPECT_EQ(store.served_until().value(), at(10));
}

TEST_F(RunStoreTest, ARunThatOpensAnEpochIsRememberedWithItsReason) {
    StartedRun started;
    started.ordinal = 1;
    started.on_request = true;
    started.opens_epoch = 2;
    started.epoch_note = "the first one is spent";
    started.figures = {{"rows", "12"}};
    auto store = RunStore::open(folder_).value();
    ASSERT_TRUE(store.start(started));
    const auto found = store.started().value();
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->on_request);
    EXPECT_EQ(found->opens_epoch, 2u);
    EXPECT_EQ(found->epoch_note, started.epoch_note);
    EXPECT_EQ(found->figures, started.figures);
}

TEST(RunRecord, BytesThatAreNoRecordAreDataLoss) {
    const std::string good = encode(RunRecord{.ordinal = 1,
                                              .at = {},
                                              .candidate = "c",
                                              .reference = "r",
                                              .verdict = certification::Verdict::kCertified,
                                              .reason = "",
                                              .message = "",
                                              .certificate = "",
                                              .figures = {},
                                              .matured = 3});
    ASSERT_TRUE(decode_run_record(good));
    for (size_t n = 0; n < good.size(); ++n) {
        const auto cut = decode_run_record(good.substr(0, n));
        ASSERT_FALSE(cut) << n;
        EXPECT_EQ(cut.error().code, base::ErrorCode::kDataLoss);
    }
    const auto at = good.find("CERTIFIED");
    EXPECT_EQ(decode_run_record(good)->verdict, certification::Verdict::kCertified);
    EXPECT_FALSE(decode_run_record(std::string(good).replace(at, 9, "CERTAINLY")));
    EXPECT_FALSE(decode_run_record("{}"));
    EXPECT_FALSE(decode_run_record("[]"));
}

}  // namespace
}  // namespace rampart::retraining
