#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "rampart/joiner/outcome_joiner.hpp"
#include "rampart/wire/record_codec.hpp"
#include "support/loan_makers.hpp"
#include "support/memory_log.hpp"

namespace rampart::joiner {

// 1970-01-01: "repaid" matures on 02-01 + 10 days = day 41, "score" on 03-01 = day 59.
constexpr int64_t kLabelDay = 41, kScoreDay = 59;

/// A joiner over three partitions of a log in memory.
class Joined : public testing::Test {
  protected:
    Joined() {
        log.create("decisions", 3);
        log.create("outcomes", 2);
        joiner = open(folder);
    }
    ~Joined() override {
        joiner.reset();
        std::filesystem::remove_all(folder);
    }

    static std::filesystem::path fresh_folder() {
        static int counter = 0;
        const auto path = std::filesystem::path(testing::TempDir()) /
                          fmt::format("joined_{}_{}", ::getpid(), counter++);
        std::filesystem::remove_all(path);
        return path;
    }
    std::unique_ptr<OutcomeJoiner> open(const std::filesystem::path& at) {
        auto opened = OutcomeJoiner::open(
            at, {.product = support::two_measure_product(), .partitions = 3}, log);
        EXPECT_TRUE(opened) << opened.error().message;
        return opened ? std::move(*opened) : nullptr;
    }
    void append(std::string_view topic, const streaming::Record& record) {
        ASSERT_TRUE(log.append(topic, std::span(&record, 1)));
    }
    void say(const domain::Decision& decision) {
        append("decisions", wire::to_record(decision, 0));
        poll(*joiner);
    }
    void say(const domain::Erasure& erasure) {
        append("decisions", wire::to_record(erasure));
        poll(*joiner);
    }
    template <class Event>
    void say(const Event& event) {
        append("outcomes", wire::to_record(event));
        poll(*joiner);
    }
    static void poll(OutcomeJoiner& joiner) {
        while (true) {
            const auto report = joiner.poll(4);
            ASSERT_TRUE(report) << report.error().message;
            ASSERT_TRUE(report->stopped.empty()) << report->stopped[0].error.message;
            if (report->records == 0) return;
        }
    }
    std::vector<domain::LabeledExample> examples(std::string_view measure,
                                                 base::TimePoint t) const {
        std::vector<domain::LabeledExample> found;
        EXPECT_TRUE(joiner->examples(measure, t, [&](const auto& example) {
            found.push_back(example);
            return base::ok();
        }));
        return found;
    }
    void expect_sound() const { EXPECT_EQ(joiner->check().value(), std::vector<std::string>()); }

    support::MemoryLog log;
    std::filesystem::path folder = fresh_folder();
    std::unique_ptr<OutcomeJoiner> joiner;
};

inline domain::Outcome make_censored(const std::string& name, std::string measure,
                                     uint32_t revision, base::TimePoint observed_at) {
    return {domain::DecisionId("d-" + name), std::move(measure), revision, 0, observed_at, true};
}

inline domain::Override make_override(const std::string& name, uint32_t revision, bool approve,
                                      base::TimePoint at) {
    return {domain::DecisionId("d-" + name),
            revision,
            approve ? domain::Action::kApprove : domain::Action::kDecline,
            "underwriter-17",
            "verified",
            at};
}

}  // namespace rampart::joiner
