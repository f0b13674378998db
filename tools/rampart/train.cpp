#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "commands.hpp"
#include "evaluation.hpp"
#include "fairgbm_options.hpp"
#include "rampart/base/file.hpp"
#include "rampart/dataset/feature_schema_toml.hpp"
#include "rampart/dataset/read_table.hpp"
#include "rampart/dataset/split.hpp"
#include "rampart/dataset/table_cache.hpp"
#include "rampart/fairness/ramp/solver.hpp"
#include "rampart/gbdt/log_loss.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/runtime/shutdown.hpp"
#include "reduction_options.hpp"
#include "training_record.hpp"
#include "tree_rules.hpp"

namespace rampart::cli {
namespace {

constexpr size_t kMaxSchemaBytes = 16 << 20;

struct Options {
    std::string data, schema, out, cache;
    std::string learner = "gbdt", split = "60/20/20", postprocess = "none";
    FairGbmOptions fairgbm;
    fairness::FairGbmParams params;
    fairness::ReductionParams reduction;
    int reduction_fits = 30;
    TreeRules rules;
    std::string resume;
    double favourable_weight = 1;
    std::string criterion = "dp";
    fairness::RampParams ramp;
    size_t threads = std::max(1u, std::thread::hardware_concurrency());
    // options that another option asks for
    CLI::Option *epsilon_option = nullptr, *gamma_option = nullptr,
                *favourable_weight_option = nullptr, *reduction_fits_option = nullptr,
                *early_stopping_option = nullptr;
};

struct Parts {
    dataset::Dataset all, train, validation;
    std::string note;  // on the cache
};

struct Trained {
    model::LearnedLink link;
    std::optional<fairness::FairGbmResult> fairgbm;
    std::optional<fairness::ReductionResult> reduction;
    std::optional<fairness::RampSolution> ramp;
};

std::vector<std::string> ineffective(const Options& o) {
    std::vector<std::string> notes;
    const auto note = [&](const CLI::Option* option, std::string_view needs) {
        if (option->count() > 0)
            notes.push_back(fmt::format("{} has no effect without {}", option->get_name(), needs));
    };
    if (o.learner == "gbdt")
        for (const auto* option : o.fairgbm.options) note(option, "--learner fairgbm");
    else
        note(o.favourable_weight_option, "--learner gbdt: the fair ones learn from the data as they are");
    if (!is_reduction(o.learner)) note(o.reduction_fits_option, "--learner eg, gs or rs");
    if (is_reduction(o.learner)) {
        for (const auto* option : o.fairgbm.own) note(option, "--learner fairgbm");
        note(o.early_stopping_option, "--learner gbdt or fairgbm");
    }
    if (o.postprocess != "ramp")
        for (const auto* option : {o.epsilon_option, o.gamma_option})
            note(option, "--postprocess ramp");
    return notes;
}

base::Result<Parts> read_parts(const Options& options, const dataset::TableSchema& schema) {
    RAMPART_TRY(const auto fractions, dataset::parse_split(options.split));
    Parts parts;
    if (options.cache.empty()) {
        RAMPART_TRY(parts.all, dataset::read_table(options.data, schema));
    } else {
        RAMPART_TRY(auto cached, dataset::read_table_cached(options.data, schema, options.cache));
        parts.all = std::move(cached.data);
        parts.note = std::move(cached.note);
    }
    const auto split = dataset::split_rows(parts.all, fractions, options.params.learner.seed);
    parts.train = parts.all.subset(split.train);
    parts.validation = parts.all.subset(split.validation);
    if (auto status = dataset::validate(parts.train); !status)
        return status.error().with_context(
            fmt::format("the {} training rows of {}", parts.train.rows(), options.data));
    if (options.postprocess == "ramp" && parts.validation.rows() == 0)
        return base::invalid_argument(
            "no_validation_rows",
            "the ramp is fitted on rows that the learner has not seen, and the split "
            "{} leaves none for validation: try 60/20/20",
            options.split);
    return parts;
}

/// Shows how far training is, and ends it when the user does.
gbdt::ProgressCallback watch(const Context& context, const runtime::Shutdown& signal) {
    return [&signal, terminal = context.terminal](const gbdt::Progress& p) {
        if (terminal &&
            (p.iteration % std::max(1, p.trees / 100) == 0 || p.iteration == p.trees)) {
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
    if (link != nullptr && !link->others.empty())
        return base::invalid_argument("cannot_resume",
                                      "--resume {}: it mixes several ensembles; go on from a model "
                                      "that has one",
                                      options.resume);
    if (link == nullptr || !(loaded.policy.schema() == schema))
        return base::invalid_argument("cannot_resume",
                                      "--resume {}: it {}; train it with the same schema",
                                      options.resume,
                                      link == nullptr ? "holds no trees" : "has other features");
    return link->ensemble;
}

base::Result<model::Ensemble> boost(const Options& options, const Parts& parts,
                                    base::ThreadPool& pool, const gbdt::ProgressCallback& progress) {
    auto learner = options.params.learner;
    if (parts.validation.rows() == 0) learner.early_stopping_rounds = 0;
    RAMPART_TRY(const auto start, start_of(options, parts.train.schema));
    gbdt::LogLoss objective(parts.train, options.favourable_weight);
    gbdt::TrainingOptions how{.progress = progress, .start = start ? &*start : nullptr};
    if (learner.early_stopping_rounds > 0) how.validation = &parts.validation;
    return gbdt::train(parts.train, objective, learner, &pool, how);
}

base::Result<fairness::FairGbmResult> learn_fairgbm(const Options& options, const Parts& parts,
                                                    base::ThreadPool& pool,
                                                    const gbdt::ProgressCallback& progress) {
    RAMPART_TRY(const auto start, start_of(options, parts.train.schema));
    fairness::FairGbmOptions how{.progress = progress};
    if (parts.validation.rows() > 0) how.validation = &parts.validation;
    std::optional<fairness::FairGbmState> state;
    if (start) {
        RAMPART_TRY(state, fairgbm_state_of(options.resume));
        how.start = &*start;
        how.state = &*state;
    }
    return fairness::train_fairgbm(parts.train, options.params, &pool, how);
}

base::Result<fairness::ReductionResult> learn_reduction(const Options& options, const Parts& parts,
                                                        base::ThreadPool& pool,
                                                        const Context& context,
                                                        const runtime::Shutdown& signal) {
    fairness::ReductionOptions how{.progress = [&](const fairness::ReductionProgress& p) {
        if (context.terminal) {
            fmt::print(stderr, "\r{}/{} fits", p.fits, p.of);
            std::fflush(stderr);
        }
        return !signal.requested();
    }};
    if (parts.validation.rows() > 0) how.validation = &parts.validation;
    auto result = fairness::train_reduction(parts.train, options.reduction, &pool, how);
    if (context.terminal) fmt::print(stderr, "\n");
    return result;
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
        trained.link = fairness::link_of(result.members);
        trained.reduction = std::move(result);
    } else {
        RAMPART_TRY(trained.link.ensemble, boost(options, parts, pool, progress));
    }
    if (signal->requested())
        return base::unavailable("interrupted", "training was interrupted; nothing was written");
    return trained;
}

/// Fits the ramp on the validation rows, which the trees have not seen.
base::Result<fairness::RampSolution> fit_ramp(const Options& options,
                                              const model::LearnedLink& link,
                                              const dataset::Dataset& validation) {
    if (validation.group.empty())
        return base::invalid_argument(
            "no_groups", "the ramp needs protected groups: name columns under `protected` in {}",
            options.schema);
    std::vector<double> scores;
    std::vector<float> row(validation.schema.size());
    for (size_t i = 0; i < validation.rows(); ++i) {
        validation.copy_row(i, row);
        const double p = model::sigmoid(link.ensemble.predict_raw(row));
        scores.push_back(std::clamp(link.score_slope * p + link.score_intercept, -1.0, 1.0));
    }
    const fairness::RampProblem problem{.score = scores,
                                        .group = validation.group,
                                        .groups = validation.group_names.size(),
                                        .weight = validation.weight};
    auto solution = fairness::solve_ramp(problem, options.ramp);
    if (!solution) return solution.error().with_context("the ramp on the validation rows");
    return solution;
}

std::string parameter_text(const Options& options) {
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
    if (options.postprocess == "ramp")
        text +=
            fmt::format(" ramp_epsilon={} ramp_gamma={}", options.ramp.epsilon, options.ramp.gamma);
    return text;
}

boost::json::object describe(const fairness::RampSolution& ramp) {
    return {{"thresholds", boost::json::value_from(ramp.rule.thresholds)},
            {"gamma", ramp.rule.gamma},
            {"rates", boost::json::value_from(ramp.rates)},
            {"rho", ramp.rho},
            {"duality_gap", ramp.gap}};
}

base::Result<Answer> answer_of(const Options& options, const Parts& parts, const Trained& trained,
                               const model::Policy& policy, const domain::PolicyId& id) {
    Answer answer;
    answer.notes = ineffective(options);
    if (!parts.note.empty()) answer.notes.push_back(parts.note);
    boost::json::object json{
        {"model", options.out},       {"id", id.value()},
        {"learner", options.learner}, {"trees", trained.link.trees()},
        {"split", options.split},     {"seed", options.params.learner.seed}};
    answer.text =
        fmt::format("wrote {}\nid {}\n{}, {} trees, {} training rows\n", options.out, id.value(),
                    options.learner, trained.link.trees(), parts.train.rows());
    if (trained.fairgbm) {
        json["fairgbm"] = fairgbm_json(*trained.fairgbm, options.params);
        if (auto note = fairgbm_note(*trained.fairgbm, options.params); !note.empty())
            answer.notes.push_back(std::move(note));
    }
    if (trained.reduction) {
        json["reduction"] = reduction_json(*trained.reduction, options.reduction);
        if (auto note = reduction_note(*trained.reduction, options.reduction); !note.empty())
            answer.notes.push_back(std::move(note));
    }
    if (trained.ramp) json["ramp"] = describe(*trained.ramp);
    for (const auto& [name, part] :
         {std::pair{"train", &parts.train}, {"validation", &parts.validation}}) {
        if (part->rows() == 0) continue;
        RAMPART_TRY(const auto evaluation, evaluate_policy(policy, *part, std::nullopt));
        json[name] = to_json(evaluation);
        if (part == &parts.validation || parts.validation.rows() == 0)
            answer.text += fmt::format("\non the {} rows:\n{}", name, to_text(evaluation));
    }
    answer.json = boost::json::serialize(json);
    return answer;
}

base::Result<Answer> train(Options& options, const Context& context) {
    if (options.learner == "fairgbm")
        RAMPART_RETURN_IF_ERROR(apply(options.fairgbm, options.params));
    if (options.learner == "fairgbm" && options.params.output == fairness::Output::kRandomized &&
        options.postprocess != "none")
        return base::invalid_argument("two_rules",
                                      "--output randomized draws among iterates, a ramp is fitted "
                                      "on the scores of one: leave --postprocess out, or take "
                                      "--output best");
    if (is_reduction(options.learner)) {
        RAMPART_TRY(options.reduction,
                    reduction_params(options.fairgbm, options.learner, options.params.learner,
                                     options.reduction_fits));
        if (!options.resume.empty() || options.postprocess != "none")
            return base::invalid_argument("not_with_reductions",
                                          "--learner {} makes a mixture of models: neither "
                                          "--resume nor --postprocess go with it",
                                          options.learner);
    }
    // before minutes of work: can the result be written at all?
    const auto folder = std::filesystem::absolute(options.out).parent_path();
    if (std::error_code error; !std::filesystem::is_directory(folder, error))
        return base::not_found("no_such_folder",
                               "--out {}: the folder {} does not exist; make it first", options.out,
                               folder.string());
    RAMPART_TRY(const auto schema_text, base::read_file(options.schema, kMaxSchemaBytes));
    RAMPART_TRY(const auto schema, dataset::parse_table_schema(schema_text, options.schema));
    RAMPART_RETURN_IF_ERROR(apply_rules(options.rules, schema.features, options.params.learner));
    RAMPART_TRY(const auto parts, read_parts(options, schema));
    RAMPART_TRY(auto trained, learn(options, parts, context));
    if (options.postprocess == "ramp") {
        RAMPART_TRY(trained.ramp, fit_ramp(options, trained.link, parts.validation));
        trained.link.ramp = trained.ramp->rule;
    }
    std::map<std::string, std::string> provenance{{"learner", options.learner},
                                                  {"parameters", parameter_text(options)},
                                                  {"postprocess", options.postprocess}};
    if (trained.fairgbm) put_state(trained.fairgbm->state, provenance);
    put({.table_schema = schema_text,
         .split = options.split,
         .seed = options.params.learner.seed,
         .data_sha256 = digest_of(parts.all).hex()},
        provenance);
    const auto names =
        trained.link.ramp.group_aware() ? parts.all.group_names : std::vector<std::string>();
    RAMPART_TRY(const auto policy, model::Policy::create(schema.features, {trained.link}, names,
                                                         std::move(provenance)));
    RAMPART_TRY(const auto id, model::save_model_file(policy, options.out));
    return answer_of(options, parts, trained, policy, id);
}

void add_learner_options(CLI::App& command, Options& o) {
    auto& p = o.params.learner;
    command.add_option("--trees", p.trees, "trees to grow")->capture_default_str();
    command.add_option("--leaves", p.leaves, "leaves of a tree")->capture_default_str();
    command.add_option("--max-depth", p.max_depth, "depth of a tree; 0: no limit")
        ->capture_default_str();
    command.add_option("--learning-rate", p.learning_rate, "what each tree counts for")
        ->capture_default_str();
    command.add_option("--min-rows-in-leaf", p.min_rows_in_leaf)->capture_default_str();
    command.add_option("--l1", p.l1)->capture_default_str();
    command.add_option("--l2", p.l2)->capture_default_str();
    command.add_option("--max-bins", p.max_bins, "of a feature's histogram")->capture_default_str();
    command.add_option("--feature-fraction", p.feature_fraction, "features that a tree sees")
        ->capture_default_str();
    command.add_option("--row-fraction", p.row_fraction, "rows that a tree sees")
        ->capture_default_str();
    o.early_stopping_option =
        command
            .add_option("--early-stopping", p.early_stopping_rounds,
                        "stop when so many trees did not help on the validation rows; 0: never")
            ->capture_default_str();
    command
        .add_option("--monotone", o.rules.monotone,
                    "FEATURE=increasing or =decreasing: the score may move with it only that way")
        ->delimiter(',');
    command
        .add_option("--interactions", o.rules.interactions,
                    "FEATURE+FEATURE…: only features of one such set meet in a branch of a tree")
        ->delimiter(',');
    o.favourable_weight_option =
        command
            .add_option("--favourable-weight", o.favourable_weight,
                        "gbdt: what a row with the favourable label counts for")
            ->check(CLI::Range(1e-6, 1e6))
            ->capture_default_str();
    command.add_option("--resume", o.resume,
                       "model file to go on from, on the same data; --trees counts its trees");
}

void add_postprocess_options(CLI::App& command, Options& o) {
    command
        .add_option("--postprocess", o.postprocess,
                    "ramp: thresholds by group; they then decide by group")
        ->check(CLI::IsMember({"none", "ramp"}))
        ->capture_default_str();
    command.add_option("--criterion", o.criterion, "ramp: dp, equal approval rates")
        ->check(CLI::IsMember({"dp"}))
        ->capture_default_str();
    o.epsilon_option = command
                           .add_option("--epsilon", o.ramp.epsilon,
                                       "ramp: allowed difference of approval rates between groups")
                           ->capture_default_str();
    o.gamma_option =
        command
            .add_option("--gamma", o.ramp.gamma,
                        "ramp: width of the randomised band of scores (in [-1, 1]); 0: a cut")
            ->capture_default_str();
}

}  // namespace

void add_train(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& o = *options;
    o.params.learner.early_stopping_rounds = 50;
    auto& command =
        frame.add({.name = "train",
                   .summary = "Train a model on a CSV table and write it as a model file",
                   .example = "rampart train --data data.csv.gz --schema schema.toml --learner "
                              "fairgbm --constraint fnr,fpr "
                              "--tolerance 0.01 --split 60/20/20 --seed 7 --out m.rmp"},
                  [options](const Context& context) { return train(*options, context); });
    command.add_option("--data", o.data, "the table: .csv or .csv.gz")->required();
    command.add_option("--schema", o.schema, "schema file; see `rampart schema infer`")->required();
    command.add_option("--out", o.out, "model file to write")->required();
    command.add_option("--cache", o.cache,
                       "file or folder: keeps the table as it was read, for the next time");
    command.add_option("--learner", o.learner)
        ->check(CLI::IsMember({"gbdt", "fairgbm", "eg", "gs", "rs"}))
        ->capture_default_str();
    o.reduction_fits_option =
        command
            .add_option("--reduction-fits", o.reduction_fits,
                        "eg, gs, rs (exponentiated gradient, grid search, random reweighing): fits")
            ->check(CLI::Range(1, fairness::ReductionParams::kMaxFits))
            ->capture_default_str();
    command.add_option("--split", o.split, "per cent of rows for train/validation/test")
        ->capture_default_str();
    command.add_option("--seed", o.params.learner.seed, "of the split and of sampling")
        ->capture_default_str();
    command.add_option("--threads", o.threads, "the result does not depend on it")
        ->check(CLI::Range(size_t{1}, size_t{256}));
    add_fairgbm_options(command, o.fairgbm);
    add_postprocess_options(command, o);
    add_learner_options(command, o);
}

}  // namespace rampart::cli
