#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <optional>

#include "rampart/fair_regression/baselines.hpp"
#include "rampart/fair_regression/bounded_loss.hpp"
#include "rampart/fair_regression/parity.hpp"
#include "tools/peers/gbdt/process.hpp"
#include "tools/peers/gbdt/table_file.hpp"
#include "tools/peers/reasons.hpp"

/// Our part of tools/peers/fair_regression: fits under statistical parity and under bounded group
/// loss, unconstrained predictors, and the same measures for the predictions of all learners.
namespace rampart::peer_fair_regression {
namespace {

using peer_gbdt::Moment;

struct Options {
    std::string train, test, predictions, oracle = "linear", loss = "squared", reduction = "loss",
                                          method = "column_generation";
    std::vector<double> epsilons{0.1}, weights{1.0};
    double zeta = 0, gap = 0;
    int levels = 40, calls = 60;
    int refine = fair_regression::ParityRegressionParams{}.refine;
    int repairs = fair_regression::ParityRegressionParams{}.warm_start_steps;
    size_t threads = 1;
    gbdt::LearnerParams trees;
    bool seo = false;
};

/// A table file, its targets in `.targets` (double[n]) and its groups in `.groups` (uint8[n]).
struct Table {
    dataset::Dataset data;
    std::vector<double> label;

