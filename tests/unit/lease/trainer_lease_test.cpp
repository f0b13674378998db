#include "rampart/lease/trainer_lease.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "support/memory_log.hpp"

namespace rampart::lease {
namespace {

namespace fs = std::filesystem;
using base::Duration;

constexpr Duration kTtl = Duration::seconds(9);

/// Time that passes only in a wait; what happens meanwhile is up to the test.
class WaitingTimer final : public Timer {
  public:
    Duration now() const override { return now_; }
    bool wait(Duration duration) const override {
        now_ = Duration::micros(now_.micros() + duration.micros());
        if (meanwhile) meanwhile();
        return true;
    }
    std::function<void()> meanwhile;

  private:
    mutable Duration now_;
};

class OneTime final : public base::Clock {
  public:
    base::TimePoint now() const override { return base::TimePoint::from_micros(7); }
};

/// Calls `before` once, before the next record is written.
class LateWriter final : public streaming::Writer {
  public:
    explicit LateWriter(support::MemoryLog& log) : log_(log) {}
    base::Result<std::vector<streaming::Position>> append(
        std::string_view topic, std::span<const streaming::Record> records) override {
        return append_to(topic, streaming::PartitionId(0), records);
    }
    base::Result<std::vector<streaming::Position>> append_to(
        std::string_view topic, streaming::PartitionId id,
        std::span<const streaming::Record> records) override {
        if (const auto call = std::exchange(before, {})) call();
        return log_.append_to(topic, id, records);
    }
    std::function<void()> before;

  private:
    support::MemoryLog& log_;
};

class TrainerLeaseTest : public testing::Test {
  protected:
    TrainerLeaseTest() {
        log_.create("leases", 1);
        fs::create_directories(folder_);
    }
    ~TrainerLeaseTest() override { fs::remove_all(folder_); }

    /// A process of a node on a store.
    std::unique_ptr<TrainerLease> process(const std::string& node, const std::string& store) {
        return TrainerLease::create({"leases", "g", node, kTtl}, {log_, log_, clock_, timer_},
                                    file(store), published())
            .value();
    }
    TrainerLease::Published published() {
        return [this] { return published_; };
    }
    fs::path file(const std::string& store) const { return folder_ / store; }
    void copy(const std::string& from, const std::string& to) const {
        fs::copy_file(file(from), file(to), fs::copy_options::overwrite_existing);
    }
    static std::string reason(const base::Status& status) {
        return status ? "" : status.error().reason;
    }
    size_t records() const { return log_.topics.at("leases").partitions[0].size(); }

    void lose_leases() {
        log_.topics.erase("leases");
        log_.create("leases", 1);
    }

