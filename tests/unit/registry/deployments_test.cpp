// Challengers and stop buttons in a registry on the disk.
#include <gtest/gtest.h>

#include <filesystem>

#include "rampart/registry/model_registry.hpp"
#include "support/explained_policy.hpp"
#include "unit/registry/gate_run.hpp"

namespace rampart::registry {
namespace {

namespace fs = std::filesystem;
using domain::StopKind;
using testing::at;
using testing::must;

std::string policy_file(double value, bool learned) {
    const auto schema =
        dataset::FeatureSchema::create({{"score", dataset::FeatureKind::kNumeric, {}}}).value();
    const model::BootstrapLink rule{"score", {{0, 0.2}, {1, value}}, 0.5};
    return model::encode_model_file(
        learned ? support::explained_policy(schema, {support::scored_link(value)})
                : model::Policy::create(schema, {rule}, {}, {}).value());
}

/// A registry with a first policy, in charge from second 10, a certified candidate `a_` and one
/// without a certificate, `b_`.
class Deployments : public ::testing::Test {
  protected:
    Deployments()
        : folder_(fs::path(::testing::TempDir()) /
                  ("deployments" + base::to_hex(base::random_bytes(8)))) {
        reopen();
        first_ = must(registry_->register_model(policy_file(0.8, false), at(5), "anna"));
        a_ = must(registry_->register_model(policy_file(0.1, true), at(5), "anna"));
        b_ = must(registry_->register_model(policy_file(0.2, true), at(5), "anna"));
        EXPECT_TRUE(registry_->bootstrap_champion(first_, at(10), "anna"));
        run_ = testing::run_gate(a_.value(), first_.value(), key_, {}, 0.75, 0.25, 1);
        EXPECT_TRUE(registry_->append_ledger_entries(0, run_.ledger, at(11), "gate"));
        EXPECT_TRUE(registry_->store_certificate(proof(), at(11), "gate"));
    }
    ~Deployments() override {
        registry_.reset();
        fs::remove_all(folder_);
    }
    void reopen() {
        registry_.reset();
        registry_ = must(ModelRegistry::open(folder_));
    }
    Proof proof() const { return {run_.files.certificate, run_.files.evidence, key_.public_key()}; }
    domain::Assignment assignment(const std::string& id, const domain::PolicyId& challenger,
                                  double share = 0.1) const {
        return {id, {}, {{first_, 1 - share}, {challenger, share}}};
    }
    base::Result<AssignmentPeriod> start(const domain::Assignment& one, int64_t second) {
        return registry_->start_assignment(one, key_.public_key(), at(second), "anna");
    }
    std::string refusal(const domain::Assignment& one) {
        const auto head = registry_->audit_head();
        const auto started = start(one, 20);
        EXPECT_EQ(registry_->audit_head(), head);
        return started ? "" : started.error().reason;
    }

