// Negative controls: methods of keeping a position in the log that do not work. They get the same
// kills and the same checks as the right one, and must fail.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "fault/chaos/experiment.hpp"
#include "fault/wrong/judge.hpp"
#include "support/kafka_broker.hpp"

namespace rampart::wrong {
namespace {

constexpr int kKills = 12;

class WrongVariants : public testing::Test {
  protected:
    void SetUp() override {
        RAMPART_NEEDS_KAFKA();
        folder_ = std::filesystem::path(testing::TempDir()) / fmt::format("wrong.{}", ::getpid());
        RecordProperty("seed", std::to_string(seed_));
        fmt::print("repeat it with RAMPART_SEED={}\n", seed_);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    Verdict judge(const std::string& variant, uint64_t run = 0) const {
        const auto verdict =
            judge_consumer(test_support::shared_kafka().bootstrap, variant, kKills, seed_ + run,
                           folder_ / fmt::format("{}-{}", variant, run));
        fmt::print("{}", verdict.text(variant));
        EXPECT_EQ(verdict.kills, kKills);
        EXPECT_GT(verdict.events, 1000u);
        return verdict;
    }
    WriterVerdict judge_writing(const std::string& variant) const {
        const auto verdict =
            judge_writer(test_support::shared_kafka().bootstrap, variant, seed_, folder_ / variant);
        fmt::print("{:<14} {} acknowledged, {} of them lost; {} records behind a fence\n", variant,
                   verdict.acknowledged, verdict.lost, verdict.fenced);
        return verdict;
    }

    const uint64_t seed_ = chaos::seed_from_environment();
    std::filesystem::path folder_;
};

TEST_F(WrongVariants, OffsetsInTheSameWriteAsTheStateCountEverythingOnce) {
    const auto verdict = judge("together");
    EXPECT_EQ(verdict.lost, 0u);
    EXPECT_EQ(verdict.doubled, 0u);
}

TEST_F(WrongVariants, AutoCommitCountsTwice) { EXPECT_GT(judge("auto-commit").doubled, 0u); }

TEST_F(WrongVariants, OffsetsWrittenAfterTheStateCountTwice) {
    const auto verdict = judge("offsets-after");
    EXPECT_GT(verdict.doubled, 0u);
    EXPECT_EQ(verdict.lost, 0u);
}

TEST_F(WrongVariants, OffsetsWrittenBeforeTheStateLose) {
    const auto verdict = judge("offsets-first");
    EXPECT_GT(verdict.lost, 0u);
    EXPECT_EQ(verdict.doubled, 0u);
}

TEST_F(WrongVariants, AGroupThatMovesPartitionsButNotTheirStateCountsTwice) {
    // on a machine with much to do the group may have assigned nothing before the last kill
    uint64_t doubled = 0;
    for (uint64_t run = 0; run < 4 && doubled == 0; ++run)
        doubled = judge("subscribe", run).doubled;
    EXPECT_GT(doubled, 0u);
}

TEST_F(WrongVariants, AWriterThatReadsBackAcknowledgesOnlyWhatCounts) {
    const auto verdict = judge_writing("read-back");
    EXPECT_EQ(verdict.lost, 0u);
    EXPECT_GT(verdict.fenced, 0u);
}

TEST_F(WrongVariants, AWriterThatDoesNotReadBackAcknowledgesWhatIsLost) {
    EXPECT_GT(judge_writing("append-only").lost, 0u);
}

}  // namespace
}  // namespace rampart::wrong
