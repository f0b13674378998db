#include "rampart/wire/outcome_json.hpp"

#include <gtest/gtest.h>

#include "rampart/base/limits.hpp"
#include "records.hpp"

namespace rampart::wire {
namespace {

using namespace testing;

TEST(OutcomeJson, WhatIsWrittenIsReadBack) {
    EXPECT_EQ(outcome_from_json(to_json(sample_outcome())), sample_outcome());
    const std::vector batch{sample_outcome(), sample_outcome()};
    const auto read = outcomes_from_json(to_json(batch));
    ASSERT_TRUE(read);
    EXPECT_TRUE(read->batch);
    EXPECT_EQ(read->outcomes, batch);
    EXPECT_FALSE(outcomes_from_json(to_json(sample_outcome()))->batch);
}

TEST(OutcomeJson, TheRevisionMayBeLeftOut) {
    const auto read = outcome_from_json(
        R"({"decision_id":"d-1","measure":"repaid","value":1,"observed_at":"2005-10-01"})");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->revision, 0u);
}

TEST(OutcomeJson, ARevisionIsAWholeNumberFromZeroOn) {
    const auto with = [](const std::string& revision) {
        return outcome_from_json(R"({"decision_id":"d","measure":"m","value":1,"revision":)" +
                                 revision + R"(,"observed_at":"2005-10-01"})");
    };
    for (const char* revision : {"-1", "1.5", "4294967296", "\"1\"", "null"}) {
        const auto read = with(revision);
        ASSERT_FALSE(read) << revision;
        EXPECT_NE(read.error().message.find("revision"), std::string::npos) << read.error().message;
    }
    EXPECT_EQ(with("4294967295").value().revision, UINT32_MAX);
}

TEST(OutcomeJson, ACensoredOutcomeHasNoValue) {
    EXPECT_EQ(outcome_from_json(to_json(sample_censored())), sample_censored());
    const auto read = [](const std::string& what) {
        return outcome_from_json(R"({"decision_id":"d","measure":"m","observed_at":"2005-10-01")" +
                                 what + "}");
    };
    EXPECT_TRUE(read(R"(,"censored":true)").value().censored);
    EXPECT_FALSE(read(R"(,"censored":false,"value":1)").value().censored);
    EXPECT_EQ(read(R"(,"censored":true,"value":1)").error().reason, "censored_with_value");
    EXPECT_EQ(read(R"(,"censored":false)").error().reason, "missing_member");
    EXPECT_EQ(read("").error().reason, "missing_member");
    EXPECT_EQ(read(R"(,"censored":1)").error().reason, "wrong_type");
}

TEST(OutcomeJson, MistakesAreNamedWithTheirPath) {
    const auto read = outcomes_from_json(R"({"outcomes":[{"decision_id":"d","measure":"m",
        "value":"1","observed_at":"2005-10-01"}]})");
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().reason, "wrong_type");
    EXPECT_NE(read.error().message.find("outcomes[0].value"), std::string::npos);
}

TEST(OutcomeJson, ABatchHasALimit) {
    const std::vector<domain::Outcome> full(base::limits::kMaxBatch, sample_outcome());
    EXPECT_TRUE(outcomes_from_json(to_json(full)));
    const std::vector<domain::Outcome> more(base::limits::kMaxBatch + 1, sample_outcome());
    EXPECT_FALSE(outcomes_from_json(to_json(more)));
}

}  // namespace
}  // namespace rampart::wire
