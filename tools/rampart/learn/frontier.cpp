#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>
#include <filesystem>
#include <set>
#include <thread>

#include "frame/commands.hpp"
#include "frame/reasons.hpp"
#include "learn/frontier_trials.hpp"
#include "learn/learner_flags.hpp"
#include "learn/regression_frontier.hpp"
#include "learn/table_parts.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/dataset/feature_schema_toml.hpp"
#include "rampart/fairness/operating_point.hpp"
#include "rampart/fairness/reasons.hpp"
#include "rampart/report/text_table.hpp"
#include "rampart/runtime/shutdown.hpp"

namespace rampart::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxSchemaBytes = 16 << 20;

struct Options {
    std::string data, schema, out, constraint = "fnr", operate_at;
    SplitWords split;
    std::vector<std::string> learners{"fairgbm", "gbdt", "thresholds"};
    size_t trials = 20;
    fairness::FrontierParams bands;
    FrontierJob job;
    std::vector<double> epsilons{0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.17, 0.23, 1};
    std::unique_ptr<LearnerFlags> flags;  // flags of regression
    std::vector<const CLI::Option*> of_classification;
    CLI::Option* tolerances = nullptr;
    std::string rows_text;  // sizes of the parts, twins
    boost::json::object rows_json;
    std::vector<std::string> notes;  // on the parts
    size_t threads = std::max(1u, std::thread::hardware_concurrency());
};

/// Fills the job; returns the line that identifies this run.
base::Result<std::string> prepare(Options& o) {
    auto& job = o.job;
    job.constraint_texts = {o.constraint};
    job.operate_at_text = o.operate_at;
    RAMPART_TRY(job.constraints.parity, fairness::parse_parity(o.constraint, 0));
    if (!o.operate_at.empty()) {
        RAMPART_TRY(const auto point, fairness::parse_operating_point(o.operate_at));
        if (!point.meets)
            return base::make_error(fairness::Reason::kBadOperatingPoint,
                                    "--operate-at is '{}': the frontier takes approve, fpr or fnr, "
                                    "which thresholds by group and mixtures keep, too",
                                    o.operate_at);
        job.operate_at = point.meets;
    }
    RAMPART_TRY(const auto schema_text, base::read_file(o.schema, kMaxSchemaBytes));
    RAMPART_TRY(const auto schema, dataset::parse_table_schema(schema_text, o.schema));
    job.attributes = schema.protected_columns;
    RAMPART_TRY(auto parts, read_table_parts({o.data, "", o.split, job.seed}, schema));
    o.rows_text = parts.text();
    o.rows_json = parts.json();
    o.notes = parts.notes();
    job.train = std::move(parts.train);
    job.validation = std::move(parts.validation);
    job.test = std::move(parts.test);
    for (const auto& [name, rows] : {std::pair{"training", &job.train},
                                     {"validation", &job.validation},
                                     {"test", &job.test}}) {
        const auto sound = dataset::validate(*rows);
        if (!sound)
            return sound.error().with_context(
                fmt::format("the {} rows of the split {}", name, o.split.text()));
    }
    return fmt::format(
        "rampart frontier, data {}, split {}, constraint {}, operate at {}, tolerance to {}, trees "
        "to {}, reduction fits {}, seed {}",
        parts.data.hex(), to_text(parts.plan), o.constraint,
        o.operate_at.empty() ? "1/2" : o.operate_at, job.most_tolerance, job.most_trees,
        job.reduction_fits, job.seed);
}

void show(const Context& context, size_t done, size_t all, const TrialRow& row) {
    if (!context.terminal) return;
    fmt::print(stderr, "\r{}/{} models, {} {}: {:.4f}, gap {:.4f}   {}", done, all, row.learner,
               row.number, row.figures.test.performance, row.figures.test.unfairness,
               done == all ? "\n" : "");
    std::fflush(stderr);
}

