// A difference of two means that one process tests: at its boundary it passes at most with
// probability delta, and it needs far fewer records than two bounds at delta / 2.
#include "monte_carlo.hpp"
#include "rampart/stats/betting.hpp"
#include "support/constraint_world.hpp"

namespace rampart::test {
namespace {

using constraints::Interval;
using constraints::Plan;
using constraints::Program;
using constraints::Settings;

constexpr int kRepetitions = 400;
constexpr Interval kImpact{-150, 75};

/// People of two groups. Policies approve good ones, half of a group at first, with 0.9, others
/// with 0.2: both groups have the same means.
struct World {
    double share_of_a = 0.5, good = 0.5;
    double drift = 0;    // by which the share of good ones changes from the first to the last
    size_t records = 1;  // for each person
    double both = 0;     // share of persons whose second record is of the other group
    bool changing_loggers = false;

    CaseLog log(base::Random& random, uint32_t persons) const {
        CaseLog out;
        for (uint32_t i = 0; i < persons; ++i) {
            const double time = static_cast<double>(i) / persons - 0.5;
            bool a = random.bernoulli(share_of_a);
            for (size_t r = 0; r < records; ++r) {
                if (r == 1 && random.bernoulli(both)) a = !a;
                const bool is_good = random.bernoulli(good + drift * time);
                Case c{.person = i, .p = 0.5};
                if (changing_loggers)
                    c.p = time < 0 ? (is_good ? 0.8 : 0.3) : (is_good ? 0.4 : 0.5);
                c.candidate = c.reference = is_good ? 0.9 : 0.2;
                c.approved = random.bernoulli(c.p);
                const bool repaid = random.bernoulli(is_good ? 0.8 : 0.3);
                c.label.reset();
                c.impact.reset();
                if (c.approved) c.label = repaid, c.impact = repaid ? 75 : -150;
                c.group = a ? "a" : "b";
                out.add(c);
            }
        }
        return out;
    }
};

Settings settings_with(double delta, size_t records_per_person = 0) {
    Settings out;
    out.delta = delta;
    out.declined_impact = 0;
    out.records_per_person = records_per_person;
    return out;
}

const std::string kDecisions = "mean(decision | group = \"a\") - mean(decision | group = \"b\")";
const std::string kImpacts = "mean(impact | group = \"a\") - mean(impact | group = \"b\")";

struct Run {
    Plan plan;
    constraints::StatementResult result;
};
Run run(const Program& program, const Settings& settings, CaseLog selection, CaseLog vault,
        bool one_process = true, size_t erased = 0) {
    auto log = vault.log(program);
    log.erased = erased;
    auto plan =
        constraints::plan(program, settings, selection.log(program), selection.outcomes(), log);
    EXPECT_TRUE(plan) << (plan ? "" : plan.error().message);
    if (!plan) return {};
    EXPECT_EQ(plan->differences.size(), program.statements.size());
    if (!one_process) {
        plan->differences.clear();
        EXPECT_TRUE(constraints::complete(program, settings, log, *plan));
    }
    return {
        *plan,
        constraints::evaluate(program, settings, *plan, log, vault.outcomes()).statements.at(0)};
}

/// Levels at which the smallest wealth is compared with what it may be.
void expect_valid(const std::string& name, const std::string& constraint, const World& development,
                  const World& world, uint32_t persons, size_t records_per_person = 0,
                  size_t erased = 0) {
    const auto program = *constraints::compile(constraint, kImpact);
    size_t passed = 0;
    double sum = 0, squares = 0;
    const double rate = rate_of(name, kRepetitions, 51, [&](base::Random& random) {
        Settings settings = settings_with(0.1, records_per_person);
        settings.max_missing_rate = 0.2;
        const auto out = run(program, settings, development.log(random, persons),
                             world.log(random, persons), true, erased);
        const double wealth = std::exp(out.result.log_wealth.value_or(0));
        sum += wealth;
        squares += wealth * wealth;
        passed += wealth >= 2;
        return out.result.passed;
    });
    const double mean = sum / kRepetitions;
    const double error = std::sqrt((squares / kRepetitions - mean * mean) / kRepetitions);
    std::printf("    %-60s mean wealth %.3f\n", "", mean);
    EXPECT_LE(rate, at_most(0.1, kRepetitions));
    EXPECT_LE(static_cast<double>(passed) / kRepetitions, at_most(0.5, kRepetitions));
    EXPECT_LE(mean, 1 + 4 * error) << "the wealth is a fair game";
}

TEST(Differences, AreValidAtTheirBoundary) {
    expect_valid("decisions", fmt::format("{} >= 1e-9", kDecisions), {}, {}, 1000);
    expect_valid("impacts", fmt::format("{} >= 1e-7", kImpacts), {}, {}, 1000);
    expect_valid("ratio",
                 "mean(decision | group = \"b\") >= 0.8 * mean(decision | group = \"a\") + "
                 "0.110000001",
                 {}, {}, 1000);
    expect_valid("labels",
                 "mean(decision | group = \"a\" and label = 0) - "
                 "mean(decision | group = \"b\" and label = 0) >= 1e-9",
                 {}, {}, 1000);
}

TEST(Differences, AreValidWhereLoggersAndPeopleDriftAndPersonsHaveSeveralRecords) {
    expect_valid("drift", fmt::format("{} >= 1e-7", kImpacts), {},
                 {.drift = 0.8, .changing_loggers = true}, 1000);
    expect_valid("three records", fmt::format("{} >= 1e-7", kImpacts), {.records = 3},
                 {.drift = 0.5, .records = 3, .changing_loggers = true}, 600);
    expect_valid("three records, ranges fixed", fmt::format("{} >= 1e-7", kImpacts), {.records = 3},
                 {.records = 3}, 600, 3);
}

TEST(Differences, AreValidWithErasedPersonsAndPersonsOfBothConditions) {
    expect_valid("erased", fmt::format("{} >= 1e-9", kDecisions), {}, {}, 1000, 1, 10);
    expect_valid("persons of both in the vault", fmt::format("{} >= 1e-9", kDecisions),
                 {.records = 2}, {.records = 2, .both = 0.01}, 600, 2);
}

/// Returns ln of W1(m) W2(m) for decisions of one record a person, by the plan's bets.
double log_wealth_at(double m, const Plan& plan, const CaseLog& vault) {
    std::vector<double> above, below;
    for (size_t i = 0; i < vault.person.size(); ++i) {
        if (vault.group[i] == "a") {
            above.push_back(vault.candidate[i] - m);
        } else {
            below.push_back(m - vault.candidate[i]);
        }
    }
    const auto& ends = plan.statements.at(0);
    return stats::log_wealth(above, -2 * m, ends[0].bets, 0) +
           stats::log_wealth(below, -2 * (1 - m), ends[1].bets, 0);
}

TEST(Differences, TheSmallestWealthIsNotOverestimatedAndAFixedPointPassesTooOften) {
    // the vault has other shares of the groups, and better people, than the development set
    const World development{.good = 0.3}, world{.share_of_a = 0.9};
    const auto program = *constraints::compile(fmt::format("{} >= 1e-9", kDecisions), kImpact);
    size_t wrong = 0;
    const double right = rate_of("smallest of all m", kRepetitions, 52, [&](base::Random& random) {
        const CaseLog vault = world.log(random, 1000);
        const auto out = run(program, settings_with(0.1), development.log(random, 1000), vault);
        double smallest = std::numeric_limits<double>::infinity();
        for (int k = 1; k < 400; ++k)
            smallest = std::min(smallest, log_wealth_at(k / 400.0, out.plan, vault));
        EXPECT_LE(*out.result.log_wealth, smallest + 1e-6);
        EXPECT_GE(*out.result.log_wealth, smallest - 0.2 * std::abs(smallest) - 0.2);
        wrong +=
            log_wealth_at(out.plan.leaves[0].selection_mean, out.plan, vault) >= -std::log(0.1);
        return out.result.passed;
    });
    std::printf("    WRONG: m of the development set: %zu of %d\n", wrong, kRepetitions);
    EXPECT_LE(right, at_most(0.1, kRepetitions));
    EXPECT_GT(static_cast<double>(wrong) / kRepetitions, 0.5);
}

TEST(Differences, NeedFarFewerRecordsThanTwoBounds) {
    // the smallest count, of steps by a tenth, with a power of 0.9
    const auto needed = [](const std::string& constraint, bool one_process) {
        const auto program = *constraints::compile(constraint, kImpact);
        for (double n = 200; n < 20000; n *= 1.1) {
            const auto persons = static_cast<uint32_t>(n);
            const double power =
                rate_of(fmt::format("{} {} {}", persons, one_process ? "one process" : "two bounds",
                                    constraint.substr(5, 8)),
                        150, 53, [&](base::Random& random) {
                            CaseLog selection = World{}.log(random, persons);
                            return run(program, settings_with(0.1), std::move(selection),
                                       World{}.log(random, persons), one_process)
                                .result.passed;
                        });
            if (power >= 0.9) return n;
        }
        return 1e9;
    };
    for (const std::string& constraint :
         {fmt::format("{} >= -0.12", kDecisions), fmt::format("{} >= -30", kImpacts)}) {
        const double one = needed(constraint, true), two = needed(constraint, false);
        std::printf("    %s: %.0f records, %.0f by two bounds, %.2f\n", constraint.c_str(), one,
                    two, one / two);
        EXPECT_LT(one, 0.75 * two);
    }
}

}  // namespace
}  // namespace rampart::test
