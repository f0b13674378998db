// If the impact depends on the features, control variates by a regression on the development set
// certify the same gain more often than two constants, and no candidate falsely more often.
#include <numeric>

#include "monte_carlo.hpp"
#include "rampart/ope/impact_regression.hpp"
#include "rampart/ope/value_bound.hpp"

namespace rampart::test {
namespace {

using certification::ControlVariateKind;
using certification::GateConfig;

constexpr double kDelta = 0.1;
constexpr ope::Interval kRange{-100, 100};

struct Log {
    ope::LoggedFeedback feedback;
    std::vector<double> x;  // one feature a record
};

/// An approval brings 80 x and noise, a decline 0; x is uniform on [-1, 1]. The candidate moves
/// P(approve) in the right direction with probability (1 + skill) / 2.
Log draw(base::Random& random, size_t records, double skill, const std::string& prefix) {
    Log out;
    for (size_t i = 0; i < records; ++i) {
        const double x = random.uniform(-1, 1), p = random.uniform(0.3, 0.7);
        const bool right = random.bernoulli((1 + skill) / 2);
        const double step = 0.5 * std::min(p, 1 - p);
        Draft draft{.p = p, .candidate = (x > 0) == right ? p + step : p - step, .reference = p};
        draft.approved = random.bernoulli(p);
        draft.impact = 80 * x + random.uniform(-20, 20);
        draft.person = i;
        out.x.push_back(x);
        add(out.feedback, draft, prefix);
    }
    return out;
}

/// Control variates as the trainer makes them: cross-fitted for the development set, from all of it
/// for the vault.
void add_control_variates(Log& selection, Log& vault) {
    auto& decisions = selection.feedback.decisions;
    const ope::RegressionData data{1, selection.x, decisions.approved, selection.feedback.impact};
    std::vector<uint32_t> unit(decisions.size());
    std::iota(unit.begin(), unit.end(), 0u);
    decisions.control_variates = *ope::cross_fitted_control_variates(data, unit, 5, kRange);
    const auto model = *ope::ImpactRegression::fit(data, kRange);
    for (const double& x : vault.x) {
        vault.feedback.decisions.control_variates.push_back(model.predict({&x, 1}));
    }
}

GateConfig config_of(ControlVariateKind control_variates) {
    GateConfig config = lender_config();
    config.impact_lo = kRange.lo;
    config.impact_hi = kRange.hi;
    config.control_variates = control_variates;
    return config;
}

double certified_share(const std::string& name, ControlVariateKind control_variates, double skill,
                       size_t records, int repetitions) {
    return rate_of(name, repetitions, 81, [&](base::Random& random) {
        Log selection = draw(random, 600, skill, "c"), vault = draw(random, records, skill, "v");
        if (control_variates == ControlVariateKind::kRegression)
            add_control_variates(selection, vault);
        return certified(config_of(control_variates), selection.feedback, vault.feedback);
    });
}

TEST(RegressionCentres, CertifyNoMoreOftenFalsely) {
    constexpr int kRuns = 600;
    const double rate =
        certified_share("regression, boundary", ControlVariateKind::kRegression, 0, 300, kRuns);
    EXPECT_LE(rate, at_most(kDelta, kRuns));
}

TEST(RegressionCentres, CertifyAGainMoreOften) {
    constexpr int kRuns = 200;
    const double constants =
        certified_share("two constants, a gain", ControlVariateKind::kPerAction, 0.15, 400, kRuns);
    const double regression =
        certified_share("regression, a gain", ControlVariateKind::kRegression, 0.15, 400, kRuns);
    EXPECT_GT(regression, constants + 4 * std::sqrt(0.5 / kRuns));
}

TEST(RegressionCentres, TakeOutOfTheVarianceWhatTheFeaturesExplain) {
    base::Random random(82);
    Log selection = draw(random, 2000, 0, "c"), vault = draw(random, 2000, 0, "v");
    const auto variance = [&] {
        const auto& d = vault.feedback.decisions;
        const ope::ImpactModel model{
            .lo = kRange.lo, .hi = kRange.hi, .q_approve = 0, .q_decline = 0, .declined = 0.0};
        const auto& records = d.groups[0].records;
        return stats::moments(ope::unit_values(d, records, ope::map_units(d, records),
                                               vault.feedback.impact, model, 0))
            .variance;
    };
    const double constants = variance();
    add_control_variates(selection, vault);
    EXPECT_LT(variance(), 0.6 * constants);
}

}  // namespace
}  // namespace rampart::test
