#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>

#include "rampart/calibration/calibration.hpp"
#include "rampart/fairness/group_thresholds.hpp"
#include "rampart/gbdt/learner.hpp"
#include "rampart/gbdt/log_loss.hpp"
#include "rampart/ramp/gamma_search.hpp"
#include "rampart/ramp/solver.hpp"
#include "tools/peers/gbdt/process.hpp"
#include "tools/peers/gbdt/table_file.hpp"
#include "tools/peers/reasons.hpp"

/// Our part of tools/peers/ramp: scores of our boosting, a ramp fitted on fresh rows, and the time
/// of the exact solver.
namespace rampart::peer_ramp {
namespace {

using peer_gbdt::Moment;

/// P(label 1), label and group of fresh rows, then of test rows.
struct Rows {
    size_t fresh = 0, all = 0, groups = 1;
    std::vector<double> score;
    std::vector<uint8_t> label;
    std::vector<int32_t> group;
};

/// Reads uint64 fresh, uint64 test rows; double[n] scores, uint8[n] labels, uint8[n] groups.
base::Result<Rows> read_rows(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    uint64_t counts[2] = {0, 0};
    file.read(reinterpret_cast<char*>(counts), sizeof counts);
    Rows rows;
    rows.fresh = counts[0];
    rows.all = counts[0] + counts[1];
    if (!file || rows.all > 50'000'000)
        return base::make_error(peers::Reason::kBadProblem, "'{}' is no problem file", path);
    rows.score.resize(rows.all);
    rows.label.resize(rows.all);
    std::vector<uint8_t> group(rows.all);
    file.read(reinterpret_cast<char*>(rows.score.data()),
              static_cast<std::streamsize>(rows.all * sizeof(double)));
    file.read(reinterpret_cast<char*>(rows.label.data()), static_cast<std::streamsize>(rows.all));
    file.read(reinterpret_cast<char*>(group.data()), static_cast<std::streamsize>(rows.all));
    if (!file) return base::make_error(peers::Reason::kBadProblem, "'{}' is too short", path);
    rows.group.assign(group.begin(), group.end());
    for (const int32_t k : rows.group)
        rows.groups = std::max(rows.groups, static_cast<size_t>(k) + 1);
    return rows;
}

template <class T>
std::span<const T> fresh_of(const Rows& rows, const std::vector<T>& values) {
    return std::span<const T>(values).first(rows.fresh);
}

struct Options {
    std::string problem, out, criterion = "statistical_parity", calibration = "auto", train;
    std::vector<std::string> others;
    std::vector<double> gammas{0.1};
    double epsilon = 0;
    int trees = 200;
};

/// Calibrates each group with the map of the smallest out-of-fold Brier score; the identity is a
/// candidate.
base::Result<std::string> calibrate(const Rows& rows, const Options& o, std::vector<double>& p) {
    const calibration::CalibrationRows fresh{fresh_of(rows, rows.score),
                                             fresh_of(rows, rows.label),
                                             fresh_of(rows, rows.group),
                                             rows.groups,
                                             {}};
    std::string best = "none";
    std::optional<calibration::CalibrationFit> chosen;
    double least = 0;
    for (const std::string method : {"isotonic", "platt", "beta"}) {
        if (o.calibration != "auto" && o.calibration != method) continue;
        calibration::CalibrationParams params;
        RAMPART_TRY(params.method, calibration::parse_calibration(method));
        params.by_group = true;
        RAMPART_TRY(auto fit, calibration::fit_calibration(fresh, params));
        const double brier = fit.overall.out_of_fold->brier;
        if (best == "none" && o.calibration == "auto") least = fit.overall.before->brier;
        if (o.calibration != "auto" || brier < least) {
            least = brier;
            best = method;
            chosen = std::move(fit);
        }
    }
    p = rows.score;
    if (chosen)
        for (size_t i = 0; i < rows.all; ++i)
            p[i] = chosen->apply(p[i], static_cast<size_t>(rows.group[i]));
    return best;
}

base::Status fit(const Options& o) {
    RAMPART_TRY(const Rows rows, read_rows(o.problem));
    const auto start = Moment::now();
    std::vector<double> f;
    RAMPART_TRY(const std::string calibration, calibrate(rows, o, f));
    for (double& p : f) p = 2 * p - 1;
    ramp::RampParams params{.epsilon = o.epsilon};
    using enum ramp::RampCriterion;
    for (const auto one : {kStatisticalParity, kCovariance, kEqualOpportunity, kEqualizedOdds})
        if (to_string(one) == o.criterion) params.criterion = one;
    if (to_string(params.criterion) != o.criterion)
        return base::make_error(peers::Reason::kBadProblem, "no criterion '{}'", o.criterion);
    const ramp::RampProblem problem{fresh_of(rows, f), fresh_of(rows, rows.group), rows.groups, {}};
    ramp::GammaSearch search;
    search.label = fresh_of(rows, rows.label);
    search.gammas = o.gammas;
    RAMPART_TRY(const auto choice, ramp::choose_gamma(problem, params, search));
    const auto took = Moment::now() - start;
    std::vector<double> approve(rows.all);
    for (size_t i = 0; i < rows.all; ++i)
        approve[i] = choice.solution.rule.apply(f[i], static_cast<size_t>(rows.group[i]));
    std::ofstream file(o.out, std::ios::binary);
    file.write(reinterpret_cast<const char*>(approve.data()),
               static_cast<std::streamsize>(approve.size() * sizeof(double)));
    file.write(reinterpret_cast<const char*>(f.data()),
               static_cast<std::streamsize>(f.size() * sizeof(double)));
    std::cout << boost::json::serialize(boost::json::object{{"cpu", took.cpu},
                                                            {"calibration", calibration},
                                                            {"gamma", choice.gamma},
                                                            {"gap", choice.solution.gap}})
              << "\n";
    return base::ok();
}

/// Measures the CPU seconds of the exact solver, on uncalibrated scores.
base::Status time(const Options& o) {
    RAMPART_TRY(const Rows rows, read_rows(o.problem));
    std::vector<double> f;
    for (const double p : rows.score) f.push_back(2 * p - 1);
    const ramp::RampProblem problem{f, rows.group, rows.groups, {}};
    const auto start = Moment::now();
    RAMPART_TRY(const auto solution,
                ramp::solve_ramp(problem, {.gamma = o.gammas.front(), .epsilon = o.epsilon}));
    const auto took = Moment::now() - start;
    const auto [lo, hi] = std::minmax_element(solution.rates.begin(), solution.rates.end());
    std::cout << boost::json::serialize(boost::json::object{
                     {"cpu", took.cpu}, {"bias", *hi - *lo}, {"gap", solution.gap}})
              << "\n";
    return base::ok();
}

/// Computes P(label 1) of other rows by plain boosting, one file after the other.
base::Status grow(const Options& o) {
    RAMPART_TRY(const auto train, peer_gbdt::read_table_file(o.train));
    base::ThreadPool pool(1);
    gbdt::LogLoss objective(train);
    gbdt::LearnerParams params;
    params.trees = o.trees;
    params.learning_rate = 0.05;
    RAMPART_TRY(const auto ensemble, gbdt::train(train, objective, params, &pool, {}));
    std::ofstream file(o.out, std::ios::binary);
    for (const auto& path : o.others) {
        RAMPART_TRY(const auto rows, peer_gbdt::read_table_file(path));
        auto scores = fairness::link_scores(rows, ensemble);
        for (double& f : scores) f = (f + 1) / 2;
        file.write(reinterpret_cast<const char*>(scores.data()),
                   static_cast<std::streamsize>(scores.size() * sizeof(double)));
    }
    std::cout << boost::json::serialize(boost::json::object{{"trees", ensemble.trees.size()}})
              << "\n";
    return base::ok();
}

}  // namespace
}  // namespace rampart::peer_ramp

