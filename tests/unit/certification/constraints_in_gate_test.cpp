// Constraints on their way through the gate: planned, tested, sealed, verified.
#include <gtest/gtest.h>

#include <cmath>

#include "rampart/certification/certificate_file.hpp"
#include "support/constrained_scenario.hpp"

namespace rampart::certification {
namespace {

const base::TimePoint kRegistered = *base::parse_iso8601("2005-07-01");
const base::TimePoint kRead = kRegistered + base::Duration::seconds(1);

struct Gate {
    GateConfig config = test::lender_config();
    DeltaLedger ledger;
    ope::LoggedFeedback selection, vault;
    base::SigningKey key = base::SigningKey::generate();

    explicit Gate(const std::vector<std::string>& expressions, size_t records = 3000)
        : ledger(test::ledger_for(config)) {
        for (const std::string& expression : expressions) {
            config.named_constraints.push_back(
                {fmt::format("constraint {}", config.named_constraints.size() + 1), expression});
        }
        base::Random random(7);
        selection = test::simulate({.records = 3000, .skill = 1, .prefix = "c"}, random);
        vault = test::simulate(
            {.records = records, .skill = 1, .missing = 0.005, .records_per_person = 2}, random);
        test::constrain(selection, config);
        test::constrain(vault, config);
    }

    PrecheckResult check() const {
        auto checked =
            precheck({config, test::lender_identity(), ledger, test::kPseudonymKey, selection},
                     vault.decisions);
        EXPECT_TRUE(checked) << (checked ? "" : checked.error().message);
        return checked ? std::move(*checked) : PrecheckResult{};
    }

