// Certified policies that wait for people: what an approval needs, what ends a proposal, and that
// approval and switch are one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "rampart/base/digest.hpp"
#include "rampart/registry/audit_reading.hpp"
#include "rampart/registry/live.hpp"
#include "support/explained_policy.hpp"
#include "unit/registry/gate_run.hpp"

namespace rampart::registry {
namespace {

using domain::StopKind;
using testing::at;
using ::testing::HasSubstr;
using testing::must;
using State = ProposalState;

std::string rule_file() {
    const auto schema =
        dataset::FeatureSchema::create({{"score", dataset::FeatureKind::kNumeric, {}}}).value();
    const model::BootstrapLink rule{"score", {{0, 0.2}, {1, 0.8}}, 0.5};
    return model::encode_model_file(model::Policy::create(schema, {rule}, {}, {}).value());
}

std::string learned_file(double base_score) {
    const auto schema =
        dataset::FeatureSchema::create({{"score", dataset::FeatureKind::kNumeric, {}}}).value();
    return model::encode_model_file(
        support::explained_policy(schema, {support::scored_link(base_score)}));
}

class Proposals : public ::testing::Test {
  protected:
    Proposals()
        : folder_(std::filesystem::path(::testing::TempDir()) /
                  ("proposals" + base::to_hex(base::random_bytes(8)))) {
        reopen();
        first_ = must(registry_->register_model(rule_file(), at(5), "trainer"));
        a_ = must(registry_->register_model(learned_file(0.1), at(5), "trainer"));
        b_ = must(registry_->register_model(learned_file(0.2), at(5), "trainer"));
        EXPECT_TRUE(registry_->bootstrap_champion(first_, at(10), "anna"));
    }
    ~Proposals() override {
        registry_.reset();
        std::filesystem::remove_all(folder_);
    }
    void reopen() {
        registry_.reset();
        registry_ = must(ModelRegistry::open(folder_));
    }
    void append(const std::vector<std::string>& ledger) {
        for (size_t i = 0; i < ledger.size(); ++i)
            ASSERT_TRUE(registry_->append_ledger_entries(i, std::vector<std::string>{ledger[i]},
                                                         at(6), "gate"));
    }
    testing::GateRun certified(const domain::PolicyId& candidate, unsigned valid_months = 0) {
        auto run = testing::run_gate(candidate.value(), first_.value(), key_,
                                     registry_->ledger_entries().value(), 0.75, 0.25, valid_months);
        append(run.ledger);
        return run;
    }
    base::Result<PromotionProposal> propose(const domain::PolicyId& policy,
                                            const testing::GateRun& run, int64_t second = 20,
                                            const std::string& who = "petra", bool again = false) {
        return registry_->propose(policy, proof(run), terms_, at(second), who, again);
    }
    Proof proof(const testing::GateRun& run) const {
        return {run.files.certificate, run.files.evidence, key_.public_key()};
    }
    base::Result<PromotionProposal> approve(const PromotionProposal& seen, const std::string& who,
                                            int64_t second = 30,
                                            std::optional<int64_t> switch_at = std::nullopt) {
        Judgement by{seen.digest(), who, "seen by " + who, at(second)};
        if (switch_at) by.switch_at = at(*switch_at);
        return registry_->approve_proposal(seen.number, by, key_.public_key());
    }
    base::Result<bool> switch_due(int64_t second, uint64_t number = 1) {
        return registry_->switch_scheduled(number, at(second), key_.public_key());
    }
    /// Proposes the policy, and lets two schedule its switch.
    PromotionProposal scheduled(const domain::PolicyId& policy, const testing::GateRun& run,
                                int64_t switch_at) {
        const auto made = must(propose(policy, run));
        must(approve(made, "anna", 30, switch_at));
        return must(approve(made, "bert", 31, switch_at));
    }
    /// Returns the reason of a refusal that has changed nothing.
    std::string refusal(const PromotionProposal& seen, const std::string& who,
                        int64_t second = 30) {
        const auto champion = registry_->champion();
        const auto refused = approve(seen, who, second);
        EXPECT_EQ(registry_->champion(), champion);
        return refused ? "" : refused.error().reason;
    }
    PromotionProposal now(uint64_t number, int64_t second = 30) {
        return must(registry_->proposals(at(second))).at(number - 1);
    }
    std::vector<AuditEntry> entries() { return must(registry_->audit_entries()); }

