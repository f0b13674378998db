// Estimators and bounds against a table of certification rates that was measured independently, on
// a population with known truth: tests/golden/elf_table.txt.
#include <fstream>
#include <map>
#include <sstream>

#include "monte_carlo.hpp"
#include "rampart/ope/impact_regression.hpp"
#include "rampart/stats/confidence_bound.hpp"
#include "reference/hedged_betting.hpp"
#include "reference_population.hpp"
#include "support/places.hpp"

namespace rampart::test {
namespace {

using rampart::reference::hedged_log_wealth;

using namespace reference;
using ope::ControlVariates;
using ope::ImpactModel;

/// Estimator and bound: the table's columns.
enum Column {
    kTauHatT,
    kTauT,
    kRawT,
    kCentredT,
    kRobustT,
    kTauHatHoeffding,
    kTauMaurerPontil,
    kTauHedged,
    kCentredHoeffding,
    kCentredMaurerPontil,
    kCentredHedged,
    kRobustMaurerPontil,
    kRobustHedged,
    kRobustBets,
    kCutT,
    kCutMaurerPontil,
    kCentredBets,
    kCentredBets95,
    kPerActionT,
    kPerActionBets,
    kColumns
};
using Passes = std::array<bool, kColumns>;

/// The log of a group: the first part is the development set, the rest the test data.
struct Sample {
    size_t group = 0, selected = 0;
    std::vector<Person> people;
    std::vector<ControlVariates>
        noise;  // regression of N on action and features, on the development set
    ControlVariates noise_lo, noise_hi;  // lowest and highest of both, as the table takes them

    Sample(base::Random& random, size_t t, size_t n) : group(t), people(draw(random, t, n)) {
        selected =
            n - static_cast<size_t>(std::lround((1 - kShareOfSelection) * static_cast<double>(n)));
        std::vector<double> x, impact;
        std::vector<uint8_t> approved;
        for (size_t i = 0; i < n; ++i) {
            const Person& person = people[i];
            x.insert(x.end(), person.x.begin(), person.x.end());
            if (i >= selected) continue;
            approved.push_back(person.approved);
            impact.push_back(person.noise);
        }
        const ope::RegressionData data{kFeatures, std::span(x).first(selected * kFeatures),
                                       approved, impact};
        const auto model = *ope::ImpactRegression::fit(data, {-3, 5}, {.own_slopes = false});
        for (size_t i = 0; i < n; ++i) {
            noise.push_back(model.predict(std::span(x).subspan(i * kFeatures, kFeatures)));
        }
        noise_lo.approve = noise_lo.decline = model.fitted_range().lo;
        noise_hi.approve = noise_hi.decline = model.fitted_range().hi;
    }
    size_t tested() const { return people.size() - selected; }
};

double worst_corner(double w_lo, double w_hi, ope::Interval impact) {
    return std::min({w_lo * impact.lo, w_lo * impact.hi, w_hi * impact.lo, w_hi * impact.hi});
}
double best_corner(double w_lo, double w_hi, ope::Interval impact) {
    return std::max({w_lo * impact.lo, w_lo * impact.hi, w_hi * impact.lo, w_hi * impact.hi});
}

/// One candidate on the log of one group at one alpha.
class Trial {
  public:
    Trial(const Sample& sample, const Candidate& candidate, std::span<const double> pi,
          double alpha)
        : sample_(sample),
          near_(candidate.near),
          pi_(pi),
          alpha_(alpha),
          declared_(impact_range(sample.group, alpha)) {
        w_lo_ = near_ ? 1 - kKappa : kFloor / (1 - kFloor);
        w_hi_ = near_ ? 1 + kKappa : 1 / w_lo_;
        for (const Person& person : sample.people) impacts_.push_back(impact(person, alpha));
    }

    Passes run() {
        importance_sampling();
        paired();
        robust();
        if (near_) {
            per_action();
        } else {
            cut();
        }
        return passes_;
    }

  private:
    double mean_impact(size_t n) const { return stats::moments(std::span(impacts_).first(n)).mean; }

    ImpactModel model(double q_approve = 0, double q_decline = 0) const {
        return {
            .lo = declared_.lo, .hi = declared_.hi, .q_approve = q_approve, .q_decline = q_decline};
    }

    ope::Record record(size_t i, bool own_centre) const {
        const Person& person = sample_.people[i];
        ope::Record out{person.p, person.approved, pi_[i], person.p, impacts_[i]};
        if (own_centre) {
            out.control_variates = ControlVariates{alpha_ + (1 - alpha_) * sample_.noise[i].approve,
                                                   (1 - alpha_) * sample_.noise[i].decline};
        }
        return out;
    }

