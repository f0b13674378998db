// The bounds of the gate for a continuous action: a limit between 0 and 1, drawn around a
// prediction.
#include "reference/density.hpp"

#include "monte_carlo.hpp"
#include "rampart/stats/betting.hpp"
#include "rampart/stats/confidence_bound.hpp"

namespace rampart::test {
namespace {

using reference::TruncatedNormal;

constexpr double kDelta = 0.1;
constexpr size_t kRecords = 400;

/// The reference predicts x and explores around it; the candidate predicts `step` more for the
/// whole range of x. A higher limit y brings y - 1.25 y^2 on average, which becomes negative in the
/// end.
struct Draw {
    reference::DensityRecord record;
    stats::Interval range;
    double truth = 0;  // change by the candidate, given x
};

double second_moment(const TruncatedNormal& d) {
    double sum = 0;
    constexpr int kSteps = 40;
    for (int i = 0; i < kSteps; ++i) {
        const double y = (i + 0.5) / kSteps;
        sum += y * y * d.density(y) / kSteps;
    }
    return sum;
}

Draw draw(base::Random& random, const reference::DensityModel& model, double step) {
    const double x = random.uniform(0.2, 0.6);
    const auto today = *TruncatedNormal::make(x, 0.25, 0, 1);
    const auto candidate = *TruncatedNormal::make(x + step, 0.25, 0, 1);
    const double y = today.quantile(random.uniform());
    Draw out;
    const double p = today.density(y);
    out.record = {p, candidate.density(y), p, 0, {}};
    if (model.max_weight) {
        out.record.excess = reference::excess_mass(candidate, today, *model.max_weight);
    }
    out.record.impact = y - 1.25 * y * y + random.uniform(-0.25, 0.25);
    out.range = reference::density_range({reference::ratio_range(candidate, today)},
                                         out.record.excess, model);
    out.truth =
        candidate.mean() - today.mean() - 1.25 * (second_moment(candidate) - second_moment(today));
    return out;
}

struct Sample {
    std::vector<double> values;
    double lo = 0, truth = 0;
    Sample(base::Random& random, const reference::DensityModel& model, double step) {
        for (size_t i = 0; i < kRecords; ++i) {
            const Draw d = draw(random, model, step);
            values.push_back(reference::density_change(d.record, model));
            lo = std::min(lo, d.range.lo);
            truth += d.truth / kRecords;
        }
    }
};

/// Whether the default bound puts the gain above `theta`.
bool above(base::Random& random, const reference::DensityModel& model, double step, double offset) {
    const Sample selection(random, model, step), test(random, model, step);
    // against the truth given the records' x: the least favourable null
    const double theta = test.truth + offset;
    std::vector<double> values = test.values;
    for (double& z : values) z -= theta;
    const auto bets = stats::plan_bets({kRecords, stats::moments(selection.values).variance},
                                       test.lo - theta, kDelta);
    return bets && stats::log_wealth(values, test.lo - theta, *bets, 0) >= -std::log(kDelta);
}

constexpr reference::DensityModel kModel{.lo = -0.5, .hi = 0.5, .q = 0};

TEST(Density, TheTruthIsExceededAtMostAsOftenAsDelta) {
    constexpr int kRuns = 400;
    for (const bool cut : {false, true}) {
        reference::DensityModel model = kModel;
        if (cut) model.max_weight = 1.5;
        const double rate =
            rate_of(cut ? "limits, weights cut" : "limits", kRuns, 71,
                    [&](base::Random& random) { return above(random, model, 0.15, 0); });
        EXPECT_LE(rate, at_most(kDelta, kRuns));
    }
}

TEST(Density, AGainIsFound) {
    // lower limits where they do harm: the gain is clear against half of it
    const double rate = rate_of("limits, a gain", 100, 72, [&](base::Random& random) {
        return above(random, kModel, -0.1, -0.05);
    });
    EXPECT_GT(rate, 0.9);
}

TEST(Density, CuttingRatiosWithoutPayingForItHidesHarm) {
    constexpr int kRuns = 100;
    const double wrong =
        rate_of("WRONG: (min(w, 1.5) - 1) I", kRuns, 73, [&](base::Random& random) {
            std::vector<double> values;
            double truth = 0;
            for (size_t i = 0; i < 4000; ++i) {
                const Draw d = draw(random, kModel, 0.3);
                const double w = std::min(d.record.candidate / d.record.logger, 1.5);
                values.push_back((w - 1) * *d.record.impact - d.truth);
                truth += d.truth;
            }
            EXPECT_LT(truth, 0) << "it does harm";
            return stats::t_lower_bound(stats::moments(values), kDelta) > 0;
        });
    EXPECT_GT(wrong, 0.5);
}

}  // namespace
}  // namespace rampart::test
