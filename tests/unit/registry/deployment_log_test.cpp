#include "rampart/registry/deployment_log.hpp"

#include <gtest/gtest.h>

namespace rampart::registry {
namespace {

using domain::StopKind;
using Details = std::map<std::string, std::string>;

base::TimePoint at(int64_t second) { return base::TimePoint::from_micros(second * 1'000'000); }

AuditEntry entry(int64_t second, std::string action, Details details = {}) {
    return {.sequence = static_cast<uint64_t>(second),
            .at = at(second),
            .actor = "anna",
            .action = std::move(action),
            .details = std::move(details),
            .previous = {},
            .hash = {}};
}

domain::Assignment sample(const std::string& id) {
    return {id, at(0), {{domain::PolicyId("champion"), 0.9}, {domain::PolicyId("one"), 0.1}}};
}

AuditEntry start(int64_t second, const std::string& id) {
    return entry(second, std::string(DeploymentLog::kStartAssignment), details_of(sample(id)));
}

TEST(DeploymentLog, AnAssignmentEndsByACommandTheNextOneAndAnotherChampion) {
    DeploymentLog log;
    ASSERT_TRUE(log.add(start(1, "a")));
    ASSERT_TRUE(log.add(start(2, "b")));
    EXPECT_EQ(log.in_force()->assignment.id, "b");
    EXPECT_EQ(log.in_force()->assignment.arms, sample("b").arms) << "to the bit";
    ASSERT_TRUE(
        log.add(entry(3, std::string(DeploymentLog::kEndAssignment), {{"assignment", "b"}})));
    EXPECT_EQ(log.in_force(), nullptr);
    ASSERT_TRUE(log.add(start(4, "c")));
    ASSERT_TRUE(log.add(entry(5, "rollback")));
    EXPECT_EQ(log.in_force(), nullptr);
    ASSERT_TRUE(log.add(start(6, "d")));
    ASSERT_TRUE(log.add(entry(5, "promote")));  // dated by the time of its run
    const auto& all = log.assignments();
    ASSERT_EQ(all.size(), 4u);
    for (const auto& [i, to] : {std::pair{0u, 2}, {1u, 3}, {2u, 5}, {3u, 6}})
        EXPECT_EQ(all[i].to, at(to)) << i;
    EXPECT_EQ(all[0].assignment.from, at(1));
}

TEST(DeploymentLog, StopsOfEachKindAreKeptWithTheirBeginAndEnd) {
    DeploymentLog log;
    const auto press = std::string(DeploymentLog::kPressStop);
    const auto release = std::string(DeploymentLog::kReleaseStop);
    ASSERT_TRUE(log.add(entry(1, press, {{"kind", "rules_only"}})));
    ASSERT_TRUE(log.add(entry(2, press, {{"kind", "exploration_off"}})));
    ASSERT_TRUE(log.add(entry(3, release, {{"kind", "rules_only"}})));
    const std::vector<Stop> expected{
        {{at(1), at(3), StopKind::kRulesOnly, "anna"}, "", "", "anna", ""},
        {{at(2), std::nullopt, StopKind::kExplorationOff, "anna"}}};
    EXPECT_EQ(log.stops(), expected);
    EXPECT_EQ(log.open_stop(StopKind::kRulesOnly), nullptr);
    EXPECT_EQ(*log.open_stop(StopKind::kExplorationOff), expected[1]);
    EXPECT_EQ(log.not_before_last(at(1)), at(3));
    EXPECT_EQ(log.not_before_last(at(9)), at(9));
}

TEST(DeploymentLog, AStopWithAnIdHasTheTimesThatItsEntriesName) {
    DeploymentLog log;
    const auto press = std::string(DeploymentLog::kPressStop);
    const auto release = std::string(DeploymentLog::kReleaseStop);
    Stop one{{at(1), at(9), StopKind::kRulesOnly, "anna"}, "id-1", "harm", "anna", "mended"};
    ASSERT_TRUE(log.add(entry(5, press, details_of(one, false))));
    Stop other = one;
    other.id = "id-2";
    ASSERT_TRUE(log.add(entry(5, press, details_of(other, false)))) << "at two nodes at once";
    EXPECT_EQ(log.find_stop("id-1")->period.from, at(1));
    EXPECT_EQ(log.open_stop(StopKind::kRulesOnly)->id, "id-1");
    ASSERT_TRUE(log.add(entry(6, release, details_of(one, true))));
    EXPECT_EQ(*log.find_stop("id-1"), one);
    EXPECT_EQ(log.open_stop(StopKind::kRulesOnly)->id, "id-2");
    EXPECT_EQ(log.find_stop("id-3"), nullptr);
    auto no_time = details_of(other, true);
    no_time["to"] = "yesterday";
    for (const auto& wrong :
         {entry(7, press, details_of(one, false)), entry(7, press, details_of(other, false)),
          entry(7, release, details_of(one, true)), entry(7, release, no_time)}) {
        DeploymentLog after = log;
        EXPECT_EQ(after.add(wrong).error().reason, "deployment_log") << wrong.action;
    }
}

TEST(DeploymentLog, WhatCannotHaveHappenedIsDamage) {
    const auto press = std::string(DeploymentLog::kPressStop);
    const auto release = std::string(DeploymentLog::kReleaseStop);
    const auto end = std::string(DeploymentLog::kEndAssignment);
    DeploymentLog log;
    ASSERT_TRUE(log.add(start(5, "a")));
    ASSERT_TRUE(log.add(entry(6, press, {{"kind", "refer_all"}})));
    auto other = details_of(sample("b"));
    other["arm_01"] = "0.2 one";
    auto gap = details_of(sample("b"));
    gap["arm_03"] = "0.1 two";
    auto words = details_of(sample("b"));
    words["arm_01"] = "0.1";
    const auto begin = std::string(DeploymentLog::kStartAssignment);
    for (const auto& wrong :
         {start(7, "a"), entry(7, begin, other), entry(7, begin, gap), entry(7, begin, words),
          entry(7, begin), entry(7, end, {{"assignment", "b"}}), entry(7, end),
          entry(7, press, {{"kind", "refer_all"}}), entry(7, release, {{"kind", "rules_only"}}),
          entry(7, press, {{"kind", "everything"}}), entry(7, press),
          entry(5, release, {{"kind", "refer_all"}})}) {
        DeploymentLog after = log;
        const auto added = after.add(wrong);
        ASSERT_FALSE(added) << wrong.action;
        EXPECT_EQ(added.error().reason, "deployment_log");
    }
    EXPECT_TRUE(log.add(entry(1, "register_model", {{"kind", "everything"}})));
}

}  // namespace
}  // namespace rampart::registry
