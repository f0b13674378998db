// Mistakes that a gate could make, each beside the right method: the mistake must certify falsely
// more often than delta, otherwise the tests of the right method would prove nothing.
#include "monte_carlo.hpp"
#include "rampart/ope/value_bound.hpp"

namespace rampart::test {
namespace {

using certification::GateConfig;
using certification::Verdict;

constexpr double kDelta = 0.1;
constexpr int kRepetitions = 600;

ope::LoggedFeedback one_group(base::Random& random, size_t records, const std::string& prefix) {
    ope::LoggedFeedback f = simulate({.records = records, .prefix = prefix}, random);
    f.decisions.groups = {{"everybody", {}}};
    for (uint32_t i = 0; i < records; ++i) f.decisions.groups[0].records.push_back(i);
    return f;
}

/// A candidate that guesses: half up, half down, so that its true gain is 0.
void guess(ope::LoggedFeedback& f, uint64_t seed) {
    base::Random random(seed);
    for (size_t i = 0; i < f.decisions.size(); ++i) {
        const double s = f.decisions.reference[i], step = 0.5 * std::min(s, 1 - s);
        f.decisions.candidate[i] = random.bernoulli(0.5) ? s + step : s - step;
    }
}

double estimated_gain(const ope::LoggedFeedback& f) {
    const ope::ImpactModel model{
        .lo = -150, .hi = 75, .q_approve = 0, .q_decline = 0, .declined = 0.0};
    const auto& records = f.decisions.groups[0].records;
    const auto units = ope::map_units(f.decisions, records);
    return stats::moments(ope::unit_values(f.decisions, records, units, f.impact, model, 0)).mean;
}

/// The best of twenty guessers on `selection`.
uint64_t choose(ope::LoggedFeedback& selection, base::Random& random) {
    uint64_t best = 0;
    double best_gain = -1e300;
    for (int k = 0; k < 20; ++k) {
        const uint64_t seed = random.next();
        guess(selection, seed);
        const double gain = estimated_gain(selection);
        if (gain > best_gain) best_gain = gain, best = seed;
    }
    guess(selection, best);
    return best;
}

TEST(WrongGate, ChoosingOnTheRecordsThatTestCertifiesNoise) {
    GateConfig config = lender_config();
    config.bound = stats::BoundMethod::
        kStudentT;  // the mistake misleads any bound; this one uses all of delta
    const double right = rate_of("chosen on the development set, tested on the vault", kRepetitions,
                                 11, [&](base::Random& random) {
                                     auto selection = one_group(random, 300, "c"),
                                          vault = one_group(random, 300, "v");
                                     guess(vault, choose(selection, random));
                                     return certified(config, selection, vault);
                                 });
    const double wrong =
        rate_of("WRONG: chosen on the vault as well", kRepetitions, 11, [&](base::Random& random) {
            auto selection = one_group(random, 300, "c"), vault = one_group(random, 300, "v");
            guess(selection, choose(vault, random));
            return certified(config, selection, vault);
        });
    EXPECT_LE(right, at_most(kDelta, kRepetitions));
    EXPECT_GT(wrong, 0.5);
}

/// Half of the people are rarely approved, and lose by it; the candidate approves them five times
/// as often, and the others, who gain by it, not quite twice as often. On average it harms a
/// little.
ope::LoggedFeedback rarely_approved(base::Random& random, const std::string& prefix) {
    ope::LoggedFeedback f;
    for (size_t i = 0; i < 800; ++i) {
        const bool rare = i % 2 == 0;
        Draft draft{.p = rare ? 0.1 : 0.5,
                    .candidate = rare ? 0.5 : 0.9,
                    .reference = rare ? 0.1 : 0.5,
                    .person = i};
        draft.approved = random.bernoulli(draft.p);
        draft.impact = (rare ? -1 : 0.97) + random.uniform(-1, 1);
        add(f, draft, prefix);
    }
    return f;
}

TEST(WrongGate, CuttingWeightsWithoutPayingForItCertifiesHarm) {
    GateConfig config = lender_config();
    config.impact_lo = -3, config.impact_hi = 3;
    config.trust_region = certification::TrustRegion::kApprovals;
    config.kappa = 10;
    for (const double weight : {0.0, 2.0, 4.9}) {
        if (weight > 0) config.max_weight = weight;
        const double right = rate_of(
            fmt::format("weights up to {}", weight), kRepetitions, 16, [&](base::Random& random) {
                const auto selection = rarely_approved(random, "c");
                return certified(config, selection, rarely_approved(random, "v"));
            });
        EXPECT_LE(right, at_most(kDelta, kRepetitions));
    }
    const double wrong =
        rate_of("WRONG: (min(w, 2) - 1) I", kRepetitions, 16, [&](base::Random& random) {
            const auto f = rarely_approved(random, "v");
            std::vector<double> values;
            for (size_t i = 0; i < f.impact.size(); ++i) {
                const auto& d = f.decisions;
                const double w = d.candidate[i] / d.p_approve[i];
                values.push_back(d.approved[i] != 0 ? (std::min(w, 2.0) - 1) * f.impact[i] : 0);
            }
            return stats::t_lower_bound(stats::moments(values), kDelta) > 0;
        });
    EXPECT_GT(wrong, 0.9);
}

/// Losers report with probability 0.6. Approvals harm a little on average, and the candidate
/// approves more.
ope::LoggedFeedback silent_losers(base::Random& random, const std::string& prefix, bool drop) {
    ope::LoggedFeedback f;
    for (size_t i = 0; i < 600; ++i) {
        Draft draft{.p = 0.5, .candidate = 0.75, .reference = 0.5, .person = i};
        draft.approved = random.bernoulli(draft.p);
        const bool repaid = random.bernoulli(0.66);
        draft.impact = repaid ? 75 : -150;
        draft.missing = draft.approved && !repaid && random.bernoulli(0.4);
        if (drop && draft.missing) continue;
        add(f, draft, prefix);
    }
    return f;
}

TEST(WrongGate, DroppingRecordsWithoutOutcomeCertifiesHarm) {
    GateConfig config = lender_config();
    config.max_missing_rate = 1;
    config.max_calibration_z =
        100;  // dropping approvals also breaks the calibration test: switch it off
    const auto rate = [&](const std::string& name, bool drop) {
        return rate_of(name, kRepetitions, 12, [&](base::Random& random) {
            const auto selection = silent_losers(random, "c", drop);
            return certified(config, selection, silent_losers(random, "v", drop));
        });
    };
    EXPECT_LE(rate("missing outcomes at their worst", false), at_most(kDelta, kRepetitions));
    EXPECT_GT(rate("WRONG: missing outcomes dropped", true), 0.3);
}

/// Good and bad applicants, half each; an earlier policy approved the good ones more often than the
/// current reference. The candidate approves all more often: no gain on average.
ope::LoggedFeedback earlier_logger(base::Random& random, const std::string& prefix, bool own) {
    ope::LoggedFeedback f;
    for (size_t i = 0; i < 400; ++i) {
        const bool good = random.bernoulli(0.5);
        const double earlier = good ? 0.8 : 0.3;
        Draft draft{.p = own ? earlier : 0.5, .candidate = 0.7, .reference = 0.5, .person = i};
        draft.approved = random.bernoulli(earlier);
        draft.impact = random.bernoulli(good ? 2.0 / 3 + 0.25 : 2.0 / 3 - 0.25) ? 75 : -150;
        add(f, draft, prefix);
    }
    return f;
}

TEST(WrongGate, DenominatorsOfTodaysPolicyInsteadOfTheLoggersCertifyNoGain) {
    GateConfig config = lender_config();
    config.max_calibration_z = 100;
    const auto rate = [&](const std::string& name, bool own) {
        return rate_of(name, kRepetitions, 13, [&](base::Random& random) {
            const auto selection = earlier_logger(random, "c", own);
            return certified(config, selection, earlier_logger(random, "v", own));
        });
    };
    EXPECT_LE(rate("each record's own logged propensity", true), at_most(kDelta, kRepetitions));
    EXPECT_GT(rate("WRONG: propensities of today's policy", false), 0.3);
}

TEST(WrongGate, PropensitiesThatAreNotTheLoggersAreCaughtByCalibration) {
    // the earlier propensity was 0.7 for all, the log says 0.5
    base::Random random(14);
    ope::LoggedFeedback f;
    for (size_t i = 0; i < 400; ++i) {
        Draft draft{.p = 0.5, .candidate = 0.7, .reference = 0.5, .person = i};
        draft.approved = random.bernoulli(0.7);
        draft.impact = 75;
        add(f, draft, "v");
    }
    const auto selection = earlier_logger(random, "c", true);
    EXPECT_EQ(gate_verdict(lender_config(), selection, f), Verdict::kRefused);
}

/// Ten applications per person, with one and the same outcome. Approvals bring 0 on average.
ope::LoggedFeedback sticky(base::Random& random, const std::string& prefix, bool independent) {
    ope::LoggedFeedback f;
    for (size_t person = 0; person < 100; ++person) {
        const double impact = random.bernoulli(0.5) ? 75 : -75;
        for (size_t k = 0; k < 10; ++k) {
            Draft draft{.p = 0.7, .candidate = 0.8, .reference = 0.7};
            draft.approved = random.bernoulli(draft.p);
            draft.impact = impact;
            draft.person = independent ? 10 * person + k : person;
            add(f, draft, prefix);
        }
    }
    return f;
}

TEST(WrongGate, RecordsOfOnePersonTakenForIndependentCertifyTooMuch) {
    GateConfig config = lender_config();
    config.impact_lo = -75;
    const auto rate = [&](const std::string& name, bool independent) {
        return rate_of(name, kRepetitions, 15, [&](base::Random& random) {
            const auto selection = sticky(random, "c", independent);
            return certified(config, selection, sticky(random, "v", independent));
        });
    };
    EXPECT_LE(rate("one sum a person", false), at_most(kDelta, kRepetitions));
    EXPECT_GT(rate("WRONG: records taken for independent", true), at_most(kDelta, kRepetitions));
}

}  // namespace
}  // namespace rampart::test
