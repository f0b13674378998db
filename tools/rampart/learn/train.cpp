#include <fmt/ranges.h>

#include <boost/json.hpp>
#include <cstdio>
#include <filesystem>

#include "frame/commands.hpp"
#include "frame/figures_text.hpp"
#include "frame/reasons.hpp"
#include "learn/regression_train.hpp"
#include "learn/result_file.hpp"
#include "learn/train_options.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/budro/baselines.hpp"
#include "rampart/dataset/feature_schema_toml.hpp"
#include "rampart/evaluation/evaluation.hpp"
#include "rampart/evaluation/table_digest.hpp"
#include "rampart/gbdt/log_loss.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/runtime/shutdown.hpp"

namespace rampart::cli {
namespace {

constexpr size_t kMaxSchemaBytes = 16 << 20;

using Options = TrainOptions;

struct Parts : TableParts {
    std::optional<budro::FairMetric> metric;
};

struct Trained {
    model::LearnedLink link;
    std::optional<fairgbm::FairGbmResult> fairgbm;
    std::optional<reductions::ReductionResult> reduction;
    std::optional<budro::BudroResult> budro;
    std::optional<budro::BudroParams> budro_params;
    std::optional<ramp::RampSolution> ramp;
};

TableSource source_of(const Options& options) {
    return {options.data, options.cache, options.split, options.params.learner.seed};
}

/// What a learner needs that looks at no groups: one of them may be without rows.
base::Status validate_but_groups(dataset::Dataset& data) {
    auto group = std::exchange(data.group, {});
    auto names = std::exchange(data.group_names, {});
    auto sound = dataset::validate(data);
    data.group = std::move(group);
    data.group_names = std::move(names);
    return sound;
}

base::Result<Parts> read_parts(const Options& options, const dataset::TableSchema& schema) {
    RAMPART_TRY(auto table, read_table_parts(source_of(options), schema));
    Parts parts{std::move(table), {}};
    const auto sound = compares_groups(options) ? dataset::validate(parts.train)
                                                : validate_but_groups(parts.train);
    if (!sound) {
        auto error = sound.error().with_context(
            fmt::format("the {} training rows of {}", parts.train.rows(), options.data));
        if (error.is(base::Reason::kEmptyGroup))
            error.message += "; --learner gbdt does not compare groups and takes them as they are";
        return error;
    }
    if (options.postprocess == "ramp" && parts.validation.rows() == 0)
        return base::make_error(
            Reason::kNoValidationRows,
            "the ramp is fitted on rows that the learner has not seen, and the split "
            "{} leaves none for validation: try 60/20/20",
            options.split);
    return parts;
}

/// Learns the fair metric, and makes of the rows what a baseline learns from.
base::Status prepare(const Options& options, const dataset::TableSchema& schema, Parts& parts) {
    if (needs_metric(options)) {
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
gbdt::ProgressCallback watch(const Context& context, const runtime::Shutdown& signal) {
    return [&signal, terminal = context.terminal](const gbdt::Progress& p) {
        if (terminal && (p.iteration % std::max(1, p.trees / 100) == 0 || p.iteration == p.trees)) {
            fmt::print(stderr, "\r{}/{} trees{}", p.iteration, p.trees,
                       p.iteration == p.trees ? "\n" : "");
            std::fflush(stderr);
        }
        return !signal.requested();
    };
}

/// The trees to go on from.
base::Result<std::optional<model::Ensemble>> start_of(const Options& options,
                                                      const dataset::FeatureSchema& schema) {
    if (options.resume.empty()) return std::nullopt;
    RAMPART_TRY(const auto loaded, model::load_model_file(options.resume));
    const auto* link = std::get_if<model::LearnedLink>(&loaded.policy.links().back());
    if (link != nullptr && !link->additional_ensembles.empty())
        return base::make_error(Reason::kCannotResume,
                                "--resume {}: it mixes several ensembles; go on from a model "
                                "that has one",
                                options.resume);
    if (link != nullptr && link->scale.kind == model::ScoreScale::Kind::kUnit)
        return base::make_error(Reason::kCannotResume,
                                "--resume {}: it is a model of fair regression, whose trees "
                                "add up to a score and not to log-odds",
                                options.resume);
    if (link == nullptr || !(loaded.policy.schema() == schema))
        return base::make_error(Reason::kCannotResume,
                                "--resume {}: it {}; train it with the same schema", options.resume,
                                link == nullptr ? "holds no trees" : "has other features");
    return link->ensemble;
}

base::Result<model::Ensemble> boost(const Options& options, const Parts& parts,
                                    base::ThreadPool& pool,
                                    const gbdt::ProgressCallback& progress) {
    auto learner = options.params.learner;
    if (parts.validation.rows() == 0) learner.early_stopping_rounds = 0;
    RAMPART_TRY(const auto start, start_of(options, parts.train.schema));
    gbdt::LogLoss objective(parts.train, options.favourable_weight);
    gbdt::TrainingOptions how{.progress = progress, .start = start ? &*start : nullptr};
    if (learner.early_stopping_rounds > 0) how.validation = &parts.validation;
    return gbdt::train(parts.train, objective, learner, &pool, how);
}

base::Result<fairgbm::FairGbmResult> learn_fairgbm(const Options& options, const Parts& parts,
                                                   base::ThreadPool& pool,
                                                   const gbdt::ProgressCallback& progress) {
    RAMPART_TRY(const auto start, start_of(options, parts.train.schema));
    fairgbm::FairGbmOptions how{.progress = progress};
    if (parts.validation.rows() > 0) how.validation = &parts.validation;
    std::optional<fairgbm::FairGbmState> state;
    if (start) {
        RAMPART_TRY(state, fairgbm_state_of(options.resume));
        how.start = &*start;
        how.state = &*state;
    }
    return fairgbm::train_fairgbm(parts.train, options.params, &pool, how);
}

base::Result<reductions::ReductionResult> learn_reduction(const Options& options,
                                                          const Parts& parts,
                                                          base::ThreadPool& pool,
                                                          const Context& context,
                                                          const runtime::Shutdown& signal) {
    reductions::ReductionOptions how{.progress = [&](const reductions::ReductionProgress& p) {
        if (context.terminal) {
            fmt::print(stderr, "\r{}/{} fits", p.fits, p.of);
            std::fflush(stderr);
        }
        return !signal.requested();
    }};
    if (parts.validation.rows() > 0) how.validation = &parts.validation;
    auto result = reductions::train_reduction(parts.train, options.reduction, &pool, how);
    if (context.terminal) fmt::print(stderr, "\n");
    return result;
}

BudroTask budro_task(const Options& options, const Parts& parts) {
    BudroTask task{.train = parts.train,
                   .validation = parts.validation,
                   .learner = options.params.learner,
                   .epsilon = {},
                   .favourable_weight = options.favourable_weight};
    if (options.epsilon_option->count() > 0) task.epsilon = options.epsilon;
    if (options.early_stopping_option->count() == 0 || options.budro.select == "last")
        task.learner.early_stopping_rounds = 0;
    if (asks_for_groups(options)) task.constraints = &options.fairgbm;
    return task;
}

base::Result<Trained> learn_budro(const Options& options, const Parts& parts,
                                  base::ThreadPool& pool, const Context& context,
                                  const runtime::Shutdown& signal) {
    const auto task = budro_task(options, parts);
    Trained trained;
    RAMPART_TRY(trained.budro_params, budro_params(options.budro, task));
    const auto progress = [&](const budro::BudroRound& round) {
        if (context.terminal) {
            fmt::print(stderr, "\r{}/{} trees, robust loss {:.5f}", round.trees,
                       task.learner.trees + 1, round.robust_loss);
            std::fflush(stderr);
        }
        return !signal.requested();
    };
    RAMPART_TRY(trained.budro,
                cli::learn_budro(task, *trained.budro_params, *parts.metric, pool, progress));
    if (context.terminal) fmt::print(stderr, "\n");
    trained.link = budro_link(*trained.budro);
    return trained;
}

base::Result<Trained> learn(const Options& options, const Parts& parts, const Context& context) {
    base::ThreadPool pool(options.threads);
    RAMPART_TRY(const auto signal, runtime::Shutdown::install());
    const auto progress = watch(context, *signal);
    Trained trained;
    if (options.learner == "fairgbm") {
        RAMPART_TRY(auto result, learn_fairgbm(options, parts, pool, progress));
        trained.link = fairgbm_link(result);
        trained.fairgbm = std::move(result);
    } else if (is_reduction(options.learner)) {
        RAMPART_TRY(auto result, learn_reduction(options, parts, pool, context, *signal));
        trained.link = reductions::link_of(result.members);
        trained.reduction = std::move(result);
    } else if (options.learner == "budro") {
        RAMPART_TRY(trained, learn_budro(options, parts, pool, context, *signal));
    } else {
        RAMPART_TRY(trained.link.ensemble, boost(options, parts, pool, progress));
    }
    if (signal->requested())
        return base::make_error(Reason::kInterrupted,
                                "training was interrupted; nothing was written");
    return trained;
}

/// Fits the ramp on the validation rows, which the trees have not seen.
base::Result<ramp::RampSolution> fit_ramp(const Options& options, const model::LearnedLink& link,
                                          const dataset::Dataset& validation) {
    if (validation.group.empty())
        return base::make_error(
            base::Reason::kNoGroups,
            "the ramp needs protected groups: name columns under `protected` in {}",
            options.schema);
    std::vector<double> scores;
    std::vector<float> row(validation.schema.size());
    for (size_t i = 0; i < validation.rows(); ++i) {
        validation.copy_row(i, row);
        const double p = model::sigmoid(link.ensemble.predict_raw(row));
        scores.push_back(std::clamp(link.score_slope * p + link.score_intercept, -1.0, 1.0));
    }
    const ramp::RampProblem problem{.score = scores,
                                    .group = validation.group,
                                    .groups = validation.group_names.size(),
                                    .weight = validation.weight};
    auto solution = ramp::solve_ramp(problem, options.ramp);
    if (!solution) return solution.error().with_context("the ramp on the validation rows");
    return solution;
}

std::string parameter_text(const Options& options, const Trained& trained) {
    const auto& p = options.params.learner;
    auto text = fmt::format(
        "trees={} learning_rate={} leaves={} max_depth={} min_rows_in_leaf={} l1={} l2={} "
        "max_bins={} "
        "feature_fraction={} row_fraction={} early_stopping={}",
        p.trees, p.learning_rate, p.leaves, p.max_depth, p.min_rows_in_leaf, p.l1, p.l2, p.max_bins,
        p.feature_fraction, p.row_fraction, p.early_stopping_rounds);
    if (!options.rules.monotone.empty())
        text += fmt::format(" monotone={}", fmt::join(options.rules.monotone, ","));
    if (!options.rules.interactions.empty())
        text += fmt::format(" interactions={}", fmt::join(options.rules.interactions, ","));
    if (options.favourable_weight != 1)
        text += fmt::format(" favourable_weight={}", options.favourable_weight);
    if (options.learner == "fairgbm") text += fairgbm_text(options.params);
    if (is_reduction(options.learner)) text += reduction_text(options.reduction);
    if (trained.budro_params) text += budro_text(*trained.budro_params);
    if (options.baseline != "none") text += fmt::format(" baseline={}", options.baseline);
    if (options.postprocess == "ramp")
        text += fmt::format(" ramp_tolerance={} ramp_gamma={}", options.ramp.epsilon,
                            options.ramp.gamma);
    return text;
}

boost::json::object describe(const ramp::RampSolution& ramp) {
    return {{"thresholds", boost::json::value_from(ramp.rule.thresholds)},
            {"gamma", ramp.rule.gamma},
            {"rates", boost::json::value_from(ramp.rates)},
            {"rho", ramp.rho},
            {"duality_gap", ramp.gap}};
}

/// How alike people are treated, on the rows that the learner has not seen where there are any.
base::Status put_individual(const Options& options, const Parts& parts, const Parts& seen,
                            const model::Policy& policy, boost::json::object& json,
                            Answer& answer) {
    const bool held_out = parts.validation.rows() > 0;
    const auto& rows = held_out ? parts.validation : parts.train;
    const auto& as_seen = held_out ? seen.validation : seen.train;
    RAMPART_TRY(const auto answers, evaluation::policy_answers(policy, as_seen, std::nullopt));
    budro::IndividualAuditParams params;
    if (options.epsilon_option->count() > 0) params.transport.epsilon = options.epsilon;
    params.transport.memory_budget = options.budro.memory_mib << 20;
    base::ThreadPool pool(options.threads);
    RAMPART_TRY(const auto found,
                evaluation::individual_fairness(policy, rows, answers,
                                                {.metric = *parts.metric,
                                                 .params = params,
                                                 .counterfactuals = options.budro.counterfactuals,
                                                 .projected = options.baseline == "project"},
                                                pool));
    json["metric"] = metric_json(*parts.metric);
    json["individual"] = to_json(found);
    answer.text += fmt::format("\nfair metric: {}\nalike people on the {} rows:\n{}",
                               metric_text(*parts.metric), held_out ? "validation" : "train",
                               report::align(summary_table(found)));
    return base::ok();
}

/// What a constraint that was stated and is not kept is missed by, and what to do; empty: all are.
std::string missed_note(const Options& options, const Trained& trained) {
    if (trained.fairgbm) return fairgbm_note(*trained.fairgbm, options.params);
    if (trained.reduction) return reduction_note(*trained.reduction, options.reduction);
    return trained.budro ? budro_note(*trained.budro) : "";
}

/// What each learner says of itself.
void put_learner(const Options& options, const Trained& trained, boost::json::object& json,
                 Answer& answer) {
    if (trained.fairgbm) json["fairgbm"] = fairgbm_json(*trained.fairgbm, options.params);
    if (trained.reduction)
        json["reduction"] = reduction_json(*trained.reduction, options.reduction);
    if (trained.budro) {
        json["budro"] = budro_json(*trained.budro, *trained.budro_params);
        answer.text += fmt::format("\nthe attack on the training rows:\n{}",
                                   report::align(budro_table(*trained.budro)));
    }
    if (trained.ramp) json["ramp"] = describe(*trained.ramp);
    if (options.baseline == "project")
        answer.notes.push_back(
            "the model reads projected columns, not the table's: it is for "
            "comparison, `rampart evaluate` and decisions refuse it");
}

/// What did not come of the training as it was asked for.
void put_shortfalls(const Options& options, const Parts& parts, const Trained& trained,
                    bool written, Answer& answer) {
    if (trained.link.trees() == 0)
        answer.notes.push_back(fmt::format(
            "0 trees were learnt, so the model has one score for all rows: no tree made it better "
            "on the {} rows; look at the features, --min-rows-in-leaf, --row-fraction, --l1 and "
            "--l2",
            parts.validation.rows() > 0 ? "validation" : "training"));
    if (options.early_stopping_option->count() > 0 && parts.validation.rows() == 0 &&
        !is_reduction(options.learner))
        answer.notes.push_back(
            fmt::format("--early-stopping has no effect without validation rows, "
                        "and the split {} leaves none",
                        options.split));
    const auto missed = missed_note(options, trained);
    if (missed.empty()) return;
    answer.notes.push_back(missed);
    if (written) return;
    answer.exit_code = ExitCode::kNo;
    answer.notes.push_back(
        "no model was written: --allow-infeasible writes one that misses a "
        "constraint");
}

base::Result<Answer> answer_of(const Options& options, const Parts& parts, const Parts& seen,
                               const Trained& trained, const model::Policy& policy,
                               const std::optional<domain::PolicyId>& id) {
    Answer answer;
    answer.notes = ineffective(options);
    if (!parts.note.empty()) answer.notes.push_back(parts.note);
    boost::json::object json{{"learner", options.learner},
                             {"trees", trained.link.trees()},
                             {"split", options.split},
                             {"seed", options.params.learner.seed}};
    if (options.baseline != "none") json["baseline"] = options.baseline;
    if (id) {
        json["model"] = options.out;
        json["id"] = id->value();
        answer.text = fmt::format("wrote {}\nid {}\n", options.out, id->value());
    }
    answer.text += fmt::format("{}, {} trees, {} training rows\n", options.learner,
                               trained.link.trees(), parts.train.rows());
    put_learner(options, trained, json, answer);
    put_shortfalls(options, parts, trained, id.has_value(), answer);
    for (const auto& [name, part] : {std::pair{"train", &seen.train},
                                     {"validation", &seen.validation},
                                     {"test", &seen.test}}) {
        if (part->rows() == 0) continue;
        RAMPART_TRY(const auto evaluation,
                    evaluation::evaluate_policy(policy, *part, std::nullopt));
        json[name] = to_json(evaluation);
        if (part != &seen.train || seen.validation.rows() == 0)
            answer.text += fmt::format("\non the {} rows:\n{}", name, to_text(evaluation));
    }
    if (parts.metric)
        RAMPART_RETURN_IF_ERROR(put_individual(options, parts, seen, policy, json, answer));
    answer.json = boost::json::serialize(json);
    return answer;
}

/// What goes together.
base::Status check_combination(Options& options) {
    if (options.learner == kFairRegression) {
        if (options.resume.empty() && options.postprocess == "none" && options.baseline == "none")
            return base::ok();
        return base::make_error(Reason::kNotWithRegression,
                                "--learner {} makes a mixture with a policy of its own: "
                                "neither --resume nor --postprocess nor --baseline go with "
                                "it",
                                kFairRegression);
    }
    if (options.learner == "fairgbm")
        RAMPART_RETURN_IF_ERROR(apply(options.fairgbm, options.params));
    if (options.learner == "fairgbm" && options.params.output == fairgbm::Output::kRandomized &&
        options.postprocess != "none")
        return base::make_error(Reason::kTwoRules,
                                "--output randomized draws among iterates, a ramp is fitted "
                                "on the scores of one: leave --postprocess out, or take "
                                "--output best");
    if (is_reduction(options.learner)) {
        RAMPART_TRY(options.reduction,
                    reduction_params(options.fairgbm, options.learner, options.params.learner,
                                     options.reduction_fits));
        if (!options.resume.empty() || options.postprocess != "none")
            return base::make_error(Reason::kNotWithReductions,
                                    "--learner {} makes a mixture of models: neither "
                                    "--resume nor --postprocess go with it",
                                    options.learner);
    }
    if (options.learner == "budro" && (!options.resume.empty() || options.postprocess != "none"))
        return base::make_error(Reason::kNotWithBudro,
                                "neither --resume nor --postprocess go with --learner budro: "
                                "put a ramp on the model with "
                                "`rampart postprocess`");
    const bool alone = options.learner == "gbdt" && options.resume.empty() &&
                       options.postprocess == "none" && options.rules.monotone.empty() &&
                       options.rules.interactions.empty();
    if (options.baseline == "project" && !alone)
        return base::make_error(Reason::kNotWithProject,
                                "--baseline project changes what the features are: it goes "
                                "with --learner gbdt, without --resume, --postprocess, "
                                "--monotone and --interactions");
    if (options.baseline != "none" && options.learner != "gbdt")
        return base::make_error(Reason::kNotWithBaseline,
                                "--baseline {} is of plain boosting: take --learner gbdt",
                                options.baseline);
    return base::ok();
}

std::map<std::string, std::string> provenance_of(const Options& options, const Trained& trained) {
    return {{"learner", options.learner},
            {"parameters", parameter_text(options, trained)},
            {"postprocess", options.postprocess}};
}

model::PolicyState state_of(const Options& options, const Parts& parts, const Trained& trained,
                            const std::string& schema_text) {
    model::PolicyState state;
    if (trained.fairgbm) {
        state.fairgbm_multipliers = trained.fairgbm->state.multipliers;
        state.constraints_missed =
            fairgbm::missed_constraints(trained.fairgbm->verdict, options.params.constraints);
    }
    if (trained.budro) state.fair_metric = parts.metric->encode();
    state.training = {.table_schema = schema_text,
                      .split = options.split,
                      .seed = options.params.learner.seed,
                      .data = evaluation::digest_of(parts.all)};
    return state;
}

base::Result<Answer> regression(const Options& options, const dataset::TableSchema& schema,
                                const std::string& schema_text, const Context& context) {
    RegressionTraining training{.options = options.regression,
                                .trees = options.params.learner,
                                .source = source_of(options),
                                .schema = schema,
                                .schema_text = schema_text,
                                .out = options.out,
                                .tree_text = parameter_text(options, {}),
                                .notes = ineffective(options),
                                .threads = options.threads};
    return train_regression(training, context);
}

base::Result<Answer> train(Options& options, const Context& context) {
    RAMPART_RETURN_IF_ERROR(check_combination(options));
    // before minutes of work: can the result be written at all?
    const auto folder = std::filesystem::absolute(options.out).parent_path();
    if (std::error_code error; !std::filesystem::is_directory(folder, error))
        return base::make_error(Reason::kNoSuchFolder,
                                "--out {}: the folder {} does not exist; make it first",
                                options.out, folder.string());
    RAMPART_TRY(const auto schema_text, base::read_file(options.schema, kMaxSchemaBytes));
    RAMPART_TRY(const auto schema, dataset::parse_table_schema(schema_text, options.schema));
    RAMPART_RETURN_IF_ERROR(apply_rules(options.rules, schema.features, options.params.learner));
    if (options.learner == kFairRegression)
        return regression(options, schema, schema_text, context);
    if (needs_metric(options))
        for (const auto& text : options.budro.counterfactuals)
            if (const auto parsed = budro::parse_counterfactual(text, schema.features); !parsed)
                return parsed.error().with_context("--counterfactual");
    RAMPART_TRY(auto parts, read_parts(options, schema));
    RAMPART_RETURN_IF_ERROR(prepare(options, schema, parts));
    RAMPART_TRY(const auto projected, seen_by_learner(options, parts));
    const Parts& seen = projected ? *projected : parts;
    RAMPART_TRY(auto trained, learn(options, seen, context));
    if (options.postprocess == "ramp") {
        RAMPART_TRY(trained.ramp, fit_ramp(options, trained.link, parts.validation));
        trained.link.ramp = trained.ramp->rule;
    }
    const auto names =
        trained.link.ramp.group_aware() ? parts.all.group_names : std::vector<std::string>();
    RAMPART_TRY(const auto policy,
                model::Policy::create(seen.train.schema, {trained.link}, names,
                                      provenance_of(options, trained),
                                      state_of(options, parts, trained, schema_text)));
    std::optional<domain::PolicyId> id;
    if (options.allow_infeasible || missed_note(options, trained).empty()) {
        if (!options.save_metric.empty() && parts.metric)
            RAMPART_RETURN_IF_ERROR(budro::save_fair_metric(*parts.metric, options.save_metric));
        RAMPART_TRY(id, model::save_model_file(policy, options.out));
    }
    return answer_of(options, parts, seen, trained, policy, id);
}

}  // namespace

void add_train(Frame& frame) {
    auto options = std::make_shared<Options>();
    options->params.learner.early_stopping_rounds = 50;
    auto& command = frame.add(
        {.name = "train",
         .summary = "Train a model on a CSV table and write it as a model file",
         .example = "rampart train --data data.csv.gz --schema schema.toml --learner "
                    "fairgbm --constraint fnr,fpr "
                    "--tolerance 0.01 --split 60/20/20 --seed 7 --out m.rmp",
         .detail = "--learner gbdt: gradient-boosted trees. fairgbm: trees that keep rates "
                   "alike between groups. eg, gs, rs (exponentiated gradient, grid "
                   "search, random reweighing): mixtures of trees that do so. budro: "
                   "trees whose loss is bounded when rows are replaced by similar ones. "
                   "fair-regression: a number (a schema with label_range), or the risk "
                   "of a label of two values; its losses are on the scale from 0 to 1.\n"
                   "An option that the learner does not use is named in a note. Exit "
                   "code 1: no model that keeps the constraints was found; 3: "
                   "bounded_group_loss, and it is proven that there is none.",
         .reads_no_store = true},
        [options](const Context& context) { return train(*options, context); });
    add_train_options(command, *options);
}

}  // namespace rampart::cli
