#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <numbers>
#include <numeric>

#include "rampart/base/limits.hpp"
#include "rampart/budro/audit.hpp"
#include "rampart/budro/metric.hpp"
#include "rampart/budro/train.hpp"
#include "rampart/gbdt/log_loss.hpp"
#include "rampart/model/batch_engine.hpp"
#include "tools/peers/gbdt/process.hpp"
#include "tools/peers/gbdt/table_file.hpp"
#include "tools/peers/reasons.hpp"

/// Our part of tools/peers/budro: a fit of BuDRO or of a baseline, its scores of other rows, and
/// its individual fairness.
namespace rampart::peer_budro {
namespace {

using peer_gbdt::Moment;

/// Every table has two forms: NAME.raw with categories, for the fair metric, and NAME.hot with one
/// number per category, for the trees, as in Vargo et al. (2021).
struct Options {
    std::string method = "budro", train, test, out;
    std::vector<std::string> others;
    std::vector<std::string> protected_features, indicators, two_columns, without;
    std::vector<double> l2_of_numbers;
    std::string weights;  // file of float[n]
    double l2 = 0.1, audit_epsilon = 0;
    size_t threads = 1;
    bool paper_scale = false;
    budro::BudroParams params;
};

using Tables = std::vector<dataset::Dataset>;

base::Result<dataset::Dataset> read(const std::string& name, std::string_view kind) {
    return peer_gbdt::read_table_file(name + "." + std::string(kind));
}

base::Result<budro::FairMetric> metric_of(const Options& o, const dataset::Dataset& raw) {
    budro::FairMetricSpec spec;
    spec.protected_features = o.protected_features;
    spec.indicators = o.indicators;
    for (const auto& flag : o.two_columns) spec.weights[flag] = std::numbers::sqrt2;
    spec.l2 = o.l2;
    spec.l2_of_numbers = o.l2_of_numbers;
    return budro::FairMetric::learn(raw, spec);
}

base::Status weigh(const Options& o, dataset::Dataset& data) {
    if (o.weights.empty()) return base::ok();
    data.weight.resize(data.rows());
    std::ifstream file(o.weights, std::ios::binary);
    file.read(reinterpret_cast<char*>(data.weight.data()),
              static_cast<std::streamsize>(data.rows() * sizeof(float)));
    if (!file) return base::make_error(peers::Reason::kBadWeights, "'{}' is too short", o.weights);
    return base::ok();
}

struct Fit {
    model::Ensemble ensemble;
    boost::json::object told;
};

base::Result<Fit> boost_plainly(const Options& o, const dataset::Dataset& data,
                                base::ThreadPool* pool) {
    Fit out;
    const auto start = Moment::now();
    gbdt::LogLoss objective(data);
    RAMPART_TRY(out.ensemble, gbdt::train(data, objective, o.params.learner, pool, {}));
    const auto took = Moment::now() - start;
    out.told = {{"cpu", took.cpu}, {"wall", took.wall}, {"trees", out.ensemble.trees.size()}};
    return out;
}

base::Result<Fit> boost_fairly(const Options& o, const dataset::Dataset& data,
                               const budro::Points& points, base::ThreadPool* pool) {
    Fit out;
    auto params = o.params;
    params.initial_score = 0.0;
    params.paper_scale = o.paper_scale;
    const auto start = Moment::now();
    RAMPART_TRY(auto found, budro::train_budro(data, points, params, pool));
    const auto took = Moment::now() - start;
    boost::json::array losses;
    double worst_gap = 0;
    for (const auto& round : found.rounds) {
        losses.push_back(round.robust_loss);
        worst_gap = std::max(worst_gap, round.gap);
    }
    out.told = {{"cpu", took.cpu},
                {"wall", took.wall},
                {"trees", found.ensemble.trees.size()},
                {"robust_loss", std::move(losses)},
                {"worst_gap", worst_gap},
                {"eta", found.rounds.back().eta}};
    out.ensemble = std::move(found.ensemble);
    return out;
}

/// Writes the scores of the test rows and of the other tables, one after the other, as double.
std::vector<double> say(const model::Ensemble& ensemble, const Tables& tables,
                        const std::string& path) {
    std::ofstream file(path, std::ios::binary);
    std::vector<double> first;
    for (const auto& table : tables) {
        std::vector<double> scores(table.rows());
        model::BatchEngine(ensemble).predict_raw(model::TableView::of(table), scores, nullptr);
        file.write(reinterpret_cast<const char*>(scores.data()),
                   static_cast<std::streamsize>(scores.size() * sizeof(double)));
        if (first.empty()) first = std::move(scores);
    }
    return first;
}

base::Result<double> performance_gap(const Options& o, const budro::FairMetric& metric,
                                     const dataset::Dataset& raw, std::span<const double> scores,
                                     base::ThreadPool* pool) {
    RAMPART_TRY(const auto points, metric.embed(raw));
    std::vector<double> answers;
    for (const double score : scores) answers.push_back(model::sigmoid(score));
    budro::IndividualAuditParams params;
    params.transport.epsilon = o.audit_epsilon;
    RAMPART_TRY(const auto audit,
                budro::audit_individual(
                    {.points = &points, .labels = raw.label, .answers = answers, .weights = {}},
                    params, pool));
    return audit.gap_at_most();
}

base::Status run(const Options& o) {
    base::ThreadPool pool(o.threads);
    RAMPART_TRY(const auto raw, read(o.train, "raw"));
    RAMPART_TRY(const auto metric, metric_of(o, raw));
    const bool projects = o.method == "project";
    const auto learnt_from = [&](const std::string& name) -> base::Result<dataset::Dataset> {
        if (!projects) return read(name, "hot");
        RAMPART_TRY(const auto table, read(name, "raw"));
        return metric.project(table);
    };
    RAMPART_TRY(auto train, learnt_from(o.train));
    RAMPART_RETURN_IF_ERROR(weigh(o, train));
    Fit fit;
    if (o.method == "budro") {
        RAMPART_TRY(const auto points, metric.embed(raw));
        RAMPART_TRY(fit, boost_fairly(o, train, points, &pool));
    } else {
        if (train.weight.empty()) train.weight.assign(train.rows(), 1.0f);
        for (size_t i = 0; i < train.rows(); ++i)
            if (train.label[i] == 1)
                train.weight[i] *= static_cast<float>(o.params.positive_class_weight);
        RAMPART_TRY(fit, boost_plainly(o, train, &pool));
    }
    Tables tables;
    RAMPART_TRY(auto test, learnt_from(o.test));
    tables.push_back(std::move(test));
    for (const auto& name : o.others) {
        RAMPART_TRY(auto other, learnt_from(name));
        tables.push_back(std::move(other));
    }
    const auto scores = say(fit.ensemble, tables, o.out);
    if (o.audit_epsilon > 0) {
        RAMPART_TRY(const auto test_raw, read(o.test, "raw"));
        RAMPART_TRY(fit.told["performance_gap"],
                    performance_gap(o, metric, test_raw, scores, &pool));
    }
    std::cout << boost::json::serialize(fit.told) << "\n";
    return base::ok();
}

}  // namespace
}  // namespace rampart::peer_budro

