#include "learn/train_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>

#include "rampart/gbdt/reasons.hpp"

namespace rampart::cli {
namespace {

using Options = TrainOptions;

constexpr const char *kFiles = "Input and output", *kLearning = "Learning",
                     *kTrees = "Trees (all learners)", *kRamp = "Ramp (--postprocess ramp)",
                     *kBudro = "BuDRO (budro)";

void add_tree_options(CLI::App& command, Options& o) {
    auto& p = o.params.learner;
    const auto of_trees = [&](CLI::Option* option) {
        o.tree_options.push_back(option->capture_default_str()->group(kTrees));
    };
    of_trees(command.add_option("--trees", p.trees, "number of trees, 1 to 20000"));
    of_trees(command.add_option("--leaves", p.leaves, "maximum leaves per tree, 2 to 4096"));
    of_trees(command.add_option("--max-depth", p.max_depth, "maximum depth per tree; 0: no limit"));
    of_trees(
        command.add_option("--learning-rate", p.learning_rate, "shrinkage per tree, above 0 to 1"));
    of_trees(command.add_option("--min-rows-in-leaf", p.min_rows_in_leaf,
                                "minimum rows per leaf, 1 or more"));
    of_trees(command.add_option("--min-hessian-in-leaf", p.min_hessian_in_leaf,
                                "minimum sum of weights times p(1 - p) per leaf"));
    of_trees(command.add_option("--l1", p.l1, "L1 penalty on leaf values"));
    of_trees(command.add_option("--l2", p.l2, "L2 penalty on leaf values"));
    of_trees(command.add_option("--max-bins", p.max_bins,
                                "maximum histogram bins per feature, 2 to 255"));
    of_trees(command.add_option("--feature-fraction", p.feature_fraction,
                                "fraction of features sampled per tree, above 0 to 1"));
    of_trees(command.add_option("--row-fraction", p.row_fraction,
                                "fraction of rows sampled per tree, above 0 to 1"));
    o.tree_options.push_back(
        command
            .add_option("--monotone", o.rules.monotone,
                        "FEATURE=increasing or FEATURE=decreasing: the only direction in which "
                        "the score may change with the feature")
            ->delimiter(',')
            ->group(kTrees));
    o.tree_options.push_back(
        command
            .add_option("--interactions", o.rules.interactions,
                        "FEATURE+FEATURE…: sets of features; a branch of a tree uses features of "
                        "one set only")
            ->delimiter(',')
            ->group(kTrees));
    o.early_stopping_option =
        command
            .add_option("--early-stopping", p.early_stopping_rounds,
                        "gbdt, fairgbm, budro: stop after so many trees without improvement on the "
                        "validation rows; 0: never")
            ->capture_default_str()
            ->group(kTrees);
    o.favourable_weight_option =
        command
            .add_option("--favourable-weight", o.favourable_weight,
                        "gbdt, budro: weight of a row with the favourable label")
            ->check(CLI::Range(1e-6, 1e6))
            ->capture_default_str()
            ->group(kTrees);
}

void add_postprocess_options(CLI::App& command, Options& o) {
    command
        .add_option("--postprocess", o.postprocess,
                    "ramp: fit a ramp for each group on the validation rows, as `rampart "
                    "postprocess` does; the model then decides by group")
        ->check(CLI::IsMember({"none", "ramp"}))
        ->capture_default_str()
        ->group(kRamp);
    o.criterion_option = command
                             .add_option("--criterion", o.criterion,
                                         "what has to be alike: statistical_parity, the approval "
                                         "rates; `rampart postprocess` has more")
                             ->check(CLI::IsMember({kStatisticalParity}))
                             ->capture_default_str()
                             ->group(kRamp);
    o.ramp_tolerance_option =
        command
            .add_option("--ramp-tolerance", o.ramp.epsilon,
                        "allowed difference of the approval rate between groups")
            ->check(CLI::Range(0.0, 1.0))
            ->capture_default_str()
            ->group(kRamp);
    o.gamma_option =
        command
            .add_option("--gamma", o.ramp.gamma,
                        "width of the band of scores (in [-1, 1]) in which approval is drawn; 0: a "
                        "threshold")
            ->capture_default_str()
            ->group(kRamp);
}

using Note = std::function<void(const CLI::Option*, std::string_view)>;

/// What one notion or oracle of fair regression has no use for.
void note_regression(const Options& o, const Note& note) {
    const auto& regression = o.regression;
    if (regression.notion == kStatisticalParity)
        note(regression.zeta_option, "--notion bounded_group_loss");
    if (regression.notion == kBoundedGroupLoss) {
        for (const auto* option : regression.parity_options)
            note(option, "--notion statistical_parity");
    }
    if (regression.oracle != "linear") note(regression.ridge_option, "--oracle linear");
    if (regression.oracle == "linear")
        for (const auto* option : o.tree_options) note(option, "--oracle gbdt");
}

/// What one setting of FairGBM has no use for because of another.
void note_fairgbm(const FairGbmOptions& o, std::vector<std::string>& notes) {
    const auto note = [&](const CLI::Option* option, std::string_view with) {
        if (option->count() > 0)
            notes.push_back(fmt::format("{} has no effect with {}", option->get_name(), with));
    };
    if (!o.operate_at.empty()) note(o.threshold_option, "--operate-at");
    if (o.constraint == "none") note(o.tolerance_option, "--constraint none");
    if (o.proxy == "sigmoid") note(o.proxy_margin_option, "--proxy sigmoid");
}

}  // namespace

bool needs_metric(const TrainOptions& o) { return o.learner == "budro" || o.baseline == "project"; }

bool asks_for_groups(const TrainOptions& o) {
    return std::any_of(o.fairgbm.options.begin(), o.fairgbm.options.end(), [](const auto* option) {
        const auto name = option->get_name();
        return option->count() > 0 && (name == "--constraint" || name == "--target");
    });
}

bool compares_groups(const TrainOptions& o) {
    if (o.baseline == "reweigh" || o.postprocess == "ramp") return true;
    return o.learner == "budro" ? asks_for_groups(o) : o.learner != "gbdt";
}

std::vector<std::string> ineffective(const TrainOptions& o) {
    std::vector<std::string> notes;
    const auto note = [&](const CLI::Option* option, std::string_view needs) {
        if (option->count() > 0)
            notes.push_back(fmt::format("{} has no effect without {}", option->get_name(), needs));
    };
    if (o.learner == kFairRegression) {
        note_regression(o, note);
        note(o.favourable_weight_option, "--learner gbdt or budro");
        note(o.early_stopping_option, "--learner gbdt or fairgbm");
    } else {
        for (const auto* option : o.regression.options) note(option, "--learner fair-regression");
    }
    if (o.learner == "gbdt" || o.learner == kFairRegression) {
        for (const auto* option : o.fairgbm.options) note(option, "--learner fairgbm");
        note(o.allow_infeasible_option, "--learner fairgbm, eg, gs, rs or budro");
    } else {
        if (o.learner == "fairgbm") note_fairgbm(o.fairgbm, notes);
        if (o.learner != "budro")
            note(o.favourable_weight_option,
                 "--learner gbdt or budro: the fair ones learn from the data as they are");
    }
    if (o.learner == "budro")
        for (const auto* option : o.fairgbm.options) {
            if (!asks_for_groups(o)) note(option, "--constraint or --target, or --learner fairgbm");
            if (asks_for_groups(o) && option->get_name() == "--output")
                note(option, "--learner fairgbm");
        }
    if (o.learner == "budro" && o.budro.select == "last")
        note(o.early_stopping_option, "--select robust-loss or balanced-accuracy");
    if (o.learner != "budro" && o.baseline != "project")
        for (const auto* option : o.budro.options) note(option, "--learner budro");
    if (!needs_metric(o)) {
        for (const auto* option : o.metric.options) note(option, "--learner budro");
        note(o.save_metric_option, "--learner budro");
        note(o.epsilon_option, "--learner budro or --baseline project");
    }
    if (!is_reduction(o.learner)) note(o.reduction_fits_option, "--learner eg, gs or rs");
    if (is_reduction(o.learner)) {
        for (const auto* option : o.fairgbm.own) note(option, "--learner fairgbm");
        note(o.early_stopping_option, "--learner gbdt or fairgbm");
    }
    if (o.postprocess != "ramp") {
        note(o.ramp_tolerance_option, "--postprocess ramp");
        note(o.gamma_option, "--postprocess ramp");
        note(o.criterion_option, "--postprocess ramp");
    }
    return notes;
}

void add_train_options(CLI::App& command, TrainOptions& o) {
    command.add_option("--data", o.data, "the table: .csv or .csv.gz")->required()->group(kFiles);
    command.add_option("--schema", o.schema, "schema file; see `rampart schema infer`")
        ->required()
        ->group(kFiles);
    command.add_option("--out", o.out, "model file to write")->required()->group(kFiles);
    command
        .add_option(
            "--cache", o.cache,
            "file or folder that keeps the parsed table, so that the next run starts faster")
        ->group(kFiles);
    command
        .add_option("--resume", o.resume,
                    "gbdt, fairgbm: model file to continue from, on the same data; --trees counts "
                    "its trees")
        ->group(kFiles);
    command.add_option("--learner", o.learner, "how the model is trained; see below")
        ->check(CLI::IsMember({"gbdt", "fairgbm", "eg", "gs", "rs", "budro", "fair-regression"}))
        ->capture_default_str()
        ->group(kLearning);
    command.add_option("--split", o.split, "per cent of the rows for training/validation/test")
        ->capture_default_str()
        ->group(kLearning);
    command.add_option("--seed", o.params.learner.seed, "seed of the split and of sampling")
        ->capture_default_str()
        ->group(kLearning);
    command
        .add_option("--threads", o.threads,
                    "number of threads, default one per core; the result does not depend on it")
        ->check(CLI::Range(size_t{1}, size_t{256}))
        ->group(kLearning);
    o.allow_infeasible_option =
        command
            .add_flag("--allow-infeasible", o.allow_infeasible,
                      "fairgbm, eg, gs, rs, budro: write the model also when it misses a "
                      "constraint; else nothing is written")
            ->group(kLearning);
    command
        .add_option("--baseline", o.baseline,
                    "gbdt, for comparison: reweigh makes label and protected group independent; "
                    "project removes from the features what predicts protected attributes")
        ->check(CLI::IsMember({"none", "reweigh", "project"}))
        ->capture_default_str()
        ->group(kLearning);
    add_tree_options(command, o);
    add_fairgbm_options(command, o.fairgbm);
    o.reduction_fits_option =
        command.add_option("--reduction-fits", o.reduction_fits, "number of fits")
            ->check(CLI::Range(1, reductions::ReductionParams::kMaxFits))
            ->capture_default_str()
            ->group("Reductions (eg, gs, rs)");
    add_postprocess_options(command, o);
    add_regression_training_options(command, o.regression);
    add_regression_options(command, o.regression);
    o.epsilon_option =
        command
            .add_option("--epsilon", o.epsilon,
                        "budget of the attack: the mean squared fair distance by which rows may be "
                        "moved")
            ->capture_default_str()
            ->group(kBudro);
    add_budro_options(command, o.budro);
    add_metric_options(command, o.metric, "Fair metric (budro, --baseline project)");
    o.save_metric_option =
        command.add_option("--save-metric", o.save_metric, "file to write the fair metric to")
            ->group("Fair metric (budro, --baseline project)");
}

namespace {

base::Result<size_t> find(const dataset::FeatureSchema& schema, std::string_view name,
                          base::AnyReason reason, std::string_view option) {
    if (const auto feature = schema.find(name)) return *feature;
    std::vector<std::string_view> names;
    for (const auto& spec : schema.features()) names.push_back(spec.name);
    return base::make_error(reason, "{}: there is no feature '{}'; there are {}", option, name,
                            fmt::join(names, ", "));
}

base::Result<int> direction_of(std::string_view word, std::string_view rule) {
    if (word == "increasing") return 1;
    if (word == "decreasing") return -1;
    return base::make_error(gbdt::Reason::kBadMonotone,
                            "--monotone {}: '{}' is no direction; write increasing or "
                            "decreasing",
                            rule, word);
}

}  // namespace

base::Status apply_rules(const TreeRules& rules, const dataset::FeatureSchema& schema,
                         gbdt::LearnerParams& params) {
    params.monotone.assign(rules.monotone.empty() ? 0 : schema.size(), 0);
    for (const std::string_view rule : rules.monotone) {
        const size_t equals = rule.rfind('=');
        if (equals == std::string_view::npos) {
            return base::make_error(gbdt::Reason::kBadMonotone,
                                    "--monotone {}: write FEATURE=increasing or "
                                    "FEATURE=decreasing",
                                    rule);
        }
        RAMPART_TRY(const size_t feature,
                    find(schema, rule.substr(0, equals), gbdt::Reason::kBadMonotone, "--monotone"));
        RAMPART_TRY(params.monotone[feature], direction_of(rule.substr(equals + 1), rule));
    }
    params.interactions.clear();
    for (std::string_view rule : rules.interactions) {
        auto& set = params.interactions.emplace_back();
        for (bool more = true; more;) {
            const size_t plus = rule.find('+');
            more = plus != std::string_view::npos;
            RAMPART_TRY(const size_t feature,
                        find(schema, rule.substr(0, plus), gbdt::Reason::kBadInteractions,
                             "--interactions"));
            set.push_back(static_cast<uint32_t>(feature));
            if (more) rule.remove_prefix(plus + 1);
        }
    }
    return base::ok();
}

}  // namespace rampart::cli
