#include "rampart/registry/proposal_log.hpp"

#include <gtest/gtest.h>

namespace rampart::registry {
namespace {

using Details = std::map<std::string, std::string>;
using State = ProposalState;

base::TimePoint at(int64_t second) { return base::TimePoint::from_micros(second * 1'000'000); }

PromotionProposal sample(uint64_t number) {
    PromotionProposal one;
    one.number = number;
    one.policy = domain::PolicyId("new");
    one.replaces = domain::PolicyId("old");
    one.champion = 1;
    one.certificate = base::sha256("certificate " + std::to_string(number));
    one.run = "e1r" + std::to_string(number);
    one.epoch = 1;
    one.proposed_by = "petra";
    one.at = at(10);
    one.expires = at(100);
    one.approvals_needed = 2;
    return one;
}

AuditEntry entry(std::string_view action, std::string who, Details details) {
    return {.sequence = 7,
            .at = at(10),
            .actor = std::move(who),
            .action = std::string(action),
            .details = std::move(details),
            .previous = {},
            .hash = {}};
}

AuditEntry opening(const PromotionProposal& one) {
    return entry(ProposalLog::kOpen, one.proposed_by, opening_of(one));
}
AuditEntry approval(const PromotionProposal& one, const std::string& who) {
    return entry(ProposalLog::kApprove, who, approval_of(one, {one.digest(), who, "seen", at(10)}));
}
/// Returns the approval of a switch at that second.
AuditEntry approval(const PromotionProposal& one, const std::string& who, int64_t second) {
    return entry(ProposalLog::kApprove, who,
                 approval_of(one, {one.digest(), who, "seen", at(10), at(second)}));
}
AuditEntry promotion(const PromotionProposal& one) {
    return entry("promote", "bert",
                 {{"model", one.policy.value()},
                  {"replaced", one.replaces.value()},
                  {"certificate", one.certificate.hex()},
                  {"promotion", "2"},
                  {"proposal", std::to_string(one.number)}});
}

bool is_broken(const base::Status& status) {
    return !status && status.error().code == base::ErrorCode::kDataLoss &&
           status.error().reason == "proposal_log";
}

TEST(ProposalLog, TellsAProposalFromItsEntries) {
    ProposalLog log;
    auto one = sample(1);
    ASSERT_TRUE(log.add(opening(one)));
    EXPECT_EQ(*log.find(1), one);
    EXPECT_EQ(log.by_certificate(one.certificate), log.find(1));
    EXPECT_EQ(log.find(0), nullptr);
    EXPECT_EQ(log.find(2), nullptr);
    ASSERT_TRUE(log.add(opening(sample(2))));
    ASSERT_TRUE(log.add(approval(one, "anna")));
    ASSERT_TRUE(log.add(approval(one, "bert")));
    ASSERT_TRUE(log.add(promotion(one)));
    EXPECT_EQ(log.find(1)->state, State::kApproved);
    EXPECT_EQ(log.find(1)->promotion, 2u);
    EXPECT_EQ(log.find(2)->state, State::kVoid);
    EXPECT_EQ(log.find(2)->why, kChampionChanged);
}

TEST(ProposalLog, ARollbackAndAStopOfLearnedPoliciesMakeVoid) {
    for (const auto& end :
         {entry("rollback", "anna", {}), entry("press_stop", "anna", {{"kind", "rules_only"}})}) {
        ProposalLog log;
        ASSERT_TRUE(log.add(opening(sample(1))));
        ASSERT_TRUE(log.add(entry("press_stop", "anna", {{"kind", "exploration_off"}})));
        EXPECT_EQ(log.find(1)->state, State::kWaiting);
        ASSERT_TRUE(log.add(end));
        EXPECT_EQ(log.find(1)->state, State::kVoid);
        EXPECT_TRUE(is_broken(log.add(approval(sample(1), "anna"))));
    }
}

TEST(ProposalLog, WhatTheRegistryWouldNotWriteIsDamage) {
    const auto one = sample(1);
    ProposalLog log;
    EXPECT_TRUE(is_broken(log.add(opening(sample(2)))));
    auto edited = opening(one);
    edited.details["approvals"] = "1";
    EXPECT_TRUE(is_broken(log.add(edited))) << "not what its digest says";
    edited = opening(one);
    edited.details.erase("certificate");
    EXPECT_TRUE(is_broken(log.add(edited)));
    EXPECT_TRUE(is_broken(log.add(approval(one, "anna")))) << "there is none yet";
    ASSERT_TRUE(log.add(opening(one)));
    EXPECT_TRUE(is_broken(log.add(approval(one, "petra"))));
    auto other = one;
    other.expires = at(101);
    EXPECT_TRUE(is_broken(log.add(approval(other, "anna"))));
    ASSERT_TRUE(log.add(approval(one, "anna")));
    EXPECT_TRUE(is_broken(log.add(approval(one, "anna"))));
    EXPECT_TRUE(is_broken(log.add(promotion(one)))) << "with one approval of two";
    ASSERT_TRUE(log.add(approval(one, "bert")));
    auto another = promotion(one);
    another.details["model"] = "another";
    EXPECT_TRUE(is_broken(log.add(another)));
    EXPECT_TRUE(is_broken(
        log.add(entry(ProposalLog::kEnd, "registry", end_of(one, State::kApproved, "", "")))));
    ASSERT_TRUE(
        log.add(entry(ProposalLog::kReject, "anna", end_of(one, State::kRejected, "", "no"))));
    EXPECT_EQ(log.find(1)->comment, "no");
    EXPECT_TRUE(is_broken(log.add(promotion(one))));
}

TEST(ProposalLog, AScheduledSwitchIsNotBeforeItsTimeAndOfOneTimeOnly) {
    const auto one = sample(1);
    ProposalLog log;
    ASSERT_TRUE(log.add(opening(one)));
    auto no_time = approval(one, "anna", 50);
    no_time.details["switch_at"] = "soon";
    EXPECT_TRUE(is_broken(log.add(no_time)));
    ASSERT_TRUE(log.add(approval(one, "anna", 50)));
    EXPECT_EQ(log.find(1)->state, State::kWaiting);
    EXPECT_EQ(log.find(1)->switch_at, at(50));
    EXPECT_TRUE(is_broken(log.add(approval(one, "bert", 51))));
    EXPECT_TRUE(is_broken(log.add(approval(one, "bert"))));
    ASSERT_TRUE(log.add(approval(one, "bert", 50)));
    EXPECT_EQ(log.find(1)->state, State::kScheduled);
    EXPECT_TRUE(log.find(1)->is_open());
    EXPECT_FALSE(log.find(1)->ended_at);
    EXPECT_TRUE(is_broken(log.add(approval(one, "carl", 50))));
    auto early = promotion(one);
    early.at = at(49);
    EXPECT_TRUE(is_broken(log.add(early)));
    auto due = promotion(one);
    due.at = at(50);
    auto cancelled = log;
    ASSERT_TRUE(log.add(due));
    EXPECT_EQ(log.find(1)->state, State::kApproved);
    ASSERT_TRUE(cancelled.add(entry("rollback", "anna", {})));
    EXPECT_EQ(cancelled.find(1)->state, State::kVoid);
    EXPECT_TRUE(is_broken(cancelled.add(due)));
}

TEST(ProposalLog, TheDigestIsOfAllThatPeopleSeeAndOfNothingOfTheVault) {
    const auto one = sample(1);
    auto other = one;
    other.certificate = base::sha256("other outcomes");
    EXPECT_EQ(other.digest(), one.digest());
    other = one;
    other.approvals.push_back({"anna", at(20), "seen"});
    EXPECT_EQ(other.digest(), one.digest());
    const auto differs = [&](auto change) {
        auto changed = one;
        change(changed);
        return changed.digest() != one.digest();
    };
    EXPECT_TRUE(differs([](auto& p) { p.number = 2; }));
    EXPECT_TRUE(differs([](auto& p) { p.policy = domain::PolicyId("x"); }));
    EXPECT_TRUE(differs([](auto& p) { p.replaces = domain::PolicyId("x"); }));
    EXPECT_TRUE(differs([](auto& p) { p.champion = 2; }));
    EXPECT_TRUE(differs([](auto& p) { p.run = "e1r9"; }));
    EXPECT_TRUE(differs([](auto& p) { p.epoch = 2; }));
    EXPECT_TRUE(differs([](auto& p) { p.proposed_by = "eve"; }));
    EXPECT_TRUE(differs([](auto& p) { p.at = at(11); }));
    EXPECT_TRUE(differs([](auto& p) { p.expires = at(11); }));
    EXPECT_TRUE(differs([](auto& p) { p.valid_until = at(50); }));
    EXPECT_TRUE(differs([](auto& p) { p.approvals_needed = 1; }));
}

}  // namespace
}  // namespace rampart::registry
