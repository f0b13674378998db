#include "rampart/certification/gate_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "unit/certification/gate.hpp"

namespace rampart::certification {
namespace {

TEST(GateRun, AClearGainInEveryGroupIsCertified) {
    Gate gate(1.0);
    const SealedResult result = gate.test();
    EXPECT_EQ(result.verdict, Verdict::kCertified);
    ASSERT_EQ(result.groups.size(), 2u);
    for (const GroupResult& group : result.groups) {
        EXPECT_TRUE(group.passed);
        EXPECT_GT(group.bound.lower_betting, 0);
        EXPECT_GT(group.bound.lower_t, group.bound.lower_betting);
    }
}

TEST(GateRun, WhereDriftIsLimitedItIsMeasuredAndSmallOrTheRunIsRefused) {
    Gate gate(1.0);
    gate.config.max_drift_auc = 0.6;
    EXPECT_EQ(gate.refusal().reason, "drift_unknown");
    gate.identity.drift_auc = 0.601;
    EXPECT_EQ(gate.refusal().reason, "features_drifted");
    EXPECT_NE(gate.refusal().message.find("AUC of 0.601"), std::string::npos);
    gate.identity.drift_auc = std::nan("");
    EXPECT_EQ(gate.refusal().reason, "features_drifted");
    gate.identity.drift_auc = 0.6;
    const auto checked = gate.check();
    ASSERT_TRUE(checked->prepared);
    auto moved = checked->prepared->plan();
    moved.identity.drift_auc = 0.55;
    EXPECT_EQ(frozen_digest(moved), frozen_digest(checked->prepared->plan()))
        << "a later look has a figure of its own";
    EXPECT_NE(digest_of(moved), digest_of(checked->prepared->plan()));
    EXPECT_EQ(gate.test().verdict, Verdict::kCertified);
}

TEST(GateRun, ALossIsNot) {
    Gate gate(-1.0);
    EXPECT_EQ(gate.test().verdict, Verdict::kNoSolutionFound);
}

TEST(GateRun, OneGroupThatDoesNotPassIsEnoughToFail) {
    Gate gate(1.0);
    auto& d = gate.vault.decisions;
    for (const uint32_t i : d.groups[1].records)
        d.candidate[i] = 2 * d.reference[i] - d.candidate[i];
    const SealedResult result = gate.test();
    EXPECT_EQ(result.verdict, Verdict::kNoSolutionFound);
    EXPECT_TRUE(result.groups[0].passed);
    EXPECT_FALSE(result.groups[1].passed);
}

TEST(GateRun, WhatIsPublishedIsTheVerdictAlone) {
    Gate gate(-1.0);
    const PublicResult published = gate.test().published();
    EXPECT_EQ(published.verdict, Verdict::kNoSolutionFound);
    EXPECT_EQ(published.reason + published.message, "");
}

TEST(GateRun, AMarginToleratesALossAndANegativeOneDemandsAGain) {
    Gate tolerant(0);
    tolerant.config.margin = 20;
    EXPECT_EQ(tolerant.test().verdict, Verdict::kCertified);
    Gate strict(1.0);
    strict.config.margin = -60;
    EXPECT_EQ(strict.test().verdict, Verdict::kNoSolutionFound);
}

TEST(GateRun, EveryBoundDecidesWhenItIsAskedTo) {
    for (const stats::BoundMethod bound :
         {stats::BoundMethod::kBetting, stats::BoundMethod::kStudentT,
          stats::BoundMethod::kHoeffding, stats::BoundMethod::kMaurerPontil}) {
        Gate gain(1.0), loss(-1.0);
        gain.config.bound = loss.config.bound = bound;
        EXPECT_EQ(gain.test().verdict, Verdict::kCertified) << to_string(bound);
        EXPECT_EQ(loss.test().verdict, Verdict::kNoSolutionFound) << to_string(bound);
    }
    Gate betting(1.0, 400), hoeffding(1.0, 400);
    hoeffding.config.bound = stats::BoundMethod::kHoeffding;
    EXPECT_EQ(betting.test().verdict, Verdict::kCertified);
    EXPECT_EQ(hoeffding.test().verdict, Verdict::kNoSolutionFound);
}

TEST(GateRun, AConstantCanBeWhatTheCandidateIsHeldAgainst) {
    Gate reached(1.0, 8000);  // its own average is about 9
    reached.config.at_least = 0;
    EXPECT_EQ(reached.test().verdict, Verdict::kCertified);
    Gate missed(1.0, 8000);
    missed.config.at_least = 20;
    const SealedResult result = missed.test();
    EXPECT_EQ(result.verdict, Verdict::kNoSolutionFound);
    EXPECT_LT(result.groups[0].bound.mean_gain, 0) << "the gain is over the constant";
}

TEST(GateRun, ControlVariatesAreThoseOfTheConfiguration) {
    const auto plan_with = [](ControlVariateKind control_variates, bool known) {
        Gate gate(1.0);
        gate.config.control_variates = control_variates;
        if (!known) {
            gate.config.declined_impact.reset();
            for (auto* f : {&gate.selection, &gate.vault}) {
                for (size_t i = 0; i < f->decisions.size(); ++i) {
                    if (f->decisions.has_impact[i] != 0) continue;
                    f->decisions.has_impact[i] = 1, f->impact[i] = i % 2 == 0 ? 10 : -10;
                }
            }
        }
        return gate.check()->prepared->plan().groups[0];
    };
    const GroupPlan each = plan_with(ControlVariateKind::kPerAction, false);
    EXPECT_NEAR(each.q_decline, 0, 10);
    EXPECT_NE(each.q_approve, each.q_decline);
    const GroupPlan single = plan_with(ControlVariateKind::kSingle, false);
    EXPECT_EQ(single.q_approve, single.q_decline);
    EXPECT_GT(single.q_approve, std::min(each.q_approve, each.q_decline));
    EXPECT_LT(single.q_approve, std::max(each.q_approve, each.q_decline));
    EXPECT_EQ(plan_with(ControlVariateKind::kNone, false).q_approve, 0);
    const GroupPlan best = plan_with(ControlVariateKind::kBest, false);
    EXPECT_TRUE(best.q_approve == each.q_approve || best.q_approve == single.q_approve);
    EXPECT_EQ(plan_with(ControlVariateKind::kSingle, true).q_decline, 0) << "the known impact";
}

TEST(GateRun, RecordsWithControlVariatesOfTheirOwnVaryLessAndAreCertified) {
    Gate constants(1.0), regression(1.0);
    regression.config.control_variates = ControlVariateKind::kRegression;
    add_control_variates(regression.selection), add_control_variates(regression.vault);
    const SealedResult a = constants.test(), b = regression.test();
    EXPECT_EQ(b.verdict, Verdict::kCertified);
    for (size_t g = 0; g < 2; ++g) {
        EXPECT_LT(b.groups[g].bound.sample.variance, 0.85 * a.groups[g].bound.sample.variance);
        EXPECT_NEAR(b.groups[g].bound.mean_gain, a.groups[g].bound.mean_gain, 3);
        EXPECT_GT(b.groups[g].bound.lower_t, a.groups[g].bound.lower_t);
    }
}

TEST(GateRun, ControlVariatesByRecordAreOnBothSidesOrNoneAndInTheRange) {
    const auto reason = [](ControlVariateKind control_variates,
                           const std::function<void(Gate&)>& change) {
        Gate gate(1.0);
        gate.config.control_variates = control_variates;
        add_control_variates(gate.selection), add_control_variates(gate.vault);
        change(gate);
        const auto checked = gate.check();
        return checked->prepared ? "" : checked->result.reason;
    };
    const auto as_they_are = [](Gate&) {};
    EXPECT_EQ(reason(ControlVariateKind::kRegression, as_they_are), "");
    EXPECT_EQ(reason(ControlVariateKind::kPerAction, as_they_are), "bad_centre");
    EXPECT_EQ(reason(ControlVariateKind::kPerAction,
                     [](Gate& g) { g.selection.decisions.control_variates.clear(); }),
              "bad_centre");
    EXPECT_EQ(reason(ControlVariateKind::kRegression,
                     [](Gate& g) { g.selection.decisions.control_variates.clear(); }),
              "bad_centre");
    EXPECT_EQ(reason(ControlVariateKind::kRegression,
                     [](Gate& g) { g.vault.decisions.control_variates.clear(); }),
              "bad_centre");
    EXPECT_EQ(reason(ControlVariateKind::kRegression,
                     [](Gate& g) { g.vault.decisions.control_variates[7].approve = 75.1; }),
              "bad_centre");
    EXPECT_EQ(reason(ControlVariateKind::kRegression,
                     [](Gate& g) { g.selection.decisions.control_variates[7].decline = -151; }),
              "bad_centre");
}

TEST(GateRun, AMissingOutcomeLiesNearTheRecordsOwnControlVariate) {
    Gate gate(1.0, 2000, 0.02), without(1.0, 2000, 0.02);
    for (Gate* g : {&gate, &without}) {
        g->config.max_missing_rate = 0.1;
        g->config.missing_gamma = 0;
    }
    gate.config.control_variates = ControlVariateKind::kRegression;
    add_control_variates(gate.selection), add_control_variates(gate.vault);
    // with Gamma 0 a missing outcome is as if it had been what was expected
    Gate filled = gate;
    for (size_t i = 0; i < filled.vault.impact.size(); ++i) {
        auto& d = filled.vault.decisions;
        if (d.approved[i] == 0 || d.has_impact[i] != 0) continue;
        d.has_impact[i] = 1;
        filled.vault.impact[i] = d.control_variates[i].approve;
    }
    const SealedResult a = gate.test(), b = filled.test();
    EXPECT_NEAR(a.groups[0].bound.mean_gain, b.groups[0].bound.mean_gain, 1e-12);
    EXPECT_NE(a.groups[0].bound.mean_gain, without.test().groups[0].bound.mean_gain);
}

TEST(GateRun, ARunThatWouldHardlyPassIsNotSpentUnlessAsked) {
    Gate gate(0);
    gate.config.min_power = 0.5;
    const PublicResult refused = gate.refusal();
    EXPECT_EQ(refused.verdict, Verdict::kRefused);
    EXPECT_EQ(refused.reason, "low_power");
    gate.config.min_power = 0;
    EXPECT_TRUE(gate.check()->prepared);
    Gate good(1.0);
    good.config.min_power = 0.5;
    EXPECT_EQ(good.test().verdict, Verdict::kCertified);
}

TEST(GateRun, TheOrderOfTheRecordsDoesNotMatter) {
    Gate gate(0.5);
    const SealedResult before = gate.test();
    Gate shuffled(0.5);
    auto& d = shuffled.vault.decisions;
    const ope::LoggedDecisions old = d;
    const std::vector<double> impact = shuffled.vault.impact;
    std::vector<uint32_t> order(old.size());
    std::iota(order.begin(), order.end(), 0u);
    base::Random(3).shuffle(std::span(order));
    for (uint32_t i = 0; i < order.size(); ++i) {
        const uint32_t from = order[i];
        d.record_id[i] = old.record_id[from], d.unit_id[i] = old.unit_id[from];
        d.p_approve[i] = old.p_approve[from], d.approved[i] = old.approved[from];
        d.has_impact[i] = old.has_impact[from], d.candidate[i] = old.candidate[from];
        d.reference[i] = old.reference[from], shuffled.vault.impact[i] = impact[from];
    }
    for (size_t g = 0; g < 2; ++g) {
        const auto& members = old.groups[g].records;
        d.groups[g].records.clear();
        for (uint32_t i = 0; i < order.size(); ++i) {
            if (std::binary_search(members.begin(), members.end(), order[i])) {
                d.groups[g].records.push_back(i);
            }
        }
    }
    const SealedResult after = shuffled.test();
    for (size_t g = 0; g < 2; ++g) {
        EXPECT_EQ(before.groups[g].bound.log_wealth, after.groups[g].bound.log_wealth);
        EXPECT_EQ(before.groups[g].bound.lower_t, after.groups[g].bound.lower_t);
    }
}

TEST(GateRun, MissingOutcomesUpToTheDeclaredRateAreTakenAtTheirWorst) {
    Gate whole(1.0), holes(1.0);
    size_t removed = 0;
    auto& d = holes.vault.decisions;
    for (size_t i = 0; i < d.size() && removed < 10; ++i) {
        if (d.has_impact[i] == 0) continue;
        d.has_impact[i] = 0;
        holes.vault.impact[i] = std::nan("");
        ++removed;
    }
    const SealedResult a = whole.test(), b = holes.test();
    EXPECT_LT(b.groups[0].bound.mean_gain, a.groups[0].bound.mean_gain);
    EXPECT_EQ(b.verdict, Verdict::kCertified);
    EXPECT_EQ(Gate(1.0, 2000, 0.1).refusal().reason, "too_many_missing");
}

/// Turns the first `n` records that were drawn so and have no impact missing round.
void override_first(ope::LoggedFeedback& f, bool approved, size_t n) {
    for (uint32_t i = 0; i < f.decisions.size() && n > 0; ++i) {
        if ((f.decisions.approved[i] != 0) != approved) continue;
        f.decisions.overridden.push_back(i);
        f.decisions.has_impact[i] = approved ? 0 : 1;
        f.impact[i] = approved ? std::nan("") : 75;
        --n;
    }
}

TEST(GateRun, AnApprovalThatPeopleRefusedHasTheKnownImpactAndNoOutcomeIsMissing) {
    Gate gate(1.0);
    override_first(gate.vault, true, 100);
    const auto checked = gate.check();
    ASSERT_TRUE(checked->prepared) << checked->result.message;
    const auto& groups = checked->prepared->plan().groups;
    EXPECT_EQ(groups[0].overridden + groups[1].overridden, 100u);
    EXPECT_EQ(groups[0].missing + groups[1].missing, 0u);
    const Gate whole(1.0);
    const auto before = whole.check()->prepared->plan().groups;
    EXPECT_EQ(groups[0].expected + groups[1].expected + 100,
              before[0].expected + before[1].expected);
    EXPECT_EQ(gate.test().verdict, Verdict::kCertified);
}

TEST(GateRun, AGrantedDeclineIsRefusedUnlessDeclaredInEitherPartOfTheData) {
    Gate in_vault(1.0), in_selection(1.0);
    override_first(in_vault.vault, false, 1);
    EXPECT_EQ(in_vault.refusal().reason, "declines_overridden");
    override_first(in_selection.selection, false, 1);
    EXPECT_EQ(in_selection.refusal().reason, "declines_overridden");
    in_vault.config.declines_overridden = in_selection.config.declines_overridden = true;
    EXPECT_EQ(in_vault.test().verdict, Verdict::kCertified);
    EXPECT_EQ(in_selection.test().verdict, Verdict::kCertified);
}

TEST(GateRun, GrantedDeclinesWithoutAnOutcomeCountAsMissing) {
    Gate gate(1.0);
    gate.config.declines_overridden = true;
    override_first(gate.vault, false, 100);
    for (const uint32_t i : gate.vault.decisions.overridden) {
        gate.vault.decisions.has_impact[i] = 0;
        gate.vault.impact[i] = std::nan("");
    }
    EXPECT_EQ(gate.refusal().reason, "too_many_missing");
    // declines that stayed declines are no outcomes to expect: they do not thin the share out
    gate.config.max_missing_rate = 0.08;
    EXPECT_EQ(gate.refusal().reason, "too_many_missing");
}

/// An anchor that the candidate is to be held against besides: the reference, moved towards good
/// (bad) decisions as far as `share` of the candidate's own step.
void set_anchor(Gate& gate, double share) {
    for (auto* f : {&gate.selection, &gate.vault}) {
        ope::LoggedDecisions& d = f->decisions;
        for (size_t i = 0; i < d.size(); ++i) {
            d.anchor.push_back(d.reference[i] + share * (d.candidate[i] - d.reference[i]));
        }
    }
    gate.identity.anchor_id = "first-champion";
}

TEST(GateRun, TheAnchorIsATestOfItsOwnForEachGroup) {
    Gate behind(1.0);
    set_anchor(behind, 0.5);
    const SealedResult passed = behind.test();
    EXPECT_EQ(passed.verdict, Verdict::kCertified);
    ASSERT_EQ(passed.groups.size(), 4u);
    EXPECT_EQ(passed.groups[2].name, "women, against the anchor");
    EXPECT_NEAR(passed.groups[2].bound.mean_gain, passed.groups[0].bound.mean_gain / 2, 1);
    // better than the policy in charge, but worse than the one it all began with
    Gate crept(1.0);
    set_anchor(crept, 1.5);
    const SealedResult failed = crept.test();
    EXPECT_EQ(failed.verdict, Verdict::kNoSolutionFound);
    EXPECT_TRUE(failed.groups[0].passed && failed.groups[1].passed);
    EXPECT_FALSE(failed.groups[2].passed || failed.groups[3].passed);
}

TEST(GateRun, AnAnchorIsNamedAndHasProbabilitiesOrNeither) {
    Gate gate(1.0);
    gate.identity.anchor_id = "first-champion";
    EXPECT_EQ(gate.refusal().reason, "bad_anchor");
    Gate nameless(1.0);
    set_anchor(nameless, 0.5);
    nameless.identity.anchor_id.clear();
    EXPECT_EQ(nameless.refusal().reason, "bad_anchor");
    Gate half(1.0);
    set_anchor(half, 0.5);
    half.vault.decisions.anchor.clear();
    EXPECT_EQ(half.refusal().reason, "bad_anchor");
}

TEST(GateRun, MissingOutcomesMayLieNearTheirControlVariateAndTheTippingPointIsStated) {
    const auto with = [](std::optional<double> gamma) {
        Gate gate(0.35, 4000, 0.1);
        gate.config.max_missing_rate = 0.2;
        gate.config.missing_gamma = gamma;
        return gate.test();
    };
    const SealedResult worst = with({}), exact = with(0), some = with(20), most = with(225);
    EXPECT_FALSE(worst.tipping_gamma);
    EXPECT_GT(exact.groups[0].bound.log_wealth, some.groups[0].bound.log_wealth);
    EXPECT_GT(some.groups[0].bound.log_wealth, worst.groups[0].bound.log_wealth);
    EXPECT_EQ(most.groups[0].bound.log_wealth, worst.groups[0].bound.log_wealth);
    ASSERT_TRUE(exact.tipping_gamma);
    EXPECT_EQ(exact.verdict, Verdict::kCertified);
    EXPECT_EQ(worst.verdict, Verdict::kNoSolutionFound) << "so the point lies between";
    const double tipping = *exact.tipping_gamma;
    EXPECT_EQ(with(tipping).verdict, Verdict::kCertified);
    EXPECT_EQ(with(tipping + 1).verdict, Verdict::kNoSolutionFound);
    EXPECT_EQ(some.tipping_gamma, exact.tipping_gamma) << "whatever was declared";
}

TEST(GateRun, PropensitiesThatAreWrongInOneTenthAndRightOverAllAreFound) {
    Gate gate(1.0, 8000);
    base::Random random(3);
    auto& d = gate.vault.decisions;
    for (size_t i = 0; i < d.size(); ++i) {  // too low above the middle, too high below
        const double shift = d.p_approve[i] > 0.5 ? 0.06 : -0.06;
        d.approved[i] = random.bernoulli(d.p_approve[i] + shift);
        d.has_impact[i] = d.approved[i];
        gate.vault.impact[i] = d.approved[i] != 0 ? 75 : std::nan("");
    }
    EXPECT_EQ(gate.refusal().reason, "propensities_do_not_fit");
    gate.config.max_calibration_z = 100;
    const RunPlan plan = gate.check()->prepared->plan();
    EXPECT_LT(std::abs(plan.calibration_z), 3.29) << "over all records it does fit";
    EXPECT_GT(plan.decile_z, 3.29);
}

TEST(Precheck, NeedsNoImpactOfTheVault) {
    // the vault goes in without impacts: this is a matter of types, so it is enough that it
    // compiles
    const Gate gate(1.0);
    const auto result = gate.check();
    ASSERT_TRUE(result);
    ASSERT_TRUE(result->prepared);
    EXPECT_EQ(result->prepared->plan().groups[0].units, 1000u);
}

TEST(Precheck, TheSameDecisionsAreIdenticalAndNotCertified) {
    Gate gate(1.0);
    gate.vault.decisions.candidate = gate.vault.decisions.reference;
    EXPECT_EQ(gate.refusal().verdict, Verdict::kIdentical);
}

TEST(Precheck, AnEmptyOrTooSmallVaultIsRefusedAndNeverIdentical) {
    for (const size_t records : {0, 2, 98}) {
        Gate gate(1.0, records);
        for (const bool alike : {false, true}) {
            if (alike) gate.vault.decisions.candidate = gate.vault.decisions.reference;
            const auto refusal = gate.refusal();
            EXPECT_EQ(refusal.verdict, Verdict::kRefused) << records;
            EXPECT_EQ(refusal.reason, "too_few_units") << records;
        }
    }
}

TEST(Precheck, EachPreconditionIsRefusedWithItsReason) {
    const std::pair<std::string, std::function<void(Gate&)>> cases[] = {
        {"duplicate_record",
         [](Gate& g) { g.vault.decisions.record_id[1] = g.vault.decisions.record_id[0]; }},
        {"bad_probability", [](Gate& g) { g.vault.decisions.p_approve[0] = 1.5; }},
        {"bad_probability", [](Gate& g) { g.vault.decisions.p_approve[0] = std::nan(""); }},
        {"bad_shape", [](Gate& g) { g.vault.decisions.candidate.pop_back(); }},
        {"bad_logger", [](Gate& g) { g.vault.decisions.logger[0] = 5; }},
        {"no_groups", [](Gate& g) { g.vault.decisions.groups.clear(); }},
        {"different_groups", [](Gate& g) { g.selection.decisions.groups[0].name = "others"; }},
        {"person_in_both",
         [](Gate& g) { g.vault.decisions.unit_id[5] = g.selection.decisions.unit_id[9]; }},
        {"impact_out_of_range",
         [](Gate& g) {
             g.selection.decisions.has_impact[0] = 1;
             g.selection.decisions.approved[0] = 1;
             g.selection.impact[0] = 76;
         }},
        {"outside_trust_region", [](Gate& g) { g.vault.decisions.candidate[3] = 1; }},
        {"no_support",
         [](Gate& g) {
             g.vault.decisions.p_approve[3] = 0;
             g.vault.decisions.approved[3] = g.vault.decisions.has_impact[3] = 0;
         }},
        {"too_few_units", [](Gate& g) { g.vault.decisions.groups[1].records.resize(49); }},
        {"too_few_units",
         [](Gate& g) {
             for (const uint32_t i : g.vault.decisions.groups[1].records) {
                 g.vault.decisions.unit_id[i] = "v-same" + std::to_string(i % 40);
             }
         }},
        {"group_unchanged",
         [](Gate& g) {
             auto& d = g.vault.decisions;
             for (const uint32_t i : d.groups[1].records) d.candidate[i] = d.reference[i];
         }},
        {"too_few_selection_outcomes",
         [](Gate& g) { g.selection.decisions.groups[0].records.resize(8); }},
        {"no_plan_variance",
         [](Gate& g) { g.selection.decisions.candidate = g.selection.decisions.reference; }},
        {"propensities_do_not_fit",
         [](Gate& g) {
             base::Random random(1);
             g.vault = test::simulate({.records = 2000, .skill = 1, .miscalibration = 0.1}, random);
         }},
    };
    for (const auto& [reason, change] : cases) {
        Gate gate(1.0);
        change(gate);
        const auto result = gate.check();
        ASSERT_TRUE(result) << reason;
        ASSERT_FALSE(result->prepared) << reason;
        EXPECT_EQ(result->result.verdict, Verdict::kRefused);
        EXPECT_EQ(result->result.reason, reason) << result->result.message;
        EXPECT_FALSE(result->result.message.empty());
    }
}

TEST(Precheck, MinimumUnitsAreEnoughAtTheLimit) {
    Gate gate(1.0);
    gate.vault.decisions.groups[1].records.resize(50);
    EXPECT_TRUE(gate.check()->prepared);
}

TEST(Precheck, RefusesWhenTheErrorBudgetIsSpent) {
    Gate gate(1.0);
    gate.config.runs_per_epoch = 1;
    gate.ledger = test::ledger_for(gate.config);
    (void)gate.test();
    ASSERT_TRUE(gate.ledger.append(
        *gate.ledger.next_closing(Verdict::kCertified, "", "", base::TimePoint())));
    EXPECT_EQ(gate.refusal().reason, "delta_spent");
}

TEST(Precheck, TheOperatorsMistakesAreErrors) {
    Gate gate(1.0);
    gate.config.kappa = 2;
    EXPECT_EQ(gate.check().error().reason, "bad_gate_config");
    gate.config = test::lender_config();
    gate.config.delta_epoch = 0.2;
    EXPECT_EQ(gate.check().error().reason, "budget_changed");
    gate.config = test::lender_config();
    gate.identity.candidate_id = "";
    EXPECT_EQ(gate.check().error().reason, "bad_identity");
    gate.identity = test::lender_identity();
    EXPECT_EQ(precheck({gate.config, gate.identity, gate.ledger, "short", gate.selection},
                       gate.vault.decisions)
                  .error()
                  .reason,
              "short_key");
    gate.ledger = *DeltaLedger::open({});
    EXPECT_EQ(gate.check().error().reason, "no_epoch");
}

TEST(Run, NeedsATicketForItsOwnPlan) {
    Gate gate(1.0);
    const PreparedRun prepared = *gate.check()->prepared;
    ASSERT_TRUE(
        gate.ledger.append(*gate.ledger.next_registration(prepared.request(), base::TimePoint())));
    const RunTicket ticket = *gate.ledger.ticket(prepared.request());
    Gate other(1.0, 2100);
    const PreparedRun changed = *other.check()->prepared;
    EXPECT_EQ(run(changed, ticket, other.vault.impact).error().reason, "wrong_ticket");
    EXPECT_TRUE(run(prepared, ticket, gate.vault.impact));
}

TEST(Run, ImpactsThatDoNotFitAreErrorsThatCanBeMended) {
    Gate gate(1.0);
    const PreparedRun prepared = *gate.check()->prepared;
    ASSERT_TRUE(
        gate.ledger.append(*gate.ledger.next_registration(prepared.request(), base::TimePoint())));
    const RunTicket ticket = *gate.ledger.ticket(prepared.request());
    const auto& has = gate.vault.decisions.has_impact;
    const auto known = static_cast<size_t>(std::find(has.begin(), has.end(), 1) - has.begin());
    auto impact = gate.vault.impact;
    impact[known] = 75.1;
    EXPECT_EQ(run(prepared, ticket, impact).error().reason, "impact_out_of_range");
    impact[known] = std::nan("");
    EXPECT_EQ(run(prepared, ticket, impact).error().reason, "bad_impact");
    impact.pop_back();
    EXPECT_EQ(run(prepared, ticket, impact).error().reason, "bad_shape");
}

TEST(Run, TwoActionsWithOutcomesOfTheirOwn) {
    Gate gate(1.0);
    gate.config.declined_impact.reset();
    for (ope::LoggedFeedback* f : {&gate.selection, &gate.vault}) {
        for (size_t i = 0; i < f->impact.size(); ++i) {
            if (f->decisions.approved[i] != 0) continue;
            f->decisions.has_impact[i] = 1;  // a decline is reported to change nothing
            f->impact[i] = 0;
        }
    }
    const SealedResult result = gate.test();
    EXPECT_EQ(result.verdict, Verdict::kCertified);
}

TEST(Forecast, SeparatesClearGainsFromHopelessCandidates) {
    const Forecast good = forecast(*Gate(1.0).check()->prepared);
    EXPECT_GT(good.pass_probability, 0.95);
    EXPECT_GT(good.groups[0].predicted_lower, 0);
    const Forecast none = forecast(*Gate(0).check()->prepared);
    EXPECT_LT(none.pass_probability, 0.1);
    const Forecast bad = forecast(*Gate(-1.0).check()->prepared);
    EXPECT_LT(bad.pass_probability, 1e-6);
}

}  // namespace
}  // namespace rampart::certification
