// Referrals in a run: by rule, by chance, without an answer; what is refused, counted and said.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "rampart/certification/certificate_file.hpp"
#include "unit/certification/gate.hpp"

namespace rampart::certification {
namespace {

using ope::Referral;

/// How the log refers.
struct Referring {
    double p = 0.15;        // as logged, of all that would have been approved or declined
    double drawn = 0.15;    // as drawn
    bool policies = false;  // candidate and reference refer, too, and differ
    double unanswered = 0;
};

void add_columns(ope::LoggedDecisions& d) {
    for (auto* column : {&d.p_refer, &d.candidate_refer, &d.reference_refer})
        column->assign(d.size(), 0);
    d.referred.assign(d.size(), 0);
    if (!d.anchor.empty()) d.anchor_refer.assign(d.size(), 0);
}

void answer(ope::LoggedFeedback& f, size_t i, Referral referral, double impact = std::nan("")) {
    auto& d = f.decisions;
    d.referred[i] = static_cast<uint8_t>(referral);
    d.approved[i] = 0;
    d.has_impact[i] = std::isnan(impact) ? 0 : 1;
    f.impact[i] = impact;
}

void refer(ope::LoggedFeedback& f, const Referring& how, base::Random& random) {
    auto& d = f.decisions;
    add_columns(d);
    for (size_t i = 0; i < d.size(); ++i) {
        d.p_refer[i] = how.p;
        d.p_approve[i] *= 1 - how.p;
        if (how.policies) {
            const double step = d.candidate[i] - d.reference[i];
            d.reference[i] *= 1 - how.p;
            d.reference_refer[i] = how.p;
            d.candidate[i] = d.reference[i] + step / 4;
            d.candidate_refer[i] = how.p + step / 8;
        }
        if (!random.bernoulli(how.drawn)) continue;
        const bool good = d.candidate[i] > d.reference[i];
        if (random.bernoulli(how.unanswered)) {
            answer(f, i, Referral::kUnanswered);
        } else if (random.bernoulli(good ? 0.8 : 0.2)) {
            answer(f, i, Referral::kApproved, 75);
        } else {
            answer(f, i, Referral::kDeclined);
        }
    }
}

/// A gate whose log refers.
Gate referring(const Referring& how, double skill = 0.8) {
    Gate gate(skill);
    base::Random random(11);
    refer(gate.selection, how, random);
    refer(gate.vault, how, random);
    gate.config.records_per_person = 1;
    gate.config.referrals = true;
    return gate;
}

void refer_by_rule(ope::LoggedFeedback& f, size_t i) {
    auto& d = f.decisions;
    d.p_approve[i] = d.candidate[i] = d.reference[i] = 0;
    d.p_refer[i] = d.candidate_refer[i] = d.reference_refer[i] = 1;
    answer(f, i, Referral::kDeclined);
}

TEST(Referrals, ByChanceAreTestedWhereTheyAreDeclared) {
    for (const bool policies : {false, true}) {
        Gate gate = referring({.policies = policies});
        const auto checked = *gate.check();
        ASSERT_TRUE(checked.prepared) << checked.result.message;
        const GroupPlan& plan = checked.prepared->plan().groups[0];
        EXPECT_NEAR(static_cast<double>(plan.referred) / static_cast<double>(plan.records), 0.15,
                    0.05);
        EXPECT_NE(plan.q_refer, 0);
        EXPECT_NEAR(plan.weights.mean_weight, 1, 0.1);
        EXPECT_EQ(plan.by_rule, 0u);
        EXPECT_LE(plan.lo, -0.25 * 225) << "what policies take from referrals may cost b - a";
        EXPECT_EQ(gate.test().verdict, Verdict::kCertified);
        gate.config.referrals = false;
        EXPECT_EQ(gate.refusal().reason, "referrals_not_declared");
    }
}

TEST(Referrals, OfTheDevelopmentSetAloneAreRefusedUndeclared) {
    Gate gate = referring({});
    gate.vault = Gate(0.8).vault;
    gate.config.referrals = false;
    EXPECT_EQ(gate.refusal().reason, "referrals_not_declared");
}

TEST(Referrals, ByRuleHaveNoWeightAndBindAllPolicies) {
    Gate gate(0.8), plain(0.8);
    for (auto* f : {&gate.selection, &gate.vault}) {
        add_columns(f->decisions);
        for (size_t i = 0; i < 100; ++i) refer_by_rule(*f, i);
    }
    gate.config.records_per_person = plain.config.records_per_person = 1;
    const auto plan = gate.check()->prepared->plan();
    EXPECT_EQ(plan.groups[0].by_rule + plan.groups[1].by_rule, 100u);
    EXPECT_EQ(plan.groups[0].referred, plan.groups[0].by_rule);
    EXPECT_EQ(plan.groups[0].q_refer, 0);
    EXPECT_EQ(gate.test().verdict, Verdict::kCertified);
    gate.vault.decisions.candidate_refer[7] = 0.5;
    EXPECT_EQ(gate.refusal().reason, "referral_by_rule");
    gate.vault.decisions.candidate_refer[7] = 1;
    gate.vault.decisions.reference_refer[8] = 0;
    gate.vault.decisions.reference[8] = 0.5;
    EXPECT_EQ(gate.refusal().reason, "referral_by_rule");
}

TEST(Referrals, WithoutAnAnswerAreMissingOutcomes) {
    Gate few = referring({.unanswered = 0.03});
    const auto plan = few.check()->prepared->plan();
    size_t unanswered = 0;
    for (const GroupPlan& group : plan.groups) {
        EXPECT_EQ(group.missing, group.unanswered);
        unanswered += group.unanswered;
    }
    EXPECT_GT(unanswered, 5u);
    Gate many = referring({.unanswered = 0.05});
    auto& d = many.vault.decisions;
    for (size_t i = 0; i < d.size(); ++i) {
        if (d.referral(i) == Referral::kDeclined) answer(many.vault, i, Referral::kUnanswered);
    }
    EXPECT_EQ(many.test().verdict, Verdict::kNoSolutionFound) << "too many are missing";
}

TEST(Referrals, ThatAreNotDrawnAsLoggedRaiseTheAlarm) {
    EXPECT_TRUE(referring({}).check()->prepared);
    Gate wrong = referring({.p = 0.15, .drawn = 0.25});
    // the approvals that are left still agree with what is logged of them
    auto& d = wrong.vault.decisions;
    for (size_t i = 0; i < d.size(); ++i) d.p_approve[i] *= (1 - 0.25) / (1 - 0.15);
    EXPECT_EQ(wrong.refusal().reason, "propensities_do_not_fit");
    EXPECT_NE(wrong.refusal().message.find("approvals and referrals"), std::string::npos);
}

TEST(Referrals, BeyondTheTrustRegionAreRefused) {
    Gate gate = referring({.policies = true});
    gate.vault.decisions.candidate_refer[3] = 0.15 + 0.08;
    EXPECT_EQ(gate.refusal().reason, "outside_trust_region");
}

TEST(Referrals, NeedRangesThatAreFixedBeforehand) {
    Gate gate = referring({});
    gate.config.records_per_person = 0;
    const auto refused = gate.check();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "bad_gate_config");
}

/// Returns the certificate of the gate's run, and its evidence.
SealedCertificate sealed(Gate& gate, const base::SigningKey& key) {
    const auto prepared = *gate.check()->prepared;
    EXPECT_TRUE(
        gate.ledger.append(*gate.ledger.next_registration(prepared.request(), base::TimePoint())));
    const auto ticket = *gate.ledger.ticket(prepared.request());
    const auto result = *run(prepared, ticket, gate.vault.impact);
    EXPECT_EQ(result.verdict, Verdict::kCertified);
    return *seal(prepared, {ticket, result, base::TimePoint(), base::TimePoint(), key},
                 gate.vault.impact);
}

bool says(const Certificate& certificate, std::string_view what) {
    return std::any_of(certificate.assumptions.begin(), certificate.assumptions.end(),
                       [&](const Assumption& a) { return a.text.find(what) != std::string::npos; });
}

TEST(Referrals, AreSaidInTheCertificateWhichVerifies) {
    const auto key = base::SigningKey::generate();
    Gate gate = referring({.policies = true, .unanswered = 0.03});
    const auto made = sealed(gate, key);
    const auto certificate = verify(made.certificate, made.evidence, key.public_key());
    ASSERT_TRUE(certificate) << certificate.error().message;
    EXPECT_TRUE(says(*certificate, "the answers of people to referrals do not depend on which"));
    EXPECT_TRUE(says(*certificate, "decisions were referrals, 0 of them by rule"));
    EXPECT_TRUE(says(*certificate, "approvals and referrals drawn agree"));
    EXPECT_NE(certificate->recipe.find("c(R) q_refer"), std::string::npos);
    EXPECT_NE(made.evidence.find("\"p_refer\":0.15"), std::string::npos);
    Gate plain(0.8);
    const auto without = sealed(plain, key);
    EXPECT_EQ(without.evidence.find("refer"), std::string::npos);
    EXPECT_EQ(read_certificate(without.certificate, key.public_key())->recipe.find("refer to"),
              std::string::npos);
    EXPECT_FALSE(
        says(*verify(without.certificate, without.evidence, key.public_key()), "referral"));
}

TEST(Referrals, AnAnswerThatComesLaterMayContinueALook) {
    Gate gate = referring({.unanswered = 0.1}, 0.1);
    gate.config.delta_epoch = 0.001;
    gate.config.max_missing_rate = 0.2;
    gate.ledger = test::ledger_for(gate.config);
    const auto key = base::SigningKey::generate();
    const auto prepared = *gate.check()->prepared;
    const auto request = prepared.request();
    ASSERT_TRUE(gate.ledger.append(*gate.ledger.next_registration(request, base::TimePoint())));
    const auto ticket = *gate.ledger.ticket(request);
    const auto result = *run(prepared, ticket, gate.vault.impact);
    ASSERT_EQ(result.verdict, Verdict::kNoSolutionFound);
    const auto made = *seal(prepared, {ticket, result, base::TimePoint(), base::TimePoint(), key},
                            gate.vault.impact);
    ASSERT_TRUE(gate.ledger.append(
        *gate.ledger.next_closing(result.verdict, std::string(64, 'a'), "", base::TimePoint())));
    const auto earlier =
        *earlier_look(*read_certificate(made.certificate, key.public_key()), made.evidence);
    const auto look = [&](const ope::LoggedFeedback& vault) {
        const auto again = *precheck({gate.config, gate.identity, gate.ledger, test::kPseudonymKey,
                                      gate.selection, &earlier},
                                     vault.decisions);
        if (!again.prepared) return again.result.reason;
        DeltaLedger ledger = gate.ledger;
        const auto next = again.prepared->request();
        EXPECT_TRUE(ledger.append(*ledger.next_registration(next, base::TimePoint())));
        const auto tested = run(*again.prepared, *ledger.ticket(next), vault.impact);
        return tested ? std::string("tested") : tested.error().reason;
    };
    const auto& d = gate.vault.decisions;
    const auto unanswered = static_cast<size_t>(std::find(d.referred.begin(), d.referred.end(), 1) -
                                                d.referred.begin());
    const auto declined = static_cast<size_t>(std::find(d.referred.begin(), d.referred.end(), 2) -
                                              d.referred.begin());
    EXPECT_EQ(look(gate.vault), "tested");
    auto answered = gate.vault;
    answer(answered, unanswered, Referral::kApproved, -150);
    EXPECT_EQ(look(answered), "tested");
    auto changed = gate.vault;
    answer(changed, declined, Referral::kApproved, 75);
    EXPECT_EQ(look(changed), "earlier_records_changed");
    auto other = gate.vault;
    other.decisions.p_refer[0] = 0.16;
    EXPECT_EQ(look(other), "earlier_records_changed");
}

}  // namespace
}  // namespace rampart::certification
