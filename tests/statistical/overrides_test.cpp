// People override draws with more knowledge than the model. The outcome counts for the drawn action
// (intention to treat); other simple methods must be wrong.
#include "monte_carlo.hpp"
#include "rampart/ope/value_bound.hpp"

namespace rampart::test {
namespace {

using certification::GateConfig;
using certification::Verdict;

constexpr double kDelta = 0.1;

/// 80 % repay (+75), 20 % do not (-150). People recognise 90 % of those who repay, and grant them a
/// loan that was drawn as a decline. Of those who do not repay, they refuse 30 % of what was drawn
/// as an approval. The candidate approves more of all people. Its gain is 0 for people who would be
/// granted anyway and negative for the others, so it does harm.
struct Overridden {
    ope::LoggedFeedback log;  // with overrides
    double gain = 0;          // the true one, of these records
};

Overridden world(size_t records, const std::string& prefix, base::Random& random) {
    Overridden out;
    ope::LoggedDecisions& d = out.log.decisions;
    for (uint32_t i = 0; i < records; ++i) {
        Draft draft;
        draft.person = i;
        draft.p = draft.reference = random.uniform(0.3, 0.7);
        draft.candidate = draft.p + 0.5 * std::min(draft.p, 1 - draft.p);
        draft.approved = random.bernoulli(draft.p);
        const bool repays = random.bernoulli(0.8);
        const bool grant = repays && random.bernoulli(0.9);
        const bool refuse = !repays && random.bernoulli(0.3);
        const double loan = repays ? 75 : -150;
        const double drawn_approve = refuse ? 0 : loan, drawn_decline = grant ? loan : 0;
        out.gain += (draft.candidate - draft.reference) * (drawn_approve - drawn_decline) /
                    static_cast<double>(records);
        add(out.log, draft, prefix);
        if (draft.approved ? refuse : grant) d.overridden.push_back(i);
        d.has_impact[i] = d.granted(i);
        out.log.impact[i] = d.granted(i) ? loan : std::numeric_limits<double>::quiet_NaN();
    }
    return out;
}

double estimate(const ope::LoggedFeedback& f, bool declines_overridden) {
    const ope::ImpactModel model{.lo = -150,
                                 .hi = 75,
                                 .q_approve = 30,
                                 .q_decline = 20,
                                 .declined = 0.0,
                                 .declines_overridden = declines_overridden};
    const auto& records = f.decisions.groups[0].records;
    const auto units = ope::map_units(f.decisions, records);
    return stats::moments(ope::unit_values(f.decisions, records, units, f.impact, model, 0)).mean;
}

/// WRONG: leaves out the overridden records.
ope::LoggedFeedback dropped(const ope::LoggedFeedback& from) {
    ope::LoggedFeedback f;
    for (uint32_t i = 0; i < from.decisions.size(); ++i) {
        const auto& d = from.decisions;
        if (d.is_overridden(i)) continue;
        add(f,
            {.p = d.p_approve[i],
             .candidate = d.candidate[i],
             .reference = d.reference[i],
             .approved = d.approved[i] != 0,
             .impact = from.impact[i],
             .person = i},
            "v");
    }
    return f;
}

/// WRONG: ignores overrides; a granted decline counts as a decline.
ope::LoggedFeedback ignored(ope::LoggedFeedback f) {
    for (const uint32_t i : f.decisions.overridden) {
        const bool approved = f.decisions.approved[i] != 0;
        f.decisions.has_impact[i] = approved;
        f.impact[i] = approved ? 0 : std::numeric_limits<double>::quiet_NaN();
    }
    f.decisions.overridden.clear();
    return f;
}

struct Errors {
    stats::Moments of;
    /// In standard errors of the mean.
    double z() const { return of.mean / std::sqrt(of.variance / static_cast<double>(of.n)); }
};

template <class Estimate>
Errors errors(const std::string& name, const Estimate& estimate_gain) {
    constexpr int kLogs = 400;
    std::vector<double> values;
    for (int r = 0; r < kLogs; ++r) {
        base::Random random(base::mix64(91) + static_cast<uint64_t>(r));
        const Overridden w = world(1000, "v", random);
        values.push_back(estimate_gain(w.log) - w.gain);
    }
    const Errors out{stats::moments(values)};
    std::printf("    %-60s mean error %7.3f (%.1f standard errors)\n", name.c_str(), out.of.mean,
                out.z());
    return out;
}

TEST(Overrides, CountedForTheDrawTheyBiasNothingAndDroppedTheyDo) {
    const auto right =
        errors("intention to treat", [](const auto& f) { return estimate(f, true); });
    const auto drop = errors("WRONG: overridden records dropped",
                             [](const auto& f) { return estimate(dropped(f), false); });
    const auto ignore = errors("WRONG: overrides ignored",
                               [](const auto& f) { return estimate(ignored(f), false); });
    EXPECT_LT(std::abs(right.z()), 4);
    EXPECT_GT(drop.z(), 20);
    EXPECT_GT(ignore.z(), 20);
}

TEST(Overrides, TheGateIsNotFooledByThemAndIgnoringThemIsSeenToFoolIt) {
    GateConfig honest = lender_config();
    honest.declines_overridden = true;
    constexpr int kRuns = 200;
    const double right = rate_of("harm, intention to treat", kRuns, 17, [&](base::Random& random) {
        const auto selection = world(1000, "c", random).log, vault = world(1000, "v", random).log;
        return certified(honest, selection, vault);
    });
    const double wrong = rate_of("harm, WRONG: overrides ignored", kRuns, 17, [](auto& random) {
        const auto selection = ignored(world(1000, "c", random).log);
        const auto vault = ignored(world(1000, "v", random).log);
        return certified(lender_config(), selection, vault);
    });
    EXPECT_LE(right, at_most(kDelta, kRuns));
    EXPECT_GT(wrong, 0.9);
}

TEST(Overrides, DroppingThemIsNoticedByThePropensities) {
    base::Random random(3);
    const auto whole = world(2000, "v", random).log;
    const auto z = [](const ope::LoggedFeedback& f) {
        ope::CalibrationTest test;
        for (const uint32_t i : f.decisions.groups[0].records) {
            test.add(f.decisions.p_approve[i], f.decisions.approved[i] != 0);
        }
        return test.z();
    };
    constexpr double kAlarm = 4.3;  // about that of a level of 0.01 for the epoch
    EXPECT_LT(std::abs(z(whole)), kAlarm);
    EXPECT_GT(std::abs(z(dropped(whole))), kAlarm);
}

}  // namespace
}  // namespace rampart::test
