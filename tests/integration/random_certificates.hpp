#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rampart/base/digest.hpp"
#include "rampart/base/signing.hpp"
#include "rampart/certification/certificate_file.hpp"
#include "support/constrained_scenario.hpp"
#include "support/referring.hpp"

/// Certificates of random gates on random logs, with further looks.
namespace rampart::random_certificates {

using namespace certification;
inline const base::TimePoint kRegistered = *base::parse_iso8601("2005-07-01");
inline const base::TimePoint kRead = kRegistered + base::Duration::seconds(1);

inline const std::vector<std::string> kConstraints{
    fmt::format("{} <= 0.6", test::kApprovalGap),
    "approval_rate_ratio(\"women\", \"men\", 0.5)",
    "accuracy_at_least(0.05)",
    "mean(loss) - mean(loss, reference) <= 0.6",
    "cvar(impact, 0.3) >= -145",
    "mean(decision | group = \"men\" and label = 1) >= mean(decision, reference | label = 0) - 0.9",
    "min(mean(label), mean(decision * label) + -0.1) / 2 >= -0.2",
    "quantile(impact, 0.4 | group = \"men\") - quantile(impact, 0.4, reference) >= -160",
    "long_term_improvement(\"women\", 90)",
    "max(-(mean(impact)), mean(impact, reference), 3) >= -140",
    "mean(impact | label = 0) * mean(label) >= -200",
    "quantile(impact, 0.4) <= 74",
    "abs(cvar(impact, 0.5) - cvar(impact, 0.5, reference | group = \"women\")) <= 120",
    "mean(decision) / mean(decision, reference) >= 0.2",
};

/// Random settings of a gate and a random log.
struct Drawn {
    GateConfig config = test::lender_config();
    ope::LoggedFeedback selection, vault;
    size_t looks = 0;          // further looks, if the candidate does not pass before
    uint32_t runs_before = 0;  // in the epoch
    double reserve = 0;        // part of the epoch's budget