    std::filesystem::path folder_;
    ProposalTerms terms_{2, base::Duration::seconds(100)};
    const base::SigningKey key_ = base::SigningKey::generate();
    std::unique_ptr<ModelRegistry> registry_;
    domain::PolicyId first_, a_, b_;
};

TEST_F(Proposals, TheSecondPrincipalSwitchesAndTheRecordSaysWhoApproved) {
    const auto made = must(propose(a_, certified(a_)));
    EXPECT_EQ(made.state, State::kWaiting);
    EXPECT_EQ(made.replaces, first_);
    EXPECT_EQ(made.run, "e1r1");
    EXPECT_EQ(registry_->champion()->policy, first_);
    const auto once = must(approve(made, "anna", 30));
    EXPECT_EQ(once.state, State::kWaiting);
    EXPECT_EQ(registry_->champion()->policy, first_) << "the first alone does not switch";
    reopen();
    const auto twice = must(approve(made, "bert", 40));
    EXPECT_EQ(twice.state, State::kApproved);
    EXPECT_EQ(twice.promotion, 2u);
    const auto champion = registry_->champion().value();
    EXPECT_EQ(champion.policy, a_);
    EXPECT_EQ(champion.actor, "bert");
    EXPECT_EQ(champion.at, at(40));
    reopen();
    EXPECT_EQ(now(1), twice);
    const auto live = must(live_at(*registry_, at(50)));
    ASSERT_TRUE(live.proposal);
    EXPECT_EQ(live.proposal->proposed_by, "petra");
    EXPECT_THAT(to_json(live), HasSubstr(R"("approvals":[{"by":"anna")"));
    EXPECT_TRUE(registry_->verify_audit());
    const auto log = entries();
    EXPECT_EQ(log[log.size() - 2].action, "approve_proposal");
    EXPECT_EQ(log[log.size() - 2].details.at("comment"), "seen by bert");
    EXPECT_EQ(log.back().action, "promote");
    EXPECT_EQ(log.back().details.at("proposal"), "1");
    ASSERT_TRUE(registry_->rollback(at(60), "anna", "a drill"));
    EXPECT_FALSE(must(live_at(*registry_, at(70))).proposal) << "the first policy has none";
}

/// Challengers that wait for people.
class ProposedChallengers : public Proposals {
  protected:
    ProposedChallengers() {
        run_ = certified(a_);
        EXPECT_TRUE(registry_->store_certificate(proof(run_), at(11), "gate"));
    }
    base::Result<PromotionProposal> challenge(const std::string& id, double share = 0.1) {
        return registry_->propose_challenger({id, {}, {{first_, 1 - share}, {a_, share}}}, terms_,
                                             key_.public_key(), at(20), "petra");
    }
    testing::GateRun run_;
};

TEST_F(ProposedChallengers, TheSecondPrincipalStartsItAndTheChampionStays) {
    const auto made = must(challenge("spring"));
    EXPECT_EQ(must(challenge("spring")), made) << "said twice";
    EXPECT_EQ(challenge("spring", 0.2).error().reason, "assignment_used");
    EXPECT_EQ(registry_->assignment_in_force(), std::nullopt);
    EXPECT_EQ(refusal(made, "petra"), "own_proposal");
    must(approve(made, "anna", 30));
    EXPECT_EQ(registry_->assignment_in_force(), std::nullopt) << "the first alone starts nothing";
    reopen();
    const auto twice = must(approve(made, "bert", 40));
    EXPECT_EQ(twice.state, State::kApproved);
    EXPECT_EQ(twice.promotion, std::nullopt);
    EXPECT_EQ(registry_->champion()->policy, first_);
    const auto started = registry_->assignment_in_force().value();
    EXPECT_EQ(started.assignment.id, "spring");
    EXPECT_EQ(started.assignment.from, at(40));
    EXPECT_EQ(started.who, "bert");
    EXPECT_EQ(started.assignment.arms[1], (domain::ArmShare{a_, 0.1}));
    reopen();
    EXPECT_EQ(now(1), twice);
    EXPECT_EQ(registry_->assignment_in_force(), started);
    EXPECT_THAT(to_json(twice), HasSubstr(R"("assignment":"spring","share":1E-1)"));
    const auto log = entries();
    EXPECT_EQ(log[log.size() - 2].action, "approve_proposal");
    EXPECT_EQ(log.back().action, "start_assignment");
    EXPECT_EQ(log.back().details.at("proposal"), "1");
    EXPECT_TRUE(registry_->verify_audit());
    EXPECT_EQ(challenge("spring").error().reason, "assignment_used");
}

TEST_F(ProposedChallengers, WhatIsSeenIsTheShareAndThePromotionIsAnotherProposal) {
    const auto made = must(challenge("spring"));
    auto other = made;
    other.share = 0.5;
    EXPECT_EQ(refusal(other, "anna"), "proposal_differs");
    other = made;
    other.assignment.clear();
    EXPECT_EQ(refusal(other, "anna"), "proposal_differs");
    const auto promotion = must(propose(a_, run_));
    EXPECT_EQ(promotion.number, 2u);
    EXPECT_NE(promotion.digest(), made.digest());
    must(approve(promotion, "anna"));
    must(approve(promotion, "bert"));
    EXPECT_EQ(now(1).why, "champion_changed") << "it was about another champion";
    EXPECT_EQ(registry_->assignment_in_force(), std::nullopt);
    EXPECT_EQ(registry_->approval_of(*registry_->champion())->number, 2u);
}

TEST_F(ProposedChallengers, ItIsScheduledEndedByTheStopAndNeedsItsCertificate) {
    const auto made = must(challenge("spring"));
    must(approve(made, "anna", 30, 50));
    must(approve(made, "bert", 31, 50));
    EXPECT_FALSE(must(switch_due(49)));
    EXPECT_TRUE(must(switch_due(50)));
    EXPECT_EQ(registry_->assignment_in_force()->who, "registry");
    const auto second = must(challenge("summer"));
    must(registry_->press_stop(domain::StopKind::kRulesOnly, at(60), "anna"));
    EXPECT_EQ(now(second.number).why, "rules_only_pressed");
    must(registry_->release_stop(domain::StopKind::kRulesOnly, at(61), "anna"));
    const auto without = registry_->propose_challenger({"other", {}, {{first_, 0.9}, {b_, 0.1}}},
                                                       terms_, key_.public_key(), at(62), "petra");
    EXPECT_EQ(without.error().reason, "not_certified");
    const auto three =
        registry_->propose_challenger({"three", {}, {{first_, 0.8}, {a_, 0.1}, {b_, 0.1}}}, terms_,
                                      key_.public_key(), at(62), "petra");
    EXPECT_EQ(three.error().reason, "bad_assignment");
}

TEST_F(Proposals, AreApprovedByOthersOnceEachAndAsTheyWereSeen) {
    const auto made = must(propose(a_, certified(a_)));
    EXPECT_EQ(refusal(made, "petra"), "own_proposal");
    auto other = made;
    other.expires = at(121);
    EXPECT_EQ(refusal(other, "anna"), "proposal_differs");
    ASSERT_TRUE(approve(made, "anna"));
    EXPECT_EQ(refusal(made, "anna"), "approved_already");
    other = made;
    other.number = 2;
    EXPECT_EQ(refusal(other, "bert"), "unknown_proposal");
    const auto silent =
        registry_->approve_proposal(1, {made.digest(), "bert", "", at(30)}, key_.public_key());
    EXPECT_EQ(silent.error().reason, "bad_comment");
    const auto loud = registry_->approve_proposal(
        1, {made.digest(), "bert", std::string(1025, 'x'), at(30)}, key_.public_key());
    EXPECT_EQ(loud.error().reason, "bad_comment");
    EXPECT_TRUE(approve(made, "bert"));
    EXPECT_EQ(refusal(made, "carl"), "proposal_ended");
}

/// Returns the file to which the registry's database appends what it writes.
std::filesystem::path log_file_of(const std::filesystem::path& folder) {
    std::filesystem::path last;
    for (const auto& one : std::filesystem::directory_iterator(folder / "registry"))
        if (one.path().extension() == ".log") last = std::max(last, one.path());
    return last;
}

TEST_F(Proposals, ApprovalAndSwitchAreOneWriteWhereverAProcessEnds) {
    namespace fs = std::filesystem;
    const auto made = must(propose(a_, certified(a_)));
    ASSERT_TRUE(approve(made, "anna"));
    const auto log = log_file_of(folder_);
    const auto begin = fs::file_size(log);
    const auto before = fs::path(folder_.string() + ".before"),
               cut = fs::path(folder_.string() + ".cut");
    fs::copy_file(folder_ / "audit.head", before);
    ASSERT_TRUE(approve(made, "bert", 40));
    const auto end = fs::file_size(log);
    ASSERT_GT(end, begin);
    bool none = false, all = false;
    constexpr uint64_t kCuts = 16;
    for (uint64_t i = 0; i <= kCuts; ++i) {
        const auto size = begin + (end - begin) * i / kCuts;
        fs::remove_all(cut);
        fs::copy(folder_, cut, fs::copy_options::recursive);
        fs::resize_file(cut / "registry" / log.filename(), size);
        fs::copy_file(before, cut / "audit.head", fs::copy_options::overwrite_existing);
        const auto opened = ModelRegistry::open(cut);
        ASSERT_TRUE(opened) << opened.error().message;
        const auto found = must((*opened)->proposals(at(41))).front();
        const bool switched = (*opened)->champion()->policy == a_;
        EXPECT_EQ(found.approvals.size(), switched ? 2u : 1u) << size - begin;
        EXPECT_EQ(found.state, switched ? State::kApproved : State::kWaiting) << size - begin;
        EXPECT_TRUE((*opened)->verify_audit());
        none |= !switched;
        all |= switched;
    }
    EXPECT_TRUE(none && all);
    fs::remove_all(cut);
    fs::remove(before);
}

TEST_F(Proposals, OnePrincipalIsEnoughWhereOneIsDeclared) {
    terms_.approvals = 1;
    const auto made = must(propose(a_, certified(a_)));
    EXPECT_EQ(must(approve(made, "anna")).state, State::kApproved);
    EXPECT_EQ(registry_->champion()->policy, a_);
}

TEST_F(Proposals, ExpireAndTheirEndIsOnRecord) {
    const auto made = must(propose(a_, certified(a_)));
    ASSERT_TRUE(approve(made, "anna", 30));
    EXPECT_EQ(now(1, 119).state, State::kWaiting);
    EXPECT_EQ(now(1, 120).state, State::kExpired);
    EXPECT_EQ(now(1, 119).state, State::kWaiting) << "reading changes nothing";
    EXPECT_EQ(refusal(made, "bert", 120), "proposal_ended");
    EXPECT_EQ(now(1, 30).state, State::kExpired) << "for ever, whatever the clock says";
    reopen();
    EXPECT_EQ(refusal(made, "bert", 30), "proposal_ended");
    EXPECT_EQ(entries().back().action, "end_proposal");
    EXPECT_EQ(entries().back().details.at("state"), "expired");
    const auto count = registry_->audit_head().count;
    EXPECT_TRUE(registry_->end_lapsed_proposals(at(500)));
    EXPECT_EQ(registry_->audit_head().count, count) << "once";
}

TEST_F(Proposals, AreVoidAfterEachChangeOfTheChampion) {
    const auto run_a = certified(a_), run_b = certified(b_);
    const auto a = must(propose(a_, run_a)), b = must(propose(b_, run_b));
    ASSERT_TRUE(approve(b, "anna"));
    ASSERT_TRUE(approve(a, "anna"));
    ASSERT_TRUE(approve(a, "bert"));
    EXPECT_EQ(now(2).state, State::kVoid);
    EXPECT_EQ(now(2).why, kChampionChanged);
    EXPECT_EQ(refusal(b, "bert"), "proposal_ended");
    ASSERT_TRUE(registry_->rollback(at(40), "anna", "a drill"));
    EXPECT_EQ(refusal(b, "bert", 50), "proposal_ended") << "the champion is again as it was";
    reopen();
    EXPECT_EQ(now(2, 50).state, State::kVoid);
    EXPECT_EQ(propose(b_, run_b, 50)->number, 2u) << "a repetition is no new one";
    const auto again = must(propose(b_, run_b, 50, "operator", true));
    EXPECT_EQ(again.number, 3u);
    EXPECT_EQ(refusal(again, "operator", 60), "own_proposal");
    EXPECT_EQ(refusal(again, "petra", 60), "own_proposal") << "who proposed it before";
    ASSERT_TRUE(registry_->record_operation(at(60), "carl", "propose_candidate",
                                            {{"candidate", b_.value()}}));
    EXPECT_EQ(refusal(again, "carl", 60), "own_proposal") << "who brought the candidate";
    EXPECT_EQ(refusal(b, "bert", 60), "proposal_ended");
    ASSERT_TRUE(approve(again, "anna", 60));
    ASSERT_TRUE(registry_->rollback(at(61), "anna", "no more").error().reason ==
                "nothing_to_roll_back_to");
    EXPECT_EQ(must(approve(again, "bert", 62)).state, State::kApproved);
}

TEST_F(Proposals, AreVoidWithANewEpochOrAtTheEndOfTheCertificate) {
    const auto run = certified(a_, 8);
    terms_.lasts = base::Duration::days(3650);
    const auto made = must(propose(a_, run));
    ASSERT_TRUE(made.valid_until);
    const auto end = *made.valid_until;
    const auto late = must(registry_->proposals(end)).front();
    EXPECT_EQ(late.state, State::kVoid);
    EXPECT_EQ(late.why, kCertificateEnded);
    auto ledger = must(certification::DeltaLedger::open(run.ledger));
    const auto config = testing::gate_config();
    ASSERT_TRUE(ledger.append(must(ledger.next_epoch(config.delta_epoch, config.runs_per_epoch,
                                                     config.spending, "second", at(25)))));
    append(ledger.entries());
    EXPECT_EQ(now(1).why, kNewEpoch);
    EXPECT_EQ(refusal(made, "anna"), "proposal_ended");
    EXPECT_EQ(entries().back().details.at("why"), kNewEpoch);
    EXPECT_EQ(propose(a_, run, 40, "petra", true).error().reason, "stale_epoch");
}

TEST_F(Proposals, AreVoidWhenRulesOnlyIsPressedAndNotWhenExplorationIsOff) {
    const auto run = certified(a_);
    const auto made = must(propose(a_, run));
    must(registry_->press_stop(StopKind::kExplorationOff, at(21), "carl", "noise"));
    ASSERT_TRUE(approve(made, "anna"));
    must(registry_->press_stop(StopKind::kRulesOnly, at(31), "carl", "harm"));
    EXPECT_EQ(now(1, 32).why, kRulesPressed);
    EXPECT_EQ(propose(a_, run, 33, "petra", true).error().reason, "rules_only_pressed");
    must(registry_->release_stop(StopKind::kRulesOnly, at(34), "carl", "mended"));
    EXPECT_EQ(refusal(made, "bert", 35), "proposal_ended") << "it was seen before the trouble";
    EXPECT_EQ(must(propose(a_, run, 36, "petra", true)).number, 2u);
}

TEST_F(Proposals, ARejectionEndsThemAndIsOpenToWhoProposed) {
    const auto run = certified(a_);
    const auto made = must(propose(a_, run));
    auto other = made;
    other.expires = at(121);
    const auto wrong = registry_->reject_proposal(1, {other.digest(), "anna", "no", at(30)});
    EXPECT_EQ(wrong.error().reason, "proposal_differs");
    const auto rejected =
        must(registry_->reject_proposal(1, {made.digest(), "petra", "a mistake", at(30)}));
    EXPECT_EQ(rejected.state, State::kRejected);
    EXPECT_EQ(rejected.comment, "a mistake");
    EXPECT_EQ(refusal(made, "anna"), "proposal_ended");
    reopen();
    EXPECT_EQ(now(1), rejected);
}

TEST_F(Proposals, DecideFromTheTimeThatAllApprovalsName) {
    const auto made = scheduled(a_, certified(a_), 60);
    EXPECT_EQ(made.state, State::kScheduled);
    EXPECT_EQ(made.switch_at, at(60));
    EXPECT_EQ(registry_->champion()->policy, first_);
    EXPECT_EQ(refusal(made, "carl", 32), "approved_already");
    EXPECT_FALSE(must(switch_due(59)));
    EXPECT_EQ(registry_->champion()->policy, first_);
    reopen();
    EXPECT_EQ(now(1, 59), made);
    EXPECT_TRUE(must(switch_due(61)));
    EXPECT_FALSE(must(switch_due(62))) << "once";
    const auto champion = registry_->champion().value();
    EXPECT_EQ(champion.policy, a_);
    EXPECT_EQ(champion.actor, "registry");
    EXPECT_EQ(champion.at, at(61)) << "when it was, not when it was meant to be";
    EXPECT_EQ(now(1).state, State::kApproved);
    EXPECT_EQ(now(1).promotion, 2u);
    reopen();
    EXPECT_TRUE(registry_->verify_audit());
    EXPECT_THAT(to_json(must(live_at(*registry_, at(70)))), HasSubstr(R"("by":"bert")"));
}

TEST_F(Proposals, ASwitchThatWasNotApprovedByAllIsRefused) {
    const auto made = must(propose(a_, certified(a_, 0)));
    for (const int64_t wrong : {30, 29, 120, 500})
        EXPECT_EQ(approve(made, "anna", 30, wrong).error().reason, "bad_time") << wrong;
    EXPECT_TRUE(now(1).approvals.empty());
    ASSERT_TRUE(approve(made, "anna", 30, 119));
    EXPECT_EQ(refusal(made, "bert"), "proposal_differs") << "at once, where anna said later";
    EXPECT_EQ(approve(made, "bert", 31, 118).error().reason, "proposal_differs");
    EXPECT_EQ(approve(made, "bert", 119, 119).error().reason, "bad_time") << "it has come";
    EXPECT_EQ(must(approve(made, "bert", 118, 119)).state, State::kScheduled);
    const auto other = must(propose(b_, certified(b_), 21));
    ASSERT_TRUE(approve(other, "anna"));
    EXPECT_EQ(approve(other, "bert", 31, 60).error().reason, "proposal_differs");
}

TEST_F(Proposals, AScheduledSwitchIsCancelledByWhatMakesVoid) {
    const auto run = certified(a_);
    auto made = scheduled(a_, run, 60);
    EXPECT_EQ(must(propose(a_, run, 33, "petra", true)).number, 1u) << "it has not ended";
    ASSERT_TRUE(registry_->reject_proposal(1, {made.digest(), "carl", "not now", at(34)}));
    EXPECT_FALSE(must(switch_due(61)));
    const auto schedule_again = [&](int64_t second) {
        const auto again = must(propose(a_, run, second, "petra", true));
        must(approve(again, "anna", second, second + 20));
        EXPECT_EQ(must(approve(again, "bert", second, second + 20)).state, State::kScheduled);
        return again.number;
    };
    const auto second = schedule_again(100);
    must(registry_->press_stop(StopKind::kRulesOnly, at(101), "carl", "harm"));
    must(registry_->release_stop(StopKind::kRulesOnly, at(102), "carl", "mended"));
    EXPECT_FALSE(must(switch_due(121, second)));
    EXPECT_EQ(now(second, 121).why, kRulesPressed);
    const auto third = schedule_again(200);
    EXPECT_FALSE(must(switch_due(300, third))) << "nothing ran until it had expired";
    EXPECT_EQ(now(third, 300).state, State::kExpired);
    EXPECT_EQ(registry_->champion()->policy, first_);
    EXPECT_FALSE(must(switch_due(300, 99)));
}

TEST_F(Proposals, ASwitchThatIsMissedByAnHourIsVoid) {
    terms_.lasts = base::Duration::days(14);
    const auto run = certified(a_);
    const auto made = scheduled(a_, run, 60);
    EXPECT_EQ(now(1, 3659).state, State::kScheduled);
    EXPECT_FALSE(must(switch_due(3660)));
    EXPECT_EQ(now(1, 3660).why, kSwitchMissed);
    EXPECT_EQ(registry_->champion()->policy, first_);
    const auto again = must(propose(a_, run, 3700, "petra", true));
    must(approve(again, "anna", 3700, 3800));
    must(approve(again, "bert", 3700, 3800));
    EXPECT_TRUE(must(switch_due(7399, again.number)));
}

TEST_F(Proposals, ANewEpochEndsWhatIsScheduled) {
    const auto run = certified(a_);
    const auto made = scheduled(a_, run, 60);
    auto ledger = must(certification::DeltaLedger::open(run.ledger));
    const auto config = testing::gate_config();
    ASSERT_TRUE(ledger.append(must(ledger.next_epoch(config.delta_epoch, config.runs_per_epoch,
                                                     config.spending, "second", at(25)))));
    append(ledger.entries());
    EXPECT_FALSE(must(switch_due(60)));
    EXPECT_EQ(now(1, 60).why, kNewEpoch);
}

TEST_F(Proposals, OfTwoThatAreDueOneSwitchesAndTheOtherIsVoid) {
    const auto run_a = certified(a_), run_b = certified(b_);
    const auto a = scheduled(a_, run_a, 61), b = scheduled(b_, run_b, 60);
    EXPECT_TRUE(must(switch_due(70, b.number)));
    EXPECT_EQ(registry_->champion()->policy, b_);
    EXPECT_EQ(now(1, 70).why, kChampionChanged);
    EXPECT_FALSE(must(switch_due(70, a.number)));
}

TEST_F(Proposals, ASwitchRequiresWhatAPromotionRequires) {
    const auto made = scheduled(a_, certified(a_), 60);
    const auto model = folder_ / "models" / (a_.value() + ".rmp");
    const auto aside = std::filesystem::path(folder_.string() + ".rmp");
    std::filesystem::rename(model, aside);
    EXPECT_EQ(switch_due(60).error().reason, "unknown_model");
    EXPECT_EQ(registry_->champion()->policy, first_);
    EXPECT_EQ(now(1, 60).state, State::kScheduled) << "until it is mended, or expires";
    std::filesystem::rename(aside, model);
    const auto name = folder_ / "certificates" / (made.certificate.hex() + ".cert");
    const auto kept = std::filesystem::path(folder_.string() + ".cert");
    std::filesystem::rename(name, kept);
    EXPECT_EQ(switch_due(60).error().reason, "unknown_certificate");
    std::filesystem::rename(kept, name);
    EXPECT_TRUE(must(switch_due(65)));
}

TEST_F(Proposals, RequireWhatAPromotionRequires) {
    const auto run = certified(a_);
    EXPECT_EQ(propose(b_, run).error().reason, "other_model");
    const auto elsewhere = testing::run_gate(b_.value(), first_.value(), key_);
    EXPECT_EQ(propose(b_, elsewhere).error().reason, "uncharged");
    const auto made = must(propose(a_, run));
    // what was there when it was proposed may be gone at the switch
    const auto model = folder_ / "models" / (a_.value() + ".rmp");
    const auto aside = std::filesystem::path(folder_.string() + ".rmp");
    std::filesystem::rename(model, aside);
    EXPECT_EQ(refusal(made, "anna"), "unknown_model");
    std::filesystem::rename(aside, model);
    const auto name = folder_ / "certificates" / (made.certificate.hex() + ".cert");
    ASSERT_TRUE(std::filesystem::remove(name));
    EXPECT_EQ(refusal(made, "anna"), "unknown_certificate");
    EXPECT_EQ(registry_->record_operation(at(30), "eve", "approve_proposal", {}).error().reason,
              "audit_entry");
}

TEST_F(Proposals, AreShownWithoutWhatDependsOnTheVault) {
    const auto made = must(propose(a_, certified(a_)));
    ASSERT_TRUE(approve(made, "anna"));
    const auto secret = made.certificate.hex();
    EXPECT_EQ(to_json(now(1)).find(secret), std::string::npos);
    EXPECT_THAT(to_json(now(1)), HasSubstr(R"("certificate":"e1r1")"));
    const auto page = to_json(must(read_audit_page(*registry_, {})));
    EXPECT_EQ(page.find(secret), std::string::npos);
    EXPECT_THAT(page, HasSubstr(R"("action":"open_proposal","object":"1")"));
    auto twin = made;
    twin.certificate = base::sha256("another vault");
    EXPECT_EQ(twin.digest(), made.digest());
}

}  // namespace
}  // namespace rampart::registry