    /// Values of the development set, then of the test data.
    void estimate(const ImpactModel& model, bool own_centre = false, bool with_selection = true) {
        values_.resize(impacts_.size());
        for (size_t i = with_selection ? 0 : sample_.selected; i < values_.size(); ++i) {
            values_[i] = ope::impact_change(record(i, own_centre), model);
        }
    }
    std::span<const double> selection() const { return std::span(values_).first(sample_.selected); }
    std::span<const double> tested() const { return std::span(values_).subspan(sample_.selected); }

    bool t() const { return stats::t_lower_bound(stats::moments(tested()), kDelta) >= 0; }
    bool hoeffding(stats::Range range) const {
        return stats::hoeffding_lower_bound(stats::moments(tested()), range, kDelta) >= 0;
    }
    bool maurer_pontil(stats::Range range) const {
        return stats::maurer_pontil_lower_bound(stats::moments(tested()), range, kDelta) >= 0;
    }
    bool hedged(stats::Range range) const {
        return hedged_log_wealth(tested(), range, 0, kDelta) >= -std::log(kDelta);
    }
    bool bets(double lo, double cap) const {
        const double variance = stats::moments(selection()).variance;
        const auto plan = stats::plan_bets({sample_.tested(), variance}, lo, kDelta, {.cap = cap});
        return plan && stats::log_wealth(tested(), lo, *plan, 0) >= -std::log(kDelta);
    }

    void importance_sampling() {
        const stats::Range weighted{worst_corner(w_lo_, w_hi_, declared_),
                                    best_corner(w_lo_, w_hi_, declared_)};
        ImpactModel against = model();
        const double tau_hat = mean_impact(impacts_.size());
        against.absolute = tau_hat;
        estimate(against, false, false);
        passes_[kTauHatT] = t();
        passes_[kTauHatHoeffding] = hoeffding({weighted.lo - tau_hat, weighted.hi - tau_hat});
        const double tau = true_tau(sample_.group, alpha_);
        against.absolute = tau;
        estimate(against, false, false);
        const stats::Range range{weighted.lo - tau, weighted.hi - tau};
        passes_[kTauT] = t();
        passes_[kTauMaurerPontil] = maurer_pontil(range);
        passes_[kTauHedged] = hedged(range);
    }

    void paired() {
        estimate(model(), false, false);
        passes_[kRawT] = t();
        const double c = mean_impact(sample_.selected);
        estimate(model(c, c));
        const ope::Interval centred{declared_.lo - c, declared_.hi - c};
        const stats::Range range{worst_corner(w_lo_ - 1, w_hi_ - 1, centred),
                                 best_corner(w_lo_ - 1, w_hi_ - 1, centred)};
        passes_[kCentredT] = t();
        passes_[kCentredHoeffding] = hoeffding(range);
        passes_[kCentredMaurerPontil] = maurer_pontil(range);
        passes_[kCentredHedged] = hedged(range);
        passes_[kCentredBets] = bets(range.lo, 0.75);
        passes_[kCentredBets95] = bets(range.lo, 0.95);
    }

    /// The crude range that the table has for the regression, with weights up to `w_hi`.
    stats::Range regression_range(double w_hi) const {
        const double q_lo = (1 - alpha_) * sample_.noise_lo.decline;
        const double q_hi = alpha_ + (1 - alpha_) * sample_.noise_hi.approve;
        const double spread = (1 - alpha_) * (sample_.noise_hi.approve - sample_.noise_lo.decline);
        const double step = near_ ? 0.5 * kKappa : 1 - 2 * kFloor;
        const double known = step * std::max(alpha_ + spread, std::abs(alpha_ - spread));
        const ope::Interval residual{declared_.lo - q_hi, declared_.hi - q_lo};
        return {worst_corner(w_lo_ - 1, w_hi - 1, residual) - known,
                best_corner(w_lo_ - 1, w_hi - 1, residual) + known};
    }

    void robust() {
        estimate(model(), true);
        const stats::Range range = regression_range(w_hi_);
        passes_[kRobustT] = t();
        passes_[kRobustMaurerPontil] = maurer_pontil(range);
        passes_[kRobustHedged] = hedged(range);
        passes_[kRobustBets] = bets(range.lo, 0.75);
    }

    /// Weights clipped where the development set promises most.
    void cut() {
        double best = -1e300, best_weight = 0;
        ImpactModel clipped = model();
        for (const double weight : {1.5, 2.0, 3.0, 5.0, 19.0}) {
            clipped.max_weight = weight;
            estimate(clipped, true);
            const stats::Moments m = stats::moments(selection());
            const double promise = m.mean - std::sqrt(-2 * m.variance * std::log(kDelta) /
                                                      static_cast<double>(sample_.tested()));
            if (promise > best) best = promise, best_weight = weight;
        }
        clipped.max_weight = best_weight;
        estimate(clipped, true);
        stats::Range range = regression_range(std::min(best_weight, w_hi_));
        if (best_weight < w_hi_) range.lo -= declared_.hi - declared_.lo;
        passes_[kCutT] = t();
        passes_[kCutMaurerPontil] = maurer_pontil(range);
    }