    explicit Drawn(uint64_t seed) {
        base::Random random(seed);
        const double skill = random.uniform(-0.2, 1);
        selection = test::simulate({.records = 300, .skill = skill, .prefix = "c"}, random);
        if (random.bernoulli(0.5)) looks = 1 + random.below(2);
        const auto records_per_person = 1 + static_cast<unsigned>(random.below(3));
        vault = test::simulate({.records = (60 + random.below(60)) * (1 + looks),
                                .skill = skill,
                                .missing = 0.02,
                                .records_per_person = records_per_person},
                               random);
        if (random.bernoulli(0.5)) config.records_per_person = records_per_person;
        config.valid_months = static_cast<unsigned>(seed % 3) * 7;
        config.min_units = 5;
        config.max_missing_rate = 0.3;
        config.calibration_level = 1e-6;
        if (seed % 2 == 0 && config.records_per_person == 0)
            config.max_calibration_z = 6;  // as older certificates have it
        config.delta_epoch = random.uniform(0.05, 0.5);
        config.runs_per_epoch = 1 + static_cast<unsigned>(random.below(4));
        config.bound = static_cast<stats::BoundMethod>(random.below(4));
        config.control_variates = static_cast<ControlVariateKind>(random.below(5));
        config.bet_cap = random.uniform(0.5, 0.95);
        if (random.bernoulli(0.5)) config.margin = random.uniform(-5, 40);
        if (random.bernoulli(0.3)) config.at_least = random.uniform(-60, 10);
        if (random.bernoulli(0.3)) config.max_weight = random.uniform(1, 1.5);
        config.spending = random.bernoulli(0.5) ? Spending::kByHistory : Spending::kEqual;
        if (!config.max_calibration_z) reserve = config.calibration_level;
        runs_before = static_cast<uint32_t>(random.below(config.runs_per_epoch));
        if (random.bernoulli(0.3)) override_some(random);
        if (random.bernoulli(0.3)) outcomes_of_declines(random);
        if (config.declined_impact && random.bernoulli(0.3)) {
            config.trust_region = TrustRegion::kApprovals;
            config.kappa = 3;
        }
        if (random.bernoulli(0.3)) config.missing_gamma = random.uniform(0, 150);
        if (random.bernoulli(0.3)) config.max_drift_auc = random.uniform(0.55, 1);
        if (random.bernoulli(0.3)) hold_against_an_anchor(random);
        if (random.bernoulli(0.35)) refer(random);
        base::Random parts(seed + 1'000'000);
        divide(parts);
        if (config.records_per_person > 0) decide_oddly(random);
        if (config.control_variates == ControlVariateKind::kRegression)
            add_control_variates(random);
        if (looks == 0 && random.bernoulli(0.85)) constrain(random);
        if (!allows_further_looks(config)) looks = 0;
        if (looks > 0 && random.bernoulli(0.5)) config.delta_epoch /= 50;
        if (random.bernoulli(0.4)) {  // counted where records_per_person is limited
            const size_t women = random.below(4), men = random.below(4);
            vault.decisions.erased.records = std::max<size_t>(1, women + men);
            vault.decisions.erased.of_group = {women, men};
            vault.decisions.erased.unexplained = random.bernoulli(0.5) ? 1 : 0;
            if (random.bernoulli(0.5)) {  // one that cannot be read, in every group
                ++vault.decisions.erased.records;
                vault.decisions.erased.unreadable = 1;
                for (size_t& records : vault.decisions.erased.of_group) ++records;
            }
        }
    }
    /// The vault with its first records only.
    ope::LoggedFeedback matured(size_t records) const {
        ope::LoggedFeedback out = vault;
        ope::LoggedDecisions& d = out.decisions;
        const auto cut = [&](auto&... columns) {
            (columns.resize(std::min(columns.size(), records)), ...);
        };
        cut(d.record_id, d.unit_id, d.p_approve, d.approved, d.has_impact, d.candidate, d.reference,
            d.logger, d.anchor, d.second_half, out.impact, d.p_refer, d.candidate_refer,
            d.reference_refer, d.anchor_refer, d.referred);
        const auto gone = [records](uint32_t i) { return i >= records; };
        for (ope::Group& group : d.groups) std::erase_if(group.records, gone);
        std::erase_if(d.overridden, gone);
        return out;
    }
    RunIdentity identity() const {
        RunIdentity out = test::lender_identity();
        if (!vault.decisions.anchor.empty()) out.anchor_id = "anchor-1";
        if (config.max_drift_auc) out.drift_auc = 0.53;
        out.read_before = vault.decisions.size() % 2;
        out.stopped = vault.decisions.size() % 3;
        if (vault.decisions.size() % 5 == 0) out.acknowledged_alarm = "no fault found";
        return out;
    }

