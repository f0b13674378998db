// Possible mistakes of a gate that a single clean sample does not show: the choice of tau, looks at
// growing data, loggers that react, clipped weights, wrong propensities, drift. In each population
// the average gain of the candidate is 0 or less. The default (paired, with control variates,
// constant bets planned on other data, wealth at the decision) stays within delta, and the mistake
// must fail. wrong_gates_test.cpp has more of them through the whole gate.
#include <numeric>

#include "monte_carlo.hpp"
#include "rampart/ope/estimator.hpp"
#include "rampart/ope/importance_weights.hpp"
#include "rampart/stats/confidence_sequence.hpp"
#include "reference/hedged_betting.hpp"
#include "reference_population.hpp"

namespace rampart::test {
namespace {

using namespace reference;
using Values = std::vector<double>;

constexpr Candidate kNull = kCandidates[0];  // near, group 1 exactly on the boundary

bool t_passes(std::span<const double> values, double delta = kDelta) {
    return stats::t_lower_bound(stats::moments(values), delta) > 0;
}

stats::Bets bets_for(size_t n, std::span<const double> selection, double lo) {
    return *stats::plan_bets({n, stats::moments(selection).variance}, lo, kDelta);
}

/// The default: wealth at the end, of bets planned on `selection`.
bool default_passes(std::span<const double> values, std::span<const double> selection, double lo) {
    return stats::log_wealth(values, lo, bets_for(values.size(), selection, lo), 0) >=
           -std::log(kDelta);
}

/// Counts several gates on the same repetitions.
class Rates {
  public:
    explicit Rates(int repetitions) : repetitions_(repetitions) {}
    void add(const std::string& name, bool passed) {
        auto at = std::find_if(counts_.begin(), counts_.end(),
                               [&](const auto& entry) { return entry.first == name; });
        if (at == counts_.end()) at = counts_.insert(at, {name, 0});
        at->second += passed;
    }
    double operator[](const std::string& name) const {
        for (const auto& [known, passed] : counts_) {
            if (known == name) return static_cast<double>(passed) / repetitions_;
        }
        ADD_FAILURE() << "no gate " << name;
        return -1;
    }
    void print() const {
        for (const auto& [name, passed] : counts_) {
            std::printf("    %-60s %.4f  (%d repetitions)\n", name.c_str(),
                        static_cast<double>(passed) / repetitions_, repetitions_);
        }
    }