    fair_regression::RegressionRows rows() const {
        return {label, data.group, data.group_names.size(), {}};
    }
};

base::Result<Table> read(const std::string& path) {
    Table out;
    RAMPART_TRY(out.data, peer_gbdt::read_table_file(path));
    const size_t n = out.data.rows();
    out.label.resize(n);
    std::vector<uint8_t> group(n);
    std::ifstream targets(path + ".targets", std::ios::binary);
    targets.read(reinterpret_cast<char*>(out.label.data()),
                 static_cast<std::streamsize>(n * sizeof(double)));
    std::ifstream groups(path + ".groups", std::ios::binary);
    groups.read(reinterpret_cast<char*>(group.data()), static_cast<std::streamsize>(n));
    if (!targets || !groups)
        return base::make_error(peers::Reason::kBadTable, "{}: .targets or .groups are too short",
                                path);
    out.data.group.assign(group.begin(), group.end());
    const int32_t most = *std::max_element(out.data.group.begin(), out.data.group.end());
    for (int32_t k = 0; k <= most; ++k) out.data.group_names.push_back(fmt::format("g={}", k));
    return out;
}

base::Result<fair_regression::RegressionLoss> loss_of(const std::string& name) {
    if (name == "squared") return fair_regression::RegressionLoss::squared();
    if (name == "absolute") return fair_regression::RegressionLoss::absolute();
    return fair_regression::RegressionLoss::logistic();
}

/// Keeps references to both tables.
base::Result<std::unique_ptr<reductions::Oracle>> oracle_of(const Options& o, const Table& train,
                                                            const Table& test,
                                                            base::ThreadPool* pool) {
    std::unique_ptr<reductions::Oracle> out;
    if (o.oracle == "linear") {
        RAMPART_TRY(auto oracle, fair_regression::LinearOracle::create(train.data, {}, &test.data));
        out = std::make_unique<fair_regression::LinearOracle>(std::move(oracle));
    } else {
        RAMPART_TRY(auto oracle,
                    fair_regression::create_tree_oracle(train.data, o.trees, pool, &test.data));
        out = std::make_unique<reductions::GbdtOracle>(std::move(oracle));
    }
    return out;
}

boost::json::object told(const fair_regression::ParityJudged& judged) {
    return {{"loss", judged.loss}, {"disparity", judged.disparity}};
}

base::Result<boost::json::array> fit(const Options& o, const Table& train, const Table& test) {
    base::ThreadPool pool(o.threads);
    RAMPART_TRY(const auto loss, loss_of(o.loss));
    boost::json::array out;
    for (const double epsilon : o.epsilons) {
        const auto start = Moment::now();
        RAMPART_TRY(const auto oracle, oracle_of(o, train, test, &pool));
        fair_regression::ParityRegressionParams params;
        params.levels = o.levels;
        params.epsilon = {epsilon};
        params.refine = o.refine;
        params.warm_start_steps = o.repairs;
        params.game.max_oracle_calls = o.calls;
        params.game.optimality_gap = o.gap;
        if (o.method == "exponentiated_gradient") {
            params.game.method = fair_regression::GameMethod::kExponentiatedGradient;
            params.game.multiplier_bound = 1 / std::max(epsilon, 1e-3);
        }
        RAMPART_TRY(params.reduction, fair_regression::parse_regression_reduction(o.reduction));
        const auto validation = test.rows();
        RAMPART_TRY(const auto found,
                    fair_regression::fit_parity(train.rows(), loss, params, *oracle, &validation));
        const auto took = Moment::now() - start;
        const bool average = o.method == "exponentiated_gradient";
        out.push_back(boost::json::object{{"epsilon", epsilon},
                                          {"train", told(found.train)},
                                          {"test", told(*found.validation)},
                                          {"gap", found.gap},
                                          {"tolerance", found.tolerance},
                                          {"converged", found.converged},
                                          {"average_loss", average ? found.average_loss : 0.0},
                                          {"members", found.members.size()},
                                          {"calls", found.calls},
                                          {"cpu", took.cpu},
                                          {"wall", took.wall}});
    }
    return out;
}

/// Computes the discretised loss and the largest disparity of a mixture of predictions.
base::Result<boost::json::object> judged(const Options& o, const Table& table,
                                         std::span<const std::vector<double>> members) {
    RAMPART_TRY(const auto loss, loss_of(o.loss));
    RAMPART_TRY(const auto levels,
                fair_regression::LevelRows::create(table.rows(), loss, o.levels));
    double mean = 0, worst = 0;
    std::vector<double> tails(levels.groups() * static_cast<size_t>(levels.levels()));
    for (size_t m = 0; m < members.size(); ++m) {
        const auto one = levels.summary(fair_regression::levels_of(members[m], o.levels));
        mean += o.weights[m] * one.loss;
        for (size_t i = 0; i < tails.size(); ++i) tails[i] += o.weights[m] * one.tails[i];
    }
    for (const double d : levels.disparities(tails)) worst = std::max(worst, std::abs(d));
    return boost::json::object{{"loss", mean}, {"disparity", worst}};
}

/// Fits an unconstrained predictor, or SEO.
base::Result<boost::json::object> plain(const Options& o, const Table& train, const Table& test) {
    std::vector<double> here, there;
    if (o.seo) {
        RAMPART_TRY(const auto model, fair_regression::fit_seo(train.data, train.rows()));
        here = model.predict(train.data);
        there = model.predict(test.data);
    } else {
        base::ThreadPool pool(o.threads);
        RAMPART_TRY(const auto oracle, oracle_of(o, train, test, &pool));
        RAMPART_TRY(const auto loss, loss_of(o.loss));
        RAMPART_TRY(auto found, fair_regression::fit_unconstrained(train.rows(), loss, *oracle,
                                                                   test.data.rows()));
        here = std::move(found.predictions);
        there = std::move(found.validation_predictions);
    }
    RAMPART_TRY(auto a, judged(o, train, std::span(&here, 1)));
    RAMPART_TRY(auto b, judged(o, test, std::span(&there, 1)));
    return boost::json::object{{"train", std::move(a)}, {"test", std::move(b)}};
}

/// Measures predictions of other learners, double[members x n].
base::Result<boost::json::object> judge(const Options& o, const Table& table) {
    std::ifstream file(o.predictions, std::ios::binary);
    std::vector<std::vector<double>> members(o.weights.size());
    for (auto& member : members) {
        member.resize(table.data.rows());
        file.read(reinterpret_cast<char*>(member.data()),
                  static_cast<std::streamsize>(member.size() * sizeof(double)));
    }
    if (!file)
        return base::make_error(peers::Reason::kBadPredictions, "'{}' is too short", o.predictions);
    return judged(o, table, members);
}

base::Result<boost::json::object> bound(const Options& o, const Table& train, const Table& test) {
    base::ThreadPool pool(o.threads);
    RAMPART_TRY(const auto loss, loss_of(o.loss));
    const auto start = Moment::now();
    RAMPART_TRY(const auto oracle, oracle_of(o, train, test, &pool));
    fair_regression::BoundedLossParams params{.zeta = {o.zeta}};
    params.game.max_oracle_calls = o.calls;
    params.game.optimality_gap = o.gap;
    const auto validation = test.rows();
    RAMPART_TRY(const auto found, fair_regression::fit_bounded_loss(train.rows(), loss, params,
                                                                    *oracle, &validation));
    const auto took = Moment::now() - start;
    const auto one = [](const fair_regression::BoundedLossJudged& j) {
        return boost::json::object{{"loss", j.loss},
                                   {"group_losses", boost::json::value_from(j.group_losses)}};
    };
    boost::json::object out{{"outcome", to_string(found.outcome)},
                            {"least_violation", found.least_violation},
                            {"gap", found.gap},
                            {"tolerance", found.tolerance},
                            {"members", found.members.size()},
                            {"calls", found.calls},
                            {"cpu", took.cpu},
                            {"wall", took.wall},
                            {"train", one(found.train)}};
    if (found.validation) out["test"] = one(*found.validation);
    return out;
}

base::Result<boost::json::value> run(const std::string& what, const Options& o) {
    if (what == "judge") {
        RAMPART_TRY(const auto table, read(o.test));
        RAMPART_TRY(auto out, judge(o, table));
        return boost::json::value(std::move(out));
    }
    RAMPART_TRY(const auto train, read(o.train));
    RAMPART_TRY(const auto test, read(o.test));
    if (what == "fit") {
        RAMPART_TRY(auto out, fit(o, train, test));
        return boost::json::value(std::move(out));
    }
    RAMPART_TRY(auto out, what == "plain" ? plain(o, train, test) : bound(o, train, test));
    return boost::json::value(std::move(out));
}

}  // namespace
}  // namespace rampart::peer_fair_regression

