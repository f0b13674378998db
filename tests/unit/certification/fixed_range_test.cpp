// Runs whose ranges are fixed before the vault is read, and what then is a part of the test.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "rampart/certification/certificate_file.hpp"
#include "unit/certification/gate.hpp"

namespace rampart::certification {
namespace {

TEST(FixedRange, ARangeThatIsFixedBeforehandDoesNotDependOnTheVault) {
    Gate gate(0.6);
    gate.config.records_per_person = 1;
    const auto before = gate.check()->prepared->plan();
    auto& d = gate.vault.decisions;
    for (const size_t i : {size_t{0}, size_t{1}}) {
        d.p_approve[i] = 0.01;
        d.approved[i] = 0, d.has_impact[i] = 0;
    }
    d.p_approve[2] = 0, d.approved[2] = 0, d.has_impact[2] = 0;
    for (const size_t i : {size_t{0}, size_t{1}, size_t{2}}) gate.vault.impact[i] = std::nan("");
    const auto checked = *gate.check();
    ASSERT_TRUE(checked.prepared) << checked.result.message;
    const auto& after = checked.prepared->plan();
    EXPECT_EQ(after.groups[0].beyond_range, 2u) << "0 and, without support, 2";
    EXPECT_EQ(after.groups[1].beyond_range, 1u);
    for (size_t g = 0; g < 2; ++g) {
        EXPECT_EQ(after.groups[g].lo, before.groups[g].lo);
        EXPECT_EQ(after.groups[g].hi, before.groups[g].hi);
        EXPECT_EQ(after.groups[g].bets.bets, before.groups[g].bets.bets);
        EXPECT_LE(after.groups[g].lo, -0.25 * 150) << "what the trust region allows";
        EXPECT_EQ(before.groups[g].beyond_range, 0u);
    }
    const auto result = gate.test();
    EXPECT_EQ(result.verdict, Verdict::kCertified);
    gate.config.records_per_person = 0;
    EXPECT_EQ(gate.refusal().reason, "no_support");
}

TEST(FixedRange, WhatDependsOnTheVaultsDrawsIsAPartOfTheTestAndNotARefusal) {
    Gate gate(0.9);
    gate.config.records_per_person = 1;
    ASSERT_EQ(gate.test().verdict, Verdict::kCertified);
    Gate missing(0.9);
    missing.config.records_per_person = 1;
    auto& d = missing.vault.decisions;
    for (size_t i = 0, gone = 0; gone < 20; ++i) {
        if (d.has_impact[i] == 0) continue;
        d.has_impact[i] = 0, missing.vault.impact[i] = std::nan(""), ++gone;
    }
    EXPECT_EQ(missing.test().verdict, Verdict::kNoSolutionFound) << "0.04 of the outcomes";
    missing.config.max_missing_rate = 0.1;
    missing.ledger = test::ledger_for(missing.config);
    EXPECT_EQ(missing.test().verdict, Verdict::kCertified);
    missing.config.max_missing_rate = 0.02;
    missing.config.records_per_person = 0;
    EXPECT_EQ(missing.refusal().reason, "too_many_missing");

    Gate granted(0.9);
    granted.config.records_per_person = 1;
    auto& g = granted.vault.decisions;
    g.overridden = {static_cast<uint32_t>(std::find(g.approved.begin(), g.approved.end(), 0) -
                                          g.approved.begin())};
    g.has_impact[g.overridden[0]] = 1, granted.vault.impact[g.overridden[0]] = 75;
    EXPECT_EQ(granted.test().verdict, Verdict::kNoSolutionFound);
    granted.config.records_per_person = 0;
    EXPECT_EQ(granted.refusal().reason, "declines_overridden");
}

TEST(FixedRange, WhereTheDevelopmentSetLacksOutcomesTheRunIsRefused) {
    Gate gate(0.9);
    gate.config.records_per_person = 1;
    auto& d = gate.selection.decisions;
    for (size_t i = 0; i < 1000; ++i) {
        d.has_impact[i] = 0;
        gate.selection.impact[i] = std::nan("");
    }
    EXPECT_EQ(gate.refusal().reason, "too_many_missing");
}

TEST(FixedRange, ManyLoansOfAPersonAreRefusedWhereTheirNumberIsLimited) {
    Gate gate(0.6);
    gate.config.records_per_person = 2;
    auto& d = gate.vault.decisions;
    d.unit_id[2] = d.unit_id[0];
    EXPECT_TRUE(gate.check()->prepared);
    d.unit_id[4] = d.unit_id[0];
    EXPECT_EQ(gate.refusal().reason, "records_per_person");
}

TEST(CalibrationAlarm, ThatWasAcknowledgedRefusesNoRunAndStandsInTheCertificate) {
    Gate gate(0.6);
    base::Random random(8);
    gate.vault = test::simulate({.records = 2000, .skill = 0.6, .miscalibration = 0.1}, random);
    EXPECT_EQ(gate.refusal().reason, "propensities_do_not_fit");
    gate.identity.acknowledged_alarm = "looked for, not found";
    const auto prepared = *gate.check()->prepared;
    ASSERT_TRUE(
        gate.ledger.append(*gate.ledger.next_registration(prepared.request(), base::TimePoint())));
    const auto ticket = *gate.ledger.ticket(prepared.request());
    const auto result = *run(prepared, ticket, gate.vault.impact);
    const auto key = base::SigningKey::generate();
    const auto sealed = *seal(prepared, {ticket, result, base::TimePoint(), base::TimePoint(), key},
                              gate.vault.impact);
    const auto certificate = *verify(sealed.certificate, sealed.evidence, key.public_key());
    size_t found = 0;
    for (const auto& assumption : certificate.assumptions) {
        if (assumption.text.find("approvals drawn agree") == std::string::npos) continue;
        ++found;
        EXPECT_FALSE(assumption.tested);
        EXPECT_NE(assumption.text.find("looked for, not found"), std::string::npos);
    }
    EXPECT_EQ(found, 1u);
}

}  // namespace
}  // namespace rampart::certification