    /// Two constants, and the exact range that the library computes.
    void per_action() {
        std::array<stats::Sum, 2> sum;
        std::array<double, 2> n{};
        for (size_t i = 0; i < sample_.selected; ++i) {
            sum[sample_.people[i].approved].add(impacts_[i]);
            n[sample_.people[i].approved] += 1;
        }
        const ImpactModel centred = model(sum[1].value() / n[1], sum[0].value() / n[0]);
        estimate(centred);
        double lo = 0;
        for (size_t i = sample_.selected; i < impacts_.size(); ++i) {
            lo = std::min(lo, ope::change_range(record(i, false), centred).lo);
        }
        passes_[kPerActionT] = t();
        passes_[kPerActionBets] = bets(lo, 0.75);
    }

    const Sample& sample_;
    bool near_;
    std::span<const double> pi_;
    double alpha_;
    ope::Interval declared_;
    double w_lo_ = 0, w_hi_ = 0;
    std::vector<double> impacts_, values_;
    Passes passes_{};
};

/// (candidate, alpha, n, group 1 or both)
using Cell = std::tuple<size_t, double, size_t, bool>;

struct Counts {
    int repetitions = 0;
    std::array<int, kColumns> passed{};
};

void count(Counts& counts, const Passes& passes) {
    ++counts.repetitions;
    for (size_t c = 0; c < kColumns; ++c) counts.passed[c] += passes[c];
}

/// One log of n records under every candidate and alpha.
void repeat(base::Random& random, size_t n, std::map<Cell, Counts>& cells) {
    size_t n1 = 0;
    for (size_t i = 0; i < n; ++i) n1 += random.bernoulli(kShareOfGroup1);
    const std::array<Sample, 2> samples{Sample(random, 0, n - n1), Sample(random, 1, n1)};
    for (size_t c = 0; c < kCandidates.size(); ++c) {
        const bool both = kCandidates[c].scenario != "null0";  // otherwise the table has group 1
        std::array<std::vector<double>, 2> pi;
        for (const size_t g : {0, 1}) {
            for (const Person& person : samples[g].people) {
                pi[g].push_back(probability(kCandidates[c], person));
            }
        }
        for (const double alpha : kAlphas) {
            Passes passes = Trial(samples[1], kCandidates[c], pi[1], alpha).run();
            count(cells[{c, alpha, n, false}], passes);
            if (!both) continue;
            const Passes other = Trial(samples[0], kCandidates[c], pi[0], alpha).run();
            for (size_t k = 0; k < kColumns; ++k) passes[k] = passes[k] && other[k];
            count(cells[{c, alpha, n, true}], passes);
        }
    }
}

/// The random difference of two measured rates: four standard errors of the pooled rate, and the
/// errors from the rounding and the solved candidates of the table.
double tolerance(double p, double repetitions, double q, double others) {
    const double pooled = (p * repetitions + q * others) / (repetitions + others);
    return 4 * std::sqrt(pooled * (1 - pooled) * (1 / repetitions + 1 / others)) + 0.005;
}

struct Row {
    std::string candidate, scenario, certified;
    double alpha = 0;
    size_t n = 0;
    double repetitions = 0;
    std::array<std::string, kColumns> rates;
};

struct Table {
    std::array<std::string, kColumns> columns;
    std::vector<Row> rows;
};

Table read_table() {
    Table table;
    std::ifstream in(test_support::source_dir() + "/tests/golden/elf_table.txt");
    std::string line;
    for (bool header = true; std::getline(in, line);) {
        if (line.starts_with('#')) continue;
        std::stringstream fields(line);
        Row row;
        std::string alpha, n, repetitions;
        fields >> row.candidate >> row.scenario >> row.certified >> alpha >> n >> repetitions;
        for (std::string& rate : header ? table.columns : row.rates) fields >> rate;
        EXPECT_TRUE(fields) << line;
        if (!header) {
            row.alpha = std::stod(alpha);
            row.n = std::stoul(n);
            row.repetitions = std::stod(repetitions);
            table.rows.push_back(row);
        }
        header = false;
    }
    return table;
}

size_t candidate_of(const Row& row) {
    for (size_t c = 0; c < kCandidates.size(); ++c) {
        if (kCandidates[c].name == row.candidate && kCandidates[c].scenario == row.scenario) {
            return c;
        }
    }
    ADD_FAILURE() << row.candidate << ' ' << row.scenario;
    return 0;
}

/// Compares every measured cell; returns their number.
size_t compare(const Table& table, const std::map<Cell, Counts>& cells) {
    size_t compared = 0;
    double largest = 0;
    for (const Row& row : table.rows) {
        const auto found =
            cells.find({candidate_of(row), row.alpha, row.n, row.certified == "both"});
        if (found == cells.end()) continue;
        const auto& [repetitions, passed] = found->second;
        for (size_t c = 0; c < kColumns; ++c) {
            if (row.rates[c] == "-") continue;
            const double expected = std::stod(row.rates[c]);
            const double rate = static_cast<double>(passed[c]) / repetitions;
            const double allowed = tolerance(rate, repetitions, expected, row.repetitions);
            EXPECT_NEAR(rate, expected, allowed)
                << row.candidate << ' ' << row.scenario << ' ' << row.certified << " alpha "
                << row.alpha << " n " << row.n << ' ' << table.columns[c];
            largest = std::max(largest, std::abs(rate - expected) / allowed);
            ++compared;
        }
    }
    std::printf("    %zu cells, largest deviation %.2f of what is allowed\n", compared, largest);
    return compared;
}

/// No exact bound certifies the boundary or worse more often than delta.
void expect_boundary_held(const std::map<Cell, Counts>& cells) {
    for (const auto& [cell, counts] : cells) {
        const auto& [candidate, alpha, n, both] = cell;
        if (kCandidates[candidate].scenario == "better") continue;
        for (size_t c = 0; c < kColumns; ++c) {
            const double rate = static_cast<double>(counts.passed[c]) / counts.repetitions;
            EXPECT_LE(rate, at_most(kDelta, counts.repetitions))
                << kCandidates[candidate].name << ' ' << kCandidates[candidate].scenario
                << " alpha " << alpha << " n " << n << " column " << c;
        }
    }
}

/// With the same bound each step finds the same gain more often: importance sampling against a
/// constant, the difference to the reference, with a control variate, with one by regression.
void expect_each_step_to_gain(const std::map<Cell, Counts>& cells, size_t n) {
    const auto found = cells.find({2, 0.9, n, true});
    ASSERT_TRUE(found != cells.end() && kCandidates[2].scenario == "better");
    const auto& passed = found->second.passed;
    EXPECT_LT(2 * passed[kTauT], passed[kRawT]);
    EXPECT_LT(passed[kRawT], passed[kCentredT]);
    EXPECT_LE(passed[kCentredT], passed[kRobustT]);
}

std::map<Cell, Counts> measure(size_t n, int repetitions) {
    std::map<Cell, Counts> cells;
    for (int r = 0; r < repetitions; ++r) {
        base::Random random(base::mix64(31 * n) + static_cast<uint64_t>(r));
        repeat(random, n, cells);
    }
    return cells;
}

std::map<Cell, Counts> agrees(size_t n, int repetitions, size_t least_cells) {
    const auto cells = measure(n, repetitions);
    EXPECT_GE(compare(read_table(), cells), least_cells);
    expect_boundary_held(cells);
    return cells;
}

TEST(ReferenceTable, AgreesAt512Records) {
    const auto cells = agrees(512, 500, 300);
    expect_each_step_to_gain(cells, 512);
}
TEST(ReferenceTable, AgreesAt1024Records) { agrees(1024, 400, 300); }
TEST(ReferenceTable, AgreesAt4096Records) { agrees(4096, 200, 300); }
TEST(ReferenceTable, AgreesAt16384Records) { agrees(16384, 100, 300); }

TEST(ReferenceTable, CandidatesHaveTheEffectsThatTheyWereSolvedFor) {
    constexpr size_t kPeople = 100'000;
    for (const size_t group : {0, 1}) {
        base::Random random(41 + group);
        std::array<std::vector<double>, kCandidates.size()> change;
        double approved = 0;
        for (size_t i = 0; i < kPeople; ++i) {
            const Person person = draw(random, group);
            approved += person.approved;
            for (size_t c = 0; c < kCandidates.size(); ++c) {
                change[c].push_back(probability(kCandidates[c], person) - person.p);
            }
        }
        EXPECT_NEAR(approved / kPeople, mean_approval(group), 4 * std::sqrt(0.25 / kPeople));
        for (size_t c = 0; c < kCandidates.size(); ++c) {
            const stats::Moments m = stats::moments(change[c]);
            const double truth = group == 0 ? kCandidates[c].delta0 : kCandidates[c].delta1;
            EXPECT_NEAR(m.mean, truth, 4 * std::sqrt(m.variance / kPeople) + 2e-5) << c;
        }
    }
}

}  // namespace
}  // namespace rampart::test
