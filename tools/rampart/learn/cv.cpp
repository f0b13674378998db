#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>

#include "frame/commands.hpp"
#include "frame/help.hpp"
#include "frame/reasons.hpp"
#include "learn/cross_validation.hpp"
#include "learn/train_options.hpp"
#include "learn/trained_rule.hpp"
#include "rampart/base/random.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/dataset/feature_schema_toml.hpp"
#include "rampart/dataset/read_table.hpp"
#include "rampart/dataset/reasons.hpp"
#include "rampart/dataset/split_plan.hpp"
#include "rampart/learning/reasons.hpp"
#include "rampart/runtime/shutdown.hpp"

namespace rampart::cli {
namespace {

struct Options {
    TrainOptions train;  // learner, recipe and their options
    std::string by, time, gap;
    size_t folds = 5, origins = 4, repeats = 1, validation = 20;
    double confidence = 0.95;
    CLI::Option *folds_option = nullptr, *origins_option = nullptr, *repeats_option = nullptr;
};

/// What all folds have in common.
struct Job {
    const Options& options;
    const TrainPlan& plan;
    const dataset::TableSchema& schema;
    const dataset::Dataset& data;
    const dataset::RowKeys& keys;
    base::ThreadPool& pool;
    const runtime::Shutdown& signal;
};

base::Status check(const Options& o, const TrainPlan& plan) {
    if (plan.recipe.search)
        return base::make_error(base::Reason::kBadUsage,
                                "{}: its [search] is part of the learning and would have to be "
                                "done anew in each fold: take a recipe without it",
                                o.train.recipe);
    if (plan.has_ramp() && o.validation == 0)
        return base::make_error(Reason::kNoValidationRows,
                                "the recipe's rule is fitted on rows that the learner has not "
                                "seen: give --validation more than 0");
    if (o.time.empty()) return base::ok();
    for (const auto* option : {o.folds_option, o.repeats_option})
        if (option->count() > 0)
            return base::make_error(base::Reason::kBadUsage,
                                    "{} beside --time-column: by time there are --origins, each "
                                    "once",
                                    option->get_name());
    return base::ok();
}

base::Result<std::vector<Division>> divisions_of(const Options& o, const dataset::Dataset& data,
                                                 const dataset::RowKeys& keys) {
    std::vector<Division> out;
    if (!o.time.empty()) {
        RAMPART_TRY(const auto gap, dataset::parse_gap(o.gap));
        RAMPART_TRY(out.emplace_back(), dataset::rolling_folds(keys, o.origins, gap));
        return out;
    }
    for (size_t repeat = 0; repeat < o.repeats; ++repeat) {
        const uint64_t seed =
            repeat == 0 ? o.train.seed : base::mix64(o.train.seed + base::mix64(repeat));
        RAMPART_TRY(out.emplace_back(),
                    o.by.empty()
                        ? dataset::row_folds(data, o.folds, seed)
                        : dataset::unit_folds(data, keys.unit, keys.units(), o.folds, seed));
    }
    return out;
}

/// Divides a fold's training rows into those that are learnt from and those that stop the learner
/// early and fit the rule.
base::Result<dataset::Split> divide(const Job& job, const FoldFigures& fold,
                                    const std::vector<uint32_t>& rows,
                                    const dataset::Dataset& data) {
    dataset::SplitPlan plan;
    plan.shares = fmt::format("{}/{}/0", 100 - job.options.validation, job.options.validation);
    plan.by = job.options.by;
    dataset::RowKeys keys;
    keys.unit_names = job.keys.unit_names;
    if (!plan.by.empty())
        for (const uint32_t row : rows) keys.unit.push_back(job.keys.unit[row]);
    const uint64_t seed =
        base::mix64(job.options.train.seed ^ base::mix64(1000 * fold.repeat + fold.fold));
    RAMPART_TRY(auto split, dataset::split_by_plan(data, plan, keys, seed));
    return std::move(split.parts);
}

/// Learns as `rampart train` does.
base::Result<model::Policy> learn(const Job& job, const FoldFigures& fold,
                                  const std::vector<uint32_t>& rows) {
    const auto& o = job.options.train;
    const auto all = job.data.subset(rows);
    RAMPART_TRY(const auto split, divide(job, fold, rows, all));
    auto train = all.subset(split.train);
    const auto validation = all.subset(split.validation);
    learning::Task task{.train = train,
                        .attributes = job.schema.protected_columns,
                        .seed = o.seed,
                        .pool = &job.pool};
    if (validation.rows() > 0) task.validation = &validation;
    if (needs_metric(o, job.plan) && o.recipe.empty()) {
        RAMPART_TRY(const auto metric,
                    metric_of(o.metric, {job.data, train, job.schema.protected_columns}));
        task.fair_metric = metric.encode();
    }
    task.progress = [&](const auto&) { return !job.signal.requested(); };
    auto learned = learning::fit(*job.plan.learner, task, job.plan.values());
    if (!learned && learned.error().is(learning::Reason::kTrainingStopped))
        return base::make_error(Reason::kInterrupted, "interrupted; nothing was written");
    if (!learned) {
        auto error = learned.error();
        error.message = with_flags(std::move(error.message), *job.plan.learner);
        return error;
    }
    auto link = std::move(learned->link);
    if (job.plan.has_ramp()) {
        RAMPART_TRY(auto ramp, fit_rule(o, job.plan, link, validation, train, job.pool));
        link = std::move(ramp.link);
    }
    const auto names = link.group_aware() ? job.data.group_names : std::vector<std::string>();
    return model::Policy::create(job.data.schema, {std::move(link)}, names, {});
}

std::string describe(const Options& o) {
    if (!o.time.empty())
        return fmt::format("{} rolling origins by {}{}{}", o.origins, o.time,
                           o.gap.empty() ? "" : ", gap " + o.gap,
                           o.by.empty() ? "" : ", apart by " + o.by);
    return fmt::format("{} folds by {}, {} repeat{}", o.folds, o.by.empty() ? "row" : o.by,
                       o.repeats, o.repeats == 1 ? "" : "s");
}

base::Result<Answer> cv(const Options& o, const Context& context) {
    RAMPART_TRY(const auto plan, plan_of(o.train));
    RAMPART_RETURN_IF_ERROR(check(o, plan));
    RAMPART_TRY(const auto schema, dataset::read_table_schema(o.train.schema));
    RAMPART_RETURN_IF_ERROR(learning::check_features(plan.values(), schema.features));
    RAMPART_TRY(const auto data, dataset::read_table(o.train.data, schema));
    if (data.numeric())
        return base::make_error(dataset::Reason::kNumericLabel,
                                "the label of {} is a number, and cv judges labels of two values: "
                                "give a schema with `favourable`",
                                o.train.data);
    dataset::RowKeys keys;
    if (!o.by.empty() || !o.time.empty()) {
        RAMPART_TRY(keys, dataset::read_row_keys(o.train.data, o.by, o.time, &schema));
        if (std::max(keys.unit.size(), keys.time.size()) != data.rows())
            return base::make_error(dataset::Reason::kBadSplit, "{} has changed meanwhile",
                                    o.train.data);
    }
    RAMPART_TRY(const auto divisions, divisions_of(o, data, keys));
    base::ThreadPool pool(o.train.threads);
    RAMPART_TRY(const auto signal, runtime::Shutdown::install());
    const Job job{o, plan, schema, data, keys, pool, *signal};
    const size_t fits = divisions.size() * divisions.front().size();
    RAMPART_TRY(const auto found,
                cross_validate(
                    data, divisions, o.confidence,
                    [&](const auto& fold, const auto& rows) { return learn(job, fold, rows); },
                    [&](size_t done) {
                        if (!context.terminal) return;
                        fmt::print(stderr, "\r{}/{} fits{}", done, fits, done == fits ? "\n" : "");
                        std::fflush(stderr);
                    }));
    Answer answer;
    answer.notes = data.notes;
    for (auto& note : ineffective(o.train, plan)) answer.notes.push_back(std::move(note));
    const auto what = fmt::format("{} on {}: {}, seed {}", plan.recipe.learner, o.train.data,
                                  describe(o), o.train.seed);
    answer.text = fmt::format("{}\n\n{}", what, to_text(found));
    auto json = to_json(found);
    json["learner"] = plan.recipe.learner;
    json["divided"] = describe(o);
    json["seed"] = o.train.seed;
    answer.json = boost::json::serialize(json);
    return answer;
}

void add_folds(CLI::App& command, Options& o) {
    constexpr const char* kFolds = "Folds";
    o.folds_option = command.add_option("--folds", o.folds, "number of folds")
                         ->check(CLI::Range(size_t{2}, dataset::kMaxFolds))
                         ->capture_default_str()
                         ->group(kFolds);
    command
        .add_option("--split-by", o.by,
                    "column whose equal cells stay in one fold, such as a person's id")
        ->group(kFolds);
    auto* time = command
                     .add_option("--time-column", o.time,
                                 "column of dates or numbers: rolling origins instead of folds")
                     ->group(kFolds);
    o.origins_option = command
                           .add_option("--origins", o.origins,
                                       "number of origins: each period of about as many rows is "
                                       "judged by what was learnt before it")
                           ->check(CLI::Range(size_t{1}, dataset::kMaxFolds))
                           ->capture_default_str()
                           ->needs(time)
                           ->group(kFolds);
    command
        .add_option("--gap", o.gap,
                    "time before an origin from which nothing is learnt, in which outcomes "
                    "mature: 3m, 90d, 2w, 1y")
        ->needs(time)
        ->group(kFolds);
    o.repeats_option = command.add_option("--repeat", o.repeats, "how often, by other folds")
                           ->check(CLI::Range(size_t{1}, size_t{100}))
                           ->capture_default_str()
                           ->group(kFolds);
    command
        .add_option("--validation", o.validation,
                    "per cent of a fold's training rows that stop the learner early and fit the "
                    "recipe's rule")
        ->check(CLI::Range(size_t{0}, size_t{90}))
        ->capture_default_str()
        ->group(kFolds);
    command.add_option("--confidence", o.confidence, "confidence level of the intervals")
        ->check(CLI::Range(0.5, 0.9999))
        ->capture_default_str()
        ->group(kFolds);
}

}  // namespace

void add_cv(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "cv",
         .summary = "Cross-validate a learner or recipe: figures of each fold, and intervals",
         .example = "rampart cv --data data.csv.gz --schema schema.toml --learner gbdt --folds 5 "
                    "--split-by person",
         .detail = "Folds are of rows, of persons (--split-by) or of periods, each judged by what "
                   "was learnt before (--time-column). Figures of folds depend on one another, as "
                   "they have training rows in common: the interval is the corrected resampled t "
                   "of Nadeau and Bengio (2003), about what the learner reaches on the mean on "
                   "other tables of as many rows of the same kind. By time it takes the periods "
                   "for alike.",
         .reads_no_store = true},
        [options](const Context& context) { return cv(*options, context); });
    command.add_option("--data", options->train.data, "the table: .csv or .csv.gz")->required();
    command.add_option("--schema", options->train.schema, "schema file")->required();
    add_recipe_options(command, options->train);
    add_folds(command, *options);
    command.formatter_fn([options](const CLI::App* app, const std::string&, CLI::AppFormatMode) {
        if (app->get_option("--learner")->count() > 0) {
            if (const auto learner = learning::find_learner(options->train.learner))
                options->train.flags->show(*learner);
        }
        return help_text(*app);
    });
}

}  // namespace rampart::cli
