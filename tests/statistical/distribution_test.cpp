// How often statements about the distribution of a candidate's impacts are wrong.
#include <algorithm>

#include "monte_carlo.hpp"
#include "rampart/ope/impact_distribution.hpp"

namespace rampart::test {
namespace {

using stats::Interval;

constexpr double kDelta = 0.1;
constexpr int kRepetitions = 300;

/// Good applicants repay in full (0.9), late (0.05) or not (0.05); bad ones in full (0.4) or not.
/// The candidate approves 0.8 of the good and 0.2 of the bad, so its impacts are -150 (0.08), 0
/// (0.5), 25 (0.02) and 75 (0.4). `missing`: share of losers without a report.
ope::LoggedFeedback lender(base::Random& random, size_t records, const std::string& prefix,
                           double missing) {
    ope::LoggedFeedback f;
    for (size_t i = 0; i < records; ++i) {
        const bool good = random.bernoulli(0.5);
        Draft draft{.p = random.uniform(0.3, 0.7), .candidate = good ? 0.8 : 0.2, .person = i};
        draft.approved = random.bernoulli(draft.p);
        const double u = random.uniform();
        draft.impact = good ? (u < 0.9 ? 75 : u < 0.95 ? 25 : -150) : (u < 0.4 ? 75 : -150);
        draft.missing = draft.impact < 0 && random.bernoulli(missing);
        add(f, draft, prefix);
    }
    return f;
}

const std::vector<double> kPoints{-150, -75, 0, 25, 50};
const std::vector<double> kTruth{0.08, 0.08, 0.58, 0.60, 0.60};
constexpr double kMean = 18.5, kVariance = 3720.25;

bool misses(const Interval& interval, double truth) {
    return !(interval.lo <= truth && truth <= interval.hi);
}

/// Any point of the band, or any quantity that follows from it.
bool misses_anything(const stats::DistributionBand& band) {
    bool any = misses(stats::mean_interval(band), kMean) ||
               misses(stats::quantile_interval(band, 0.5), 0) ||
               misses(stats::quantile_interval(band, 0.05), -150) ||
               misses(stats::cvar_interval(band, 0.2), -60) ||
               misses(stats::variance_interval(band), kVariance);
    for (size_t k = 0; k < kPoints.size(); ++k) {
        any = any || misses({band.lower[k], band.upper[k]}, kTruth[k]);
    }
    return any;
}

ope::GroupFeedback group_of(const ope::LoggedFeedback& f) {
    return {f.decisions, f.decisions.groups[0].records, f.impact};
}

constexpr ope::ImpactModel kModel{
    .lo = -150, .hi = 75, .q_approve = 0, .q_decline = 0, .declined = 0.0};

TEST(Distribution, TheBandAndAllThatFollowsHoldTogether) {
    for (const double missing : {0.0, 0.2}) {
        double widths = 0;
        const double rate =
            rate_of(fmt::format("candidate's distribution, {} of losses missing", missing),
                    kRepetitions, 51, [&](base::Random& random) {
                        const auto selection = lender(random, 300, "c", missing);
                        const auto test = lender(random, 500, "v", missing);
                        const auto band = ope::candidate_distribution(
                            group_of(selection), group_of(test), kModel, kPoints, kDelta);
                        if (!band) return true;
                        widths += band->upper[0] - band->lower[0];
                        return misses_anything(*band);
                    });
        EXPECT_LE(rate, at_most(kDelta, kRepetitions));
        EXPECT_LT(widths / kRepetitions, missing > 0 ? 0.4 : 0.2) << "and they say something";
    }
}

TEST(Distribution, TheLogsOwnDistributionIsNotTheCandidates) {
    const double wrong =
        rate_of("WRONG: impacts of the log, not weighted", 100, 52, [&](base::Random& random) {
            auto selection = lender(random, 300, "c", 0), test = lender(random, 500, "v", 0);
            for (ope::LoggedFeedback* f : {&selection, &test}) {
                f->decisions.candidate = f->decisions.p_approve;
            }
            const auto band = ope::candidate_distribution(group_of(selection), group_of(test),
                                                          kModel, kPoints, kDelta);
            return !band || misses_anything(*band);
        });
    EXPECT_GT(wrong, 0.5);
}

}  // namespace
}  // namespace rampart::test
