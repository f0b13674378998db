// Rounds of BuDRO and of plain boosting: on Adult (the CSV of the UCI repository, as published or
// with a `split` column), or on synthetic people with 30 features.
//   cmake --build build/release --target bench_budro
//   build/release/tests/bench_budro adult adult.csv.gz [rounds]
//   build/release/tests/bench_budro made-up ROWS [rounds] [memory budget in MiB]
// Prints CPU and wall seconds, and the share of all pairs that was evaluated.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>

#include "rampart/base/random.hpp"
#include "rampart/budro/metric.hpp"
#include "rampart/budro/train.hpp"
#include "rampart/dataset/infer_schema.hpp"
#include "rampart/dataset/read_table.hpp"
#include "rampart/gbdt/log_loss.hpp"

namespace rampart::budro {
namespace {

struct People {
    dataset::Dataset data;
    Points points;
};

double cpu() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
double wall() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// Drops rows with missing values; four fifths of the others are about the 36,177 of the paper.
base::Result<People> adult(const std::string& path) {
    RAMPART_TRY(auto draft,
                dataset::infer_schema(
                    path, {.label_column = "income",
                           .favourable = ">50K",
                           .protected_columns = {},
                           .weight_column = {},
                           .ignored_columns = {"fnlwgt", "education", "native_country", "split"}}));
    RAMPART_TRY(auto all, dataset::read_table(path, draft.schema));
    std::vector<uint32_t> rows;
    for (uint32_t i = 0; i < all.rows(); ++i) {
        const bool whole = std::none_of(all.columns.begin(), all.columns.end(),
                                        [&](const auto& column) { return std::isnan(column[i]); });
        if (whole) rows.push_back(i);
    }
    base::Random random(80147);
    random.shuffle(std::span(rows));
    rows.resize(rows.size() * 4 / 5);
    People people{all.subset(rows), {}};
    FairMetricSpec spec;
    spec.protected_features = {"sex"};
    spec.indicators = {"race"};
    RAMPART_TRY(const auto metric, FairMetric::learn(people.data, spec));
    RAMPART_TRY(people.points, metric.embed(people.data));
    return people;
}

/// Thirty columns that six traits explain, with one decimal; the first trait is the protected one.
People made_up(size_t n) {
    constexpr size_t kFeatures = 30, kTraits = 6;
    base::Random random(7);
    double loadings[kFeatures][kTraits];
    for (auto& row : loadings)
        for (double& x : row) x = random.normal() / std::sqrt(kTraits);
    People people;
    std::vector<dataset::FeatureSpec> features;
    for (size_t k = 0; k < kFeatures; ++k)
        features.push_back({"x" + std::to_string(k), dataset::FeatureKind::kNumeric, {}});
    people.data.schema = dataset::FeatureSchema::create(features).value();
    people.data.columns.assign(kFeatures, std::vector<float>(n));
    people.points = {n, kFeatures, std::vector<double>(n * kFeatures)};
    for (size_t i = 0; i < n; ++i) {
        double traits[kTraits], log_odds = -1;
        for (double& t : traits) t = random.normal();
        for (size_t k = 0; k < kFeatures; ++k) {
            double x = 0.3 * random.normal();
            for (size_t t = 0; t < kTraits; ++t) x += loadings[k][t] * traits[t];
            x = std::round(10 * x) / 10;
            people.data.columns[k][i] = static_cast<float>(x);
            people.points.values[i * kFeatures + k] = x - loadings[k][0] * traits[0];
            log_odds += k < 10 ? 0.5 * x : 0;
        }
        people.data.label.push_back(random.bernoulli(1 / (1 + std::exp(-log_odds))) ? 1 : 0);
    }
    return people;
}

/// The settings of the paper for Adult (table 6).
BudroParams settings(const dataset::Dataset& data, int rounds) {
    double ones = 0;
    for (const uint8_t y : data.label) ones += y;
    BudroParams params;
    params.learner.trees = rounds;
    params.learner.max_depth = 14;
    params.learner.leaves = 4096;
    params.learner.learning_rate = 0.005;
    params.learner.l2 = 1e-4;
    params.learner.min_rows_in_leaf = 1;
    params.learner.min_hessian_in_leaf = 0.1 / static_cast<double>(data.rows());
    params.paper_scale = true;
    params.transport.epsilon = 0.4;
    params.positive_class_weight = (static_cast<double>(data.rows()) - ones) / ones;
    return params;
}

double plain_round(const People& people, const BudroParams& params, base::ThreadPool& pool) {
    gbdt::LogLoss loss(people.data, params.positive_class_weight);
    auto learner = params.learner;
    learner.trees = std::min(learner.trees, 20);
    learner.l2 *= static_cast<double>(people.data.rows());
    learner.min_hessian_in_leaf *= static_cast<double>(people.data.rows());
    double first = 0, last = 0;
    const auto watch = [&](const gbdt::Progress& p) {
        (p.iteration == 1 ? first : last) = cpu();
        return true;
    };
    const auto ensemble = gbdt::train(people.data, loss, learner, &pool, {.progress = watch});
    return ensemble ? (last - first) / (learner.trees - 1) : 0;
}

int run(const People& people, const BudroParams& params) {
    base::ThreadPool pool(2);
    const double plain = plain_round(people, params, pool);
    fmt::print("{} people, {} dimensions; a plain round takes {:.4f} s of CPU\n",
               people.points.rows, people.points.dimensions, plain);
    const double cpu_start = cpu(), wall_start = wall();
    double before = cpu_start, rounds_cpu = 0, rounds = 0;
    SearchCounts counts;
    const auto watch = [&](const BudroRound& round) {
        const double now = cpu();
        counts.pairs += round.counts.pairs;
        counts.screened += round.counts.screened;
        if (round.trees > 1) {
            rounds_cpu += now - before;
            ++rounds;
        }
        if (round.trees <= 3 || round.trees % 20 == 1)
            fmt::print(
                "  {:4} trees: robust {:.6f} (plain {:.6f}) gap {:.1e} eta {:.5f} "
                "evaluations {} pairs {:.2e} looked at {:.4f} {:.5f}; {:.3f} s\n",
                round.trees, round.robust_loss, round.loss, round.gap, round.eta,
                round.counts.evaluations, static_cast<double>(round.counts.pairs),
                static_cast<double>(round.counts.screened) /
                    static_cast<double>(round.counts.pairs),
                static_cast<double>(round.counts.decided) / static_cast<double>(round.counts.pairs),
                now - before);
        std::fflush(stdout);
        before = now;
        return true;
    };
    const auto result = train_budro(people.data, people.points, params, &pool, {.progress = watch});
    if (!result) {
        fmt::print("{}\n", result.error().message);
        return 1;
    }
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    fmt::print(
        "{} rounds: {:.2f} s of CPU, {:.2f} s; a round {:.4f} s of CPU, {:.2f} times a "
        "plain one; looked at {:.4f} of the pairs; {} MiB\n",
        rounds, cpu() - cpu_start, wall() - wall_start, rounds_cpu / rounds,
        rounds_cpu / rounds / plain,
        static_cast<double>(counts.screened) / static_cast<double>(counts.pairs),
        usage.ru_maxrss / 1024);
    return 0;
}

}  // namespace
}  // namespace rampart::budro

int main(int argc, char** argv) {
    using namespace rampart::budro;
    const std::string_view what = argc > 2 ? argv[1] : "";
    const int rounds = argc > 3 ? std::atoi(argv[3]) : 40;
    if (what == "adult") {
        const auto people = adult(argv[2]);
        if (!people) {
            fmt::print("{}\n", people.error().message);
            return 2;
        }
        return run(*people, settings(people->data, rounds));
    }
    if (what == "made-up") {
        const People people = made_up(static_cast<size_t>(std::atoll(argv[2])));
        BudroParams params = settings(people.data, rounds);
        params.learner.max_depth = 8;
        params.learner.leaves = 255;
        params.learner.learning_rate = 0.05;
        params.transport.epsilon = 1;
        if (argc > 4)
            params.transport.memory_budget = static_cast<size_t>(std::atoll(argv[4])) << 20;
        return run(people, params);
    }
    fmt::print("bench_budro adult FILE [rounds] | made-up ROWS [rounds] [MiB]\n");
    return 2;
}
