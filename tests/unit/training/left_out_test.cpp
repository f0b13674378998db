#include "rampart/training/left_out.hpp"

#include <gmock/gmock.h>

#include "rampart/training/gate_inputs.hpp"
#include "unit/training/development_set.hpp"

namespace rampart::training {
namespace {

using certification::LeftOut;
using testing::ElementsAre;
using testing::IsEmpty;
using training_set::Omission;

TEST(LeftOutCounts, AreByReasonFirstAllAndThenEachGroup) {
    const std::vector<std::string> groups{"sex=female", "sex=male", "age=old"};
    LeftOutCounts counts(groups);
    EXPECT_THAT(counts.list(), IsEmpty());
    counts.add(Omission::kRepeat, std::vector<uint32_t>{0, 2});
    counts.add(Omission::kImmature, std::vector<uint32_t>{});
    counts.add(Omission::kImmature, std::vector<uint32_t>{0});
    counts.add(Omission::kErased, ope::ErasedCounts{5, {2, 3, 5}});
    counts.add(Omission::kErased, ope::ErasedCounts{});
    EXPECT_THAT(counts.list(),
                ElementsAre(LeftOut{"immature", "", 2}, LeftOut{"immature", "sex=female", 1},
                            LeftOut{"immature", "unknown", 1}, LeftOut{"repeat", "", 1},
                            LeftOut{"repeat", "sex=female", 1}, LeftOut{"repeat", "age=old", 1},
                            LeftOut{"erased", "", 5}, LeftOut{"erased", "sex=female", 2},
                            LeftOut{"erased", "sex=male", 3}, LeftOut{"erased", "age=old", 5}));
}

training_set::VaultSet vault() {
    const auto development = test::development_set();
    training_set::VaultSet out;
    out.schema = development.schema;
    out.rows = development.rows;
    out.features = development.features;
    out.group_names = development.group_names;
    out.cell_names = development.cell_names;
    out.known = out.rows.size();
    return out;
}

TEST(LeftOut, OfAVaultHasEachReasonOnceForADecision) {
    auto set = vault();
    set.rows[0].repeat = true;
    set.rows[1].ordinal = 1;
    set.rows[2].cell.reset();
    set.rows[2].groups.clear();
    set.rows[2].repeat = true;  // counts as that alone
    set.omitted = {{base::TimePoint(), Omission::kImmature, {1}},
                   {base::TimePoint(), Omission::kStopped, {}}};
    set.unreadable = 2;
    const auto policy = test::bootstrap(test::development_set());
    EXPECT_THAT(left_out(set, policy, policy, {}),
                ElementsAre(LeftOut{"immature", "", 1}, LeftOut{"immature", "sex=male", 1},
                            LeftOut{"stopped", "", 1}, LeftOut{"stopped", "unknown", 1},
                            LeftOut{"repeat", "", 2}, LeftOut{"repeat", "sex=female", 1},
                            LeftOut{"repeat", "unknown", 1}, LeftOut{"later_record", "", 1},
                            LeftOut{"later_record", "sex=male", 1}, LeftOut{"quarantined", "", 2},
                            LeftOut{"quarantined", "unknown", 2}));
    set.known = 0;
    EXPECT_THAT(left_out(set, policy, policy, {}), IsEmpty()) << "not counted";
}

TEST(LeftOut, ARecordThatAGroupAwarePolicyCannotDecideIsUndecidable) {
    auto set = vault();
    set.rows[7].cell.reset();
    set.rows[7].groups.clear();
    const auto blind = test::bootstrap(test::development_set());
    EXPECT_EQ(records_in_no_group(set, blind, blind), 1u) << "in the evidence, in no group";
    model::LearnedLink link;
    link.ramp = {0.3, 0.5, {0.0, 0.1}, {1.0, 1.0}};
    auto links = blind.links();
    links.emplace_back(link);
    const auto aware =
        model::Policy::create(set.schema, links, {"sex=female", "sex=male"}, {}).value();
    ASSERT_TRUE(aware.group_aware());
    EXPECT_THAT(left_out(set, aware, blind, {}),
                ElementsAre(LeftOut{"undecidable", "", 1}, LeftOut{"undecidable", "unknown", 1}));
    EXPECT_EQ(records_in_no_group(set, aware, blind), 0u);
}

TEST(LeftOut, RecordsOfAnEarlierEpochOrTooOldAreKeptAsThat) {
    auto set = vault();
    set.omitted = {{base::TimePoint::from_micros(5), Omission::kStopped, {}}};
    set.set_aside = {{set.rows[0].person, domain::DecisionId("a"), {}, {}, {0}, false},
                     {set.rows[0].person,
                      domain::DecisionId("b"),
                      base::TimePoint::from_micros(20),
                      base::TimePoint::from_micros(20),
                      {0},
                      true}};
    const auto later = decided_since(set, base::TimePoint::from_micros(10), Omission::kTooOld);
    EXPECT_EQ(later.omitted_as(Omission::kTooOld), 12u);
    EXPECT_EQ(later.omitted.back().groups, std::vector<uint32_t>{0});
    ASSERT_EQ(later.set_aside.size(), 1u);
    EXPECT_FALSE(later.set_aside[0].later) << "what came before is not read any more";
    const auto policy = test::bootstrap(test::development_set());
    EXPECT_THAT(left_out(later, policy, policy, {}),
                testing::Contains(LeftOut{"other_schema", "sex=female", 1}));
    EXPECT_EQ(later.omitted_as(Omission::kStopped), 0u);
    const auto rest = decided_since(later, base::TimePoint::from_micros(30));
    EXPECT_EQ(rest.omitted_as(Omission::kEarlierEpoch), 33u);
    EXPECT_EQ(rest.rows.size() + rest.omitted.size(), set.rows.size() + 3);
}

TEST(LoggerPeriods, AreThoseOfTheRecordsThatTheGateReads) {
    auto set = vault();
    set.rows.resize(6);
    set.features.resize(12);
    set.rows[0].repeat = true;
    for (const size_t i : {2, 4}) set.rows[i].policy = domain::PolicyId("other");
    const auto policy = test::bootstrap(test::development_set());
    const auto at = [](int64_t micros) { return base::TimePoint::from_micros(micros); };
    EXPECT_THAT(logger_periods(set, policy, policy),
                ElementsAre(certification::LoggerPeriod{"bootstrap", at(1), at(5), 3},
                            certification::LoggerPeriod{"other", at(2), at(4), 2}));
}

}  // namespace
}  // namespace rampart::training
