// The chance that the search of the step forecasts for what it chose, beside how often a vault
// passes it: with scores of ensembles that did not learn from the row's person, and with scores
// that did (wrong).
#include <array>

#include "monte_carlo.hpp"
#include "rampart/ope/estimator.hpp"
#include "rampart/stats/betting.hpp"
#include "rampart/training/parameter_search.hpp"

namespace rampart::test {
namespace {

constexpr size_t kTypes = 40, kDevelopment = 1600, kVault = 600;
constexpr double kDelta = 0.05;
constexpr int kRepetitions = 150;
const ope::ImpactModel kImpact{.lo = -150, .hi = 75, .declined = 0.0};

/// Types of applicants, each of whom repays with a probability of its own.
struct World {
    std::array<double, kTypes> repays;

    explicit World(base::Random& random) {
        for (double& p : repays) p = std::clamp(2.0 / 3 + 0.12 * random.normal(), 0.02, 0.98);
    }
};

training_set::Row draw(const World& world, size_t type, size_t i, base::Random& random) {
    training_set::Row row;
    row.decision = domain::DecisionId(fmt::format("d{}", i));
    row.person = domain::PersonId(fmt::format("p{}", i));
    row.policy = domain::PolicyId("first");
    row.p_approve = 0.5;
    row.approved = random.bernoulli(0.5);
    if (row.approved) {
        row.label = random.bernoulli(world.repays[type]) ? 1.0 : 0.0;
        row.impact = *row.label == 1 ? 75.0 : -150.0;
    }
    row.groups = {0};
    return row;
}

training_set::DevelopmentSet development_of(const World& world, base::Random& random) {
    training_set::DevelopmentSet set;
    set.schema =
        dataset::FeatureSchema::create({{"x", dataset::FeatureKind::kNumeric, {}}}).value();
    set.group_names = {"all"};
    for (size_t i = 0; i < kDevelopment; ++i) {
        set.rows.push_back(draw(world, i % kTypes, i, random));
        set.features.push_back(static_cast<float>(i % kTypes));
    }
    return set;
}

/// Scores by the mean impact of each type's approvals among the rows that `takes` takes.
template <class Takes>
std::array<double, kTypes> learn(const training_set::DevelopmentSet& set, const Takes& takes) {
    std::array<double, kTypes> sum{}, count{}, score{};
    for (size_t i = 0; i < set.rows.size(); ++i) {
        if (!set.rows[i].impact || !takes(i)) continue;
        sum[i % kTypes] += *set.rows[i].impact;
        ++count[i % kTypes];
    }
    for (size_t t = 0; t < kTypes; ++t)
        score[t] = std::clamp(sum[t] / std::max(1.0, count[t]) / 150, -1.0, 1.0);
    return score;
}

struct Outcome {
    double chance = 0;  // forecast of what was chosen
    bool passed = false;
};

Outcome search_and_test(bool out_of_fold, base::Random& random) {
    const World world(random);
    const auto set = development_of(world, random);
    const model::BootstrapLink half{"x", {{0, 0.5}, {1, 0.5}}, 0.5};
    const auto champion = model::Policy::create(set.schema, {half}, {}, {}).value();
    const auto all = learn(set, [](size_t) { return true; });
    // rows i and i + kTypes of a type are in different folds
    const std::array folds{learn(set, [](size_t i) { return i / kTypes % 2 == 1; }),
                           learn(set, [](size_t i) { return i / kTypes % 2 == 0; })};
    training::SearchRows rows;
    for (size_t i = 0; i < kDevelopment; ++i)
        rows.score.push_back((out_of_fold ? folds[i / kTypes % 2] : all)[i % kTypes]);
    rows.before = rows.reference = std::vector<double>(kDevelopment, 0.5);
    training::GateForecastInputs gate;
    gate.config.impact_lo = kImpact.lo, gate.config.impact_hi = kImpact.hi;
    gate.config.declined_impact = kImpact.declined;
    gate.delta = kDelta;
    gate.vault_units = {kVault};
    const auto found = training::search_grid(
        {.development = set, .rows = rows, .champion = champion, .begin = {}, .gate = gate});
    EXPECT_TRUE(found) << found.error().message;
    const auto& p = found->parameters;
    // the candidate is of all rows, whatever the search was made with
    const model::RampRule ramp{p.gamma, 0.5, {p.threshold}, {1.0}};
    const auto value = [&](const training_set::Row& row, size_t type) {
        const double pi =
            std::clamp(ramp.apply(all[type], 0), 0.5 - 0.5 * p.kappa, 0.5 + 0.5 * p.kappa);
        const ope::Record record{.p = 0.5,
                                 .approved = row.approved,
                                 .candidate = pi,
                                 .reference = 0.5,
                                 .impact = row.impact};
        return ope::impact_change(record, kImpact);
    };
    std::vector<double> planned, tested;
    for (size_t i = 0; i < kDevelopment; ++i) planned.push_back(value(set.rows[i], i % kTypes));
    for (size_t i = 0; i < kVault; ++i)
        tested.push_back(value(draw(world, i % kTypes, i, random), i % kTypes));
    const double lo = kImpact.lo * p.kappa;
    const auto bets =
        stats::plan_bets({kVault, stats::moments(planned).variance}, lo, kDelta).value();
    return {found->chance, stats::log_wealth(tested, lo, bets, 0) >= -std::log(kDelta)};
}

struct Rates {
    double forecast = 0, passed = 0;
};

Rates rates(const std::string& name, bool out_of_fold) {
    Rates out;
    out.passed = rate_of(name, kRepetitions, 31, [&](auto& random) {
        const auto one = search_and_test(out_of_fold, random);
        out.forecast += one.chance / kRepetitions;
        return one.passed;
    });
    std::printf("    forecast %.4f\n", out.forecast);
    return out;
}

TEST(StepSearch, ForecastsNoMoreThanPassesWhereScoresAreOutOfFold) {
    const double tolerance = 4 * std::sqrt(0.25 / kRepetitions);
    const auto honest = rates("passed, scores out of fold", true);
    EXPECT_LE(honest.forecast, honest.passed + tolerance);
    EXPECT_GT(honest.passed, 0.2) << "a test in which something passes";
    const auto wrong = rates("passed, scores in sample (wrong)", false);
    EXPECT_GT(wrong.forecast, wrong.passed + tolerance);
}

}  // namespace
}  // namespace rampart::test
