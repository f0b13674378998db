#include "services/rampartd/state_left.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "rampart/base/file.hpp"
#include "rampart/privacy/register.hpp"
#include "rampart/runtime/job_queue.hpp"
#include "services/rampartd/api/privacy_routes.hpp"
#include "support/set_clock.hpp"

namespace rampart::rampartd {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class StateLeft : public testing::Test {
  protected:
    StateLeft() {
        fs::remove_all(store_);
        log_.broker = LogSettings::Broker::kKafka;
    }
    ~StateLeft() override { fs::remove_all(store_); }

    /// Puts a file into a folder below the folder of partitions.
    void leave(const std::string& folder) const {
        fs::create_directories(store_ / "partitions" / folder);
        ASSERT_TRUE(
            base::write_file_atomically(store_ / "partitions" / folder / "000009.sst", "a person"));
    }
    /// Returns the refusal of a node with these roles and partitions; empty: it may start.
    std::string refusal(const std::string& roles, const std::vector<int32_t>& own,
                        const std::vector<int32_t>& follow = {}) {
        log_.roles = parse_roles(roles).value();
        log_.own.clear();
        log_.follow.clear();
        for (const int32_t p : own) log_.own.emplace_back(p);
        for (const int32_t p : follow) log_.follow.emplace_back(p);
        const auto status = check_nothing_left(store_, log_);
        return status ? "" : status.error().reason + ": " + status.error().message;
    }

    const fs::path store_ = fs::path(testing::TempDir()) / fmt::format("state_left.{}", ::getpid());
    LogSettings log_;
};

TEST_F(StateLeft, OfARoleIsRefusedByName) {
    EXPECT_EQ(refusal("decide", {0, 1}), "") << "there is no such folder";
    leave("0/decisions");
    leave("1/decisions");
    EXPECT_EQ(refusal("decide", {0, 1}), "");
    EXPECT_THAT(refusal("join", {}, {0, 1}),
                AllOf(HasSubstr("state_left: "), HasSubstr("partitions/0/decisions'"),
                      HasSubstr("this node does not decide, its roles are join")));
    leave("1/joins.damaged-1");
    EXPECT_THAT(refusal("decide", {0, 1}), HasSubstr("partitions/1/joins.damaged-1'"));
    EXPECT_EQ(refusal("decide,join", {0, 1}), "");
    fs::create_directories(store_ / "partitions/2/joins");
    EXPECT_EQ(refusal("decide,join", {0, 1}), "") << "an empty folder has no person";
}

TEST_F(StateLeft, OfAPartitionIsRefusedWhateverTheRoles) {
    for (const char* one : {"0/decisions", "0/joins", "2/decisions", "2/joins"}) leave(one);
    const std::string all = "decide,join,train,monitor";
    EXPECT_EQ(refusal(all, {0, 1, 2, 3}), "");
    EXPECT_THAT(refusal(all, {0, 1}),
                AllOf(HasSubstr("state_left: "), HasSubstr("partitions/2/decisions'"),
                      HasSubstr("log.own does not have partition 2")));
    EXPECT_THAT(refusal(all, {0, 1}, {2, 3}), HasSubstr("partitions/2/decisions'"))
        << "it is joined here, and decided elsewhere";
    fs::remove_all(store_ / "partitions/2/decisions");
    EXPECT_EQ(refusal(all, {0, 1}, {2, 3}), "");
    EXPECT_THAT(refusal(all, {0, 1}),
                AllOf(HasSubstr("partitions/2/joins'"),
                      HasSubstr("neither log.own nor log.follow has partition 2")));
    // the way from a node that does all to one that decides some
    for (const char* p : {"0", "2"}) fs::remove_all(store_ / "partitions" / p / "joins");
    leave("2/decisions");
    EXPECT_THAT(refusal("decide", {0, 1}), HasSubstr("partitions/2/decisions'"));
    fs::remove_all(store_ / "partitions/2");
    EXPECT_EQ(refusal("decide", {0, 1}), "");
    // a partition that the topic does not have
    leave("9/joins");
    EXPECT_THAT(refusal(all, {0, 1, 2, 3}), HasSubstr("partitions/9/joins'"));
}

TEST_F(StateLeft, OfAMoveIsRefusedToo) {
    leave("1.outgoing/joins");
    EXPECT_THAT(refusal("decide,join", {0, 1, 2, 3}), HasSubstr("partitions/1.outgoing'"));
}

TEST_F(StateLeft, WhatCannotBeLookedAtIsRefused) {
    // a folder that is a link to itself: looking at it fails, for root, too
    fs::create_directories(store_);
    fs::create_symlink("partitions", store_ / "partitions");
    EXPECT_THAT(refusal("decide", {0}), HasSubstr("io_error: cannot look at"));
    fs::remove(store_ / "partitions");
    fs::create_directories(store_ / "partitions/0");
    fs::create_symlink("joins", store_ / "partitions/0/joins");
    EXPECT_THAT(refusal("decide", {0}), HasSubstr("io_error: cannot look at"));
}

TEST_F(StateLeft, AnErasureThatHasNotEndedKeepsItsRole) {
    const auto refusal_of = [&](const std::string& roles) {
        const auto status = check_no_erasure_left(store_, parse_roles(roles).value());
        return status ? "" : status.error().reason + ": " + status.error().message;
    };
    EXPECT_EQ(refusal_of("decide"), "") << "a store that is not there yet";
    const auto person = privacy::person_tag("secret", domain::PersonId("p-1"));
    const auto open = [&] {
        fs::create_directories(store_ / "privacy");
        return privacy::Register::open(store_ / "privacy/register").value();
    };
    ASSERT_TRUE(open());
    EXPECT_EQ(refusal_of("decide"), "");
    ASSERT_TRUE(open()->begin({person, base::TimePoint::from_micros(7), {}}));
    for (const char* roles : {"decide", "join", "decide,join"})
        EXPECT_THAT(refusal_of(roles),
                    AllOf(HasSubstr("erasure_left: "), HasSubstr(base::to_hex(person.value()))));
    EXPECT_EQ(refusal_of("join,train"), "");
    ASSERT_TRUE(open()->finish(person));
    EXPECT_EQ(refusal_of("decide"), "");

    support::SetClock clock{base::TimePoint::from_micros(7)};
    runtime::Metrics metrics;
    runtime::JobQueueOptions options;
    options.folder = store_ / "jobs";
    options.kinds = {PrivacyRoutes::kErasure, "candidate"};
    const auto queue = runtime::JobQueue::open(options, clock, metrics).value();
    ASSERT_TRUE(queue->submit("candidate", "a model", 1));
    EXPECT_EQ(refusal_of("decide"), "");
    const auto job = queue->submit(PrivacyRoutes::kErasure, "a person", 3).value();
    EXPECT_THAT(refusal_of("decide"), AllOf(HasSubstr("erasure_left: "), HasSubstr(job.id)));
    EXPECT_EQ(refusal_of("join,train,monitor"), "");
    ASSERT_TRUE(base::write_file_atomically(store_ / "jobs" / (job.id + ".job"), "damaged"));
    EXPECT_THAT(refusal_of("decide"), HasSubstr("bad_job_record: "));
}

TEST_F(StateLeft, TheEmbeddedLogHasNoOtherNode) {
    leave("0/decisions");
    leave("0/joins");
    log_.broker = LogSettings::Broker::kLocal;
    EXPECT_EQ(refusal("decide,join,train,monitor", {0, 1, 2, 3}), "");
}

}  // namespace
}  // namespace rampart::rampartd