  private:
    /// Names halves of the period, has a second policy decide some of the vault, and takes some
    /// persons out of all groups.
    void divide(base::Random& random) {
        ope::LoggedDecisions& d = vault.decisions;
        const bool halves = random.bernoulli(0.5), loggers = random.bernoulli(0.3);
        if (loggers) d.logger_ids.emplace_back("second policy");
        for (size_t i = 0; i < d.size(); ++i) {
            if (halves) d.second_half.push_back(random.bernoulli(0.5));
            if (loggers) d.logger[i] = static_cast<uint32_t>(random.below(2));
        }
        if (!random.bernoulli(0.3)) return;
        std::set<std::string> alone;
        for (const auto& person : d.unit_id) {
            if (random.bernoulli(0.05)) alone.insert(person);
        }
        for (ope::Group& group : d.groups)
            std::erase_if(group.records, [&](uint32_t i) { return alone.contains(d.unit_id[i]); });
    }
    void add_control_variates(base::Random& random) {
        for (auto* f : {&selection, &vault}) {
            for (size_t i = 0; i < f->decisions.size(); ++i) {
                f->decisions.control_variates.push_back(
                    {random.uniform(-100, 75), random.uniform(-20, 20)});
            }
        }
    }
    void constrain(base::Random& random) {
        if (random.bernoulli(0.5)) config.bound = stats::BoundMethod::kBetting;
        if (random.bernoulli(0.5)) config.labels_of = LabelsOf::kAllApplicants;
        for (size_t n = 1 + random.below(2), first = random.below(kConstraints.size()); n > 0;
             --n) {
            const auto& expression = kConstraints[(first + 3 * n) % kConstraints.size()];
            config.named_constraints.push_back({fmt::format("number {}", n), expression});
        }
        for (auto* f : {&selection, &vault}) {
            test::constrain(*f, config);
            if (config.labels_of == LabelsOf::kGranted) continue;
            for (size_t i = 0; i < f->label.size(); ++i) {
                if (f->decisions.has_label[i] != 0) continue;
                f->decisions.has_label[i] = random.bernoulli(0.98);
                if (f->decisions.has_label[i] != 0) f->label[i] = random.bernoulli(0.6);
            }
        }
    }
    /// Has some of the vault decided by a policy that hardly explores, or not at all, so that their
    /// values may leave the range that was fixed beforehand.
    void decide_oddly(base::Random& random) {
        ope::LoggedDecisions& d = vault.decisions;
        for (uint32_t i = 0; i < d.size(); ++i) {
            const bool overridden =
                std::find(d.overridden.begin(), d.overridden.end(), i) != d.overridden.end();
            const bool referred = d.referral(i) != ope::Referral::kNone;
            if (overridden || referred || !random.bernoulli(0.04)) continue;
            if (!d.referred.empty() && d.p_refer[i] == 1) continue;
            d.p_approve[i] = random.bernoulli(0.5) ? 0 : 0.05;
            if (!d.referred.empty()) d.p_refer[i] = 0;
            d.approved[i] = random.bernoulli(d.p_approve[i]);
            d.has_impact[i] = d.approved[i] != 0 || !config.declined_impact;
            vault.impact[i] = d.has_impact[i] != 0 ? random.uniform(-20, 20) : std::nan("");
        }
    }
    void hold_against_an_anchor(base::Random& random) {
        for (auto* f : {&selection, &vault}) {
            for (const double s : f->decisions.reference) {
                f->decisions.anchor.push_back(s * random.uniform(0.8, 1));
            }
        }
    }
    /// Has rules refer some persons, and, where ranges are fixed beforehand, loggers and policies
    /// refer with a probability below 1.
    void refer(base::Random& random) {
        config.referrals = config.records_per_person > 0 && random.bernoulli(0.8);
        const bool policies = config.referrals && random.bernoulli(0.7);
        for (auto* f : {&selection, &vault}) {
            ope::LoggedDecisions& d = f->decisions;
            const size_t n = d.size();
            for (auto* column : {&d.p_refer, &d.candidate_refer, &d.reference_refer})
                column->assign(n, 0);
            d.referred.assign(n, 0);
            if (!d.anchor.empty()) d.anchor_refer.assign(n, 0);
            for (uint32_t i = 0; i < n; ++i) {
                if (random.bernoulli(0.05)) {
                    test::refer_by_rule(d, i);
                } else if (config.referrals) {
                    test::refer_at_times(random, d, i, policies);
                }
                const double u = random.uniform();
                if (u < d.p_refer[i]) answer(random, *f, i);
            }
        }
    }
    void answer(base::Random& random, ope::LoggedFeedback& f, uint32_t i) {
        ope::LoggedDecisions& d = f.decisions;
        const double u = random.uniform();
        const auto referral = u < 0.05  ? ope::Referral::kUnanswered
                              : u < 0.5 ? ope::Referral::kDeclined
                                        : ope::Referral::kApproved;
        d.referred[i] = static_cast<uint8_t>(referral);
        d.approved[i] = 0;
        std::erase(d.overridden, i);
        const bool due = referral == ope::Referral::kApproved ||
                         (referral == ope::Referral::kDeclined && !config.declined_impact);
        d.has_impact[i] = due && random.bernoulli(0.98);
        f.impact[i] = d.has_impact[i] != 0 ? random.bernoulli(0.7) ? 75 : -20 : std::nan("");
    }
    void override_some(base::Random& random) {
        config.declines_overridden = true;
        for (auto* f : {&selection, &vault}) {
            for (uint32_t i = 0; i < f->decisions.size(); ++i) {
                if (!random.bernoulli(0.1)) continue;
                f->decisions.overridden.push_back(i);
                f->decisions.has_impact[i] = f->decisions.granted(i);
                f->impact[i] = f->decisions.granted(i) ? 75 : std::nan("");
            }
        }
    }
    void outcomes_of_declines(base::Random& random) {
        config.declined_impact.reset();
        config.declines_overridden = false;
        for (auto* f : {&selection, &vault}) {
            for (size_t i = 0; i < f->decisions.size(); ++i) {
                if (f->decisions.has_impact[i] != 0 || f->decisions.approved[i] != 0) continue;
                f->decisions.has_impact[i] = 1;
                f->impact[i] = random.uniform(-20, 20);
            }
        }
    }
};

inline const base::SigningKey& key() {
    static const auto one = base::SigningKey::generate();
    return one;
}

struct Issued {
    Verdict verdict = Verdict::kRefused;
    SealedCertificate sealed;
    RunPlan plan;
    std::string ledger{};  // its file, after the run was closed
};

inline std::string file_of(const DeltaLedger& ledger) {
    std::string out;
    for (const auto& entry : ledger.entries()) out += fmt::format("{}\n", entry);
    return out;
}

/// Says what is in the evidence and what is not.
inline void count_decisions(const ope::LoggedDecisions& vault, RunIdentity& identity) {
    identity.software = "software of a test";
    identity.proposed_by = "anna";
    identity.left_out = {{"immature", "", 5}, {"immature", "women", 2}, {"repeat", "", 1}};
    identity.decisions = vault.size() + 6;
    std::set<uint32_t> in_a_group;
    for (const auto& group : vault.groups)
        in_a_group.insert(group.records.begin(), group.records.end());
    identity.in_no_group = vault.size() - in_a_group.size();
    for (const auto& logger : vault.logger_ids) {
        const auto index = identity.loggers.size();
        identity.loggers.push_back(
            {logger, identity.period_from, identity.period_to,
             static_cast<size_t>(std::count(vault.logger.begin(), vault.logger.end(), index))});
    }
}

/// Makes a look, and its closing in the ledger; nullptr: the first. A look that is not allowed is a
/// refusal without a certificate.
inline std::optional<Issued> look(const Drawn& drawn, const ope::LoggedFeedback& vault,
                                  DeltaLedger& ledger, const EarlierLook* earlier) {
    auto identity = drawn.identity();
    count_decisions(vault.decisions, identity);
    if (earlier != nullptr) {
        identity.vault_rule += fmt::format(", look {}", earlier->plan.look + 1);
        identity.period_to = identity.period_to + base::Duration::days(30);
        identity.read_before = 3;
        identity.repeats = 2;
        ++identity.stopped;
    }
    const auto checked =
        precheck({drawn.config, identity, ledger, test::kPseudonymKey, drawn.selection, earlier},
                 vault.decisions);
    EXPECT_TRUE(checked) << checked.error().message;
    if (!checked->prepared) {
        if (earlier != nullptr) return std::nullopt;
        return Issued{checked->result.verdict,
                      *seal_refusal(drawn.config, identity, checked->result, kRead, key()),
                      {}};
    }
    const auto request = checked->prepared->request();
    EXPECT_TRUE(ledger.append(*ledger.next_registration(request, kRegistered, kRead)));
    const auto ticket = *ledger.ticket(request);
    const auto result = *run(*checked->prepared, ticket, vault.impact, vault.label);
    Issued out{result.verdict,
               *seal(*checked->prepared, {ticket, result, kRead, kRead, key(), kRead}, vault.impact,
                     vault.label),
               checked->prepared->plan()};
    EXPECT_TRUE(ledger.append(*ledger.next_closing(
        result.verdict, base::sha256(out.sealed.certificate).hex(), "", kRead)));
    out.ledger = file_of(ledger);
    return out;
}

/// Returns the epoch with the runs before, of which every other one was certified.
inline DeltaLedger ledger_of(const Drawn& drawn) {
    auto ledger = *DeltaLedger::open({});
    EXPECT_TRUE(ledger.append(*ledger.next_epoch(drawn.config.delta_epoch,
                                                 drawn.config.runs_per_epoch, drawn.config.spending,
                                                 "test", kRegistered, {}, drawn.reserve)));
    for (uint32_t run = 0; run < drawn.runs_before; ++run) {
        const DeltaLedger::RunRequest other{fmt::format("other-{}", run), "bootstrap", {}, "rule"};
        EXPECT_TRUE(ledger.append(*ledger.next_registration(other, kRegistered)));
        const auto verdict = run % 2 == 0 ? Verdict::kCertified : Verdict::kNoSolutionFound;
        EXPECT_TRUE(
            ledger.append(*ledger.next_closing(verdict, std::string(64, 'a'), "", kRegistered)));
    }
    return ledger;
}

inline EarlierLook look_before(const Issued& issued) {
    const auto read = read_certificate(issued.sealed.certificate, key().public_key());
    return *earlier_look(*read, issued.sealed.evidence);
}

/// Returns the certificates of all looks.
inline std::vector<Issued> issue(const Drawn& drawn) {
    auto ledger = ledger_of(drawn);
    std::vector<Issued> out;
    const size_t part = drawn.vault.decisions.size() / (1 + drawn.looks);
    for (size_t k = 0; k <= drawn.looks; ++k) {
        std::optional<EarlierLook> earlier;
        if (!out.empty()) earlier = look_before(out.back());
        auto issued = look(drawn, drawn.looks == 0 ? drawn.vault : drawn.matured((k + 1) * part),
                           ledger, earlier ? &*earlier : nullptr);
        if (!issued) break;
        out.push_back(std::move(*issued));
        if (out.back().verdict != Verdict::kNoSolutionFound) break;
    }
    return out;
}

enum class Kind {
    kPlain,
    kFurtherLook,
    kConstrained,
    kFixedRange,
    kConstrainedFixedRange,
    kReferred
};

inline Kind kind_of(const RunPlan& plan) {
    const bool fixed = plan.config.records_per_person > 0;
    if (plan.look > 0) return Kind::kFurtherLook;
    if (plan.config.referrals) return Kind::kReferred;
    if (plan.config.named_constraints.empty()) return fixed ? Kind::kFixedRange : Kind::kPlain;
    return fixed ? Kind::kConstrainedFixedRange : Kind::kConstrained;
}

/// Returns the certificates before one of the kind, and this one, with the verdict CERTIFIED, at
/// the end.
inline std::vector<Issued> certified_one(Kind kind) {
    for (uint64_t seed = 0;; ++seed) {
        auto issued = issue(Drawn(seed));
        const RunPlan& plan = issued.back().plan;
        if (issued.back().verdict != Verdict::kCertified || kind_of(plan) != kind) continue;
        const bool every_member = plan.config.named_constraints.empty() &&
                                  plan.groups[0].by_rule > 0 && plan.groups[0].unanswered > 0;
        if (kind != Kind::kReferred || every_member) return issued;
    }
}

}  // namespace rampart::random_certificates