/// Runs what is missing; after each trial the file holds all so far.
base::Result<std::vector<TrialRow>> run_all(const Options& o, const std::string& line,
                                            const Context& context) {
    const fs::path file = fs::path(o.out) / "trials.csv";
    RAMPART_TRY(auto rows, read_trials(file, line));
    std::set<std::pair<std::string, size_t>> done;
    for (const auto& row : rows) done.emplace(row.learner, row.number);
    base::ThreadPool pool(o.threads);
    RAMPART_TRY(const auto signal, runtime::Shutdown::install());
    const size_t all = o.trials * o.learners.size();
    size_t count = 0;
    // all learners' first, then all second: a run that is broken off can be looked at
    for (size_t number = 0; number < o.trials; ++number)
        for (const auto& learner : o.learners) {
            ++count;
            if (done.contains({learner, number})) continue;
            if (signal->requested())
                return base::make_error(Reason::kInterrupted,
                                        "interrupted after {} models, which {} holds; the same "
                                        "command goes on",
                                        rows.size(), file.string());
            auto row = run_trial(o.job, learner, number, pool);
            if (!row) return row.error().with_context(fmt::format("{} {}", learner, number));
            rows.push_back(*std::move(row));
            RAMPART_RETURN_IF_ERROR(base::write_file_atomically(file, trials_text(line, rows)));
            show(context, count, all, rows.back());
        }
    return rows;
}

base::Result<FrontierReport> report_of(const Options& o, const std::vector<TrialRow>& rows) {
    FrontierReport report;
    report.data = fmt::format("{}, split {}, seed {}", o.data, o.split.text(), o.job.seed);
    report.constraints =
        fmt::format("gap of {}{}", o.constraint,
                    o.operate_at.empty() ? "" : fmt::format(" at {}", o.operate_at));
    report.performance = o.operate_at.empty() ? "accuracy" : "share of label 1 approved";
    report.tries = o.bands.tries;
    for (const auto& name : o.learners) {
        LearnerFrontier learner{name, {}, {}, {}, 0};
        std::vector<fairness::FrontierTrial> trials;
        for (const auto& row : rows) {
            if (row.learner != name || row.number >= o.trials) continue;
            learner.trials.push_back(row);
            trials.push_back(row.figures);
            learner.seconds += row.seconds;
        }
        learner.undominated = fairness::undominated(trials);
        RAMPART_TRY(learner.bands, fairness::frontier_bands(trials, o.bands));
        report.learners.push_back(std::move(learner));
    }
    return report;
}

boost::json::object json_of(const LearnerFrontier& learner) {
    boost::json::array bands, best;
    for (const auto& band : learner.bands)
        bands.push_back({{"alpha", band.alpha},
                         {"performance", band.mean.performance},
                         {"performance_band", {band.performance.lo, band.performance.hi}},
                         {"unfairness", band.mean.unfairness},
                         {"unfairness_band", {band.unfairness.lo, band.unfairness.hi}}});
    for (const size_t i : learner.undominated) {
        const auto& row = learner.trials[i];
        best.push_back({{"number", row.number},
                        {"settings", row.settings},
                        {"performance", row.figures.test.performance},
                        {"unfairness", row.figures.test.unfairness}});
    }
    return {{"learner", learner.learner},
            {"models", learner.trials.size()},
            {"seconds", learner.seconds},
            {"bands", std::move(bands)},
            {"undominated", std::move(best)}};
}

/// Returns whether the learners are of regression. Error: some are, and some are not.
base::Result<bool> is_regression(const Options& o) {
    const auto count = std::count_if(o.learners.begin(), o.learners.end(), is_regression_learner);
    if (count == 0) return false;
    if (static_cast<size_t>(count) == o.learners.size()) return true;
    return base::make_error(base::Reason::kBadUsage,
                            "--learners {}: {} are of regression, whose losses are not "
                            "comparable with accuracies: make two frontiers",
                            fmt::join(o.learners, ","), fmt::join(regression_learners(), ", "));
}

