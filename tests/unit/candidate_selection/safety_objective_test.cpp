#include "rampart/candidate_selection/safety_objective.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "rampart/ope/value_bound.hpp"
#include "rampart/stats/betting.hpp"
#include "rampart/stats/distributions.hpp"
#include "support/logged_sample.hpp"

namespace rampart::candidate_selection {
namespace {

using test::shifted;

constexpr ope::ImpactModel kModel{.lo = -2, .hi = 3, .q_approve = 0.5, .q_decline = 0.1};

/// Returns the probability of a decision that is not the label.
Loss wrong_decisions(const std::vector<uint8_t>& label) {
    Loss loss;
    for (const uint8_t y : label) {
        loss.offset.push_back(y);
        loss.slope.push_back(y != 0 ? -1 : 1);
    }
    return loss;
}

std::vector<double> values_of(const Constraint& c, const std::vector<double>& pi,
                              const std::vector<double>& reference) {
    std::vector<double> values(c.unit.empty() ? c.rows.size() : c.units, 0.0);
    for (size_t k = 0; k < c.rows.size(); ++k) {
        const double d = pi[c.rows[k]] - reference[c.rows[k]];
        values[c.unit.empty() ? k : c.unit[k]] +=
            c.offset[k] + c.more[k] * std::max(d, 0.0) + c.less[k] * std::max(-d, 0.0);
    }
    return values;
}

TEST(SafetyObjective, PairedValuesAreThoseThatTheGateSums) {
    auto drawn = test::draw_log(200, 0.5, 1);
    auto& log = drawn.log;
    for (size_t i = 0; i < 200; ++i) log.decisions.unit_id.push_back(std::to_string(i / 3));
    for (const size_t missing : {3u, 50u, 111u}) {
        log.decisions.has_impact[missing] = 0;
        log.impact[missing] = std::nan("");
    }
    log.decisions.overridden = {7, 60};
    base::Random random(5);
    std::vector<double> pi = log.decisions.reference;
    for (double& p : pi) p += random.uniform(-0.05, 0.05);
    log.decisions.candidate = pi;
    for (const bool known : {false, true}) {
        ope::ImpactModel model = kModel;
        model.declines_overridden = true;
        if (known) model.declined = 0.25;
        for (const auto& group : log.decisions.groups) {
            const auto c = paired_constraint(log, group, model, 0.01, 100, 0.1);
            ASSERT_TRUE(c) << c.error().message;
            const auto units = ope::map_units(log.decisions, group.records);
            const auto gate =
                ope::unit_values(log.decisions, group.records, units, log.impact, model, 0.01);
            const auto ours = values_of(*c, pi, log.decisions.reference);
            ASSERT_EQ(ours.size(), gate.size());
            for (size_t u = 0; u < gate.size(); ++u) EXPECT_NEAR(ours[u], -gate[u], 1e-9);
        }
    }
}

struct Case {
    test::LoggedSample drawn;
    std::vector<double> reference;

    explicit Case(double alpha = 0.5, size_t n = 1000, uint64_t seed = 3)
        : drawn(test::draw_log(n, alpha, seed)), reference(drawn.log.decisions.reference) {}

