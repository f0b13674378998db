#include "rampart/joiner/catch_up.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "support/loan_makers.hpp"
#include "support/memory_log.hpp"

namespace rampart::joiner {
namespace {

using base::Duration;
using streaming::Offset;
using streaming::PartitionId;
using support::day;
using support::make_decision;

/// A log that grows by one record more than each read gives, up to so many records in all.
class GrowingLog final : public streaming::Reader {
  public:
    explicit GrowingLog(size_t most) : most_(most) {
        log_.create("decisions", 2);
        log_.create("outcomes", 2);
    }
    void append_decision() const {
        const auto record = support::to_record(make_decision(std::to_string(size_), day(0)));
        EXPECT_TRUE(log_.append("decisions", std::span(&record, 1)));
        ++size_;
    }
    size_t size() const { return size_; }

    base::Result<int32_t> partitions(std::string_view topic) const override {
        return log_.partitions(topic);
    }
    base::Result<std::string> identity(std::string_view topic) const override {
        return log_.identity(topic);
    }
    base::Result<std::vector<streaming::StoredRecord>> read(std::string_view topic,
                                                            PartitionId partition, Offset from,
                                                            size_t limit) const override {
        auto records = log_.read(topic, partition, from, limit);
        for (size_t i = 0; records && i <= records->size() && size_ < most_; ++i) append_decision();
        return records;
    }
    base::Result<Offset> begin_offset(std::string_view topic, PartitionId p) const override {
        return log_.begin_offset(topic, p);
    }
    base::Result<Offset> end_offset(std::string_view topic, PartitionId p) const override {
        return log_.end_offset(topic, p);
    }

  private:
    const size_t most_;
    mutable support::MemoryLog log_;
    mutable size_t size_ = 0;
};

class JoinerRound : public testing::Test {
  protected:
    JoinerRound() {
        std::filesystem::remove_all(folder_);
        for (int i = 0; i < 20; ++i) log_.append_decision();
        joiner_ = joiner::OutcomeJoiner::open(
                      folder_, {.product = support::two_measure_product(), .partitions = 2}, log_)
                      .value();
    }
    ~JoinerRound() override {
        joiner_.reset();
        std::filesystem::remove_all(folder_);
    }

    GrowingLog log_{20'000};
    const std::filesystem::path folder_ =
        std::filesystem::path(testing::TempDir()) / fmt::format("joiner_round.{}", ::getpid());
    std::unique_ptr<joiner::OutcomeJoiner> joiner_;
};

TEST_F(JoinerRound, ReadsToTheEndsSeenAtItsStartThoughTheLogGrowsFasterThanItIsRead) {
    const size_t there = log_.size();
    const auto round = catch_up(*joiner_);
    ASSERT_TRUE(round) << round.error().message;
    EXPECT_EQ(round->records, there);
    EXPECT_GT(log_.size(), there);
    EXPECT_EQ(joiner_->counts().decisions, there);
    for (size_t i = 0; i < there; ++i) {
        const domain::DecisionId id(fmt::format("d-{}", i));
        EXPECT_TRUE(joiner_->find_decision(id).value()) << id.value();
    }
}

TEST_F(JoinerRound, TheClockFollowsUnderLoadThatNeverEnds) {
    for (int second = 0; second < 8; ++second) {
        const auto now = day(0) + Duration::seconds(second);
        const size_t there = log_.size();
        ASSERT_TRUE(catch_up(*joiner_));
        ASSERT_TRUE(joiner_->advance(now));
        EXPECT_EQ(joiner_->clock(), now);
        EXPECT_EQ(joiner_->counts().decisions, there) << "in second " << second;
        ASSERT_LT(log_.size(), 20'000u) << "the log has to grow in every round";
    }
}

TEST(StoppedSources, OneThatStoppedIsAnErrorThatNamesItAndHowManyMore) {
    EXPECT_TRUE(nothing_stopped({}));
    const StoppedPartition first{"outcomes", PartitionId(1),
                                 base::Error{base::ErrorCode::kDataLoss, "bad", "record 7"}};
    const auto one = nothing_stopped({first});
    ASSERT_FALSE(one);
    EXPECT_EQ(one.error().reason, "bad");
    EXPECT_NE(one.error().message.find("partition 1 of topic 'outcomes'"), std::string::npos)
        << one.error().message;
    EXPECT_NE(nothing_stopped({first, first}).error().message.find("1 more"), std::string::npos);
}

}  // namespace
}  // namespace rampart::joiner
