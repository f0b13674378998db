// How far what a certificate rests on may be wrong, against runs of the changed data.
#include <algorithm>
#include <cmath>

#include "sealed_case.hpp"

namespace rampart::certification {
namespace {

/// Returns each person's value in a group of the case, with each record's value by `of`.
template <class Of>
std::vector<double> values_of(const SealedCase& c, size_t group, const Of& of) {
    std::vector<double> out;
    std::optional<Pseudonym> unit;
    const MemoryVault vault = c.feedback();
    for (const VaultRecord& r : vault.records()) {
        if ((r.groups >> group & 1) == 0) continue;
        if (unit != r.unit) out.push_back(0);
        unit = r.unit;
        out.back() += of(r, c.plan.groups[group]);
    }
    return out;
}

bool passes(const SealedCase& c, size_t group, const std::vector<double>& values) {
    const GroupPlan& plan = c.plan.groups[group];
    const double lo = std::min(plan.lo, *std::min_element(values.begin(), values.end()));
    return stats::log_wealth(values, lo, plan.bets, 0) >= -std::log(c.plan.delta);
}

/// Z by the formula for a known decline, with p the probability of an approval.
double z_of(const SealedCase& c, const VaultRecord& r, const GroupPlan& plan, double p,
            double declined) {
    const double d = r.candidate - r.reference;
    if (!r.approved) return d * (plan.q_approve - declined);
    const double worst = d > 0 ? c.config.impact_lo : c.config.impact_hi;
    const double impact = r.has_impact ? r.impact : worst;
    return d * ((impact - plan.q_approve) / p + plan.q_approve - declined);
}

bool all_pass_at_decline(const SealedCase& c, double declined) {
    for (size_t g = 0; g < 2; ++g) {
        const auto values = values_of(c, g, [&](const VaultRecord& r, const GroupPlan& plan) {
            return z_of(c, r, plan, r.p, declined);
        });
        if (!passes(c, g, values)) return false;
    }
    return true;
}

/// Each record's probability is the worst in its odds' interval, found by trying many.
bool all_pass_at_odds(const SealedCase& c, double factor) {
    for (size_t g = 0; g < 2; ++g) {
        const auto values = values_of(c, g, [&](const VaultRecord& r, const GroupPlan& plan) {
            double least = INFINITY;
            for (int k = -8; k <= 8; ++k) {
                const double odds = r.p / (1 - r.p) * std::pow(factor, k / 8.0);
                least = std::min(least, z_of(c, r, plan, odds / (1 + odds), 0));
            }
            return least;
        });
        if (!passes(c, g, values)) return false;
    }
    return true;
}

TEST(Sensitivity, TheVerdictStaysWithinTheDeclaredImpactsAndChangesBeyond) {
    for (const double skill : {0.8, 0.3, 0.0}) {
        const SealedCase c(skill, [](SealedCase& x) {
            // candidates that approve more: the impact of a decline matters
            for (auto* f : {&x.selection, &x.vault}) {
                auto& d = f->decisions;
                for (size_t i = 0; i < d.size(); i += 3)
                    d.candidate[i] = d.reference[i] + std::abs(d.candidate[i] - d.reference[i]);
            }
        });
        const Sensitivity s = c.figures().sensitivity;
        const bool now = all_pass_at_decline(c, 0);
        EXPECT_EQ(now, c.result.verdict == Verdict::kCertified);
        ASSERT_TRUE(s.declined_from && s.declined_to);
        const double step = (75.0 + 150) / 150;
        for (double value = -150; value <= 75; value += step) {
            if (value > *s.declined_from && value < *s.declined_to) {
                EXPECT_EQ(all_pass_at_decline(c, value), now) << skill << " at " << value;
            }
        }
        const double width = 225.0 / 8 / 128;
        if (*s.declined_from > -150) {
            EXPECT_NE(all_pass_at_decline(c, *s.declined_from - width), now);
        }
        if (*s.declined_to < 75) {
            EXPECT_NE(all_pass_at_decline(c, *s.declined_to + width), now);
        }
    }
}

TEST(Sensitivity, AllGroupsPassUpToTheOddsFactorAndNotBeyond) {
    const SealedCase c(1.0);
    ASSERT_EQ(c.result.verdict, Verdict::kCertified);
    const double factor = c.figures().sensitivity.odds_factor.value();
    EXPECT_GT(factor, 1.05);
    EXPECT_LT(factor, 9);
    EXPECT_TRUE(all_pass_at_odds(c, factor));
    EXPECT_FALSE(all_pass_at_odds(c, factor * 1.003));
}

TEST(Sensitivity, OfARunThatDidNotPassNothingIsSaidOfOddsAndMissingOutcomes) {
    const SealedCase failed(-1.0);
    ASSERT_EQ(failed.result.verdict, Verdict::kNoSolutionFound);
    const Sensitivity none = failed.figures().sensitivity;
    EXPECT_FALSE(none.odds_factor || none.tipping_gamma);
    EXPECT_TRUE(none.declined_from && none.declined_to);
    EXPECT_LE(*none.declined_from, 0);
    EXPECT_GE(*none.declined_to, 0);
    const Sensitivity passed = SealedCase(1.0).figures().sensitivity;
    EXPECT_EQ(passed.tipping_gamma, 225) << "missing outcomes were counted as the worst";
    const SealedCase cut(1.0, [](SealedCase& x) { x.config.max_weight = 1.8; });
    EXPECT_FALSE(cut.figures().sensitivity.odds_factor);
}

TEST(Sensitivity, OverriddenDrawsAndTheirOwnImpactsOfDeclinesHaveThem) {
    const SealedCase c(1.0, [](SealedCase& x) {
        x.config.declines_overridden = true;
        for (auto* f : {&x.selection, &x.vault}) {
            for (uint32_t i = 0; i < f->decisions.size(); i += 9) {
                f->decisions.overridden.push_back(i);
                f->decisions.has_impact[i] = f->decisions.granted(i);
                f->impact[i] = f->decisions.granted(i) ? 75 : std::nan("");
            }
        }
    });
    const Sensitivity s = c.figures().sensitivity;
    EXPECT_TRUE(s.declined_from && s.declined_to);
    const SealedCase both(1.0, [](SealedCase& x) {
        x.config.declined_impact.reset();
        for (auto* f : {&x.selection, &x.vault}) {
            for (size_t i = 0; i < f->decisions.size(); ++i) {
                if (f->decisions.has_impact[i] != 0 || f->decisions.approved[i] != 0) continue;
                f->decisions.has_impact[i] = 1;
                f->impact[i] = 0;
            }
        }
    });
    EXPECT_FALSE(both.figures().sensitivity.declined_from);
}

}  // namespace
}  // namespace rampart::certification
