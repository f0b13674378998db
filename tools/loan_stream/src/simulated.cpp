// The simulated population: for machines without data files, and for tests.
//
// Race groups with the published default rates (US Federal Reserve, Report to the Congress on
// Credit Scoring and Its Effects, 2007; TransUnion scores as tabulated with Hardt et al. 2016):
// white 24.1 %, Black 66.3 %, Hispanic 43.2 %, Asian 19.3 %. The population shares are our choice,
// flatter than in the report, so that each group is large enough for statistical statements: white
// 40 %, Black 25 %, Hispanic 20 %, Asian 15 %.
//
// A person has a creditworthiness z ~ N(mean of the group, 1) and repays with probability
// sigmoid(2.2 z); the means are solved from the default rates. z is not observed: each feature is a
// noisy, partial measurement of it, with the same noise in each group, so that features depend on
// race only through z.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "rampart/base/limits.hpp"
#include "rampart/base/random.hpp"
#include "rampart/loan_stream/reasons.hpp"
#include "sources.hpp"

namespace rampart::loan_stream {
namespace {

constexpr size_t kDefaultRows = 20'000;
constexpr double kSlope = 2.2;

struct Group {
    const char* name;
    double share;
    double default_rate;
};
constexpr std::array<Group, 4> kGroups{{{"white", 0.40, 0.241},
                                        {"black", 0.25, 0.663},
                                        {"hispanic", 0.20, 0.432},
                                        {"asian", 0.15, 0.193}}};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// Returns E[sigmoid(kSlope z)] for z ~ N(mean, 1), by a sum over a fine grid of +-8 standard
/// deviations.
double repayment_rate(double mean) {
    constexpr int kSteps = 1600;
    double sum = 0, weight = 0;
    for (int i = 0; i <= kSteps; ++i) {
        const double e = -8 + 16.0 * i / kSteps;
        const double density = std::exp(-e * e / 2);
        sum += density * sigmoid(kSlope * (mean + e));
        weight += density;
    }
    return sum / weight;
}

/// Returns the mean at which a group repays at `rate`: bisection, as repayment_rate increases.
double mean_for(double rate) {
    double lo = -10, hi = 10;
    for (int i = 0; i < 60; ++i) {
        const double mid = (lo + hi) / 2;
        (repayment_rate(mid) < rate ? lo : hi) = mid;
    }
    return (lo + hi) / 2;
}

base::Result<dataset::FeatureSchema> schema() {
    using dataset::FeatureKind;
    return dataset::FeatureSchema::create({
        {"score", FeatureKind::kNumeric, {}},
        {"annual_income", FeatureKind::kNumeric, {}},
        {"debt_to_income", FeatureKind::kNumeric, {}},
        {"card_utilisation", FeatureKind::kNumeric, {}},
        {"late_payments_24m", FeatureKind::kNumeric, {}},
        {"inquiries_6m", FeatureKind::kNumeric, {}},
        {"months_on_file", FeatureKind::kNumeric, {}},
        {"loan_amount", FeatureKind::kNumeric, {}},
        {"housing", FeatureKind::kCategorical, {"own", "mortgage", "rent", "other"}},
        {"purpose", FeatureKind::kCategorical, {"car", "debt", "home", "other"}},
    });
}

double round_to(double value, double unit) { return std::round(value / unit) * unit; }

std::vector<domain::Feature> features_of(double z, base::Random& random) {
    const double score =
        std::clamp(round_to(600 + 70 * (z + 0.8 * random.normal()), 1), 300.0, 850.0);
    const double income = round_to(std::exp(10.6 + 0.25 * z + 0.5 * random.normal()), 100);
    const double debt = std::clamp(0.35 - 0.07 * z + 0.12 * random.normal(), 0.0, 1.5);
    const double used = sigmoid(-0.9 * z + 1.1 * random.normal());
    const double late = std::floor(std::max(0.0, 0.3 - 1.1 * z + 1.4 * random.normal()));
    const double inquiries = std::floor(std::max(0.0, 1.2 - 0.5 * z + 1.3 * random.normal()));
    const double months = std::floor(std::clamp(110 + 30 * z + 60 * random.normal(), 0.0, 600.0));
    const double amount = round_to(std::exp(9.0 + 0.6 * random.normal()), 100);
    const double home = 0.5 * z + random.normal();
    const char* housing = home > 0.9    ? "own"
                          : home > -0.2 ? "mortgage"
                          : home > -1.6 ? "rent"
                                        : "other";
    static constexpr std::array<const char*, 4> kPurposes{"car", "debt", "home", "other"};
    const char* purpose = kPurposes[random.below(kPurposes.size())];
    // One in 25 has no score on file, independent of all else.
    const bool unscored = random.bernoulli(0.04);
    return {
        {"score", unscored ? domain::FeatureValue{} : domain::FeatureValue{score}},
        {"annual_income", income},
        {"debt_to_income", round_to(debt, 0.001)},
        {"card_utilisation", round_to(used, 0.001)},
        {"late_payments_24m", late},
        {"inquiries_6m", inquiries},
        {"months_on_file", months},
        {"loan_amount", amount},
        {"housing", std::string(housing)},
        {"purpose", std::string(purpose)},
    };
}

size_t draw_group(double u) {
    size_t group = 0;
    for (double below = kGroups[0].share; group + 1 < kGroups.size() && u >= below;) {
        below += kGroups[++group].share;
    }
    return group;
}

}  // namespace

base::Result<Source> simulate(const StreamOptions& options) {
    const size_t rows = options.rows == 0 ? kDefaultRows : options.rows;
    if (rows > base::limits::kMaxRows) {
        return base::make_error(Reason::kRows, "rows {} exceeds the limit of {}", rows,
                                base::limits::kMaxRows);
    }
    Source source{.name = "simulated",
                  .schema = {},
                  .horizon_months = 6,
                  .grace = base::Duration::days(30),
                  .early_days = 10,
                  .late_days = 20,
                  .drafts = {}};
    RAMPART_TRY(source.schema, schema());
    RAMPART_TRY(const auto start, base::parse_iso8601("2022-01-01"));
    const auto stop = base::add_months(start, 24);
    std::array<double, kGroups.size()> means{};
    for (size_t g = 0; g < kGroups.size(); ++g) means[g] = mean_for(1 - kGroups[g].default_rate);

    // A separate stream of random numbers: the reports use another.
    const base::Random population = base::Random(options.seed).fork(0x706f70756c617465);
    source.drafts.reserve(rows);
    for (size_t i = 0; i < rows; ++i) {
        auto random = population.fork(i);
        const size_t group = draw_group(random.uniform());
        const double z = means[group] + random.normal();
        Draft draft;
        draft.applicant.label = random.bernoulli(sigmoid(kSlope * z));
        draft.applicant.application = {domain::ApplicationId(fmt::format("sim-{}", i + 1)),
                                       domain::PersonId(fmt::format("s{}", i + 1)),
                                       spread(start, stop, i, rows), features_of(z, random)};
        draft.applicant.protected_attributes = {{"race", kGroups[group].name}};
        draft.observed_at = base::add_months(draft.applicant.application.event_time, 6);
        source.drafts.push_back(std::move(draft));
    }
    return source;
}

}  // namespace rampart::loan_stream