    support::MemoryLog log_;
    base::Result<uint64_t> published_ = uint64_t{0};
    OneTime clock_;
    WaitingTimer timer_;
    const fs::path folder_ =
        fs::path(testing::TempDir()) / fmt::format("trainer_lease_test.{}", ::getpid());
};

TEST_F(TrainerLeaseTest, TheFirstStoreOfAGroupTrainsAndAgainUnderALaterEpoch) {
    const auto a = process("a", "s");
    EXPECT_FALSE(a->held());
    EXPECT_FALSE(a->status());
    ASSERT_TRUE(a->claim());
    EXPECT_TRUE(a->held());
    EXPECT_EQ(a->epoch(), 1u);
    EXPECT_EQ(a->holder(), (Holder{kTrainer, "a", 1}));
    EXPECT_TRUE(a->keep());
    EXPECT_TRUE(a->confirm());
    EXPECT_TRUE(a->status());
    ASSERT_TRUE(a->claim());  // it has it
    EXPECT_EQ(a->epoch(), 1u);
    ASSERT_TRUE(a->release());
    EXPECT_EQ(reason(a->status()), "stopped");
    EXPECT_EQ(reason(a->confirm()), "stopped");
    const auto later = process("a", "s");
    ASSERT_TRUE(later->claim());
    EXPECT_EQ(later->epoch(), 2u);
    EXPECT_EQ(timer_.now(), Duration());
}

TEST_F(TrainerLeaseTest, AnotherStoreIsRefusedAndSaysWhoTrainsAliveOrNot) {
    const auto a = process("a", "s");
    ASSERT_TRUE(a->claim());
    const auto b = process("b", "other"), same_name = process("a", "wiped");
    const auto before = records();
    for (const auto& refused : {b.get(), same_name.get()}) {
        EXPECT_EQ(reason(refused->claim()), "trainer_elsewhere");
        EXPECT_EQ(reason(refused->keep()), "trainer_elsewhere");
        EXPECT_EQ(reason(refused->confirm()), "trainer_elsewhere");
        EXPECT_FALSE(refused->held());
        EXPECT_EQ(refused->epoch(), 0u);
        EXPECT_EQ(refused->holder(), (Holder{kTrainer, "a", 1}));
        EXPECT_NE(refused->status().error().message.find("the node 'a' trains"), std::string::npos);
    }
    EXPECT_EQ(records(), before) << "who is refused writes nothing";
    ASSERT_TRUE(a->release());
    EXPECT_EQ(reason(b->keep()), "trainer_elsewhere") << "the ledger is in the other store";
    EXPECT_EQ(timer_.now(), Duration()) << "nothing to wait for";
    EXPECT_TRUE(process("a", "s")->claim());
}

TEST_F(TrainerLeaseTest, OfStoresThatClaimTogetherTheFirstInTheLogTrains) {
    const auto a = process("a", "s");
    LateWriter late(log_);
    const auto b = TrainerLease::create({"leases", "g", "b", kTtl}, {log_, late, clock_, timer_},
                                        file("other"), published())
                       .value();
    late.before = [&] { EXPECT_TRUE(a->claim()); };
    EXPECT_EQ(reason(b->claim()), "trainer_elsewhere");
    EXPECT_FALSE(b->held());
    EXPECT_TRUE(a->confirm());
    // another one trained, and gave it up, between the look and the claim
    copy("s", "copy");
    const auto again = TrainerLease::create({"leases", "g", "a", kTtl},
                                            {log_, late, clock_, timer_}, file("copy"), published())
                           .value();
    late.before = [&] {
        EXPECT_TRUE(a->release());
        EXPECT_TRUE(a->claim());
        EXPECT_TRUE(a->release());
    };
    EXPECT_FALSE(again->claim());
    EXPECT_FALSE(again->held());
    EXPECT_EQ(reason(again->claim()), "trainer_elsewhere");
    EXPECT_TRUE(process("a", "s")->claim());
}

TEST_F(TrainerLeaseTest, ACopyOfTheStoreFromBeforeALaterClaimHasNoRight) {
    ASSERT_TRUE(process("a", "s")->claim());
    copy("s", "backup");
    ASSERT_TRUE(process("a", "s")->claim());
    const auto old = process("a", "backup");
    EXPECT_EQ(reason(old->claim()), "trainer_elsewhere");
    EXPECT_NE(old->status().error().message.find("this store did under epoch 1"),
              std::string::npos);
}

TEST_F(TrainerLeaseTest, ACopyFromBeforeAChargeHasNoRightThoughTheProcessWasTheSame) {
    const auto a = process("a", "s");
    ASSERT_TRUE(a->claim());
    copy("s", "backup");
    ASSERT_TRUE(a->renew());
    EXPECT_TRUE(a->held());
    EXPECT_EQ(a->epoch(), 2u);
    EXPECT_TRUE(a->confirm());
    EXPECT_EQ(reason(process("a", "backup")->claim()), "trainer_elsewhere");
    EXPECT_TRUE(a->confirm());
    copy("s", "moved");
    ASSERT_TRUE(a->release());
    ASSERT_TRUE(process("b", "moved")->claim());
    EXPECT_EQ(reason(a->renew()), "stopped");
    EXPECT_EQ(reason(a->keep()), "trainer_elsewhere");
    EXPECT_EQ(reason(a->renew()), "trainer_elsewhere");
}

TEST_F(TrainerLeaseTest, ACrashBetweenTheClaimAndWhatFollowsLosesNoRight) {
    LateWriter late(log_);
    const auto a = TrainerLease::create({"leases", "g", "a", kTtl}, {log_, late, clock_, timer_},
                                        file("s"), published())
                       .value();
    late.before = [&] {
        ASSERT_TRUE(fs::exists(file("s"))) << "the store knows of the claim before the log does";
        copy("s", "crashed");
    };
    ASSERT_TRUE(a->claim());
    EXPECT_TRUE(process("a", "crashed")->claim());
}

TEST_F(TrainerLeaseTest, ARenewalThatFailsLosesNoRight) {
    const auto a = process("a", "s");
    ASSERT_TRUE(a->claim());
    log_.topics["leases"].failure = {base::ErrorCode::kUnavailable, "broker_down", "no answer"};
    EXPECT_EQ(reason(a->renew()), "broker_down") << "so that nothing is charged";
    log_.topics["leases"].failure = {};
    ASSERT_TRUE(a->keep());
    EXPECT_TRUE(a->renew());
    EXPECT_EQ(a->epoch(), 2u);
}

// The lease is given up and claimed anew; where that cannot be read back, it is not held.
TEST_F(TrainerLeaseTest, ARenewalThatIsCutOffAfterItsFirstRecordHoldsNothing) {
    for (int fails_at = 2; fails_at <= 3; ++fails_at) {
        SCOPED_TRACE(fails_at);
        LateWriter late(log_);
        const auto store = fmt::format("s{}", fails_at), group = fmt::format("g{}", fails_at);
        const auto a = TrainerLease::create({"leases", group, "a", kTtl},
                                            {log_, late, clock_, timer_}, file(store), published())
                           .value();
        ASSERT_TRUE(a->claim());
        int written = 0;
        const std::function<void()> count = [&] {
            late.before = count;
            if (++written == fails_at)
                log_.topics["leases"].failure = {base::ErrorCode::kUnavailable, "broker_down", ""};
        };
        late.before = count;
        EXPECT_FALSE(a->renew());
        EXPECT_FALSE(a->held());
        EXPECT_EQ(written, fails_at);
        log_.topics["leases"].failure = {};
        EXPECT_TRUE(a->keep());
        EXPECT_TRUE(a->renew());
    }
}

TEST_F(TrainerLeaseTest, AMovedStoreTrainsUnderAnotherNodeAndTheOldOneDoesNot) {
    const auto a = process("a", "s");
    ASSERT_TRUE(a->claim());
    ASSERT_TRUE(a->release());
    copy("s", "moved");
    const auto b = process("b", "moved");
    ASSERT_TRUE(b->claim());
    EXPECT_EQ(b->epoch(), 2u);
    EXPECT_EQ(reason(process("a", "s")->claim()), "trainer_elsewhere");
}

TEST_F(TrainerLeaseTest, OfTwoCopiesOfAStoreOneTrains) {
    const auto a = process("a", "s");
    ASSERT_TRUE(a->claim());
    copy("s", "copy");
    const auto b = process("b", "copy");
    timer_.meanwhile = [&] { EXPECT_TRUE(a->keep()); };
    EXPECT_EQ(reason(b->claim()), "trainer_elsewhere") << "a is alive";
    timer_.meanwhile = {};
    ASSERT_TRUE(b->claim());  // a is silent for the ttl of its lease
    EXPECT_EQ(reason(a->confirm()), "trainer_elsewhere");
    EXPECT_FALSE(a->held());
    EXPECT_EQ(reason(a->keep()), "trainer_elsewhere");
    EXPECT_TRUE(b->confirm());
}

TEST_F(TrainerLeaseTest, ACrashDuringAClaimLosesNoRight) {
    ASSERT_TRUE(process("a", "s")->claim());
    const auto before = read_seat(file("s")).value();
    ASSERT_TRUE(process("a", "s")->claim());
    const auto after = read_seat(file("s")).value();
    // the claim is in the log, and the file was not written again
    ASSERT_TRUE(write_seat(file("s"), {before.held, after.held}));
    const auto a = process("a", "s");
    ASSERT_TRUE(a->claim());
    EXPECT_EQ(a->epoch(), 3u);
    // the file was written, and the claim never sent
    auto seat = read_seat(file("s")).value();
    seat.claimed = Turn{4, std::string(16, 'x')};
    ASSERT_TRUE(write_seat(file("s"), seat));
    const auto again = process("a", "s");
    ASSERT_TRUE(again->claim());
    EXPECT_EQ(again->epoch(), 5u);
}

TEST_F(TrainerLeaseTest, ALogThatDoesNotAnswerLosesNothing) {
    const auto a = process("a", "s");
    log_.topics["leases"].failure = {base::ErrorCode::kUnavailable, "broker_down", "no answer"};
    EXPECT_EQ(reason(a->claim()), "broker_down");
    EXPECT_FALSE(a->held());
    log_.topics["leases"].failure = {};
    ASSERT_TRUE(a->keep());
    EXPECT_TRUE(a->held());
    log_.topics["leases"].failure = {base::ErrorCode::kUnavailable, "broker_down", "no answer"};
    EXPECT_EQ(reason(a->keep()), "broker_down");
    EXPECT_EQ(reason(a->confirm()), "broker_down") << "what cannot be taken back has to wait";
    EXPECT_TRUE(a->held()) << "no other may train";
    log_.topics["leases"].failure = {};
    EXPECT_TRUE(a->confirm());
}

TEST_F(TrainerLeaseTest, AStoreThatHasHandedOverTrainsNoMoreAndTheSeatIsGoodOnce) {
    ASSERT_TRUE(process("a", "s")->claim());
    const auto given = process("a", "s")->hand_over();
    ASSERT_TRUE(given);
    EXPECT_EQ(given->held->epoch, 2u);
    EXPECT_FALSE(given->handed_over);
    const auto a = process("a", "s");
    EXPECT_EQ(reason(a->claim()), "trainer_handed_over");
    EXPECT_EQ(reason(a->keep()), "trainer_handed_over");
    ASSERT_TRUE(write_seat(file("new"), *given));
    ASSERT_TRUE(write_seat(file("second"), *given));
    const auto b = process("b", "new");
    ASSERT_TRUE(b->claim());
    EXPECT_EQ(b->epoch(), 3u);
    EXPECT_EQ(reason(process("c", "second")->claim()), "trainer_elsewhere");
    EXPECT_EQ(reason(process("a", "s")->claim()), "trainer_elsewhere");
    EXPECT_EQ(reason(process("a", "s")->hand_over().map([](const auto&) {})), "trainer_elsewhere");
    EXPECT_EQ(reason(process("a", "s")->take_back({})), "trainer_elsewhere");
    EXPECT_TRUE(b->confirm());
}

TEST_F(TrainerLeaseTest, OnlyTheLastOfSeveralHandOversCounts) {
    ASSERT_TRUE(process("a", "s")->claim());
    const auto first = process("a", "s")->hand_over().value();
    const auto second = process("a", "s")->hand_over().value();
    ASSERT_TRUE(write_seat(file("first"), first));
    ASSERT_TRUE(write_seat(file("second"), second));
    EXPECT_EQ(reason(process("b", "first")->claim()), "trainer_elsewhere");
    EXPECT_TRUE(process("c", "second")->claim());
}

TEST_F(TrainerLeaseTest, WhatWasHandedOverCanBeTakenBackAndThenTheSeatIsGoodForNothing) {
    ASSERT_TRUE(process("a", "s")->claim());
    const auto given = process("a", "s")->hand_over().value();
    ASSERT_TRUE(process("a", "s")->take_back({}));
    ASSERT_TRUE(write_seat(file("new"), given));
    EXPECT_EQ(reason(process("b", "new")->claim()), "trainer_elsewhere");
    const auto a = process("a", "s");
    ASSERT_TRUE(a->claim());
    EXPECT_EQ(a->epoch(), 4u);
}

TEST_F(TrainerLeaseTest, ARestoredStoreTrainsOnlyWhereTheEpochThatItOvertakesIsNamed) {
    ASSERT_TRUE(process("a", "s")->claim());
    copy("s", "backup");
    ASSERT_TRUE(process("a", "s")->claim());
    EXPECT_EQ(reason(process("a", "backup")->take_back(1)), "trainer_elsewhere");
    ASSERT_TRUE(process("a", "backup")->take_back(2));
    EXPECT_TRUE(process("a", "backup")->claim());
    EXPECT_EQ(reason(process("a", "s")->claim()), "trainer_elsewhere");
}

TEST_F(TrainerLeaseTest, ADamagedSeatClaimsNothing) {
    ASSERT_TRUE(process("a", "s")->claim());
    fs::resize_file(file("s"), 30);
    EXPECT_EQ(reason(process("a", "s")->claim()), "bad_seat");
}

TEST_F(TrainerLeaseTest, ATopicThatWasMadeAnewGoesOnBeyondTheEpochsBefore) {
    ASSERT_TRUE(process("a", "s")->claim());
    ASSERT_TRUE(process("a", "s")->claim());
    lose_leases();
    const auto a = process("a", "s");
    ASSERT_TRUE(a->claim());
    EXPECT_EQ(a->epoch(), 3u);
}

TEST_F(TrainerLeaseTest, WithoutLeasesOnlyTheStoreThatPublishedLastTrains) {
    ASSERT_TRUE(process("a", "s")->claim());
    copy("s", "backup");
    ASSERT_TRUE(process("a", "s")->claim());
    published_ = 2;  // by the store, under its last turn
    lose_leases();
    const auto stranger = process("b", "other"), old = process("a", "backup");
    for (const auto& refused : {stranger.get(), old.get()}) {
        EXPECT_EQ(reason(refused->claim()), "trainer_elsewhere");
        EXPECT_EQ(reason(refused->keep()), "trainer_elsewhere");
        EXPECT_EQ(reason(refused->take_back({})), "trainer_elsewhere");
        EXPECT_EQ(reason(refused->take_back(1)), "trainer_elsewhere");
        EXPECT_EQ(reason(refused->hand_over().map([](const auto&) {})), "trainer_elsewhere");
        EXPECT_NE(refused->status().error().message.find("published under epoch 2"),
                  std::string::npos);
    }
    EXPECT_EQ(records(), 0u) << "who is refused writes nothing";
    const auto a = process("a", "s");
    ASSERT_TRUE(a->claim());
    EXPECT_EQ(a->epoch(), 3u);
    EXPECT_EQ(reason(stranger->claim()), "trainer_elsewhere");
}

TEST_F(TrainerLeaseTest, WithoutLeasesWhoIsToOvertakeNamesTheEpochThatWasPublished) {
    published_ = 7;
    ASSERT_TRUE(process("b", "other")->take_back(7));
    const auto b = process("b", "other");
    ASSERT_TRUE(b->claim());
    EXPECT_EQ(b->epoch(), 9u) << "one to take it back, and one to train";
}

TEST_F(TrainerLeaseTest, WhatWasPublishedIsAskedOnlyWithoutLeasesAndDecidesNothingWithoutAnAnswer) {
    published_ = base::Error{base::ErrorCode::kUnavailable, "broker_down", "no answer"};
    EXPECT_EQ(reason(process("a", "s")->claim()), "broker_down");
    EXPECT_EQ(records(), 0u);
    published_ = 0;
    ASSERT_TRUE(process("a", "s")->claim());
    published_ = base::Error{base::ErrorCode::kUnavailable, "broker_down", "no answer"};
    EXPECT_TRUE(process("a", "s")->claim());
}

}  // namespace
}  // namespace rampart::lease
