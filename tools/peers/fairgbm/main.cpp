#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <optional>

#include "rampart/fairgbm/train.hpp"
#include "rampart/fairness/group_thresholds.hpp"
#include "rampart/model/batch_engine.hpp"
#include "tools/peers/gbdt/process.hpp"
#include "tools/peers/gbdt/table_file.hpp"
#include "tools/peers/reasons.hpp"

/// Our part of tools/peers/fairgbm: one fit, and its decisions on other rows.
namespace rampart::peer_fairgbm {
namespace {

struct Options {
    std::string train, validation, test, predictions;
    std::string constraint = "fnr", targets, operate_at, proxy = "cross_entropy", output = "best";
    double tolerance = 0.01;
    size_t threads = 1;
    bool plain = false, thresholds = false;
    fairgbm::FairGbmParams params;
};

base::Result<dataset::Dataset> read(const std::string& path) {
    RAMPART_TRY(auto data, peer_gbdt::read_table_file(path));
    std::ifstream file(path + ".groups", std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    if (bytes.size() != data.rows())
        return base::make_error(peers::Reason::kBadGroups, "{}.groups: {} bytes for {} rows", path,
                                bytes.size(), data.rows());
    int32_t most = 0;
    for (const char c : bytes) {
        data.group.push_back(static_cast<unsigned char>(c));
        most = std::max(most, data.group.back());
    }
    for (int32_t k = 0; k <= most; ++k) data.group_names.push_back(fmt::format("group={}", k));
    return data;
}

base::Status apply(Options& o) {
    auto& p = o.params;
    p.constraints = {};
    if (o.constraint != "none") {
        RAMPART_TRY(p.constraints.parity, fairness::parse_parity(o.constraint, o.tolerance));
    }
    if (!o.targets.empty()) {
        RAMPART_TRY(p.constraints.targets, fairness::parse_targets(o.targets));
    }
    if (!o.operate_at.empty()) {
        RAMPART_TRY(const auto point, fairness::parse_targets(o.operate_at));
        p.lagrangian.operating_point.meets = point.front();
    }
    RAMPART_TRY(p.lagrangian.proxy, fairgbm::parse_proxy(o.proxy));
    RAMPART_TRY(p.output, fairgbm::parse_output(o.output));
    return base::ok();
}

boost::json::object describe(const fairness::RateValues& values) {
    return {{"rates", boost::json::value_from(values.rates)},
            {"gaps", boost::json::value_from(values.gaps)},
            {"targets", boost::json::value_from(values.targets)},
            {"approval", values.approval},
            {"error", values.error},
            {"violation", values.violation}};
}

struct Fit {
    fairgbm::FairGbmResult trees;
    std::optional<fairness::GroupThresholds> thresholds;
};

/// Returns P(approve): the mean over the selected iterates, or by the group's thresholds.
std::vector<double> approvals(const dataset::Dataset& data, const Fit& whole,
                              std::vector<double>& scores) {
    const auto& fit = whole.trees;
    const size_t first = fit.verdict.first, last = fit.verdict.trees;
    std::vector<double> approve(data.rows());
    if (whole.thresholds) {
        scores = fairness::link_scores(data, fit.ensemble);
        for (size_t i = 0; i < scores.size(); ++i)
            for (const auto& [threshold, weight] :
                 whole.thresholds->groups[static_cast<size_t>(data.group[i])])
                if (scores[i] >= threshold) approve[i] += weight;
        return approve;
    }
    for (size_t trees = first; trees <= last; ++trees) {
        model::Ensemble iterate = fit.ensemble;
        iterate.trees.resize(std::min(trees, iterate.trees.size()));
        model::BatchEngine(iterate).predict_raw(model::TableView::of(data), scores);
        for (size_t i = 0; i < scores.size(); ++i)
            approve[i] +=
                (scores[i] >= fit.threshold ? 1.0 : 0.0) / static_cast<double>(last - first + 1);
    }
    return approve;
}

/// Measures the decisions of the fit on some rows.
base::Result<boost::json::object> judge(const dataset::Dataset& data, const Options& o,
                                        const Fit& fit, std::ofstream* predictions) {
    RAMPART_TRY(const auto system, fairness::RateSystem::create(data, o.params.constraints));
    std::vector<double> scores(data.rows());
    const auto approve = approvals(data, fit, scores);
    if (predictions != nullptr) {
        predictions->write(reinterpret_cast<const char*>(scores.data()),
                           static_cast<std::streamsize>(scores.size() * sizeof(double)));
        predictions->write(reinterpret_cast<const char*>(approve.data()),
                           static_cast<std::streamsize>(approve.size() * sizeof(double)));
    }
    return describe(system.values(system.approved(data, approve)));
}

base::Result<std::optional<dataset::Dataset>> read_if(const std::string& path) {
    std::optional<dataset::Dataset> data;
    if (path.empty()) return data;
    RAMPART_TRY(data, read(path));
    return data;
}

base::Result<fairness::GroupThresholds> thresholds_of(
    const Options& o, const model::Ensemble& ensemble,
    const std::optional<dataset::Dataset>& validation) {
    if (!validation)
        return base::make_error(peers::Reason::kNoValidation,
                                "--thresholds needs --validation rows");
    fairness::GroupThresholdParams params{.constraints = o.params.constraints};
    if (const auto& point = o.params.lagrangian.operating_point.meets) {
        params.constraints.targets.push_back(*point);
        params.false_positive_cost = 0;  // the largest true positive rate that the bound on the
                                         // rate allows
    }
    return fairness::fit_group_thresholds(*validation, fairness::link_scores(*validation, ensemble),
                                          params);
}

base::Status run(Options& o) {
    RAMPART_RETURN_IF_ERROR(apply(o));
    RAMPART_TRY(const auto train, read(o.train));
    RAMPART_TRY(const auto validation, read_if(o.validation));
    RAMPART_TRY(const auto test, read_if(o.test));
    base::ThreadPool pool(o.threads);
    const auto start = peer_gbdt::Moment::now();
    Fit whole;
    auto& fit = whole.trees;
    if (o.plain || o.thresholds) {
        gbdt::LogLoss objective(train);
        const gbdt::TrainingOptions how{.validation = validation ? &*validation : nullptr};
        RAMPART_TRY(fit.ensemble, gbdt::train(train, objective, o.params.learner, &pool, how));
        fit.verdict.first = fit.verdict.trees = fit.ensemble.trees.size();
        if (o.thresholds) {
            RAMPART_TRY(whole.thresholds, thresholds_of(o, fit.ensemble, validation));
        }
    } else {
        fairgbm::FairGbmOptions how{};
        if (validation) how.validation = &*validation;
        RAMPART_TRY(fit, fairgbm::train_fairgbm(train, o.params, &pool, how));
    }
    const auto took = peer_gbdt::Moment::now() - start;
    boost::json::object out{
        {"seconds", took.wall},
        {"cpu", took.cpu},
        {"trees", fit.verdict.trees},
        {"first", fit.verdict.first},
        {"feasible", fit.verdict.feasibility == fairgbm::Feasibility::kFeasible},
        {"threshold", model::sigmoid(fit.threshold)}};
    if (!fit.trace.empty()) out["multipliers"] = boost::json::value_from(fit.state.multipliers);
    std::ofstream file;
    if (!o.predictions.empty()) file.open(o.predictions, std::ios::binary);
    auto* const sink = o.predictions.empty() ? nullptr : &file;
    RAMPART_TRY(out["train"], judge(train, o, whole, nullptr));
    if (validation) {
        RAMPART_TRY(out["validation"], judge(*validation, o, whole, sink));
    }
    if (test) {
        RAMPART_TRY(out["test"], judge(*test, o, whole, sink));
    }
    std::cout << boost::json::serialize(out) << "\n";
    return base::ok();
}

}  // namespace
}  // namespace rampart::peer_fairgbm

int main(int argc, char** argv) {
    rampart::peer_fairgbm::Options o;
    CLI::App app("One fit of FairGBM, or of plain boosting, on table files with groups");
    app.add_option("--train", o.train)->required();
    app.add_option("--validation", o.validation);
    app.add_option("--test", o.test);
    app.add_option("--predictions", o.predictions,
                   "validation's, then test's rows: double[n] raw scores, double[n] P(approve)");
    app.add_flag("--plain", o.plain, "no constraints");
    app.add_flag("--thresholds", o.thresholds,
                 "no constraints; thresholds by group, fitted on the validation rows");
    app.add_option("--constraint", o.constraint);
    app.add_option("--tolerance", o.tolerance);
    app.add_option("--target", o.targets);
    app.add_option("--operate-at", o.operate_at);
    app.add_option("--proxy", o.proxy);
    app.add_option("--output", o.output);
    app.add_option("--threads", o.threads);
    auto& lagrangian = o.params.lagrangian;
    app.add_option("--proxy-margin", lagrangian.proxy_margin);
    app.add_option("--curvature", lagrangian.curvature);
    app.add_option("--step", lagrangian.ascent.step);
    app.add_option("--damping", lagrangian.ascent.damping);
    app.add_option("--cap", lagrangian.ascent.cap);
    app.add_flag("--paper-compat", lagrangian.ascent.paper_compat);
    app.add_option("--min-gain-share", o.params.min_gain_share);
    auto& learner = o.params.learner;
    app.add_option("--trees", learner.trees);
    app.add_option("--leaves", learner.leaves);
    app.add_option("--max-depth", learner.max_depth);
    app.add_option("--learning-rate", learner.learning_rate);
    app.add_option("--min-rows", learner.min_rows_in_leaf);
    app.add_option("--l2", learner.l2);
    app.add_option("--early-stopping", learner.early_stopping_rounds);
    app.add_option("--seed", learner.seed);
    CLI11_PARSE(app, argc, argv);
    if (const auto done = rampart::peer_fairgbm::run(o); !done) {
        std::fprintf(stderr, "peer_fairgbm: %s\n", done.error().message.c_str());
        return 1;
    }
    return 0;
}
