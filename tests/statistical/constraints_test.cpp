// Constraints whose truth lies exactly on their boundary, or just beyond it, must pass at most with
// probability delta, in any form; constraints that hold with margin must pass.
#include "monte_carlo.hpp"
#include "support/constraint_world.hpp"

namespace rampart::test {
namespace {

using constraints::ConstraintResult;
using constraints::Interval;
using constraints::LabelsOf;
using constraints::Plan;
using constraints::Program;
using constraints::Settings;
using stats::BoundMethod;

constexpr double kDelta = 0.1;
constexpr int kRepetitions = 300;
constexpr Interval kImpact{-150, 75};

Settings world_settings() {
    Settings out;
    out.delta = kDelta;
    out.declined_impact = 0;
    return out;
}

/// Half of the people are in each group, half of them good customers. Good ones repay with 0.8 and
/// were approved with 0.7, the others with 0.3 and 0.3. The candidate approves good ones of group a
/// with 0.9, of group b with 0.8, others with 0.2; in the other group it equals the reference.
Case customer(base::Random& random, uint32_t person) {
    const bool a = random.bernoulli(0.5), good = random.bernoulli(0.5);
    Case c{.person = person, .p = good ? 0.7 : 0.3};
    c.candidate = good ? (a ? 0.9 : 0.8) : 0.2;
    c.reference = good ? 0.8 : 0.2;
    c.approved = random.bernoulli(c.p);
    const bool repaid = random.bernoulli(good ? 0.8 : 0.3);
    c.label.reset();
    c.impact.reset();
    if (c.approved) {
        c.label = repaid;
        c.impact = repaid ? 75 : -150;
    }
    c.group = a ? "a" : "b";
    return c;
}

CaseLog customers(base::Random& random, uint32_t count, auto change) {
    CaseLog log;
    for (uint32_t i = 0; i < count; ++i) {
        Case c = customer(random, i);
        change(c, random);
        log.add(c);
    }
    return log;
}

void leave(Case&, base::Random&) {}

Program compiled(const std::string& constraint) {
    auto program = constraints::compile(constraint, kImpact);
    EXPECT_TRUE(program) << constraint;
    return *program;
}

/// One run on a fresh development set and vault; `spoil` may change the plan.
template <class Change, class Spoil>
bool passes(const Program& program, const Settings& settings, base::Random& random, uint32_t count,
            Change change, Spoil spoil) {
    CaseLog selection = customers(random, count, change), vault = customers(random, count, change);
    auto plan = constraints::plan(program, settings, selection.log(program), selection.outcomes(),
                                  vault.log(program));
    EXPECT_TRUE(plan) << (plan ? "" : plan.error().message);
    if (!plan) return false;
    spoil(*plan);
    return constraints::evaluate(program, settings, *plan, vault.log(program), vault.outcomes())
        .passed;
}

template <class Change = void (*)(Case&, base::Random&)>
double pass_rate(const std::string& constraint, uint32_t count,
                 Settings settings = world_settings(), Change change = leave) {
    const Program program = compiled(constraint);
    return rate_of(constraint, kRepetitions, 31, [&](base::Random& random) {
        return passes(program, settings, random, count, change, [](Plan&) {});
    });
}

/// Passes at most with probability delta where `boundary` is the truth, and mostly where there is
/// margin.
void expect_honest(const std::string& constraint, const std::string& relation, double boundary,
                   double room, uint32_t count) {
    const bool floor = relation == ">=";
    const auto with = [&](double value) {
        return fmt::format("{} {} {:.17g}", constraint, relation, value);
    };
    // slightly beyond the truth: there the constraint is violated
    const double hair = 1e-9 * (std::abs(boundary) + 1);
    EXPECT_LE(pass_rate(with(floor ? boundary + hair : boundary - hair), count),
              at_most(kDelta, kRepetitions));
    EXPECT_GT(pass_rate(with(floor ? boundary - room : boundary + room), count), 0.6);
}

TEST(Constraint, AGapOfApprovalRates) {
    expect_honest("abs(mean(decision | group = \"a\") - mean(decision | group = \"b\"))",
                  "<=", 0.05, 0.1, 1500);
}

TEST(Constraint, ARatioOfApprovalRates) {
    expect_honest("mean(decision | group = \"b\") / mean(decision | group = \"a\")",
                  ">=", 0.5 / 0.55, 0.2, 1500);
}

TEST(Constraint, AGapOfFalsePositiveRatesFromLabelsOfTheGranted) {
    // among those with label 0: 0.1 / 0.45 of them good
    expect_honest(
        "abs(mean(decision | group = \"a\" and label = 0) - "
        "mean(decision | group = \"b\" and label = 0))",
        "<=", 0.1 * 0.1 / 0.45, 0.3, 1500);
}

TEST(Constraint, AnAccuracyFromLabelsOfTheGranted) {
    // right: good 0.8 pi + 0.2 (1 - pi), pi 0.85 on average; others 0.3 pi + 0.7 (1 - pi)
    expect_honest("1 - mean(loss)", ">=", 0.5 * (0.8 * 0.85 + 0.2 * 0.15) + 0.5 * (0.06 + 0.56),
                  0.1, 1000);
}

TEST(Constraint, AGapOfImpacts) {
    // an approval of a good one gains 0.8 * 75 - 0.2 * 150 = 30, of another one -82.5
    expect_honest("abs(mean(impact | group = \"a\") - mean(impact | group = \"b\"))",
                  "<=", 0.5 * 0.1 * 30, 35, 1500);
}

TEST(Constraint, AChangeOfImpactThatIsPaired) {
    expect_honest("mean(impact | group = \"a\") - mean(impact, reference | group = \"a\")",
                  ">=", 1.5, 1.5, 1500);
    expect_honest("abs(mean(impact | group = \"a\") - mean(impact, reference | group = \"a\"))",
                  "<=", 1.5, 1.5, 1500);
}

TEST(Constraint, AnImpactAmongThoseWhoWouldNotRepay) {
    // they lose 150 times P(approve): of group b, 0.1 / 0.45 are good
    expect_honest("mean(impact | group = \"b\" and label = 0)",
                  ">=", -150 * (0.8 * 0.1 + 0.2 * 0.35) / 0.45, 25, 1500);
}

TEST(Constraint, OtherBoundsOnAGapOfApprovalRates) {
    for (const BoundMethod bound :
         {BoundMethod::kStudentT, BoundMethod::kHoeffding, BoundMethod::kMaurerPontil}) {
        Settings settings = world_settings();
        settings.bound = bound;
        EXPECT_LE(
            pass_rate("abs(mean(decision | group = \"a\") - mean(decision | group = \"b\")) <= "
                      "0.049999",
                      800, settings),
            at_most(kDelta, kRepetitions))
            << to_string(bound);
    }
}

TEST(Constraint, DeltaThatIsNotDividedOverTheMeansPassesTooOften) {
    // four means that are all at the boundary: one of them is enough
    const auto even = [](Case& c, base::Random& random) {
        c.candidate = random.bernoulli(0.5) ? 0.9 : 0.1;
        c.reference = random.bernoulli(0.5) ? 0.9 : 0.1;
    };
    const Program program = compiled(
        "max(mean(decision | group = \"a\"), mean(decision | group = "
        "\"b\"), mean(decision, reference | group = \"a\"), "
        "mean(decision, reference | group = \"b\")) >= 0.500001");
    Settings settings = world_settings();
    settings.bound = BoundMethod::kStudentT;  // uses all of its delta
    const auto rate = [&](const std::string& name, double factor) {
        return rate_of(name, kRepetitions, 32, [&](base::Random& random) {
            return passes(program, settings, random, 600, even, [&](Plan& plan) {
                for (auto& end : plan.statements[0]) end.delta *= factor;
            });
        });
    };
    EXPECT_LE(rate("delta / 4 for each of four means", 1), at_most(kDelta, kRepetitions));
    EXPECT_GT(rate("WRONG: the whole delta for each", 4), 0.2);
}

TEST(Constraint, LabelsOfTheGrantedWithoutWeightsPassTooOften) {
    // P(decline | label 1) is larger among all people than among the approved, most of whom are
    // good
    const double truth = (0.5 * 0.8 * 0.15 + 0.5 * 0.3 * 0.8) / 0.55;
    const Program program =
        compiled(fmt::format("mean(decision | label = 1) >= {:.17g}", 1 - truth + 1e-9));
    const auto rate = [&](const std::string& name, LabelsOf labels) {
        return rate_of(name, kRepetitions, 33, [&](base::Random& random) {
            Settings settings = world_settings();
            settings.labels = labels;
            const auto log = [&] {
                CaseLog all = customers(random, 1500, leave);
                if (labels == LabelsOf::kGranted) return all;
                CaseLog granted;  // as if no other person had applied
                for (uint32_t i = 0; i < all.person.size(); ++i) {
                    if (all.approved[i] == 0) continue;
                    granted.add({.person = i,
                                 .p = all.p[i],
                                 .candidate = all.candidate[i],
                                 .reference = all.reference[i],
                                 .label = all.label[i],
                                 .group = all.group[i]});
                }
                return granted;
            };
            CaseLog selection = log(), vault = log();
            const auto plan = constraints::plan(program, settings, selection.log(program),
                                                selection.outcomes(), vault.log(program));
            EXPECT_TRUE(plan);
            return plan && constraints::evaluate(program, settings, *plan, vault.log(program),
                                                 vault.outcomes())
                               .passed;
        });
    };
    EXPECT_LE(rate("weighted by 1 / p", LabelsOf::kGranted), at_most(kDelta, kRepetitions));
    EXPECT_GT(rate("WRONG: the granted as if they were all", LabelsOf::kAllApplicants), 0.5);
}

}  // namespace
}  // namespace rampart::test
