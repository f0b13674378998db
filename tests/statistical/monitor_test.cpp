// A year of weekly looks at a champion: how often harmless changes raise an alarm, how soon real
// harm does, and how often simple but wrong methods raise false alarms.
#include <array>

#include "monte_carlo.hpp"
#include "rampart/monitoring/impact_monitor.hpp"
#include "rampart/stats/betting.hpp"
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
    double first_skill = 0;  // towards the first persons
    size_t first = 0;        // number of the first persons
};

ope::LoggedFeedback weeks(const World& world, size_t n, base::Random& random) {
    ope::LoggedFeedback f;
    auto& d = f.decisions;
    d.logger_ids = {"champion"};
    d.groups = {{"women", {}}, {"men", {}}};
    const size_t persons = (n + world.decisions - 1) / world.decisions;
    std::vector<std::array<bool, 2>> kind(persons);
    for (size_t i = 0; i < persons; ++i) {
        const double skill = i < world.first ? world.first_skill : world.skill;
        kind[i] = {random.bernoulli(0.5), random.bernoulli((1 + skill) / 2)};
    }
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

/// Z of each person by group, with the range and the bets that were planned for it.
struct Values {
    std::vector<double> z;
    const monitoring::PlannedGroup* group = nullptr;
};

std::vector<Values> values_of(const monitoring::WatchPlan& plan, const ope::LoggedFeedback& f) {
    std::vector<Values> out;
    for (size_t g = 0; g < plan.groups.size(); ++g) {
        Values& one = out.emplace_back();
        one.group = &plan.groups[g];
        for (const uint32_t i : f.decisions.groups[g].records) {
            ope::Record record = ope::record_at(f.decisions, i);
            if (f.decisions.has_impact[i] != 0) record.impact = f.impact[i];
            if (ope::change_range(record, one.group->impact).lo >= one.group->lo)
                one.z.push_back(ope::impact_change(record, one.group->impact));
        }
    }
    return out;
}

/// Ln wealth of the bettor from value `start` on.
double from(const Values& v, size_t start) {
    return stats::log_wealth(std::span(v.z).subspan(start), v.group->lo, v.group->change, 0);
}

/// Whether a group has enough wealth without later starts, as before.
bool found_from_the_first(const monitoring::WatchPlan& plan, const ope::LoggedFeedback& f) {
    const auto all = values_of(plan, f);
    return std::any_of(all.begin(), all.end(),
                       [&](const Values& v) { return from(v, 0) >= plan.log_needed; });
}

/// Whether the best of the bettors has enough: the largest wealth instead of the mean (wrong).
bool found_by_the_best(const monitoring::WatchPlan& plan, const ope::LoggedFeedback& f) {
    for (const Values& v : values_of(plan, f)) {
        const size_t block = v.group->units / 4;
        for (size_t start = 0; start < v.z.size(); start += block)
            if (from(v, start) >= plan.log_needed) return true;
    }
    return false;
}

bool found_by_the_monitor(const monitoring::WatchPlan& plan, const ope::LoggedFeedback& f) {
    return monitoring::look(plan, f)->alarm();
}

/// Mean number of weeks from `first` persons on to the alarm, over `weeks` weeks.
template <class Found>
double delay(const World& world, size_t weeks_in_all, const Found& found) {
    constexpr int kWorlds = 60;
    double sum = 0;
    for (int r = 0; r < kWorlds; ++r) {
        base::Random random(base::mix64(77) + static_cast<uint64_t>(r));
        const auto plan = plan_for(weeks({}, 600, random));
        const auto all = weeks(world, weeks_in_all * kWeekly, random);
        size_t week = world.first / kWeekly;
        while (week < weeks_in_all && !found(plan, prefix(all, week * kWeekly))) ++week;
        sum += static_cast<double>(week - world.first / kWeekly) / kWorlds;
    }
    return sum;
}

TEST(Monitor, HarmThatBeginsLateIsFoundSoonerAndHarmFromTheFirstDayNotMuchLater) {
    const auto report = [](const char* name, const World& world) {
        const double before = delay(world, 156, found_from_the_first);
        const double now = delay(world, 156, found_by_the_monitor);
        std::printf("    %-60s %.1f weeks, %.1f without later starts\n", name, now, before);
        return now / before;
    };
    EXPECT_LT(report("harm from the first day", {.skill = -0.8}), 1.2);
    EXPECT_LT(
        report("harm after half a year of gain", {.skill = -0.8, .first_skill = 0.8, .first = 260}),
        0.8);
    EXPECT_LT(
        report("harm after a year of gain", {.skill = -0.8, .first_skill = 0.8, .first = 520}),
        0.6);
    EXPECT_LT(report("harm after a year without change", {.skill = -0.8, .first = 520}), 1.0);
}

TEST(Monitor, TheLargestWealthInsteadOfTheMeanRaisesFalseAlarms) {
    const auto rate = [](const char* name, const auto& found) {
        return rate_of(name, kRepetitions, 25, [&](auto& random) {
            const auto plan = plan_for(weeks({}, 200, random));
            const auto years = weeks({}, 3 * kWeeks * kWeekly, random);
            for (size_t week = 4; week <= 3 * kWeeks; week += 4)
                if (found(plan, prefix(years, week * kWeekly))) return true;
            return false;
        });
    };
    EXPECT_LE(rate("false alarms in three years", found_by_the_monitor),
              at_most(kDelta, kRepetitions));
    EXPECT_GT(rate("the largest wealth of all starts (wrong)", found_by_the_best),
              at_most(kDelta, kRepetitions));
}

TEST(Monitor, TheMeanWealthOverStartsIsOneWhereNothingChanges) {
    constexpr int kWorlds = 40'000;
    const stats::Bets bets{.bets = {0.02, 0.05, 0.1}, .weights = {0.15, 0.70, 0.15}, .cap = 0.95};
    stats::Sum sum, squares, wrong;
    base::Random random(26);
    for (int r = 0; r < kWorlds; ++r) {
        std::vector<double> z(100);
        for (double& one : z) one = random.bernoulli(0.5) ? 1 : -1;
        const double wealth = std::exp(stats::log_wealth_over_starts(z, -1, bets, 10).log_wealth);
        sum.add(wealth);
        squares.add(wealth * wealth);
        // each start with the weight of the first (wrong): 1/2 for each of the ten
        for (size_t start = 0; start < z.size(); start += 10)
            wrong.add(std::exp(stats::log_wealth(std::span(z).subspan(start), -1, bets, 0)) / 2);
    }
    const double mean = sum.value() / kWorlds;
    const double error = std::sqrt((squares.value() / kWorlds - mean * mean) / kWorlds);
    std::printf("    mean wealth %.4f, standard error %.4f\n", mean, error);
    EXPECT_LT(error, 0.01);
    EXPECT_NEAR(mean, 1, 4 * error);
    EXPECT_GT(wrong.value() / kWorlds, 1 + 40 * error);
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