base::Result<Answer> regression(const Options& o, const Context& context) {
    RAMPART_TRY(const auto* learner, learning::find_learner(kRegressionLearner));
    RAMPART_TRY(auto values, o.flags->values(*learner));
    RegressionFrontier job{.values = std::move(values),
                           .source = {o.data, "", o.split, o.job.seed},
                           .learners = o.learners,
                           .epsilons = o.epsilons,
                           .out = o.out,
                           .reduction_fits = o.job.reduction_fits,
                           .threads = o.threads};
    RAMPART_TRY(const auto schema_text, base::read_file(o.schema, kMaxSchemaBytes));
    RAMPART_TRY(job.schema, dataset::parse_table_schema(schema_text, o.schema));
    return regression_frontier(job, context);
}

base::Result<Answer> frontier(Options& o, const Context& context) {
    RAMPART_TRY(const bool of_regression, is_regression(o));
    std::error_code error;
    fs::create_directories(o.out, error);
    if (error)
        return base::make_error(Reason::kNoFolder, "--out {}: cannot be made: {}", o.out,
                                error.message());
    std::vector<std::string> given = of_regression ? std::vector<std::string>() : o.flags->given();
    for (const auto* option :
         of_regression ? o.of_classification : std::vector<const CLI::Option*>{o.tolerances})
        if (option->count() > 0) given.push_back(option->get_name());
    std::vector<std::string> notes;
    for (const auto& flag : given)
        notes.push_back(fmt::format("{} has no effect {} learners of regression", flag,
                                    of_regression ? "with" : "without"));
    if (of_regression) {
        RAMPART_TRY(auto answer, regression(o, context));
        answer.notes.insert(answer.notes.begin(), notes.begin(), notes.end());
        return answer;
    }
    RAMPART_TRY(const auto line, prepare(o));
    RAMPART_TRY(const auto rows, run_all(o, line, context));
    RAMPART_TRY(const auto report, report_of(o, rows));
    RAMPART_RETURN_IF_ERROR(
        base::write_file_atomically(fs::path(o.out) / "frontier.csv", frontier_csv(report)));
    RAMPART_RETURN_IF_ERROR(
        base::write_file_atomically(fs::path(o.out) / "frontier.html", frontier_page(report)));
    notes.insert(notes.end(), o.notes.begin(), o.notes.end());
    Answer answer{.notes = std::move(notes)};
    report::Table table{{"learner", "alpha", report.performance, "gap"}};
    boost::json::array learners;
    for (const auto& learner : report.learners) {
        learners.push_back(json_of(learner));
        for (const auto& band : learner.bands)
            table.push_back({learner.learner, fmt::format("{}", band.alpha),
                             fmt::format("{:.4f}", band.mean.performance),
                             fmt::format("{:.4f}", band.mean.unfairness)});
    }
    answer.text = fmt::format("{}{}\nwrote {}/frontier.html, frontier.csv and trials.csv\n",
                              o.rows_text, report::align(table), o.out);
    answer.json = boost::json::serialize(boost::json::object{
        {"out", o.out}, {"split_rows", o.rows_json}, {"learners", std::move(learners)}});
    return answer;
}

std::vector<std::string> learner_names() {
    std::vector<std::string> names;
    for (const auto* learner : learning::learners())
        if (!is_regression_learner(std::string(learner->name())))
            names.emplace_back(learner->name());
    names.emplace_back(kThresholds);
    names.insert(names.end(), regression_learners().begin(), regression_learners().end());
    return names;
}

