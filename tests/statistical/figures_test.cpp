// The figures beside a certificate's verdict, as statistics: intervals of all groups at once,
// ratios of approval rates, and the smallest effect that a run can see.
#include <fmt/format.h>

#include <optional>

#include "monte_carlo.hpp"
#include "rampart/certification/validation_figures.hpp"
#include "rampart/ope/value_bound.hpp"

namespace rampart::test {
namespace {

using certification::ApprovalRate;
using certification::GroupApproval;
using certification::MemoryVault;
using certification::RunPlan;
using certification::ValidationFigures;

constexpr double kDelta = 0.1;
constexpr size_t kGroups = 8;
constexpr auto kNotCertified = certification::Verdict::kNoSolutionFound;

/// Applicants of eight groups of one attribute. A loan brings 75 with 0.9 to the good half, with
/// 0.35 to the others, else -150; the candidate moves P(approve) by half of min(p, 1 - p), in the
/// right direction with probability (1 + skill) / 2.
struct World {
    size_t persons = 1600;
    double skill = 0.4;
    double lost = 0;    // share of the repaid loans to those whom the candidate favours: missing
    double spread = 0;  // P(approve) is lower by that for each group after the first

    /// The change of the mean impact: 0.2 is the mean step, and half are good.
    double effect() const { return skill * 0.2 * (0.5 * 52.5 + 0.5 * 71.25); }
    double reference_rate(size_t g) const { return 0.5 - spread * static_cast<double>(g); }

