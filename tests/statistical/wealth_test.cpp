// The guarantee itself: E[wealth] <= 1 at the null, measured in 10^5 small worlds. An error of a
// tenth of a percent of validity is seen here, where a rate of false certificates would need years.
#include <functional>

#include "applicants.hpp"
#include "monte_carlo.hpp"

namespace rampart::test {
namespace {

using certification::ControlVariateKind;
using certification::GateConfig;

/// The real gate's log wealth, and what it planned.
struct RealRun {
    certification::GroupPlan plan;
    double log_wealth = 0;
    certification::Verdict verdict{};
    double delta = 0;
};

ope::LoggedFeedback feedback_of(const Columns& c, const std::string& prefix) {
    ope::LoggedFeedback f;
    for (size_t i = 0; i < c.size(); ++i) {
        add(f,
            {.p = c.p[i],
             .candidate = c.candidate[i],
             .reference = c.reference[i],
             .approved = c.approved[i] != 0,
             .impact = c.impact[i],
             .missing = std::isnan(c.impact[i]),
             .person = i},
            prefix);
    }
    return f;
}

RealRun real_run(const GateConfig& config, const Columns& development, const Columns& vault) {
    certification::DeltaLedger ledger = ledger_for(config);
    const auto selection = feedback_of(development, "c"), tested = feedback_of(vault, "v");
    auto identity = lender_identity();
    identity.acknowledged_alarm = "odd records are not drawn as they say";
    const auto checked = certification::precheck(
        {config, identity, ledger, kPseudonymKey, selection}, tested.decisions);
    if (!checked || !checked->prepared) throw std::runtime_error("the gate refuses the world");
    const auto request = checked->prepared->request();
    EXPECT_TRUE(ledger.append(*ledger.next_registration(request, base::TimePoint())));
    const auto ticket = ledger.ticket(request);
    const auto sealed = certification::run(*checked->prepared, *ticket, tested.impact);
    return {checked->prepared->plan().groups[0], sealed->groups[0].bound.log_wealth,
            sealed->verdict, ticket->registration().delta};
}

/// A world of random shape: policies, propensities of an earlier logger, outcomes that are missing.
Columns random_columns(base::Random& random, size_t n, double kappa, bool approvals_only) {
    Columns c;
    c.resize(n);
    const double repaid = random.uniform(0.5, 0.8), missing = random.uniform(0, 0.1);
    const double skill = random.uniform(0, 0.5), rarest = random.uniform(0.05, 0.4);
    const double reach = random.bernoulli(0.3) ? 0.05 : 1;  // how far a candidate goes
    for (size_t i = 0; i < n; ++i) {
        c.p[i] = random.uniform(rarest, 1 - rarest);
        c.reference[i] = random.uniform(0.1, approvals_only ? 0.3 : 0.9);
        const double s = c.reference[i], room = approvals_only ? s : std::min(s, 1 - s);
        const double step = random.uniform(-1, 1) * reach * kappa * room;
        c.candidate[i] = random.bernoulli(0.1) ? s : std::clamp(s + step, 0.0, 1.0);
        c.approved[i] = random.bernoulli(c.p[i]) ? 1 : 0;
        const bool good = random.bernoulli(repaid + (c.candidate[i] > s ? skill : -skill));
        c.impact[i] = good ? random.uniform(0, 75) : random.uniform(-150, 0);
        if (random.bernoulli(missing)) c.impact[i] = std::numeric_limits<double>::quiet_NaN();
    }
    return c;
}

/// Makes a few records so rare that the development set has none like them.
void add_odd_records(base::Random& random, Columns& c) {
    for (size_t i = 0; i < 10; ++i) {
        const size_t at = random.below(c.size());
        c.p[at] = random.bernoulli(0.3) ? 0 : random.uniform(0.001, 0.02);
        c.approved[at] = random.bernoulli(0.3) && c.p[at] > 0 ? 1 : 0;
    }
}

GateConfig random_config(base::Random& random, bool approvals_only) {
    GateConfig config = lender_config();
    config.max_missing_rate = 1;
    config.delta_epoch = random.uniform(0.01, 0.5);
    config.runs_per_epoch = static_cast<unsigned>(1 + random.below(30));
    config.spending = random.bernoulli(0.5) ? certification::Spending::kByHistory
                                            : certification::Spending::kEqual;
    config.margin = random.bernoulli(0.5) ? 0 : random.uniform(-3, 3);
    config.records_per_person = random.bernoulli(0.7) ? 1 : 0;
    if (config.records_per_person == 0) config.max_calibration_z = 100;
    config.bet_cap = random.uniform(0.3, 0.99);
    config.declined_impact = random.bernoulli(0.5) ? 0 : random.uniform(-20, 20);
    constexpr std::array kKinds{ControlVariateKind::kPerAction, ControlVariateKind::kSingle,
                                ControlVariateKind::kNone};
    config.control_variates = kKinds[random.below(kKinds.size())];
    if (approvals_only) {
        config.trust_region = certification::TrustRegion::kApprovals;
        config.kappa = 2;
    }
    return config;
}

TEST(Wealth, OfTheVectorisedGateIsThatOfTheRealOne) {
    int certified = 0, unlike = 0;
    for (uint64_t world = 0; world < 100; ++world) {
        SCOPED_TRACE(world);
        base::Random random(base::mix64(70 + world));
        const bool approvals_only = random.bernoulli(0.3);
        const GateConfig config = random_config(random, approvals_only);
        const size_t n = 60 + random.below(3000);
        const Columns development = random_columns(random, 400, config.kappa, approvals_only);
        Columns vault = random_columns(random, n, config.kappa, approvals_only);
        if (config.records_per_person > 0) add_odd_records(random, vault);
        const RealRun real = real_run(config, development, vault);
        const VectorGate gate(config);
        const VectorPlan plan = gate.plan(development, vault, real.delta);
        EXPECT_NEAR(plan.q, real.plan.q_approve, 1e-9 * 150);
        EXPECT_NEAR(plan.lo, real.plan.lo, 1e-9 * std::abs(real.plan.lo));
        for (size_t k = 0; k < plan.bets.size(); ++k)
            EXPECT_NEAR(plan.bets[k], real.plan.bets.bets[k], 1e-9 * plan.bets[k]);
        const double log_wealth = std::log(wealth_of(plan, gate.values(vault, plan)));
        EXPECT_NEAR(log_wealth, real.log_wealth, 1e-9 * std::max(1.0, std::abs(log_wealth)));
        const bool passes = log_wealth >= -std::log(real.delta);
        EXPECT_EQ(passes, real.verdict == certification::Verdict::kCertified);
        certified += passes;
        unlike += plan.bets[1] > 1.1 * plan.bets[0];
    }
    EXPECT_GT(certified, 5);
    EXPECT_GT(unlike, 20) << "capped bets are all alike";
}

/// Mean of a wealth over many worlds, with its standard error.
struct Mean {
    double mean = 0, error = 0;
};

Mean mean_of(const std::string& name, int worlds, uint64_t seed,
             const std::function<double(base::Random&)>& wealth) {
    double sum = 0, squares = 0;
    for (int w = 0; w < worlds; ++w) {
        base::Random random(base::mix64(seed) + static_cast<uint64_t>(w));
        const double x = wealth(random);
        sum += x;
        squares += x * x;
    }
    Mean out{sum / worlds, 0};
    out.error = std::sqrt((squares / worlds - out.mean * out.mean) / (worlds - 1));
    std::printf("    %-60s %.4f ± %.4f  (%d worlds)\n", name.c_str(), out.mean, out.error, worlds);
    return out;
}

void expect_valid(const Mean& mean) { EXPECT_LE(mean.mean, 1 + 4 * mean.error); }
void expect_exact(const Mean& mean) { EXPECT_NEAR(mean.mean, 1, 4 * mean.error); }
void expect_invalid(const Mean& mean) { EXPECT_GT(mean.mean, 1 + 4 * mean.error); }

constexpr int kWorlds = 100'000, kWrongWorlds = 20'000;
constexpr size_t kRecords = 60, kPlanRecords = 200;
constexpr double kDelta = 0.5;

/// Settings with small bets: wealth that is rarely very large has a mean that is measured well.
GateConfig small_bets() {
    GateConfig config = lender_config();
    config.bet_cap = 0.4;
    return config;
}

/// The settings under which the candidate's true effect on the vault is exactly at the boundary.
GateConfig at_the_boundary(const Applicants& vault) {
    GateConfig config = small_bets();
    config.margin = -vault.effect();
    return config;
}

/// The wealth of the right gate, or that of `values` in its place, at the boundary.
template <class Change>
double boundary_wealth(base::Random& random, double skill, const Change& change) {
    const Applicants development(random, kPlanRecords, skill), vault(random, kRecords, skill);
    const VectorGate gate(at_the_boundary(vault));
    const VectorPlan plan = gate.plan(development.columns, vault.columns, kDelta);
    return change(random, gate, plan, vault);
}

TEST(Wealth, IsOneOnAverageWhereTheEffectOnEachPersonIsZero) {
    for (const double delta : {0.5, 0.1}) {
        const auto wealth = [&](base::Random& random) {
            const auto draw = [&](size_t n) {
                Applicants all(random, n, 0);
                for (double& impact : all.columns.impact)
                    impact = random.bernoulli(2.0 / 3) ? 75 : -150;
                return all.columns;
            };
            const Columns development = draw(kPlanRecords), vault = draw(kRecords);
            const VectorGate gate(small_bets());
            const VectorPlan plan = gate.plan(development, vault, delta);
            return wealth_of(plan, gate.values(vault, plan));
        };
        expect_exact(
            mean_of(fmt::format("no effect on anyone, delta {}", delta), kWorlds, 81, wealth));
    }
}

TEST(Wealth, IsAtMostOneOnAverageExactlyAtTheBoundary) {
    for (const double skill : {0.0, 0.5, 1.0}) {
        const auto mean = mean_of(
            fmt::format("at the boundary, skill {}", skill), kWorlds, 82,
            [&](base::Random& random) {
                return boundary_wealth(random, skill,
                                       [](base::Random&, const VectorGate& gate,
                                          const VectorPlan& plan, const Applicants& vault) {
                                           return wealth_of(plan, gate.values(vault.columns, plan));
                                       });
            });
        expect_valid(mean);
        EXPECT_GT(mean.mean, 0.9) << "a wealth that only falls would prove nothing";
    }
}

TEST(Wealth, IsAtMostOneForThePopulationWhereTheRangeIsFixedBeforehand) {
    const auto wealth = [](base::Random& random) {
        const Applicants development(random, kPlanRecords, 1), vault(random, kRecords, 1);
        GateConfig config = small_bets();
        config.records_per_person = 1;
        // P(approve) is moved by 0.5 * 0.45 on average, by which each gains 30
        config.margin = -0.225 * 30;
        const VectorGate gate(config);
        const VectorPlan plan = gate.plan(development.columns, vault.columns, kDelta);
        return wealth_of(plan, gate.values(vault.columns, plan));
    };
    const auto mean = mean_of("the population at the boundary", kWorlds, 88, wealth);
    expect_valid(mean);
    EXPECT_GT(mean.mean, 0.9);
}

TEST(Wealth, OfWeightsByAnotherPropensityIsTooLarge) {
    // the candidate approves all more often: the earlier policy chose the good ones, today's none
    const auto wealth = [](base::Random& random, bool own) {
        Applicants development(random, kPlanRecords, 0), vault(random, kRecords, 0);
        for (size_t i = 0; i < kPlanRecords; ++i) move(development.columns, i, 1);
        for (size_t i = 0; i < kRecords; ++i) move(vault.columns, i, 1);
        const VectorGate gate(at_the_boundary(vault));
        if (!own) {
            development.columns.p = development.columns.reference;
            vault.columns.p = vault.columns.reference;
        }
        const VectorPlan plan = gate.plan(development.columns, vault.columns, kDelta);
        return wealth_of(plan, gate.values(vault.columns, plan));
    };
    expect_valid(mean_of("each record's own propensity", kWorlds, 83,
                         [&](base::Random& random) { return wealth(random, true); }));
    expect_invalid(mean_of("WRONG: propensities of today's policy", kWrongWorlds, 83,
                           [&](base::Random& random) { return wealth(random, false); }));
}

TEST(Wealth, OfARunningMaximumIsTooLarge) {
    const auto wealth = [](base::Random& random) {
        return boundary_wealth(random, 0,
                               [](base::Random&, const VectorGate& gate, const VectorPlan& plan,
                                  const Applicants& vault) {
                                   Wealth now(plan);
                                   double largest = 1;
                                   for (const double z : gate.values(vault.columns, plan)) {
                                       now.add(z);
                                       largest = std::max(largest, now.now());
                                   }
                                   return largest;
                               });
    };
    expect_invalid(mean_of("WRONG: running maximum", kWrongWorlds, 84, wealth));
}

TEST(Wealth, OfBetsFittedToTheVaultIsTooLarge) {
    const auto wealth = [](base::Random& random) {
        return boundary_wealth(random, 0,
                               [](base::Random&, const VectorGate& gate, const VectorPlan& plan,
                                  const Applicants& vault) {
                                   const auto values = gate.values(vault.columns, plan);
                                   double best = 0;
                                   for (const double factor : {0.25, 0.5, 1.0, 2.0}) {
                                       VectorPlan fitted = plan;
                                       for (double& bet : fitted.bets)
                                           bet = std::min(bet * factor, 0.95 / -plan.lo);
                                       best = std::max(best, wealth_of(fitted, values));
                                   }
                                   return best;
                               });
    };
    expect_invalid(mean_of("WRONG: bets fitted to the vault", kWrongWorlds, 85, wealth));
}

/// Persons whose loan went wrong are found less often. The candidate approves all more often.
double wealth_with_silent_losers(base::Random& random, bool drop) {
    GateConfig config = small_bets();
    const auto draw = [&](size_t n, double& effect) {
        Columns c;
        for (size_t i = 0; i < n; ++i) {
            Columns one;
            one.resize(1);
            one.p[0] = one.reference[0] = random.uniform(0.4, 0.6);
            move(one, 0, 1);
            one.approved[0] = random.bernoulli(one.p[0]) ? 1 : 0;
            const bool repaid = random.bernoulli(0.6);
            effect += (one.candidate[0] - one.reference[0]) * (0.6 * 75 - 0.4 * 150) /
                      static_cast<double>(n);
            const bool missing = one.approved[0] != 0 && !repaid && random.bernoulli(0.4);
            one.impact[0] = missing ? std::numeric_limits<double>::quiet_NaN() : repaid ? 75 : -150;
            if (missing && drop) continue;
            const size_t at = c.size();
            c.resize(at + 1);
            c.p[at] = one.p[0], c.candidate[at] = one.candidate[0];
            c.reference[at] = one.reference[0], c.impact[at] = one.impact[0];
            c.approved[at] = one.approved[0];
        }
        return c;
    };
    double effect = 0, other = 0;
    const Columns vault = draw(kRecords, effect), development = draw(kPlanRecords, other);
    config.margin = -effect;
    const VectorGate gate(config);
    const VectorPlan plan = gate.plan(development, vault, kDelta);
    return wealth_of(plan, gate.values(vault, plan));
}

TEST(Wealth, OfSurvivorsOnlyIsTooLarge) {
    expect_valid(mean_of("missing outcomes at their worst", kWorlds, 86, [](base::Random& random) {
        return wealth_with_silent_losers(random, false);
    }));
    expect_invalid(mean_of("WRONG: survivors only", kWrongWorlds, 86, [](base::Random& random) {
        return wealth_with_silent_losers(random, true);
    }));
}

/// Use of a person's records.
enum class Repeats {
    kFirst,  // the first one
    kEach,   // WRONG: each by itself, weighted by 1/p
    kMean,   // WRONG: their mean
    kLast,   // WRONG: the last one
};

/// The candidate approves those more often who would apply again: exactly at the boundary.
double wealth_with_repeats(base::Random& random, bool same_dice, Repeats use) {
    constexpr Kinds kKinds{.good = 65, .bad = 25, .tilt = 0};
    const Applicants development(random, kPlanRecords, 1, kKinds),
        vault(random, kRecords, 1, kKinds);
    const VectorGate gate(at_the_boundary(vault));
    const VectorPlan plan = gate.plan(development.columns, vault.columns, kDelta);
    Wealth wealth(plan);
    for (size_t i = 0; i < kRecords; ++i) {
        const auto values = values_of_person(random, vault, i, same_dice, gate, plan.q);
        double sum = 0;
        for (const double z : values) sum += z;
        if (use == Repeats::kFirst) wealth.add(values.front());
        if (use == Repeats::kMean) wealth.add(sum / static_cast<double>(values.size()));
        if (use == Repeats::kLast) wealth.add(values.back());
        for (size_t k = 0; use == Repeats::kEach && k < values.size(); ++k) wealth.add(values[k]);
    }
    return wealth.now();
}

TEST(Wealth, OfRepeatsAfterADeclineIsTooLargeUnlessTheFirstRecordCounts) {
    const auto mean = [](const std::string& name, int worlds, bool same_dice, Repeats use) {
        return mean_of(name, worlds, 87, [=](base::Random& random) {
            return wealth_with_repeats(random, same_dice, use);
        });
    };
    expect_valid(mean("the first record of a person", kWorlds, true, Repeats::kFirst));
    expect_invalid(
        mean("WRONG: the same dice, each record by 1/p", kWrongWorlds, true, Repeats::kEach));
    expect_invalid(
        mean("WRONG: new dice, the mean of a person", kWrongWorlds, false, Repeats::kMean));
    expect_invalid(mean("WRONG: new dice, the last record", kWrongWorlds, false, Repeats::kLast));
}

}  // namespace
}  // namespace rampart::test