int main(int argc, char** argv) {
    using namespace rampart::peer_fair_regression;
    Options o;
    o.trees.trees = 100;
    o.trees.leaves = 16;
    o.trees.learning_rate = 0.1;
    std::string what;
    CLI::App app("What tools/peers/fair_regression measures of ours");
    app.add_option("what", what)
        ->required()
        ->check(CLI::IsMember({"fit", "plain", "judge", "bound"}));
    app.add_option("--train", o.train);
    app.add_option("--test", o.test)->required();
    app.add_option("--oracle", o.oracle)->check(CLI::IsMember({"linear", "gbdt"}));
    app.add_option("--loss", o.loss)->check(CLI::IsMember({"squared", "logistic", "absolute"}));
    app.add_option("--reduction", o.reduction);
    app.add_option("--method", o.method)
        ->check(CLI::IsMember({"column_generation", "exponentiated_gradient"}));
    app.add_option("--epsilons", o.epsilons);
    app.add_option("--zeta", o.zeta);
    app.add_option("--gap", o.gap);
    app.add_option("--levels", o.levels);
    app.add_option("--refine", o.refine);
    app.add_option("--repairs", o.repairs);
    app.add_option("--calls", o.calls);
    app.add_option("--trees", o.trees.trees);
    app.add_option("--leaves", o.trees.leaves);
    app.add_option("--learning-rate", o.trees.learning_rate);
    app.add_option("--min-rows", o.trees.min_rows_in_leaf);
    app.add_option("--threads", o.threads);
    app.add_flag("--seo", o.seo, "plain: SEO's linear model");
    app.add_option("--predictions", o.predictions);
    app.add_option("--weights", o.weights);
    CLI11_PARSE(app, argc, argv);
    const auto done = run(what, o);
    if (!done) {
        std::fprintf(stderr, "peer_fair_regression: %s\n", done.error().message.c_str());
        return 1;
    }
    std::cout << boost::json::serialize(*done) << "\n";
    return 0;
}
