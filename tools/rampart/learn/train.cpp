#include <fmt/ranges.h>

#include <boost/json.hpp>
#include <cstdio>
#include <filesystem>

#include "frame/commands.hpp"
#include "frame/figures_text.hpp"
#include "frame/help.hpp"
#include "frame/reasons.hpp"
#include "learn/regression_page.hpp"
#include "learn/table_parts.hpp"
#include "learn/train_options.hpp"
#include "learn/train_search.hpp"
#include "learn/trained_rule.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/budro/baselines.hpp"
#include "rampart/dataset/feature_schema_toml.hpp"
#include "rampart/evaluation/evaluation.hpp"
#include "rampart/evaluation/regression_evaluation.hpp"
#include "rampart/learning/option_text.hpp"
#include "rampart/learning/reasons.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/runtime/shutdown.hpp"

namespace rampart::cli {
namespace {

constexpr size_t kMaxSchemaBytes = 16 << 20;

using Options = TrainOptions;

struct Schema {
    std::string text;
    dataset::TableSchema table;
    fair_regression::LabelRange range() const {
        if (!table.label_range) return {};
        return {table.label_range->lo, table.label_range->hi};
    }
};

struct Parts : TableParts {
    std::optional<budro::FairMetric> metric;  // as the flags say
};

struct Trained {
    learning::Learned learned;
    boost::json::object figures;
    std::optional<Postprocessed> ramp;
    std::optional<budro::FairMetric> metric;
    std::optional<SearchTable> search;
    model::LearnedLink& link() { return learned.link; }
    const model::LearnedLink& link() const { return learned.link; }
};

base::Status validate_rows(const dataset::Dataset& data, bool numbers) {
    return numbers ? dataset::validate_numeric(data) : dataset::validate(data);
}

/// What a learner needs that looks at no groups: one of them may be without rows.
base::Status validate_but_groups(dataset::Dataset& data, bool numbers) {
    auto group = std::exchange(data.group, {});
    auto names = std::exchange(data.group_names, {});
    auto sound = validate_rows(data, numbers);
    data.group = std::move(group);
    data.group_names = std::move(names);
    return sound;
}

/// Checks the training rows: groups where the training compares them.
base::Status check_rows(const Options& options, const TrainPlan& plan, Parts& parts) {
    const bool compares = plan.can.groups || plan.has_ramp() || options.baseline == "reweigh";
    const bool numbers = plan.can.numbers && parts.train.numeric();
    const auto sound =
        compares ? validate_rows(parts.train, numbers) : validate_but_groups(parts.train, numbers);
    if (sound) return base::ok();
    auto error = sound.error().with_context(
        fmt::format("the {} training rows of {}", parts.train.rows(), options.data));
    if (error.is(base::Reason::kEmptyGroup) && !parts.train.numeric())
        error.message += "; --learner gbdt does not compare groups and takes them as they are";
    return error;
}

base::Result<Parts> read_parts(const Options& options, const TrainPlan& plan,
                               const dataset::TableSchema& schema) {
    RAMPART_TRY(
        auto table,
        read_table_parts({options.data, options.cache, options.split, options.seed}, schema));
    Parts parts{std::move(table), {}};
    RAMPART_RETURN_IF_ERROR(check_rows(options, plan, parts));
    if (plan.has_ramp() && parts.validation.rows() == 0)
        return base::make_error(
            Reason::kNoValidationRows,
            "the ramp is fitted on rows that the learner has not seen, and the split "
            "{} leaves none for validation: try 60/20/20",
            options.split.text());
    return parts;
}

/// Learns the fair metric, and makes of the rows what a baseline learns from. A recipe's metric is
/// learnt by its learner.
base::Status prepare(const Options& options, const TrainPlan& plan,
                     const dataset::TableSchema& schema, Parts& parts) {
    if (needs_metric(options, plan) && options.recipe.empty()) {
        RAMPART_TRY(parts.metric,
                    metric_of(options.metric, {parts.all, parts.train, schema.protected_columns}));
    }
    if (options.baseline == "reweigh") {
        RAMPART_TRY(parts.train.weight, budro::reweigh(parts.train));
    }
    return base::ok();
}

/// The rows as the learner sees them, where these are others.
base::Result<std::optional<Parts>> seen_by_learner(const Options& options, const Parts& parts) {
    if (options.baseline != "project") return std::optional<Parts>();
    Parts seen;
    RAMPART_TRY(seen.train, parts.metric->project(parts.train));
    RAMPART_TRY(seen.validation, parts.metric->project(parts.validation));
    RAMPART_TRY(seen.test, parts.metric->project(parts.test));
    return std::optional(std::move(seen));
}

/// Shows how far training is, and ends it when the user does.
bool show(const learning::Progress& p, bool terminal, const runtime::Shutdown& signal) {
    if (terminal && (p.done % std::max<size_t>(1, p.of / 100) == 0 || p.done == p.of)) {
        fmt::print(stderr, "\r{}/{} {}", p.done, p.of, p.unit);
        std::fflush(stderr);
    }
    return !signal.requested();
}

/// Says in the words of the command line what the learner refuses.
base::Error refusal(base::Error error, const Options& options, const TrainPlan& plan) {
    if (error.is(learning::Reason::kTrainingStopped))
        return base::make_error(Reason::kInterrupted,
                                "training was interrupted; nothing was written");
    error.message = with_flags(std::move(error.message), *plan.learner);
    return error.is(learning::Reason::kCannotResume)
               ? error.with_context(fmt::format("--resume {}", options.resume))
               : error;
}

base::Result<Trained> learn(const Options& options, const TrainPlan& plan, const Schema& schema,
                            const Parts& seen, const Context& context) {
    std::optional<model::LoadedPolicy> start;
    if (!options.resume.empty()) {
        RAMPART_TRY(start, model::load_model_file(options.resume));
    }
    base::ThreadPool pool(options.threads);
    RAMPART_TRY(const auto signal, runtime::Shutdown::install());
    learning::Task task{.train = seen.train,
                        .attributes = schema.table.protected_columns,
                        .label_lo = schema.range().lo,
                        .label_hi = schema.range().hi,
                        .seed = options.seed,
                        .pool = &pool};
    if (seen.validation.rows() > 0) task.validation = &seen.validation;
    if (seen.metric) task.fair_metric = seen.metric->encode();
    if (start) task.start = &start->policy;
    task.progress = [&](const auto& p) { return show(p, context.terminal, *signal); };
    auto learned = learning::try_fit(*plan.learner, task, plan.values());
    if (context.terminal) fmt::print(stderr, "\n");
    if (!learned) return refusal(learned.error(), options, plan);
    if (signal->requested())
        return base::make_error(Reason::kInterrupted,
                                "training was interrupted; nothing was written");
    Trained trained{
        .learned = *std::move(learned), .figures = {}, .ramp = {}, .metric = {}, .search = {}};
    trained.figures = boost::json::parse(trained.learned.figures).as_object();
    if (const auto& bytes = trained.learned.state.fair_metric; !bytes.empty()) {
        RAMPART_TRY(trained.metric, budro::FairMetric::decode(bytes));
    }
    return trained;
}

boost::json::object describe(const Postprocessed& post, const std::string& criterion) {
    const auto& rule = post.link.ramp;
    boost::json::object out{{"criterion", criterion},
                            {"thresholds", boost::json::value_from(rule.thresholds)},
                            {"gamma", rule.gamma}};
    if (post.fitted.aware) {
        out["rates"] = boost::json::value_from(post.fitted.aware->rates);
        out["rho"] = post.fitted.aware->rho;
    }
    if (const auto gap = post.gap()) out["duality_gap"] = *gap;
    return out;
}

/// How alike people are treated, on the rows that the learner has not seen where there are any.
base::Status put_individual(const Options& options, const TrainPlan& plan, const Parts& parts,
                            const Parts& seen, const budro::FairMetric& metric,
                            const model::Policy& policy, boost::json::object& json,
                            Answer& answer) {
    const bool held_out = parts.validation.rows() > 0;
    const auto& rows = held_out ? parts.validation : parts.train;
    const auto& as_seen = held_out ? seen.validation : seen.train;
    RAMPART_TRY(const auto answers, evaluation::policy_answers(policy, as_seen, std::nullopt));
    auto values = plan.values();
    if (!values.has("epsilon")) {  // a baseline is audited as BuDRO is
        RAMPART_TRY(const auto* budro, learning::find_learner("budro"));
        RAMPART_TRY(values, options.flags->values(*budro));
    }
    budro::IndividualAuditParams params;
    params.transport.epsilon = values.number("epsilon");
    params.transport.memory_budget = static_cast<size_t>(values.integer("attack_memory")) << 20;
    base::ThreadPool pool(options.threads);
    RAMPART_TRY(const auto found,
                evaluation::individual_fairness(policy, rows, answers,
                                                {.metric = metric,
                                                 .params = params,
                                                 .counterfactuals = options.counterfactuals,
                                                 .projected = options.baseline == "project"},
                                                pool));
    json["metric"] = metric_json(metric);
    json["individual"] = to_json(found);
    answer.text +=
        fmt::format("\nfair metric: {}\nalike people on the {} rows:\n{}", metric_text(metric),
                    held_out ? "validation" : "train", report::align(summary_table(found)));
    return base::ok();
}

/// Shows how the scores of fair regression that are served are distributed.
base::Status put_regression(const Options& options, const Schema& schema, const Parts& parts,
                            const Trained& trained, const std::optional<model::Policy>& policy,
                            boost::json::object& figures, Answer& answer) {
    RegressionPage page{.data = fmt::format("{}, split {}, seed {}", options.data,
                                            options.split.text(), options.seed),
                        .learned = trained.learned,
                        .range = schema.range(),
                        .notes = answer.notes,
                        .train_tails = {},
                        .validation_tails = {}};
    const auto levels = figures.at("grid").to_number<size_t>();
    if (policy) {
        page.train_tails = score_tails(*policy, parts.train, levels);
        if (parts.validation.rows() > 0)
            page.validation_tails = score_tails(*policy, parts.validation, levels);
        figures["tails"] = {{"train", boost::json::value_from(page.train_tails)},
                            {"validation", boost::json::value_from(page.validation_tails)}};
    }
    if (options.report.empty()) return base::ok();
    RAMPART_RETURN_IF_ERROR(
        base::write_file_atomically(options.report, regression_page(page, figures)));
    answer.text += fmt::format("wrote {}\n", options.report);
    return base::ok();
}

/// Puts what did not come of the training as it was asked for.
void put_shortfalls(const Options& options, const TrainPlan& plan, const Parts& parts,
                    const Trained& trained, bool written, Answer& answer) {
    const auto& learned = trained.learned;
    const auto note = [&](const std::string& text) {
        answer.notes.push_back(options.recipe.empty() ? with_flags(text, *plan.learner) : text);
    };
    const bool trees = trained.link().trees() == 0 && trained.link().linears.empty();
    if (trees && !learned.no_model)
        answer.notes.push_back(fmt::format(
            "0 trees were learnt, so the model has one score for all rows: no tree made it better "
            "on the {} rows; look at the features, --min-rows-in-leaf, --row-fraction, --l1 and "
            "--l2",
            parts.validation.rows() > 0 ? "validation" : "training"));
    if (plan.values().given("early_stopping_rounds") && parts.validation.rows() == 0)
        answer.notes.push_back(
            fmt::format("--early-stopping has no effect without validation rows, "
                        "and the split {} leaves none",
                        options.split.text()));
    if (options.baseline == "project")
        answer.notes.push_back(
            "the model reads projected columns, not the table's: it is for "
            "comparison, `rampart evaluate` and decisions refuse it");
    for (const auto& text : learned.notes) note(text);
    if (learned.no_model) {
        answer.exit_code = learned.no_model->is(learning::Reason::kProvenImpossible)
                               ? ExitCode::kImpossible
                               : ExitCode::kNo;
        note(learned.no_model->message + "; no model was written");
    }
    if (learned.missed.empty()) return;
    note(learned.missed);
    if (written) return;
    answer.exit_code = ExitCode::kNo;
    answer.notes.push_back(fmt::format(
        "no model was written: {} writes one that misses a constraint",
        options.recipe.empty() ? "--allow-infeasible" : "allow_infeasible = true in the recipe"));
}

/// What was trained, where it was written, and from what.
struct Outcome {
    const Options& options;
    const TrainPlan& plan;
    const Schema& schema;
    const Parts &parts, &seen;
    const Trained& trained;
    const std::optional<model::Policy>& policy;
    const std::optional<domain::PolicyId>& id;
};

/// Puts the figures of the decisions on each part of the table.
base::Status put_evaluations(const Outcome& of, boost::json::object& json, Answer& answer) {
    for (const auto& [name, part] : {std::pair{"train", &of.seen.train},
                                     {"validation", &of.seen.validation},
                                     {"test", &of.seen.test}}) {
        if (part->rows() == 0) continue;
        const auto put = [&](const auto& evaluation) {
            json[name] = to_json(evaluation);
            if (part != &of.seen.train || of.seen.validation.rows() == 0)
                answer.text += fmt::format("\non the {} rows:\n{}", name, to_text(evaluation));
        };
        RAMPART_TRY(const auto loss, evaluation::regression_loss_of(*of.policy));
        if (loss) {
            RAMPART_TRY(const auto evaluation,
                        evaluation::evaluate_regression(*of.policy, *loss, *part, of.schema.range(),
                                                        std::nullopt));
            put(evaluation);
        } else {
            RAMPART_TRY(const auto evaluation,
                        evaluation::evaluate_policy(*of.policy, *part, std::nullopt));
            put(evaluation);
        }
    }
    return base::ok();
}

base::Result<Answer> answer_of(const Outcome& of) {
    const auto& [options, plan, schema, parts, seen, trained, policy, id] = of;
    const auto& learned = trained.learned;
    const auto name = plan.learner->name();
    Answer answer;
    answer.notes = ineffective(options, plan);
    if (!parts.note.empty()) answer.notes.push_back(parts.note);
    for (auto& note : parts.notes()) answer.notes.push_back(std::move(note));
    put_shortfalls(options, plan, parts, trained, id.has_value(), answer);
    if (const auto served = dataset::check_for_applications(schema.table); id && !served)
        answer.notes.push_back("where a service decides by this model: " + served.error().message);
    boost::json::object json{{"learner", name},
                             {"trees", learned.link.trees()},
                             {"split", options.split.text()},
                             {"split_rows", parts.json()},
                             {"seed", options.seed},
                             {"training_rows", parts.train.rows()}};
    if (options.baseline != "none") json["baseline"] = options.baseline;
    if (id) {
        json["model"] = options.out;
        json["id"] = id->value();
        answer.text = fmt::format("wrote {}\nid {}\n", options.out, id->value());
    }
    const bool regression = trained.figures.contains("detail");
    auto figures = regression ? trained.figures.at("detail").as_object() : trained.figures;
    if (regression)
        RAMPART_RETURN_IF_ERROR(
            put_regression(options, schema, parts, trained, policy, figures, answer));
    if (!options.report.empty() && regression) json["report"] = options.report;
    answer.text += fmt::format("{}, {} trees, {} training rows\n{}{}{}", name, learned.link.trees(),
                               parts.train.rows(), parts.text(), learned.report.empty() ? "" : "\n",
                               learned.report);
    if (trained.search) {
        answer.text += "\n" + trained.search->text;
        json["search"] = trained.search->json;
    }
    json[plan.learner->family()] = std::move(figures);
    if (trained.ramp) json["ramp"] = describe(*trained.ramp, plan.recipe.criterion);
    if (!regression) RAMPART_RETURN_IF_ERROR(put_evaluations(of, json, answer));
    if (const auto& metric = parts.metric ? parts.metric : trained.metric)
        RAMPART_RETURN_IF_ERROR(
            put_individual(options, plan, parts, seen, *metric, *policy, json, answer));
    answer.json = boost::json::serialize(json);
    return answer;
}

/// Prints the recipe that says the same as the flags, or as the file.
base::Result<Answer> print_recipe(const Options& options, const TrainPlan& plan) {
    RAMPART_RETURN_IF_ERROR(check_recipe_says_all(options));
    Answer answer;
    answer.text = training::recipe_text(plan.recipe);
    answer.json = boost::json::serialize(boost::json::object{
        {"recipe", answer.text}, {"digest", training::recipe_digest(plan.recipe).hex()}});
    answer.notes = ineffective(options, plan);
    return answer;
}

std::map<std::string, std::string> provenance_of(const Options& options, const TrainPlan& plan) {
    std::map<std::string, std::string> out{{"learner", plan.recipe.learner},
                                           {"parameters", learning::effective_text(plan.values())},
                                           {"postprocess", plan.has_ramp() ? "ramp" : "none"}};
    if (options.baseline != "none") out["baseline"] = options.baseline;
    if (!check_recipe_says_all(options)) return out;
    out["recipe"] = training::recipe_text(plan.written);
    out["recipe_sha256"] = training::recipe_digest(plan.written).hex();
    return out;
}

base::Result<model::Policy> policy_of(const Options& options, const TrainPlan& plan,
                                      const Schema& schema, const Parts& parts, const Parts& seen,
                                      const Trained& trained) {
    const auto names =
        trained.link().group_aware() ? parts.all.group_names : std::vector<std::string>();
    auto state = trained.learned.state;
    // what was counted in the table holds for every other one
    state.training = {.table_schema = parts.pooled.counted
                                          ? dataset::write_table_schema(parts.pooled.schema)
                                          : schema.text,
                      .split = to_text(parts.plan),
                      .seed = options.seed,
                      .data = parts.data};
    return model::Policy::create(seen.train.schema, {trained.link()}, names,
                                 provenance_of(options, plan), std::move(state));
}

base::Result<Schema> read_schema(const Options& options, const TrainPlan& plan) {
    Schema schema;
    RAMPART_TRY(schema.text, base::read_file(options.schema, kMaxSchemaBytes));
    RAMPART_TRY(schema.table, dataset::parse_table_schema(schema.text, options.schema));
    RAMPART_RETURN_IF_ERROR(learning::check_features(plan.values(), schema.table.features));
    if (needs_metric(options, plan))
        for (const auto& text : options.counterfactuals)
            if (const auto parsed = budro::parse_counterfactual(text, schema.table.features);
                !parsed)
                return parsed.error().with_context("--counterfactual");
    return schema;
}

base::Result<Answer> train(const Options& options, const Context& context) {
    RAMPART_TRY(auto plan, plan_of(options));
    if (options.print_recipe) return print_recipe(options, plan);
    // before minutes of work: can the result be written at all?
    const auto folder = std::filesystem::absolute(options.out).parent_path();
    if (std::error_code error; !std::filesystem::is_directory(folder, error))
        return base::make_error(Reason::kNoSuchFolder,
                                "--out {}: the folder {} does not exist; make it first",
                                options.out, folder.string());
    RAMPART_TRY(const auto schema, read_schema(options, plan));
    RAMPART_TRY(auto parts, read_parts(options, plan, schema.table));
    RAMPART_RETURN_IF_ERROR(prepare(options, plan, schema.table, parts));
    RAMPART_TRY(const auto projected, seen_by_learner(options, parts));
    const Parts& seen = projected ? *projected : parts;
    std::optional<SearchTable> search;
    if (plan.recipe.search) {
        RAMPART_TRY(search, search_options(options,
                                           {parts, schema.table.protected_columns, schema.range(),
                                            context.terminal},
                                           plan));
    }
    RAMPART_TRY(auto trained, learn(options, plan, schema, seen, context));
    trained.search = std::move(search);
    if (plan.has_ramp()) {
        base::ThreadPool pool(options.threads);
        RAMPART_TRY(trained.ramp,
                    fit_rule(options, plan, trained.link(), parts.validation, parts.train, pool));
        trained.link() = trained.ramp->link;
    }
    std::optional<model::Policy> policy;
    std::optional<domain::PolicyId> id;
    if (!trained.learned.no_model) {
        RAMPART_TRY(policy, policy_of(options, plan, schema, parts, seen, trained));
    }
    if (policy && (plan.recipe.allow_infeasible || trained.learned.missed.empty())) {
        const auto& metric = parts.metric ? parts.metric : trained.metric;
        if (!options.save_metric.empty() && metric)
            RAMPART_RETURN_IF_ERROR(budro::save_fair_metric(*metric, options.save_metric));
        RAMPART_TRY(id, model::save_model_file(*policy, options.out));
        if (trained.search) end_search(options);
    }
    return answer_of({options, plan, schema, parts, seen, trained, policy, id});
}

/// Returns the help of all learners, or of the one that --learner names.
std::string detail_of_help() {
    std::string text = "Learners:\n";
    for (const auto* learner : learning::learners())
        text += fmt::format("{}: {}\n", learner->name(), learner->summary());
    return text +
           "An option that the learner does not use is named in a note. Recipes have defaults of "
           "their own where the help says so, which suit some thousands of rows. Exit code 1: no "
           "model that keeps the constraints was found; 3: bounded_group_loss, and it is proven "
           "that there is none.";
}

}  // namespace

void add_train(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command =
        frame.add({.name = "train",
                   .summary = "Train a model on a CSV table and write it as a model file",
                   .example = "rampart train --data data.csv.gz --schema schema.toml --learner "
                              "fairgbm --constraint fnr,fpr "
                              "--tolerance 0.01 --split 60/20/20 --seed 7 --out m.rmp",
                   .detail = detail_of_help(),
                   .reads_no_store = true},
                  [options](const Context& context) { return train(*options, context); });
    add_train_options(command, *options);
    command.formatter_fn([options](const CLI::App* app, const std::string&, CLI::AppFormatMode) {
        if (app->get_option("--learner")->count() > 0) {
            if (const auto learner = learning::find_learner(options->learner))
                options->flags->show(*learner);
        }
        return help_text(*app);
    });
}

}  // namespace rampart::cli