void add_regression_flags(CLI::App& command, Options& o) {
    const auto* learner = learning::find_learner(kRegressionLearner).value();
    // what the names of the frontier's learners and its tolerances say
    std::vector<std::string_view> others{"notion",    "oracle",           "disparity_tolerance",
                                         "zeta",      "approve_at_least", "approve_at_most",
                                         "threshold", "operate_at"};
    const std::set<std::string_view> of_trees{"trees", "leaves", "learning_rate",
                                              "min_rows_in_leaf"};
    const auto options = learner->options();
    for (const auto& option : options)  // the same trees for baselines, which have only these
        if (option.only_with == "oracle=gbdt" && !of_trees.contains(option.name))
            others.push_back(option.name);
    o.flags = std::make_unique<LearnerFlags>(command, std::vector{learner}, others);
    o.flags->show(learner);
    o.tolerances =
        command
            .add_option("--tolerances", o.epsilons,
                        "allowed differences of P(score >= z) between a group and all rows; "
                        "one model for each")
            ->delimiter(',')
            ->capture_default_str()
            ->group("Learners of regression");
}

}  // namespace

void add_frontier(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& o = *options;
    auto& command = frame.add(
        {.name = "frontier",
         .summary = "Train many models and plot performance against fairness",
         .example = "rampart frontier --data data.csv.gz --schema schema.toml --learners "
                    "fairgbm,gbdt,thresholds --constraint fnr --trials 20 --out frontier",
         .detail = "Learners of classification: those of `rampart learners`, and thresholds (gbdt "
                   "with a threshold for each group). budro keeps no rates alike: its epsilon is "
                   "drawn.\n"
                   "Learners of regression, which plot the loss against the disparity of "
                   "the whole score: fair-regression and unconstrained (trees), "
                   "fair-regression-linear and unconstrained-linear, seo (linear), "
                   "fair-classification (eg, for labels of two values).\n"
                   "After an interruption the same command continues.",
         .reads_no_store = true},
        [options](const Context& context) { return frontier(*options, context); });
    command.add_option("--data", o.data, "the table: .csv or .csv.gz")->required();
    command.add_option("--schema", o.schema, "schema file; see `rampart schema infer`")->required();
    command
        .add_option("--out", o.out, "folder to write trials.csv, frontier.csv and frontier.html to")
        ->required();
    command.add_option("--learners", o.learners, "learners to compare, by comma")
        ->delimiter(',')
        ->check(CLI::IsMember(learner_names()))
        ->capture_default_str();
    const auto classification = [&](CLI::Option* option) {
        o.of_classification.push_back(option->group("Learners of classification"));
        return option;
    };
    classification(
        command.add_option("--constraint", o.constraint,
                           "rates that have to be alike in all groups: fpr, fnr, equalized_odds, "
                           "statistical_parity, error; fnr@sex compares one attribute's groups"))
        ->capture_default_str();
    classification(command.add_option(
        "--operate-at", o.operate_at,
        "choose thresholds so that this bound just holds, as in 'fpr<=0.05' (or fnr, "
        "statistical_parity), and compare the share of label 1 approved; default: accuracy"));
    classification(command.add_option("--trials", o.trials, "number of models of each learner"))
        ->check(CLI::Range(size_t{1}, size_t{10'000}))
        ->capture_default_str();
    classification(
        command.add_option(
            "--tries", o.bands.tries,
            "number of models trained in practice: the bands are about the best of so many"))
        ->check(CLI::Range(size_t{1}, size_t{10'000}))
        ->capture_default_str();
    classification(command.add_option("--max-tolerance", o.job.most_tolerance,
                                      "upper limit of the drawn tolerances"))
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    classification(command.add_option("--max-trees", o.job.most_trees,
                                      "upper limit of the drawn numbers of trees"))
        ->check(CLI::Range(1, 20'000))
        ->capture_default_str();
    command
        .add_option("--reduction-fits", o.job.reduction_fits,
                    "eg, gs, rs, fair-classification: number of fits of a model")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    add_regression_flags(command, o);
    add_split_words(command, o.split, "Split");
    command.add_option("--seed", o.job.seed, "seed of the split, the settings and the bootstrap")
        ->capture_default_str();
    command.add_option("--threads", o.threads, "default: one per core; the result is the same")
        ->check(CLI::Range(size_t{1}, size_t{256}));
}

}  // namespace rampart::cli