    std::optional<PreparedRun> prepared;
    std::optional<RunTicket> ticket;
    SealedResult test() {
        auto checked = check();
        EXPECT_TRUE(checked.prepared) << checked.result.message;
        prepared = std::move(checked.prepared);
        EXPECT_TRUE(ledger.append(*ledger.next_registration(prepared->request(), kRegistered)));
        ticket = *ledger.ticket(prepared->request());
        auto result = run(*prepared, *ticket, vault.impact, vault.label);
        EXPECT_TRUE(result) << (result ? "" : result.error().message);
        return *result;
    }
    base::Result<SealedCertificate> sealed(const SealedResult& result) const {
        return seal(*prepared, {*ticket, result, kRead, kRead, key}, vault.impact, vault.label);
    }
};

std::string gap(double allowed) { return fmt::format("{} <= {}", test::kApprovalGap, allowed); }
// 0.9 of the good repay and 0.75 of them are approved; the candidate is always right.
constexpr const char* kFalsePositives =
    "abs(mean(decision | group = \"women\" and label = 0) - "
    "mean(decision | group = \"men\" and label = 0)) <= 0.3";

TEST(ConstrainedGate, CertifiesWhatPassesAllOfThem) {
    Gate gate({gap(0.1), kFalsePositives, "1 - mean(loss) >= 0.5",
               "mean(impact | group = \"women\") >= mean(impact, reference | group = \"women\")"});
    const SealedResult result = gate.test();
    EXPECT_EQ(result.verdict, Verdict::kCertified);
    ASSERT_EQ(result.constraints.size(), 4u);
    for (const ConstraintResult& constraint : result.constraints) {
        EXPECT_TRUE(constraint.passed) << constraint.name;
        for (const auto& statement : constraint.statements) {
            EXPECT_TRUE(statement.lower >= 0 || statement.log_wealth >= -std::log(0.1));
        }
    }
    const auto& plans = gate.prepared->plan().constraint_plans;
    EXPECT_EQ(plans[3].means.size(), 1u) << "paired";
    EXPECT_EQ(plans[1].tests.statements.size(), 2u);
}

TEST(ConstrainedGate, OneConstraintThatDoesNotPassBlocksWhatWouldBeCertified) {
    Gate free({}), bound({gap(0.1), "1 - mean(loss) >= 0.8"});
    EXPECT_EQ(free.test().verdict, Verdict::kCertified);
    const SealedResult result = bound.test();
    EXPECT_EQ(result.verdict, Verdict::kNoSolutionFound);
    EXPECT_TRUE(result.groups[0].passed && result.groups[1].passed);
    EXPECT_TRUE(result.constraints[0].passed);
    EXPECT_FALSE(result.constraints[1].passed);
    EXPECT_EQ(result.published().reason + result.published().message, "") << "one bit";
}

TEST(ConstrainedGate, RefusesWhatTheDataCannotDecideAndNamesTheConstraint) {
    const auto refusal = [](Gate& gate, std::string_view reason) {
        const auto checked = gate.check();
        EXPECT_FALSE(checked.prepared);
        EXPECT_EQ(checked.result.verdict, Verdict::kRefused);
        EXPECT_EQ(checked.result.reason, reason) << checked.result.message;
        return checked.result.message;
    };
    Gate few({gap(0.1)});
    few.vault.decisions.conditions.assign(few.vault.decisions.size(), 0);
    EXPECT_TRUE(refusal(few, "too_few_units").starts_with("constraint 'constraint 1': "));
    Gate anchor({"mean(decision) >= mean(decision, anchor)"});
    refusal(anchor, "no_anchor");
    Gate labels({"mean(loss) <= 1"});
    labels.config.max_missing_rate = 0.01;
    for (size_t i = 0; i < 100; ++i) labels.vault.decisions.has_label[i] = 0;
    refusal(labels, "too_many_missing");
    Gate none({gap(0.1)});
    none.selection.decisions.conditions.clear();
    none.selection.decisions.has_label.clear();
    none.selection.label.clear();
    refusal(none, "no_conditions");
    Gate hopeless({gap(0.0001)});
    hopeless.config.min_power = 0.5;
    refusal(hopeless, "low_power");
    hopeless.config.named_constraints[0].expression = gap(0.1);
    EXPECT_TRUE(hopeless.check().prepared);
}

TEST(ConstrainedGate, RefusesLabelsThatDoNotFit) {
    Gate gate({"1 - mean(loss) >= 0.5"});
    gate.test();
    auto label = gate.vault.label;
    const auto reason = [&] {
        const auto result = run(*gate.prepared, *gate.ticket, gate.vault.impact, label);
        return result ? "" : result.error().reason;
    };
    EXPECT_EQ(reason(), "");
    for (double& x : label) {
        if (x == 1) x = 0.5;
    }
    EXPECT_EQ(reason(), "bad_label");
    label.clear();
    EXPECT_EQ(reason(), "bad_label") << "they were said to be on record";
    label.assign(3, 0);
    EXPECT_EQ(reason(), "bad_shape");
}

TEST(ConstrainedGate, TheLogIsTheOneThatWasRegisteredConditionsIncluded) {
    Gate gate({gap(0.1)});
    gate.test();
    Gate other({gap(0.1)});
    other.vault.decisions.conditions[5] ^= 3;
    auto checked = other.check();
    ASSERT_TRUE(checked.prepared);
    EXPECT_NE(checked.prepared->plan().vault_digest, gate.prepared->plan().vault_digest);
    other.vault.decisions.conditions[5] ^= 3;
    other.vault.decisions.has_label[5] ^= 1;
    checked = other.check();
    EXPECT_NE(checked.prepared->plan().vault_digest, gate.prepared->plan().vault_digest);
}

TEST(ConstrainedCertificate, IsVerifiedAndSaysWhatHolds) {
    Gate gate({gap(0.1), kFalsePositives});
    const auto sealed = gate.sealed(gate.test());
    ASSERT_TRUE(sealed) << sealed.error().message;
    const auto read = verify(sealed->certificate, sealed->evidence, gate.key.public_key());
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->constraint_results.size(), 2u);
    EXPECT_NE(read->claim.find(gap(0.1)), std::string::npos) << read->claim;
    EXPECT_NE(read->recipe.find("approved / p"), std::string::npos);
    EXPECT_TRUE(std::any_of(read->assumptions.begin(), read->assumptions.end(), [](const auto& a) {
        return !a.tested && a.text.find("whoever grants it") != std::string::npos;
    }));
    Gate failing({gap(0.001)});
    const auto nothing = failing.sealed(failing.test());
    ASSERT_TRUE(nothing) << nothing.error().message;
    EXPECT_NE(verify(nothing->certificate, nothing->evidence, failing.key.public_key())
                  ->claim.find("group or constraint did not pass"),
              std::string::npos);
}

TEST(ConstrainedCertificate, OfARatioWithoutAStatementIsVerifiedToo) {
    Gate gate({"mean(decision) / (mean(decision) - mean(decision, reference)) >= 0"});
    const SealedResult result = gate.test();
    EXPECT_EQ(result.constraints[0].statements[0].lower, std::nullopt);
    const auto sealed = gate.sealed(result);
    ASSERT_TRUE(sealed) << sealed.error().message;
    EXPECT_TRUE(verify(sealed->certificate, sealed->evidence, gate.key.public_key()));
}

TEST(ConstrainedCertificate, WhatTheEvidenceDoesNotGiveIsNotSealed) {
    Gate gate({gap(0.1), kFalsePositives, "abs(mean(loss) - 0.5) <= 0.5"});
    const SealedResult truth = gate.test();
    const auto lie = [&](const auto& change, size_t constraint = 1) {
        SealedResult changed = truth;
        change(changed.constraints[constraint]);
        const auto sealed = gate.sealed(changed);
        EXPECT_FALSE(sealed);
        return sealed ? "" : sealed.error().reason;
    };
    const std::string found = "does_not_recompute";
    EXPECT_EQ(lie([](auto& c) { *c.statements[0].log_wealth += 1e-6; }), found);
    EXPECT_EQ(lie([](auto& c) { c.statements[0].log_wealth.reset(); }), found);
    EXPECT_EQ(lie([](auto& c) { c.statements[1].ends[0].bound = 1; }), found);
    EXPECT_EQ(lie([](auto& c) { *c.statements[0].lower += 1e-6; }, 2), found);
    EXPECT_EQ(lie([](auto& c) { c.statements[0].lower.reset(); }, 2), found);
    EXPECT_EQ(lie([](auto& c) { *c.statements[1].ends[0].bound += 1e-6; }, 2), found);
    EXPECT_EQ(lie([](auto& c) { *c.statements[1].ends[1].estimate -= 1e-6; }), found);
    EXPECT_EQ(lie([](auto& c) { c.statements[0].passed = false; }), found);
    EXPECT_EQ(lie([](auto& c) { c.passed = false; }), found);
    EXPECT_EQ(lie([](auto& c) { c.name = "another"; }), found);
    EXPECT_EQ(lie([](auto& c) { c.statements.pop_back(); }), found);
    EXPECT_EQ(lie([](auto& c) { c.statements[0].ends.pop_back(); }), found);
    SealedResult fewer = truth;
    fewer.constraints.pop_back();
    EXPECT_EQ(gate.sealed(fewer).error().reason, found);
    Gate failing({gap(0.001)});
    SealedResult passed = failing.test();
    passed.constraints[0].passed = passed.constraints[0].statements[0].passed =
        passed.constraints[0].statements[1].passed = true;
    passed.verdict = Verdict::kCertified;
    EXPECT_EQ(failing.sealed(passed).error().reason, found);
}

/// A certificate taken apart, to be signed again by the same key: what a dishonest signer could do.
class Forgery {
  public:
    Forgery(const Gate& gate, const SealedCertificate& sealed)
        : key_(gate.key), evidence_(sealed.evidence) {
        const std::string mark = "\"payload\":\"";
        const size_t from = sealed.certificate.find(mark) + mark.size();
        payload_ = *base::from_base64(
            sealed.certificate.substr(from, sealed.certificate.find('"', from) - from));
        const auto read = read_certificate(sealed.certificate, key_.public_key()).value();
        plan_ = read.ledger->registration.plan.hex();
        entry_ = read.ledger->entry.hex();
        before_ =
            fmt::format(R"({{"sequence":{},"previous":"{}","epoch_opened":null,"registration":)",
                        read.ledger->sequence, read.ledger->previous.hex());
    }

