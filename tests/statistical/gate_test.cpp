// The guarantees of the gate, by seeded simulation of populations with known truth.
#include "monte_carlo.hpp"

namespace rampart::test {
namespace {

using certification::GateConfig;
using certification::Verdict;
using stats::BoundMethod;

constexpr double kDelta = 0.1;

/// The population with both groups merged, so that no intersection makes the test easier.
struct World {
    ope::LoggedFeedback selection, vault;
    World(base::Random& random, size_t records, double skill) {
        selection = simulate({.records = 600, .skill = skill, .prefix = "c"}, random);
        vault = simulate({.records = records, .skill = skill}, random);
        for (ope::LoggedFeedback* f : {&selection, &vault}) {
            f->decisions.groups = {{"everybody", {}}};
            for (uint32_t i = 0; i < f->decisions.size(); ++i) {
                f->decisions.groups[0].records.push_back(i);
            }
        }
    }
};

TEST(Gate, AtTheBoundaryFalseCertificatesStayWithinDelta) {
    constexpr int kRepetitions = 2000;
    for (const BoundMethod bound : {BoundMethod::kBetting, BoundMethod::kStudentT}) {
        GateConfig config = lender_config();
        config.bound = bound;
        const double rate = rate_of(fmt::format("boundary, {}", to_string(bound)), kRepetitions, 1,
                                    [&](base::Random& random) {
                                        const World w(random, 400, 0);
                                        return certified(config, w.selection, w.vault);
                                    });
        EXPECT_LE(rate, at_most(kDelta, kRepetitions));
        EXPECT_GT(rate, 0.005) << "a gate that never opens would prove nothing";
    }
}

TEST(Gate, HeldAgainstAConstantItIsCertifiedFalselyAtMostAsOften) {
    constexpr int kRepetitions = 1000;
    GateConfig config = lender_config();
    // P(approve) averages 0.5 for any candidate without skill: half of the impact of an approval
    config.at_least = 0.5 * (0.625 * 75 - 0.375 * 150);
    for (const bool cut : {false, true}) {
        if (cut) config.max_weight = 1.2;
        const double rate = rate_of(cut ? "a constant, weights cut" : "a constant", kRepetitions,
                                    17, [&](base::Random& random) {
                                        const World w(random, 400, 0);
                                        return certified(config, w.selection, w.vault);
                                    });
        EXPECT_LE(rate, at_most(kDelta, kRepetitions));
    }
}

TEST(Gate, AClearGainIsCertifiedAndMoreRecordsCertifyMoreOften) {
    const GateConfig config = lender_config();
    double last = 0;
    for (const size_t records : {200, 400, 1600}) {
        const double rate = rate_of(fmt::format("power, skill 0.5, {} records", records), 250, 2,
                                    [&](base::Random& random) {
                                        const World w(random, records, 0.5);
                                        return certified(config, w.selection, w.vault);
                                    });
        EXPECT_GT(rate, last);
        last = rate;
    }
    EXPECT_GT(last, 0.95);
}

/// An approval brings +1, and a loss of 100 with probability 0.0105: on average it harms a little.
/// The candidate approves more.
ope::LoggedFeedback rare_harm(base::Random& random, size_t records, const std::string& prefix) {
    ope::LoggedFeedback f;
    for (size_t i = 0; i < records; ++i) {
        Draft draft{.p = 0.5, .candidate = 0.75, .reference = 0.5, .person = i};
        draft.approved = random.bernoulli(draft.p);
        draft.impact = random.bernoulli(0.0105) ? -100 : 1;
        add(f, draft, prefix);
    }
    return f;
}

TEST(Gate, RareSevereHarmFoolsTheTBoundAndNotTheBettingBound) {
    constexpr int kRepetitions = 2000;
    GateConfig config = lender_config();
    config.impact_lo = -100;
    config.impact_hi = 1;
    const auto rate = [&](BoundMethod bound) {
        config.bound = bound;
        return rate_of(fmt::format("rare severe harm, {}", to_string(bound)), kRepetitions, 3,
                       [&](base::Random& random) {
                           const auto selection = rare_harm(random, 1000, "c");
                           return certified(config, selection, rare_harm(random, 150, "v"));
                       });
    };
    EXPECT_LE(rate(BoundMethod::kBetting), at_most(kDelta, kRepetitions));
    EXPECT_GT(rate(BoundMethod::kStudentT), 0.25);
}

TEST(Gate, AnEpochOfRunsOnOneVaultStaysWithinItsBudget) {
    constexpr int kRepetitions = 200;
    GateConfig config = lender_config();
    config.runs_per_epoch = 12;
    const double rate = rate_of(
        "any false certificate in 12 runs on one vault", kRepetitions, 4,
        [&](base::Random& random) {
            World w(random, 300, 0);
            certification::DeltaLedger ledger = ledger_for(config);
            bool any = false;
            for (unsigned k = 0; k < config.runs_per_epoch; ++k) {
                for (ope::LoggedFeedback* f : {&w.selection, &w.vault}) {
                    for (size_t i = 0; i < f->decisions.size(); ++i) {
                        const double s = f->decisions.reference[i], step = 0.5 * std::min(s, 1 - s);
                        f->decisions.candidate[i] = random.bernoulli(0.5) ? s + step : s - step;
                    }
                }
                const auto checked = certification::precheck(
                    {config, lender_identity(), ledger, kPseudonymKey, w.selection},
                    w.vault.decisions);
                if (!checked->prepared) continue;
                const auto request = checked->prepared->request();
                EXPECT_TRUE(ledger.append(*ledger.next_registration(request, base::TimePoint())));
                const auto result = *certification::run(*checked->prepared, *ledger.ticket(request),
                                                        w.vault.impact);
                any = any || result.verdict == Verdict::kCertified;
                EXPECT_TRUE(
                    ledger.append(*ledger.next_closing(result.verdict, "", "", base::TimePoint())));
            }
            EXPECT_EQ(ledger.runs_left(), 0u);
            return any;
        });
    EXPECT_LE(rate, at_most(kDelta, kRepetitions));
}

/// People who lose money report less often. The candidate approves more, and an approval harms a
/// little on average.
ope::LoggedFeedback silent_losers(base::Random& random, size_t records, const std::string& prefix) {
    ope::LoggedFeedback f;
    for (size_t i = 0; i < records; ++i) {
        Draft draft{.p = 0.5, .candidate = 0.75, .reference = 0.5, .person = i};
        draft.approved = random.bernoulli(draft.p);
        const bool repaid = random.bernoulli(0.66);
        draft.impact = repaid ? 75 : -150;
        draft.missing = !repaid && random.bernoulli(0.4);
        add(f, draft, prefix);
    }
    return f;
}

TEST(Gate, OutcomesThatGoMissingBecauseTheyAreBadDoNotFoolIt) {
    constexpr int kRepetitions = 500;
    GateConfig config = lender_config();
    config.max_missing_rate = 1;  // admit them, to see the effect of the worst case
    const double rate =
        rate_of("missing because bad, worst case", kRepetitions, 5, [&](base::Random& random) {
            const auto selection = silent_losers(random, 1000, "c");
            return certified(config, selection, silent_losers(random, 1000, "v"));
        });
    EXPECT_LE(rate, at_most(kDelta, kRepetitions));
    config.max_missing_rate = 0.02;
    base::Random random(6);
    const auto selection = silent_losers(random, 1000, "c");
    EXPECT_EQ(gate_verdict(config, selection, silent_losers(random, 1000, "v")), Verdict::kRefused)
        << "by default it does not even run";
}

}  // namespace
}  // namespace rampart::test
