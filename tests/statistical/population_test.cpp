// A claim about the population that the vault was drawn from: rare and severe harm, which most
// vaults do not contain, must not be certified away. The wrong variant, whose ranges are those of
// the vault's own records, fails.
#include "monte_carlo.hpp"
#include "support/constraint_world.hpp"

namespace rampart::test {
namespace {

constexpr double kDelta = 0.1;
constexpr size_t kSelection = 2250, kVault = 1500;

/// One applicant in `one_in` is hurt by a candidate that approves as much more as the trust region
/// allows, all others gain a hair: on average the population loses.
struct RareHarm {
    double one_in = 5000;

    struct Person {
        double candidate = 0, impact = 0;
    };
    Person person(base::Random& random) const {
        if (random.bernoulli(1 / one_in)) return {0.75, -150};
        const double impact = random.bernoulli(0.5) ? 75 : 70;
        // 0.9 of what the others lose: 0.25 * 150 / one_in
        return {0.5 + 0.9 * 0.25 * 150 / one_in / 72.5, impact};
    }
    ope::LoggedFeedback log(base::Random& random, size_t count, const std::string& prefix) const {
        ope::LoggedFeedback f;
        for (size_t i = 0; i < count; ++i) {
            const Person one = person(random);
            add(f,
                {.candidate = one.candidate,
                 .approved = random.bernoulli(0.5),
                 .impact = one.impact,
                 .person = i},
                prefix);
        }
        return f;
    }
    CaseLog cases(base::Random& random, uint32_t count) const {
        CaseLog log;
        for (uint32_t i = 0; i < count; ++i) {
            const Person one = person(random);
            Case c{.person = i, .approved = random.bernoulli(0.5), .candidate = one.candidate};
            c.label.reset();
            c.impact.reset();
            if (c.approved) c.label = 1, c.impact = one.impact;
            log.add(c);
        }
        return log;
    }
};

double certified_rate(const RareHarm& world, unsigned records_per_person, int repetitions) {
    auto config = lender_config();
    config.delta_epoch = kDelta;
    config.min_power = 0.5;
    config.calibration_level = 1e-6;
    config.records_per_person = records_per_person;
    return rate_of(fmt::format("harm of one in {}, ranges {}", world.one_in,
                               records_per_person > 0 ? "fixed" : "of the vault"),
                   repetitions, 7, [&](base::Random& random) {
                       const auto selection = world.log(random, kSelection, "c");
                       return certified(config, selection, world.log(random, kVault, "v"));
                   });
}

double constraint_rate(const RareHarm& world, size_t records_per_person, int repetitions) {
    constraints::Settings settings;
    settings.delta = kDelta;
    settings.declined_impact = 0;
    settings.records_per_person = records_per_person;
    settings.max_change = 0.25;
    const auto program =
        constraints::compile("mean(impact) - mean(impact, reference) >= 0", {-150, 75}).value();
    return rate_of(fmt::format("harm of one in {}, constraint, ranges {}", world.one_in,
                               records_per_person > 0 ? "fixed" : "of the vault"),
                   repetitions, 8, [&](base::Random& random) {
                       auto selection = world.cases(random, kSelection);
                       auto vault = world.cases(random, kVault);
                       const auto plan =
                           constraints::plan(program, settings, selection.log(program),
                                             selection.outcomes(), vault.log(program));
                       EXPECT_TRUE(plan) << (plan ? "" : plan.error().message);
                       return plan && constraints::evaluate(program, settings, *plan,
                                                            vault.log(program), vault.outcomes())
                                          .passed;
                   });
}

TEST(Population, RareHarmIsNotCertifiedForAGroup) {
    for (const double one_in : {1500.0, 5000.0}) {
        EXPECT_LE(certified_rate({one_in}, 1, 300), at_most(kDelta, 300));
    }
    EXPECT_GT(certified_rate({5000}, 0, 100), 0.3) << "the wrong variant was to fail";
}

TEST(Population, RareHarmIsNotCertifiedByAConstraint) {
    for (const double one_in : {1500.0, 5000.0}) {
        EXPECT_LE(constraint_rate({one_in}, 1, 300), at_most(kDelta, 300));
    }
    EXPECT_GT(constraint_rate({5000}, 0, 100), 0.3) << "the wrong variant was to fail";
}

TEST(Population, TheFixedRangeCostsLittlePower) {
    auto config = lender_config();
    config.delta_epoch = kDelta;
    const auto power = [&](unsigned records_per_person) {
        config.records_per_person = records_per_person;
        return rate_of(fmt::format("power, {} records", records_per_person), 200, 10,
                       [&](base::Random& random) {
                           const auto selection =
                               simulate({.records = 2000, .skill = 0.32, .prefix = "c"}, random);
                           return certified(config, selection,
                                            simulate({.records = 1600, .skill = 0.32}, random));
                       });
    };
    const double fixed = power(1), of_the_vault = power(0);
    EXPECT_GT(of_the_vault, 0.5);
    EXPECT_GT(fixed, of_the_vault - 0.05);
}

}  // namespace
}  // namespace rampart::test