    const std::string& payload() const { return payload_; }

    /// Why the changed payload is refused, with plan and ledger entry hashed anew; empty: it is
    /// not.
    std::string refusal(std::string changed) const {
        const std::string plan = between(changed, "\"plan\":", ",\"ledger\":");
        replace(changed, plan_, base::sha256(plan).hex());
        const std::string registration = between(changed, "\"registration\":", ",\"sequence\":");
        replace(changed, entry_, base::sha256(before_ + registration + ",\"closing\":null}").hex());
        const auto read = verify(signed_again(changed), evidence_, key_.public_key());
        return read ? "" : read.error().message;
    }

  private:
    static std::string between(const std::string& text, std::string_view from,
                               std::string_view to) {
        const size_t begin = text.find(from) + from.size();
        return text.substr(begin, text.find(to, begin) - begin);
    }
    static void replace(std::string& text, const std::string& what, const std::string& by) {
        for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
            text.replace(at, what.size(), by);
        }
    }
    std::string signed_again(const std::string& payload) const {
        const std::string type = "application/vnd.rampart.certificate+json";
        const std::string signature = key_.sign(
            fmt::format("DSSEv1 {} {} {} {}", type.size(), type, payload.size(), payload));
        return fmt::format(
            R"({{"payloadType":"{}","payload":"{}","signatures":[{{"keyid":"{}","sig":"{}"}}]}})",
            type, base::to_base64(payload), key_.public_key().id(), base::to_base64(signature));
    }

