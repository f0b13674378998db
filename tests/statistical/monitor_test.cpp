// A year of weekly looks at a champion: how often harmless changes raise an alarm, how soon real
// harm does, and how often simple but wrong methods raise false alarms.
#include <array>

#include "monte_carlo.hpp"
#include "rampart/monitoring/impact_monitor.hpp"
#include "rampart/stats/confidence_bound.hpp"

namespace rampart::test {
namespace {

constexpr double kDelta = 0.1;
constexpr int kRepetitions = 300;
constexpr size_t kWeeks = 52, kWeekly = 10;

/// Half of the applicants are good (repay with 0.9), half are not (0.35). The champion moved
/// P(approve) by half of min(s, 1 - s) away from the previous policy, in the right direction with
/// probability (1 + skill) / 2; at skill 0 no group is better or worse off. Each person has
/// `decisions`, with the same kind and the same direction of the champion.
struct World {
    double skill = 0;
    size_t decisions = 1;
};

ope::LoggedFeedback weeks(const World& world, size_t n, base::Random& random) {
    ope::LoggedFeedback f;
    auto& d = f.decisions;
    d.logger_ids = {"champion"};
    d.groups = {{"women", {}}, {"men", {}}};
    const size_t persons = (n + world.decisions - 1) / world.decisions;
    std::vector<std::array<bool, 2>> kind(persons);
    for (auto& one : kind) one = {random.bernoulli(0.5), random.bernoulli((1 + world.skill) / 2)};
    for (uint32_t i = 0; i < n; ++i) {
        const size_t person = i % persons;  // all persons come once, then all again
        const auto [good, right] = kind[person];
        const double s = random.uniform(0.3, 0.7), step = 0.5 * std::min(s, 1 - s);
        const double p = good == right ? s + step : s - step;
        const bool approved = random.bernoulli(p);
        d.record_id.push_back(std::to_string(i));
        d.unit_id.push_back("p" + std::to_string(person));
        d.p_approve.push_back(p);
        d.approved.push_back(approved);
        d.has_impact.push_back(approved);
        d.candidate.push_back(s);
        d.reference.push_back(p);
        d.logger.push_back(0);
        d.groups[person % 2].records.push_back(i);
        f.impact.push_back(!approved ? std::numeric_limits<double>::quiet_NaN()
                           : random.bernoulli(good ? 0.9 : 0.35) ? 75.0
                                                                 : -150.0);
    }
    return f;
}

/// The first n records.
ope::LoggedFeedback prefix(const ope::LoggedFeedback& all, size_t n) {
    auto f = all;
    auto& d = f.decisions;
    d.record_id.resize(n);
    d.unit_id.resize(n);
    d.p_approve.resize(n);
    d.approved.resize(n);
    d.has_impact.resize(n);
    d.candidate.resize(n);
    d.reference.resize(n);
    d.logger.resize(n);
    f.impact.resize(n);
    for (auto& group : d.groups) std::erase_if(group.records, [n](uint32_t i) { return i >= n; });
    return f;
}

monitoring::WatchPlan plan_for(const ope::LoggedFeedback& before) {
    const ope::ImpactModel impact{.lo = -150, .hi = 75, .declined = 0.0};
    return *monitoring::plan_watch({.delta = kDelta, .min_units = 1}, impact, before);
}

/// The week of the first alarm of the year; nullopt: none. `rename` may change which person a
/// record counts for.
template <class Rename>
std::optional<size_t> first_alarm(const World& world, base::Random& random, const Rename& rename) {
    const auto before = weeks({}, 600, random);
    const auto plan = plan_for(before);
    auto year = weeks(world, kWeeks * kWeekly, random);
    rename(year);
    for (size_t week = 1; week <= kWeeks; ++week) {
        const auto state = monitoring::look(plan, prefix(year, week * kWeekly));
        EXPECT_TRUE(state);
        if (state->alarm()) return week;
    }
    return std::nullopt;
}

std::optional<size_t> first_alarm(const World& world, base::Random& random) {
    return first_alarm(world, random, [](const auto&) {});
}

TEST(Monitor, AYearOfWeeklyLooksAtAHarmlessChampionSeldomRaisesAnAlarm) {
    const double rate = rate_of("false alarms in a year, any group", kRepetitions, 21,
                                [](auto& random) { return first_alarm({}, random).has_value(); });
    EXPECT_LE(rate, at_most(kDelta, kRepetitions));
}

TEST(Monitor, RepeatedPersonsRaiseNoMoreFalseAlarms) {
    const World sticky{.skill = 0, .decisions = 26};
    const double rate =
        rate_of("false alarms, 26 decisions a person", kRepetitions, 22,
                [&](auto& random) { return first_alarm(sticky, random).has_value(); });
    EXPECT_LE(rate, at_most(kDelta, kRepetitions));
    const auto everyone_new = [](ope::LoggedFeedback& year) {
        year.decisions.unit_id = year.decisions.record_id;
    };
    const double wrong = rate_of(
        "each decision as a person's only one (wrong)", kRepetitions, 22,
        [&](auto& random) { return first_alarm(sticky, random, everyone_new).has_value(); });
    EXPECT_GT(wrong, at_most(kDelta, kRepetitions));
}

TEST(Monitor, AChampionThatHarmsIsFoundWithinTheYear) {
    double weeks_until = 0;
    int found = 0;
    const double power = rate_of("real harm found", 100, 23, [&](auto& random) {
        const auto week = first_alarm({.skill = -0.8}, random);
        if (week) {
            weeks_until += static_cast<double>(*week);
            ++found;
        }
        return week.has_value();
    });
    std::printf("    after %.0f weeks in the mean\n", weeks_until / found);
    EXPECT_GT(power, 0.9);
    EXPECT_LT(weeks_until / found, 40);
}

TEST(Monitor, ATTestAtEachLookRaisesFalseAlarms) {
    const auto model = ope::ImpactModel{.lo = -150, .hi = 75, .declined = 0.0};
    const double naive =
        rate_of("t test at each look (wrong)", kRepetitions, 24, [&](auto& random) {
            const auto year = weeks({}, kWeeks * kWeekly, random);
            std::array<std::vector<double>, 2> values;
            for (uint32_t i = 0; i < year.decisions.size(); ++i) {
                const auto& d = year.decisions;
                ope::Record record{d.p_approve[i], d.approved[i] != 0, d.candidate[i],
                                   d.reference[i], std::nullopt,       false};
                if (d.has_impact[i] != 0) record.impact = year.impact[i];
                values[i % 2].push_back(ope::impact_change(record, model));
                if ((i + 1) % kWeekly != 0 || i < 100) continue;
                for (const auto& group : values) {  // delta is divided by the groups here, too
                    if (stats::t_lower_bound(stats::moments(group), kDelta / 2) > 0) return true;
                }
            }
            return false;
        });
    EXPECT_GT(naive, 2 * kDelta);
}

}  // namespace
}  // namespace rampart::test
