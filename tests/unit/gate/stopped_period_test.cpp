// A month in which a stop button was pressed: rules alone decided, none by chance.
#include <gmock/gmock.h>

#include "gate_scene.hpp"

namespace rampart::gate {
namespace {

using certification::Verdict;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

constexpr int64_t kAll = 4000, kFrom = 1000, kTo = 1600;

/// Returns how many records count the least that declared impacts allow.
size_t beyond_range(const certification::Certificate& certificate) {
    size_t records = 0;
    for (const auto& group : certificate.plan.groups) records += group.beyond_range;
    return records;
}

TEST_F(GateScene, AMonthOfRulesThatIsLeftOutIsCountedAndNothingIsRefusedForIt) {
    records.decide_by_rules(kFrom, kTo);
    const auto read = certificate(test(submission("better", kAll)));
    EXPECT_GT(beyond_range(read), 0u) << "WRONG: what rules decided is read, at its worst";
    store.ledger.clear();
    records.stop(kFrom, kTo);
    const auto answer = test(submission("better", kAll));
    EXPECT_EQ(answer.result.verdict, Verdict::kCertified) << answer.result.message;
    const auto found = certificate(answer);
    EXPECT_EQ(beyond_range(found), 0u);
    EXPECT_EQ(found.plan.identity.stopped, static_cast<size_t>(kTo - kFrom));
    EXPECT_THAT(found.plan.logger_ids, Not(Contains("rules")));
    EXPECT_THAT(found.assumptions,
                Contains(Field(&certification::Assumption::text,
                               HasSubstr("600 decisions that were made while a stop button"))));
    const auto& files = store.certificates.at(answer.certificate);
    EXPECT_TRUE(certification::verify(files.certificate, files.evidence, key.public_key(),
                                      {"better", "reference"}));
}

TEST_F(GateScene, WithoutAStopACertificateSaysNothingOfIt) {
    const auto answer = test(submission("better", kAll));
    EXPECT_THAT(certificate(answer).assumptions,
                Not(Contains(Field(&certification::Assumption::text, HasSubstr("stop button")))));
}

TEST_F(GateScene, ARefusalDoesNotTellHowManyWereStopped) {
    records.stop(kFrom, kTo);
    const auto answer = test(submission("far", kAll));
    EXPECT_EQ(answer.result.verdict, Verdict::kRefused);
    EXPECT_EQ(certificate(answer).plan.identity.stopped, 0u);
}

}  // namespace
}  // namespace rampart::gate