    fs::path folder_;
    const base::SigningKey key_ = base::SigningKey::generate();
    std::unique_ptr<ModelRegistry> registry_;
    domain::PolicyId first_, a_, b_;
    testing::GateRun run_;
};

TEST_F(Deployments, AnAssignmentIsOnRecordWithItsTimesAndOutlivesARestart) {
    const auto started = must(start(assignment("one", a_), 20));
    EXPECT_EQ(started.assignment.from, at(20));
    EXPECT_EQ(started.who, "anna");
    EXPECT_EQ(must(start(assignment("one", a_), 25)), started) << "said twice";
    const auto more = must(start(assignment("two", a_, 0.3), 30));
    reopen();
    EXPECT_EQ(registry_->assignment_in_force(), more);
    ASSERT_EQ(registry_->assignments().size(), 2u);
    EXPECT_EQ(registry_->assignments()[0].to, at(30));
    EXPECT_EQ(must(registry_->end_assignment(at(15), "bert")).to, at(30)) << "never dated back";
    EXPECT_EQ(registry_->assignment_in_force(), std::nullopt);
    EXPECT_EQ(registry_->end_assignment(at(40), "bert").error().reason, "no_assignment");
    EXPECT_EQ(refusal(assignment("one", a_)), "assignment_used");
    EXPECT_TRUE(registry_->verify_audit());
}

TEST_F(Deployments, OnlyCertifiedPoliciesAreChallengersOfTheChampion) {
    EXPECT_EQ(refusal(assignment("one", b_)), "not_certified");
    EXPECT_EQ(refusal(assignment("one", domain::PolicyId(std::string(64, '0')))), "unknown_model");
    domain::Assignment turned = assignment("one", a_);
    std::swap(turned.arms[0], turned.arms[1]);
    EXPECT_EQ(refusal(turned), "stale_reference");
    EXPECT_EQ(refusal(assignment("one", a_, 1.5)), "bad_assignment");
    const auto other = base::SigningKey::generate();
    EXPECT_EQ(registry_->start_assignment(assignment("one", a_), other.public_key(), at(20), "anna")
                  .error()
                  .reason,
              "certificate_invalid");
}

TEST_F(Deployments, NoLearnedPolicyStartsWhileRulesAloneDecide) {
    must(registry_->press_stop(StopKind::kRulesOnly, at(15), "anna"));
    EXPECT_EQ(refusal(assignment("one", a_)), "rules_only_pressed");
    must(registry_->release_stop(StopKind::kRulesOnly, at(16), "anna"));
    const auto started = must(start(assignment("one", a_), 20));
    must(registry_->press_stop(StopKind::kRulesOnly, at(25), "anna"));
    EXPECT_EQ(registry_->assignment_in_force(), started) << "it decides again after the stop";
}

TEST_F(Deployments, AnEndHitsTheAssignmentThatItNamesAndSaysWhy) {
    const auto one = must(registry_->start_assignment(assignment("one", a_), key_.public_key(),
                                                      at(20), "anna", "a trial"));
    EXPECT_EQ(registry_->audit_entries().value().back().details.at("reason"), "a trial");
    EXPECT_EQ(registry_->end_assignment(at(25), "bert", "two").error().reason, "no_assignment");
    EXPECT_EQ(registry_->assignment_in_force(), one);
    EXPECT_EQ(must(registry_->end_assignment(at(30), "bert", "one", "it did harm")).to, at(30));
    EXPECT_EQ(registry_->audit_entries().value().back().details.at("reason"), "it did harm");
    reopen();
    EXPECT_EQ(registry_->assignments().back().ended_by, "bert");
    EXPECT_TRUE(registry_->verify_audit());
}

TEST_F(Deployments, AnExpiredCertificateStartsNoAssignmentAndEndsNone) {
    const auto started = must(start(assignment("one", a_), 20));
    const int64_t month = 31 * 86'400;
    const auto late = start(assignment("two", a_), month + 4);
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().reason, "certificate_expired");
    reopen();
    EXPECT_EQ(registry_->assignment_in_force(), started);
    EXPECT_TRUE(start(assignment("two", a_), month + 3));
}

TEST_F(Deployments, AnotherChampionEndsTheAssignmentAndSpendsTheCertificate) {
    must(start(assignment("one", a_), 20));
    must(registry_->promote(a_, proof(), at(30), "anna"));
    EXPECT_EQ(registry_->assignment_in_force(), std::nullopt);
    EXPECT_EQ(registry_->assignments()[0].to, at(30));
    must(registry_->rollback(at(40), "anna", "it did harm"));
    EXPECT_EQ(refusal(assignment("two", a_)), "certificate_spent");
}

TEST_F(Deployments, AStopIsOnRecordFromNowToNowWhateverTheClockSays) {
    const auto pressed = must(registry_->press_stop(StopKind::kRulesOnly, at(20), "anna"));
    EXPECT_EQ(must(registry_->press_stop(StopKind::kRulesOnly, at(22), "bert")), pressed);
    must(registry_->press_stop(StopKind::kReferAll, at(15), "bert"));
    reopen();
    EXPECT_EQ(must(registry_->release_stop(StopKind::kRulesOnly, at(30), "anna")).period.to,
              at(30));
    EXPECT_EQ(registry_->release_stop(StopKind::kRulesOnly, at(31), "anna").error().reason,
              "not_pressed");
    const std::vector<domain::StoppedPeriod> expected{
        {at(20), at(30), StopKind::kRulesOnly, "anna"},
        {at(20), std::nullopt, StopKind::kReferAll, "bert"}};
    EXPECT_EQ(registry_->stopped_periods(), expected);
    EXPECT_TRUE(registry_->verify_audit());
}

TEST_F(Deployments, AStopIsAuditedWithWhoAndWhyAndOutlivesARestart) {
    const auto pressed =
        must(registry_->press_stop(StopKind::kExplorationOff, at(20), "anna", "complaints"));
    EXPECT_EQ(pressed.id.size(), 32u);
    EXPECT_EQ(registry_->audit_entries().value().back().details.at("reason"), "complaints");
    reopen();
    EXPECT_EQ(registry_->stops(), std::vector{pressed});
    const auto ended = must(registry_->release_stop(StopKind::kExplorationOff, at(30), "bert",
                                                    "answered", base::Duration::seconds(2)));
    EXPECT_EQ(ended.period.to, at(32)) << "as long as others may go on as before";
    EXPECT_EQ(ended.end_reason, "answered");
    const auto last = registry_->audit_entries().value().back();
    EXPECT_EQ(last.actor, "bert");
    EXPECT_EQ(last.at, at(30));
    reopen();
    EXPECT_EQ(registry_->stops(), std::vector{ended});
    EXPECT_EQ(
        registry_->press_stop(StopKind::kExplorationOff, at(40), "anna", std::string(2000, 'x'))
            .error()
            .reason,
        "audit_entry");
}

TEST_F(Deployments, WhatAnotherNodeHasOnRecordIsTakenOverOnce) {
    Stop other{{at(12), std::nullopt, StopKind::kRulesOnly, "carl"}, std::string(32, 'a'), "harm"};
    ASSERT_TRUE(registry_->record_stop(other, at(20)));
    const auto head = registry_->audit_head();
    ASSERT_TRUE(registry_->record_stop(other, at(21)));
    EXPECT_EQ(registry_->audit_head(), head);
    other.period.to = at(19);
    other.ended_by = "dora";
    other.end_reason = "mended";
    ASSERT_TRUE(registry_->record_stop(other, at(22)));
    reopen();
    EXPECT_EQ(registry_->stops(), std::vector{other});
    auto reopened = other;
    reopened.period.to = std::nullopt;
    ASSERT_TRUE(registry_->record_stop(reopened, at(23))) << "an end stays an end";
    EXPECT_EQ(registry_->stops(), std::vector{other});
    EXPECT_TRUE(registry_->verify_audit());
}

TEST_F(Deployments, NoOtherRecordIsTakenForOneOfThem) {
    for (const std::string_view action :
         {DeploymentLog::kStartAssignment, DeploymentLog::kEndAssignment, DeploymentLog::kPressStop,
          DeploymentLog::kReleaseStop}) {
        EXPECT_EQ(registry_->record_operation(at(20), "anna", action, {{"kind", "rules_only"}})
                      .error()
                      .reason,
                  "audit_entry");
    }
    EXPECT_TRUE(registry_->stopped_periods().empty());
}

TEST_F(Deployments, KeysThatAreNewAreAddedToThoseOnRecord) {
    const std::map<std::string, std::string> draw{{"draw", "0123"}},
        both{{"arm", "4567"}, {"draw", "0123"}};
    ASSERT_TRUE(registry_->record_keys(draw, at(12), "test"));
    ASSERT_TRUE(registry_->record_keys(both, at(13), "test"));
    EXPECT_EQ(registry_->recorded_keys(), both);
    EXPECT_EQ(registry_->record_keys(draw, at(14), "test").error().reason, "keys_recorded");
    reopen();
    EXPECT_EQ(registry_->recorded_keys(), both);
}

}  // namespace
}  // namespace rampart::registry