    ope::LoggedFeedback draw(base::Random& random, const std::string& prefix) const {
        ope::LoggedFeedback f;
        auto& d = f.decisions;
        d.logger_ids = {"logger"};
        for (size_t g = 0; g < kGroups; ++g) d.groups.push_back({fmt::format("land={}", g), {}});
        for (uint32_t i = 0; i < persons; ++i) {
            const size_t g = i % kGroups;
            const double p = reference_rate(g) + random.uniform(-0.2, 0.2);
            const bool good = random.bernoulli(0.5), right = random.bernoulli((1 + skill) / 2);
            const double step = 0.5 * std::min(p, 1 - p);
            const bool approved = random.bernoulli(p), repaid = random.bernoulli(good ? 0.9 : 0.35);
            const bool favoured = good == right;
            const bool known = approved && !(repaid && favoured && random.bernoulli(lost));
            d.record_id.push_back(fmt::format("{}d{}", prefix, i));
            d.unit_id.push_back(fmt::format("{}p{}", prefix, i));
            d.p_approve.push_back(p);
            d.approved.push_back(approved);
            d.has_impact.push_back(known);
            d.candidate.push_back(favoured ? p + step : p - step);
            d.reference.push_back(p);
            d.logger.push_back(0);
            d.groups[g].records.push_back(i);
            f.impact.push_back(known ? (repaid ? 75 : -150) : std::nan(""));
        }
        return f;
    }
};

certification::GateConfig figures_config() {
    certification::GateConfig config = lender_config();
    config.delta_epoch = kDelta;
    config.records_per_person = 1;
    config.max_missing_rate = 0.5;
    config.calibration_level = 1e-9;
    return config;
}

MemoryVault vault_of(const ope::LoggedFeedback& f) {
    return *MemoryVault::from(f.decisions, kPseudonymKey)->with_impacts(f.impact);
}

/// Returns the plan of a run, without the vault's impacts.
RunPlan plan_of(const ope::LoggedFeedback& selection, const ope::LoggedFeedback& vault) {
    const auto config = figures_config();
    const auto ledger = ledger_for(config);
    const auto checked = certification::precheck(
        {config, lender_identity(), ledger, kPseudonymKey, selection}, vault.decisions);
    EXPECT_TRUE(checked && checked->prepared) << checked->result.message;
    return checked->prepared->plan();
}

bool holds(std::optional<double> lower, std::optional<double> upper, double truth) {
    return (!lower || *lower <= truth) && (!upper || *upper >= truth);
}

bool all_effects_hold(const ValidationFigures& figures, double truth) {
    return std::all_of(figures.effects.begin(), figures.effects.end(),
                       [&](const auto& e) { return holds(e.lower, e.upper, truth); });
}

TEST(Figures, IntervalsOfAllGroupsHoldTogether) {
    const World world;
    constexpr int kRepetitions = 200;
    int without_bonferroni = 0;
    const double missed =
        rate_of("an interval of any of 8 groups misses", kRepetitions, 1, [&](auto& random) {
            const auto selection = world.draw(random, "c"), vault = world.draw(random, "v");
            RunPlan plan = plan_of(selection, vault);
            const auto figures = *validation_figures(plan, vault_of(vault), kNotCertified);
            plan.config.delta_epoch = kDelta * 2 * kGroups;  // each end at 0.1
            const auto wrong = *validation_figures(plan, vault_of(vault), kNotCertified);
            EXPECT_EQ(wrong.effect_delta, kDelta);
            without_bonferroni += !all_effects_hold(wrong, world.effect());
            return !all_effects_hold(figures, world.effect());
        });
    std::printf("    without Bonferroni: %d of %d\n", without_bonferroni, kRepetitions);
    EXPECT_LE(missed, at_most(kDelta, kRepetitions));
    EXPECT_GT(without_bonferroni, kRepetitions * at_most(kDelta, kRepetitions))
        << "the wrong variant was to fail";
}

TEST(Figures, MissingOutcomesThatWereGoodDoNotLeaveTheInterval) {
    const World world{.lost = 0.6};
    constexpr int kRepetitions = 60;
    int worst_everywhere = 0;
    const double missed =
        rate_of("an interval misses, good outcomes are lost", kRepetitions, 2, [&](auto& random) {
            const auto selection = world.draw(random, "c");
            auto vault = world.draw(random, "v");
            const RunPlan plan = plan_of(selection, vault);
            const auto figures = *validation_figures(plan, vault_of(vault), kNotCertified);
            auto& d = vault.decisions;
            for (size_t i = 0; i < d.size(); ++i) {
                if (d.approved[i] == 0 || d.has_impact[i] != 0) continue;
                d.has_impact[i] = 1;
                vault.impact[i] = d.candidate[i] > d.reference[i] ? -150 : 75;
            }
            const auto wrong = *validation_figures(plan, vault_of(vault), kNotCertified);
            worst_everywhere += !all_effects_hold(wrong, world.effect());
            return !all_effects_hold(figures, world.effect());
        });
    std::printf("    the worst for the upper end, too: %d of %d\n", worst_everywhere, kRepetitions);
    EXPECT_LE(missed, at_most(kDelta, kRepetitions));
    EXPECT_GT(worst_everywhere, kRepetitions / 2) << "the wrong variant was to fail";
}

/// Returns whether all rates hold; the reference's are known, the candidate's are the same, as it
/// moves as much up as down with skill 0.
bool all_rates_hold(const ValidationFigures& figures, const World& world) {
    for (size_t g = 0; g < kGroups; ++g) {
        const auto& [name, candidate, reference] = figures.approvals[g];
        const double truth = world.reference_rate(g);
        if (!holds(candidate.lower, candidate.upper, truth)) return false;
        if (!holds(reference.lower, reference.upper, truth)) return false;
    }
    return true;
}

size_t group_of(const std::string& name) { return std::stoul(name.substr(name.find('=') + 1)); }

/// Returns whether all ratios hold. `exact`: as if the rate of the highest group were its share in
/// the vault.
bool all_ratios_hold(const ValidationFigures& figures, const World& world, bool exact) {
    for (size_t g = 0; g < kGroups; ++g) {
        for (const auto policy : {&GroupApproval::candidate, &GroupApproval::reference}) {
            const ApprovalRate& rate = figures.approvals[g].*policy;
            const size_t highest = group_of(rate.highest);
            if (highest == g) continue;
            const double truth = world.reference_rate(g) / world.reference_rate(highest);
            const double share = (figures.approvals[highest].*policy).rate;
            if (exact ? !holds(rate.lower / share, rate.upper / share, truth)
                      : !holds(rate.ratio_lower, rate.ratio_upper, truth))
                return false;
        }
    }
    return true;
}

TEST(Figures, AdverseImpactRatiosHoldTogether) {
    const World world{.skill = 0, .spread = 0.02};
    constexpr int kRepetitions = 120;
    int wrong_ratios = 0, ratios = 0;
    const double missed =
        rate_of("a rate of 8 groups, 2 policies misses", kRepetitions, 3, [&](auto& random) {
            const auto selection = world.draw(random, "c"), vault = world.draw(random, "v");
            RunPlan plan = plan_of(selection, vault);
            const auto figures = *validation_figures(plan, vault_of(vault), kNotCertified);
            plan.config.delta_epoch = kDelta * 4 * kGroups;  // each end at 0.1
            const auto wrong = *validation_figures(plan, vault_of(vault), kNotCertified);
            wrong_ratios += !all_ratios_hold(wrong, world, true);
            ratios += !all_ratios_hold(figures, world, false);
            return !all_rates_hold(figures, world);
        });
    std::printf("    ratios %d, each end at 0.1 and to a share %d of %d\n", ratios, wrong_ratios,
                kRepetitions);
    const double limit = at_most(kDelta, kRepetitions);
    EXPECT_LE(missed, limit);
    EXPECT_LE(ratios, kRepetitions * limit);
    EXPECT_GT(wrong_ratios, kRepetitions * limit) << "the wrong variant was to fail";
}

/// Returns the share of vaults in which the first group passes with the plan's bets.
double pass_rate(const RunPlan& plan, const World& world) {
    const auto& group = plan.groups[0];
    const ope::ImpactModel model{.lo = -150,
                                 .hi = 75,
                                 .q_approve = group.q_approve,
                                 .q_decline = group.q_decline,
                                 .declined = 0.0};
    return rate_of(
        fmt::format("passes at an effect of {:.2f}", world.effect()), 400, 5,
        [&](base::Random& random) {
            const auto vault = world.draw(random, "v");
            const auto& records = vault.decisions.groups[0].records;
            const auto values =
                ope::unit_values(vault.decisions, records, ope::map_units(vault.decisions, records),
                                 vault.impact, model, 0);
            return stats::log_wealth(values, group.lo, group.bets, 0) >= -std::log(plan.delta);
        });
}

TEST(Figures, AtTheSmallestEffectFourOfFiveRunsPass) {
    World world{.persons = 6400};
    base::Random random(4);
    const auto selection = world.draw(random, "c"), vault = world.draw(random, "v");
    const RunPlan plan = plan_of(selection, vault);
    const double smallest =
        validation_figures(plan, vault_of(vault), kNotCertified)->effects[0].smallest_seen.value();
    world.skill *= smallest / world.effect();
    EXPECT_NEAR(pass_rate(plan, world), 0.8, 0.08);
    world.skill *= 0.7;
    EXPECT_LT(pass_rate(plan, world), 0.6) << "the wrong variant was to fail";
}

}  // namespace
}  // namespace rampart::test