    const base::SigningKey& key_;
    std::string evidence_, payload_, plan_, entry_, before_;
};

/// Positions of the numbers in a part of the text.
std::vector<std::pair<size_t, size_t>> numbers_in(const std::string& text, size_t from, size_t to) {
    std::vector<std::pair<size_t, size_t>> out;
    for (size_t i = from; i < to; ++i) {
        const bool starts = (text[i] >= '0' && text[i] <= '9') || text[i] == '-';
        if (!starts || (text[i - 1] != ':' && text[i - 1] != '[' && text[i - 1] != ',')) continue;
        const size_t end = text.find_first_of(",]}", i);
        out.emplace_back(i, end - i);
        i = end;
    }
    return out;
}

TEST(ConstrainedCertificate, EveryChangedFigureIsFoundThoughTheSignerSignsItAgain) {
    Gate gate({gap(0.1), kFalsePositives}, 1500);
    const auto sealed = gate.sealed(gate.test());
    ASSERT_TRUE(sealed) << sealed.error().message;
    const Forgery forgery(gate, *sealed);
    const std::string& text = forgery.payload();
    ASSERT_EQ(forgery.refusal(text), "") << "unchanged, it holds";
    // conditions of the development set, which the certificate does not contain, but for a digest
    const std::vector<std::string> trusted{"q_approve", "q_decline", "selection_units",
                                           "selection_share", "selection_mean"};
    size_t changed = 0;
    for (const char* part : {"\"constraint_plans\":", "\"constraint_results\":"}) {
        const size_t from = text.find(part), to = text.find("\"name\":\"constraint 2\"", from + 30);
        ASSERT_NE(from, std::string::npos);
        ASSERT_NE(to, std::string::npos);
        for (const auto& [at, length] : numbers_in(text, from, to)) {
            const size_t name_end = text.rfind("\":", at), name = text.rfind('"', name_end - 1) + 1;
            const std::string member = text.substr(name, name_end - name);
            if (std::find(trusted.begin(), trusted.end(), member) != trusted.end()) continue;
            std::string other = text;
            const std::string was = text.substr(at, length);
            other.replace(at, length, was == "0" ? "1" : was == "1" ? "2" : "0");
            EXPECT_NE(forgery.refusal(other), "") << member << " " << was;
            ++changed;
        }
    }
    EXPECT_GT(changed, 40u);
    for (const auto& [from, to] : {std::pair<std::string, std::string>{"<= 0.1\"", "<= 0.2\""},
                                   {"\"upper\":true", "\"upper\":false"},
                                   {"\"passed\":true", "\"passed\":false"}}) {
        std::string other = text;
        other.replace(other.find(from), from.size(), to);
        EXPECT_NE(forgery.refusal(other), "") << from;
    }
}

TEST(ConstrainedCertificate, LabelsAndConditionsInTheEvidenceCannotBeChanged) {
    Gate gate({gap(0.1)});
    const auto sealed = gate.sealed(gate.test());
    ASSERT_TRUE(sealed);
    for (const auto& [from, to] :
         {std::pair<std::string, std::string>{"\"label\":1", "\"label\":0"},
          {"\"conditions\":[3,0]", "\"conditions\":[0,3]"},
          {"\"conditions\":[3,0]", "\"conditions\":[3]"}}) {
        std::string forged = sealed->evidence;
        ASSERT_NE(forged.find(from), std::string::npos) << from;
        forged.replace(forged.find(from), from.size(), to);
        EXPECT_FALSE(verify(sealed->certificate, forged, gate.key.public_key())) << from;
    }
}

TEST(ConstrainedCertificate, WithoutConstraintsHasNoTraceOfThem) {
    Gate gate({});
    const auto sealed = gate.sealed(gate.test());
    ASSERT_TRUE(sealed);
    EXPECT_EQ(sealed->evidence.find("label"), std::string::npos);
    EXPECT_EQ(sealed->evidence.find("conditions"), std::string::npos);
    EXPECT_EQ(Forgery(gate, *sealed).payload().find("constraint"), std::string::npos);
}

TEST(ConstrainedGate, AFurtherLookIsNotOffered) {
    Gate gate({gap(0.1)});
    gate.test();
    const EarlierLook earlier{gate.prepared->plan(), {}};
    const auto checked = precheck({gate.config, test::lender_identity(), gate.ledger,
                                   test::kPseudonymKey, gate.selection, &earlier},
                                  gate.vault.decisions);
    ASSERT_TRUE(checked);
    EXPECT_EQ(checked->result.reason, "other_settings");
}

}  // namespace
}  // namespace rampart::certification