  private:
    int repetitions_;
    std::vector<std::pair<std::string, int>> counts_;
};

template <class Trial>
Rates rates_of(int repetitions, uint64_t seed, const Trial& trial) {
    Rates rates(repetitions);
    for (int r = 0; r < repetitions; ++r) {
        base::Random random(base::mix64(seed) + static_cast<uint64_t>(r));
        trial(random, rates);
    }
    rates.print();
    return rates;
}

ope::Record record_of(const Person& person, double alpha) {
    return {person.p, person.approved, probability(kNull, person), person.p, impact(person, alpha)};
}

Values estimates(std::span<const Person> people, double alpha, const ope::ImpactModel& model) {
    Values out;
    out.reserve(people.size());
    for (const Person& person : people) {
        out.push_back(ope::impact_change(record_of(person, alpha), model));
    }
    return out;
}

double mean_impact(std::span<const Person> people, double alpha) {
    double sum = 0;
    for (const Person& person : people) sum += impact(person, alpha);
    return sum / static_cast<double>(people.size());
}

ope::ImpactModel centred(size_t group, double alpha, double centre) {
    const ope::Interval range = impact_range(group, alpha);
    return {.lo = range.lo, .hi = range.hi, .q_approve = centre, .q_decline = centre};
}

/// The smallest value of the centred form in the trust region.
double centred_lo(const ope::ImpactModel& model) {
    return -kKappa * std::max(model.hi - model.q_approve, model.q_approve - model.lo);
}

TEST(Scenario, AConstantEstimatedFromOtherDataAndTakenForKnownCertifiesFalsely) {
    constexpr int kRuns = 1200;
    constexpr size_t kRecords = 1229, kSelected = 737;  // records of group 1 in a log of 4,096
    constexpr double kAlpha = 0.9;
    const Rates rates = rates_of(kRuns, 101, [&](base::Random& random, Rates& out) {
        const auto log = draw(random, 1, kRecords);
        const auto older = draw(random, 1, kRecords / 4);
        const std::span<const Person> people(log);
        const auto tested = people.subspan(kSelected), selected = people.first(kSelected);
        const auto against = [&](double tau) {
            ope::ImpactModel model = centred(1, kAlpha, 0);
            model.absolute = tau;
            return t_passes(estimates(tested, kAlpha, model));
        };
        out.add("tau known", against(true_tau(1, kAlpha)));
        out.add("tau from the whole log (the paper)", against(mean_impact(people, kAlpha)));
        out.add("WRONG: tau from the development set", against(mean_impact(selected, kAlpha)));
        out.add("WRONG: tau from an older log", against(mean_impact(older, kAlpha)));
        const auto model = centred(1, kAlpha, mean_impact(selected, kAlpha));
        const Values paired = estimates(tested, kAlpha, model);
        out.add("paired, t", t_passes(paired));
        out.add("paired, default",
                default_passes(paired, estimates(selected, kAlpha, model), centred_lo(model)));
    });
    EXPECT_LE(rates["tau known"], at_most(kDelta, kRuns));
    EXPECT_LE(rates["tau from the whole log (the paper)"], at_most(kDelta, kRuns));
    EXPECT_LE(rates["paired, t"], at_most(kDelta, kRuns));
    EXPECT_LE(rates["paired, default"], at_most(kDelta, kRuns));
    EXPECT_GT(rates["WRONG: tau from the development set"], at_most(kDelta, kRuns));
    EXPECT_GT(rates["WRONG: tau from an older log"], 0.15);
}

/// A year of weekly looks at one candidate, 150 records a week, alpha 0.5; `gain` is added to each.
void weekly_looks(base::Random& random, double gain, Rates& out) {
    constexpr size_t kWeeks = 52, kWeekly = 150;
    const auto selection = draw(random, 1, 1000);
    const auto model = centred(1, 0.5, mean_impact(selection, 0.5));
    Values values = estimates(draw(random, 1, kWeeks * kWeekly), 0.5, model);
    for (double& z : values) z += gain;
    const double lo = centred_lo(model) + gain;
    const stats::Bets bets = bets_for(values.size(), estimates(selection, 0.5, model), lo);
    stats::AsymptoticSequence sequence(kDelta, values.size());
    bool wealthy = false, sequential = false, naive = false, spent = false;
    for (size_t week = 1; week <= kWeeks; ++week) {
        const std::span<const double> so_far = std::span(values).first(week * kWeekly);
        for (const double z : so_far.last(kWeekly)) sequence.add(z);
        sequential = sequential || sequence.lower() > 0;
        naive = naive || t_passes(so_far);
        spent = spent || t_passes(so_far, kDelta / kWeeks);
        wealthy = wealthy || stats::log_wealth(so_far, lo, bets, 0) >= -std::log(kDelta);
    }
    out.add("default: its wealth at every look, one charge", wealthy);
    out.add("asymptotic sequence", sequential);
    out.add("t at delta / 52", spent);
    out.add("WRONG: t at delta every week", naive);
}

TEST(Scenario, AYearOfLooksAtOneCandidateCostsOneChargeWithWealthOnly) {
    constexpr int kRuns = 300;
    const Rates rates = rates_of(
        kRuns, 102, [](base::Random& random, Rates& out) { weekly_looks(random, 0, out); });
    EXPECT_LE(rates["default: its wealth at every look, one charge"], at_most(kDelta, kRuns));
    EXPECT_LE(rates["asymptotic sequence"], at_most(kDelta, kRuns));
    EXPECT_LE(rates["t at delta / 52"], at_most(kDelta, kRuns));
    EXPECT_GT(rates["WRONG: t at delta every week"], 0.3);
}

TEST(Scenario, AYearOfLooksFindsAGainMoreOftenThanTheBudgetSplitOverTheWeeks) {
    // one t test on the whole year would find it with 0.99
    const double gain = 0.11 / std::sqrt(52 * 150) * (2.326 + 1.282);
    const Rates rates = rates_of(
        100, 103, [&](base::Random& random, Rates& out) { weekly_looks(random, gain, out); });
    EXPECT_GT(rates["default: its wealth at every look, one charge"], rates["t at delta / 52"]);
    EXPECT_GT(rates["default: its wealth at every look, one charge"], 0.85);
}

/// Ten batches of 300. Applicants get better from batch to batch, and each logger approves more,
/// the better the batch before was. The candidate approves all people a little more than the
/// current reference; over the whole log that gains 0.
struct Reacting {
    std::vector<ope::Record> own;  // each with the propensity of the policy that decided it
    std::vector<double> policies;  // P(approve) of each batch's logger
};
constexpr size_t kBatches = 10, kBatchRecords = 300;

Reacting reacting(base::Random& random) {
    Reacting out;
    double last = -1;
    for (size_t b = 0; b < kBatches; ++b) {
        const double mean = -1 + 2 * static_cast<double>(b) / (kBatches - 1);
        const double p = std::clamp(0.5 + 0.2 * last, 0.2, 0.8);
        out.policies.push_back(p);
        double sum = 0, approvals = 0;
        for (size_t i = 0; i < kBatchRecords; ++i) {
            ope::Record record{p, random.bernoulli(p), 0.6, 0.5, 0.0};
            record.impact = mean + random.uniform(-2, 2);
            if (record.approved) sum += *record.impact, approvals += 1;
            out.own.push_back(record);
        }
        last = approvals > 0 ? sum / approvals : 0;
    }
    return out;
}

TEST(Scenario, LoggersThatReactToOutcomesNeedTheirOwnPropensities) {
    constexpr int kRuns = 800;
    const ope::ImpactModel model{
        .lo = -3, .hi = 3, .q_approve = 0, .q_decline = 0, .declined = 0.0};
    const Rates rates = rates_of(kRuns, 104, [&](base::Random& random, Rates& out) {
        const Reacting log = reacting(random), earlier = reacting(random);
        const double mixture =
            std::accumulate(log.policies.begin(), log.policies.end(), 0.0) / kBatches;
        const auto values = [&](const Reacting& from, double p) {
            Values z;
            for (ope::Record record : from.own) {
                if (p > 0) record.p = p;
                z.push_back(ope::impact_change(record, model));
            }
            return z;
        };
        double lo = 0;
        for (const ope::Record& r : log.own) lo = std::min(lo, ope::change_range(r, model).lo);
        const Values own = values(log, 0);
        out.add("own propensities, default", default_passes(own, values(earlier, 0), lo));
        out.add("own propensities, t", t_passes(own));
        out.add("WRONG: propensities of the mixture", t_passes(values(log, mixture)));
        out.add("WRONG: propensities of today's policy",
                t_passes(values(log, log.policies.back())));
    });
    EXPECT_LE(rates["own propensities, default"], at_most(kDelta, kRuns));
    EXPECT_LE(rates["own propensities, t"], at_most(kDelta, kRuns));
    EXPECT_GT(rates["WRONG: propensities of the mixture"], 0.5);
    EXPECT_GT(rates["WRONG: propensities of today's policy"], 0.5);
}

/// One in ten was almost always approved, and gains 1 by it; the candidate declines half of them.
/// All others have small gains, so the average is 0.
std::vector<ope::Record> rarely_denied(base::Random& random) {
    std::vector<ope::Record> out;
    for (int i = 0; i < 4000; ++i) {
        const bool rare = random.bernoulli(0.1);
        ope::Record record{rare ? 0.95 : 0.5, false, rare ? 0.5 : 0.6, rare ? 0.95 : 0.5, 0.0};
        record.approved = random.bernoulli(record.p);
        record.impact = (record.approved ? (rare ? 1 : 0.5) : 0) + random.uniform(-0.3, 0.3);
        out.push_back(record);
    }
    return out;
}

TEST(Scenario, WeightsCutInOnePlaceOnlyOrUnpaidCertifyHarm) {
    constexpr int kRuns = 500;
    static constexpr double kCut = 3;
    // control variates that explain half of the effect of the action
    ope::ImpactModel model{.lo = -0.3, .hi = 1.3, .q_approve = 0.4, .q_decline = 0.15};
    ope::ImpactModel cut = model;
    cut.max_weight = kCut;
    const Rates rates = rates_of(kRuns, 105, [&](base::Random& random, Rates& out) {
        const auto log = rarely_denied(random), earlier = rarely_denied(random);
        const auto values = [&](const auto& records, const ope::ImpactModel& with) {
            Values z;
            for (const auto& record : records) z.push_back(ope::impact_change(record, with));
            return z;
        };
        const auto weight = [](const ope::Record& r) {
            return std::min(ope::importance_weight(r.candidate, r.p, r.approved), kCut);
        };
        Values naive, residual;
        for (const auto& r : log) {
            naive.push_back((weight(r) - 1) * (*r.impact - 0.3));
            residual.push_back((weight(r) - 1) * (*r.impact - (r.approved ? 0.4 : 0.15)) +
                               (r.candidate - r.reference) * (0.4 - 0.15));
        }
        double lo = 0;
        for (const auto& r : log) lo = std::min(lo, ope::change_range(r, cut).lo);
        out.add("not cut, t", t_passes(values(log, model)));
        out.add("cut and paid for, t", t_passes(values(log, cut)));
        out.add("cut and paid for, default",
                default_passes(values(log, cut), values(earlier, cut), lo));
        out.add("WRONG: (min(w, 3) - 1)(I - c)", t_passes(naive));
        out.add("WRONG: cut in the residual only", t_passes(residual));
    });
    EXPECT_LE(rates["not cut, t"], at_most(kDelta, kRuns));
    EXPECT_LE(rates["cut and paid for, t"], at_most(kDelta, kRuns));
    EXPECT_LE(rates["cut and paid for, default"], at_most(kDelta, kRuns));
    EXPECT_GT(rates["WRONG: (min(w, 3) - 1)(I - c)"], 0.25);
    EXPECT_GT(rates["WRONG: cut in the residual only"], 0.25);
}

TEST(Scenario, LoggedPropensitiesThatLieAreFoundByCalibrationAndNotByTheMeanWeight) {
    constexpr int kRuns = 250;
    constexpr size_t kRecords = 2000;
    for (const double shift : {0.0, 0.2, -0.2, 0.4, -0.4}) {
        const std::string name = fmt::format("logit shifted by {:+.1f}: ", shift);
        const Rates rates = rates_of(kRuns, 106, [&](base::Random& random, Rates& out) {
            auto people = draw(random, 1, kRecords);
            ope::WeightSums sums;
            for (Person& person : people) {  // drawn with another probability than the logged one
                person.approved = random.bernoulli(floored_sigmoid(person.score + shift));
                sums.add(probability(kNull, person), person.p, person.approved);
            }
            const ope::WeightDiagnostics w = sums.diagnostics();
            const bool alarm = std::abs(w.calibration_z) > 3.29;
            const auto model = centred(1, 0.5, 0.5 * mean_approval(1) + 0.5);
            const Values z = estimates(people, 0.5, model);
            out.add(name + "calibration alarm", alarm);
            out.add(name + "mean weight alarm", std::abs(w.mean_weight_z) > 3.29);
            out.add(name + "default, certified without alarm",
                    !alarm && default_passes(z, estimates(draw(random, 1, 1000), 0.5, model),
                                             centred_lo(model)));
        });
        const double alarm = rates[name + "calibration alarm"];
        if (shift == 0) {
            EXPECT_LE(alarm, at_most(0.001, kRuns));
        } else {
            EXPECT_GT(alarm, std::abs(shift) > 0.3 ? 0.98 : 0.35);
        }
        EXPECT_LE(rates[name + "mean weight alarm"], 0.02);
        EXPECT_LE(rates[name + "default, certified without alarm"], at_most(kDelta, kRuns));
    }
}

/// WRONG if the mean may change: the largest wealth at any time in the log.
double running_log_wealth(std::span<const double> values, const stats::Bets& bets) {
    std::array<double, stats::kBetCount> logs{};
    double best = -1e300;
    for (const double z : values) {
        double wealth = 0;
        for (size_t k = 0; k < logs.size(); ++k) {
            logs[k] += std::log1p(bets.bets[k] * z);
            wealth += bets.weights[k] * std::exp(logs[k]);
        }
        best = std::max(best, std::log(wealth));
    }
    return best;
}

TEST(Scenario, UnderDriftTheWealthOfABeginningIsNotThatOfTheLog) {
    constexpr int kRuns = 400;
    constexpr size_t kRecords = 4000;
    const double sd = 1 / std::sqrt(3.0), needed = -std::log(kDelta);
    const double step = 3 * sd / std::sqrt(kRecords / 2.0);
    const stats::Range range{-1 - step, 1 + step};
    for (const double sign : {1.0, -1.0}) {
        const std::string name = sign > 0 ? "good first: " : "harmful first: ";
        const Rates rates = rates_of(kRuns, 107, [&](base::Random& random, Rates& out) {
            Values values, earlier;
            for (size_t i = 0; i < kRecords; ++i) {
                const double mean = (i < kRecords / 2 ? sign : -sign) * step;
                values.push_back(mean + random.uniform(-1, 1));
                earlier.push_back(random.uniform(-1, 1));
            }
            const stats::Bets bets = bets_for(kRecords, earlier, range.lo);
            out.add(name + "default", stats::log_wealth(values, range.lo, bets, 0) >= needed);
            out.add(name + "WRONG: running maximum", running_log_wealth(values, bets) >= needed);
            out.add(name + "WRONG: hedged, running maximum",
                    rampart::reference::hedged_log_wealth(values, range, 0, kDelta) >= needed);
            Values shuffled = values;
            random.shuffle(std::span(shuffled));
            out.add(name + "running maximum in random order",
                    running_log_wealth(shuffled, bets) >= needed);
            out.add(name + "t", t_passes(values));
        });
        EXPECT_LE(rates[name + "default"], at_most(kDelta, kRuns));
        EXPECT_LE(rates[name + "t"], at_most(kDelta, kRuns));
        EXPECT_LE(rates[name + "running maximum in random order"], at_most(kDelta, kRuns));
        if (sign < 0) continue;
        EXPECT_GT(rates[name + "WRONG: running maximum"], 0.7);
        EXPECT_GT(rates[name + "WRONG: hedged, running maximum"], 0.7);
    }
}

/// Approvals bring 1 (three in four) or -3, 0 on average; the candidate approves more. Of the
/// losers 40 % do not report, of the others 5 %.
std::vector<ope::Record> losers_are_silent(base::Random& random) {
    std::vector<ope::Record> out;
    for (int i = 0; i < 2000; ++i) {
        ope::Record record{0.5, random.bernoulli(0.5), 0.7, 0.5, {}};
        const double impact = random.bernoulli(0.75) ? 1 : -3;
        if (!random.bernoulli(impact < 0 ? 0.4 : 0.05)) record.impact = impact;
        out.push_back(record);
    }
    return out;
}

TEST(Scenario, OutcomesMissingBecauseTheyAreBadAreNoRandomSample) {
    constexpr int kRuns = 300;
    const ope::ImpactModel worst{
        .lo = -3, .hi = 1, .q_approve = 0.3, .q_decline = 0, .declined = 0.0};
    const Rates rates = rates_of(kRuns, 109, [&](base::Random& random, Rates& out) {
        const auto log = losers_are_silent(random), earlier = losers_are_silent(random);
        const auto values = [](const auto& records, const ope::ImpactModel& model, bool drop) {
            Values z;
            for (const ope::Record& r : records) {
                if (drop && r.approved && !r.impact) continue;
                z.push_back(ope::impact_change(r, model));
            }
            return z;
        };
        ope::ImpactModel near_centre = worst, at_centre = worst;
        near_centre.missing_gamma = 2.3;  // people without a report have -1.9 on average
        at_centre.missing_gamma = 0;
        const double lo = ope::change_range(log[0], worst).lo;
        for (const auto& [name, model] : {std::pair{"at their worst", worst},
                                          {"up to the true Gamma", near_centre},
                                          {"WRONG: as if they were like the others", at_centre}}) {
            out.add(name,
                    default_passes(values(log, model, false), values(earlier, model, false), lo));
        }
        out.add("WRONG: dropped",
                default_passes(values(log, worst, true), values(earlier, worst, true), lo));
    });
    EXPECT_LE(rates["at their worst"], at_most(kDelta, kRuns));
    EXPECT_LE(rates["up to the true Gamma"], at_most(kDelta, kRuns));
    EXPECT_GT(rates["WRONG: as if they were like the others"], 0.5);
    EXPECT_GT(rates["WRONG: dropped"], 0.5);
}

// An approval brings 0.9, and costs 89.1 with probability 0.01: 0 on average for any policy.
TEST(Scenario, RareSevereHarmFoolsTUntilItIsSeenOftenAndTheDefaultAtNoSize) {
    constexpr int kRuns = 600;
    const ope::ImpactModel model{
        .lo = -89.1, .hi = 0.9, .q_approve = 0, .q_decline = 0, .declined = 0.0};
    for (const size_t records : {50, 500, 2000}) {
        const std::string name = fmt::format("{} records: ", records);
        const auto values = [&](base::Random& random) {
            Values z;
            for (size_t i = 0; i < records; ++i) {
                const bool harmed = random.bernoulli(0.01);
                const bool approved = random.bernoulli(0.5);
                z.push_back(
                    ope::impact_change({0.5, approved, 0.55, 0.5, harmed ? -89.1 : 0.9}, model));
            }
            return z;
        };
        const double lo = ope::change_range({0.5, true, 0.55, 0.5, 0.0}, model).lo;
        const Rates rates = rates_of(kRuns, 108, [&](base::Random& random, Rates& out) {
            const Values z = values(random);
            out.add(name + "default", default_passes(z, values(random), lo));
            out.add(name + "WRONG here: t", t_passes(z));
        });
        EXPECT_LE(rates[name + "default"], at_most(kDelta, kRuns));
        if (records <= 500) {
            EXPECT_GT(rates[name + "WRONG here: t"], at_most(kDelta, kRuns));
        }
    }
}

}  // namespace
}  // namespace rampart::test