int main(int argc, char** argv) {
    using namespace rampart::peer_ramp;
    Options o;
    CLI::App app("What tools/peers/ramp measures of ours");
    app.require_subcommand(1);
    auto* const fitting = app.add_subcommand("fit", "a ramp on fresh rows; P(1) and f of all rows");
    fitting->add_option("--problem", o.problem)->required();
    fitting->add_option("--criterion", o.criterion);
    fitting->add_option("--epsilon", o.epsilon);
    fitting->add_option("--gammas", o.gammas);
    fitting->add_option("--calibration", o.calibration, "auto, none, isotonic, platt, beta");
    fitting->add_option("--out", o.out)->required();
    auto* const timing = app.add_subcommand("time", "CPU seconds of the exact solver");
    timing->add_option("--problem", o.problem)->required();
    timing->add_option("--gammas", o.gammas);
    timing->add_option("--epsilon", o.epsilon);
    auto* const boosting = app.add_subcommand("boost", "P(1) of other rows by plain boosting");
    boosting->add_option("--train", o.train)->required();
    boosting->add_option("--rows", o.others)->required();
    boosting->add_option("--trees", o.trees);
    boosting->add_option("--out", o.out)->required();
    CLI11_PARSE(app, argc, argv);
    const auto done = fitting->parsed() ? fit(o) : timing->parsed() ? time(o) : grow(o);
    if (!done) {
        std::fprintf(stderr, "peer_ramp: %s\n", done.error().message.c_str());
        return 1;
    }
    return 0;
}