int main(int argc, char** argv) {
    using namespace rampart::peer_budro;
    Options o;
    auto& learner = o.params.learner;
    auto& transport = o.params.transport;
    learner.min_rows_in_leaf = 1;
    learner.leaves = rampart::base::limits::kMaxLeaves;
    transport.moves = false;
    CLI::App app("What tools/peers/budro measures of ours");
    app.add_option("--method", o.method)->check(CLI::IsMember({"budro", "plain", "project"}));
    app.add_option("--train", o.train)->required();
    app.add_option("--test", o.test)->required();
    app.add_option("--others", o.others, "more tables to score");
    app.add_option("--out", o.out, "scores of test and other rows")->required();
    app.add_option("--protected", o.protected_features);
    app.add_option("--indicators", o.indicators);
    app.add_option("--two-columns", o.two_columns, "flags with a column for each value");
    app.add_option("--l2", o.l2);
    app.add_option("--l2-of-numbers", o.l2_of_numbers);
    app.add_option("--weights", o.weights);
    app.add_option("--audit-epsilon", o.audit_epsilon);
    app.add_option("--epsilon", transport.epsilon);
    std::string transported = "exact";
    app.add_option("--transport", transported, "exact, sgd, entropic, bisection");
    app.add_option("--gamma", transport.entropic.gamma);
    app.add_option("--weight-of-ones", o.params.positive_class_weight);
    app.add_option("--depth", learner.max_depth);
    app.add_option("--trees", learner.trees);
    app.add_option("--learning-rate", learner.learning_rate);
    app.add_option("--lambda", learner.l2);
    app.add_option("--min-hessian", learner.min_hessian_in_leaf);
    app.add_option("--threads", o.threads);
    app.add_flag("--paper-scale", o.paper_scale, "lambda and min-hessian are of weights of sum 1");
    CLI11_PARSE(app, argc, argv);
    auto method = rampart::budro::parse_transport_method(transported);
    if (method) transport.method = *method;
    const auto done = method ? run(o) : rampart::base::Status(method.error());
    if (!done) {
        std::fprintf(stderr, "peer_budro: %s\n", done.error().message.c_str());
        return 1;
    }
    return 0;
}