    std::vector<Constraint> constraints(double test_units) const {
        std::vector<Constraint> out;
        for (const auto& group : drawn.log.decisions.groups) {
            out.push_back(paired_constraint(drawn.log, group, kModel, 0, test_units, 0.1).value());
        }
        return out;
    }
    SafetyObjective objective(const ObjectiveConfig& config, double test_units = 400) const {
        return SafetyObjective::create(reference, wrong_decisions(drawn.label),
                                       constraints(test_units), config)
            .value();
    }
};

TEST(SafetyObjective, PredictsTheWidthsOfAlgorithmFour) {
    const Case c;
    ObjectiveConfig config;
    config.safety = Safety::kInflation;
    const auto pi = shifted(c.reference, 0.5);
    const auto constraint = c.constraints(400)[1];
    const auto moments = stats::moments(values_of(constraint, pi, c.reference));
    const double error = std::sqrt(moments.variance / 400);

    config.bound = stats::BoundMethod::kStudentT;
    const double t = stats::student_t_quantile(0.9, 399);
    EXPECT_NEAR(c.objective(config).predict(pi).bounds[1].upper, moments.mean + 2 * t * error,
                1e-10);

    config.safety = Safety::kPower;
    config.power = 0.9;
    const double both =
        std::sqrt(moments.variance * (1.0 / 400 + 1.0 / static_cast<double>(moments.n)));
    EXPECT_NEAR(c.objective(config).predict(pi).bounds[1].upper,
                moments.mean + t * error + stats::normal_quantile(0.9) * both, 1e-10);

    config.safety = Safety::kInflation;
    config.bound = stats::BoundMethod::kHoeffding;
    double hi = -1e9, lo = 1e9;
    for (size_t k = 0; k < constraint.rows.size(); ++k) {
        const double d = pi[constraint.rows[k]] - c.reference[constraint.rows[k]];
        ASSERT_GT(d, 0);
        hi = std::max(hi, constraint.highest_more[k] * d);
        lo = std::min(lo, constraint.lowest_more[k] * d);
    }
    EXPECT_NEAR(c.objective(config).predict(pi).bounds[1].upper,
                moments.mean + 2 * (hi - lo) * std::sqrt(std::log(10) / 800), 1e-9);
}

TEST(SafetyObjective, TheBettingForecastIsNearWhatTheBetsEarn) {
    const Case c(0.4, 4000);
    ObjectiveConfig config;
    config.bound = stats::BoundMethod::kBetting;
    config.safety = Safety::kInflation;
    config.inflation = 1;
    const auto pi = shifted(c.reference, 0.5);
    const auto constraint = c.constraints(1)[0];
    std::vector<double> gains = values_of(constraint, pi, c.reference);
    for (double& g : gains) g = -g;
    const auto moments = stats::moments(gains);
    double lo = 0;
    for (size_t k = 0; k < constraint.rows.size(); ++k) {
        const double d = pi[constraint.rows[k]] - c.reference[constraint.rows[k]];
        lo = std::min(lo, -constraint.highest_more[k] * std::max(d, 0.0));
    }
    // the bound that the test would give on these very records
    const auto bets = stats::plan_bets({gains.size(), moments.variance}, lo, 0.1);
    ASSERT_TRUE(bets);
    const double lower = stats::betting_lower_bound(gains, lo, *bets, 0.1);
    const double predicted =
        -c.objective(config, static_cast<double>(gains.size())).predict(pi).bounds[0].upper;
    const double width = moments.mean - lower;
    EXPECT_NEAR(predicted, lower, 0.25 * width);
    EXPECT_LT(predicted, moments.mean);
}

TEST(SafetyObjective, TheChanceIsThePowerAtWhichTheBoundWouldJustPass) {
    const Case c(0.4, 4000);
    ObjectiveConfig config;
    config.bound = stats::BoundMethod::kBetting;
    config.xi = 0.02;
    const auto pi = shifted(c.reference, 0.5);
    const auto prediction = c.objective(config).predict(pi);
    double product = 1;
    for (size_t j = 0; j < prediction.bounds.size(); ++j) {
        const double chance = prediction.bounds[j].chance;
        product *= chance;
        if (!(chance > 0.5 && chance < 1)) continue;
        config.power = chance;
        EXPECT_NEAR(c.objective(config).predict(pi).bounds[j].upper, -config.xi / 4, 1e-9);
    }
    EXPECT_DOUBLE_EQ(prediction.chance, product);
    EXPECT_GT(prediction.chance, c.objective(config, 100).predict(pi).chance);
    EXPECT_EQ(c.objective(config).predict(c.reference).chance, 0) << "nothing changes";
    EXPECT_TRUE(std::isnan(
        c.objective(config).predict(std::vector<double>(c.reference.size(), std::nan(""))).chance));
}

TEST(SafetyObjective, FewerRecordsInTheTestMakeThePredictionWorse) {
    const Case c;
    const auto pi = shifted(c.reference, 0.5);
    for (const auto bound : {stats::BoundMethod::kStudentT, stats::BoundMethod::kHoeffding,
                             stats::BoundMethod::kBetting}) {
        ObjectiveConfig config;
        config.bound = bound;
        EXPECT_GT(c.objective(config, 50).predict(pi).bounds[0].upper,
                  c.objective(config, 500).predict(pi).bounds[0].upper);
    }
}

TEST(SafetyObjective, LossCountsOnlyWhereAllBoundsPass) {
    const Case c(1.0, 4000);
    const auto objective = c.objective({});
    const auto good = objective.predict(shifted(c.reference, 0.6));
    EXPECT_TRUE(good.passes);
    EXPECT_EQ(good.cost, good.loss);
    double wrong = 0;
    const auto pi = shifted(c.reference, 0.6);
    for (size_t i = 0; i < pi.size(); ++i) wrong += c.drawn.label[i] ? 1 - pi[i] : pi[i];
    EXPECT_NEAR(good.loss, wrong / static_cast<double>(pi.size()), 1e-12);
    const auto bad = objective.predict(shifted(c.reference, -0.6));
    EXPECT_FALSE(bad.passes);
    EXPECT_GT(bad.cost, 1);  // the largest error rate
    EXPECT_LT(good.cost, bad.cost);
}

TEST(SafetyObjective, OursTellsDirectionsApartWhereThePapersSumShrinksTowardsTheReference) {
    const Case c(0.15, 300);
    ObjectiveConfig ours, paper;
    ours.power = 0.999;
    paper.safety = Safety::kInflation;
    paper.failing = Failing::kSumOfBounds;
    const auto signal = c.objective(ours, 60), sum = c.objective(paper, 60);
    const auto up = shifted(c.reference, 0.4, 1), little = shifted(c.reference, 0.004, 1),
               little_down = shifted(c.reference, -0.004, 1);
    ASSERT_FALSE(signal.predict(up).passes);
    ASSERT_FALSE(sum.predict(up).passes);
    // hardly any step, in the harmful direction, costs less than a long one in the good direction
    EXPECT_LT(sum.cost(little_down), sum.cost(up));
    EXPECT_GT(signal.cost(little_down), signal.cost(up));
    EXPECT_NEAR(signal.cost(little), signal.cost(up), 0.2 * std::abs(signal.cost(up) - 1));
}

TEST(SafetyObjective, TheReferenceItselfNeverPasses) {
    const Case c;
    for (const auto bound : {stats::BoundMethod::kStudentT, stats::BoundMethod::kHoeffding,
                             stats::BoundMethod::kBetting}) {
        ObjectiveConfig config;
        config.bound = bound;
        const auto same = c.objective(config).predict(c.reference);
        EXPECT_FALSE(same.passes);
        EXPECT_GT(same.cost, 1);
        EXPECT_TRUE(std::isfinite(same.cost));
    }
}

TEST(SafetyObjective, NaNHasNoCostAndDoesNotPass) {
    const Case c;
    auto pi = shifted(c.reference, 0.5);
    pi[17] = std::nan("");
    const auto prediction = c.objective({}).predict(pi);
    EXPECT_FALSE(prediction.passes);
    EXPECT_TRUE(std::isnan(prediction.cost));
}

TEST(SafetyObjective, RefusesWhatItCannotPredictFrom) {
    const Case c;
    const auto refused = [&](auto change) {
        auto reference = c.reference;
        auto loss = wrong_decisions(c.drawn.label);
        auto constraints = c.constraints(400);
        ObjectiveConfig config;
        change(reference, loss, constraints, config);
        const auto made = SafetyObjective::create(reference, loss, constraints, config);
        return !made && made.error().reason == "bad_objective";
    };
    EXPECT_FALSE(refused([](auto&, auto&, auto&, auto&) {}));
    EXPECT_TRUE(refused([](auto& r, auto&, auto&, auto&) { r.pop_back(); }));
    EXPECT_TRUE(refused([](auto& r, auto&, auto&, auto&) { r[0] = 1.5; }));
    EXPECT_TRUE(refused([](auto&, auto& l, auto&, auto&) { l.slope[0] = std::nan(""); }));
    EXPECT_TRUE(refused([](auto&, auto&, auto& cs, auto&) { cs.clear(); }));
    EXPECT_TRUE(refused([](auto&, auto&, auto& cs, auto&) { cs[0].more.pop_back(); }));
    EXPECT_TRUE(refused([](auto&, auto&, auto& cs, auto&) { cs[0].rows.back() = 100000; }));
    EXPECT_TRUE(refused([](auto&, auto&, auto& cs, auto&) { cs[0].test_units = 1; }));
    EXPECT_TRUE(refused([](auto&, auto&, auto& cs, auto&) { cs[0].delta = 0.5; }));
    EXPECT_TRUE(refused([](auto&, auto&, auto& cs, auto&) { cs[1] = Constraint{}; }));
    EXPECT_TRUE(refused([](auto&, auto&, auto& cs, auto& o) {
        o.bound = stats::BoundMethod::kBetting;
        cs[0].highest_more.clear();
    }));
    EXPECT_TRUE(refused([](auto&, auto&, auto&, auto& o) { o.inflation = 0.5; }));
    EXPECT_TRUE(refused([](auto&, auto&, auto&, auto& o) { o.power = 1; }));
    EXPECT_TRUE(refused([](auto&, auto&, auto&, auto& o) { o.xi = -1; }));
    EXPECT_TRUE(refused([](auto&, auto&, auto&, auto& o) { o.bet_cap = 1; }));
    ope::ImpactModel absolute = kModel;
    absolute.absolute = 1.0;
    EXPECT_FALSE(
        paired_constraint(c.drawn.log, c.drawn.log.decisions.groups[0], absolute, 0, 9, 0.1));
}

}  // namespace
}  // namespace rampart::candidate_selection
