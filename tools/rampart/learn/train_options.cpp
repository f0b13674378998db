#include "learn/train_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>

namespace rampart::cli {
namespace {

using Options = TrainOptions;

void add_learner_options(CLI::App& command, Options& o) {
    auto& p = o.params.learner;
    const auto of_trees = [&](CLI::Option* option) {
        o.tree_options.push_back(option->capture_default_str());
    };
    of_trees(command.add_option("--trees", p.trees, "trees to grow"));
    of_trees(command.add_option("--leaves", p.leaves, "leaves of a tree"));
    of_trees(command.add_option("--max-depth", p.max_depth, "depth of a tree; 0: no limit"));
    of_trees(command.add_option("--learning-rate", p.learning_rate, "what each tree counts for"));
    of_trees(command.add_option("--min-rows-in-leaf", p.min_rows_in_leaf));
    of_trees(command.add_option("--min-hessian-in-leaf", p.min_hessian_in_leaf,
                                "sum of weights times p(1 - p)"));
    of_trees(command.add_option("--l1", p.l1));
    of_trees(command.add_option("--l2", p.l2));
    of_trees(command.add_option("--max-bins", p.max_bins, "of a feature's histogram"));
    of_trees(
        command.add_option("--feature-fraction", p.feature_fraction, "features that a tree sees"));
    of_trees(command.add_option("--row-fraction", p.row_fraction, "rows that a tree sees"));
    o.early_stopping_option =
        command
            .add_option("--early-stopping", p.early_stopping_rounds,
                        "stop when so many trees did not help on the validation rows; 0: never")
            ->capture_default_str();
    o.tree_options.push_back(
        command
            .add_option("--monotone", o.rules.monotone,
                        "FEATURE=increasing or =decreasing: the score may move with it only that "
                        "way")
            ->delimiter(','));
    o.tree_options.push_back(
        command
            .add_option("--interactions", o.rules.interactions,
                        "FEATURE+FEATURE…: only features of one such set meet in a branch of a "
                        "tree")
            ->delimiter(','));
    o.favourable_weight_option =
        command
            .add_option("--favourable-weight", o.favourable_weight,
                        "gbdt, budro: what a row with the favourable label counts for")
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
    o.criterion_option =
        command.add_option("--criterion", o.criterion, "ramp: dp, equal approval rates")
            ->check(CLI::IsMember({"dp"}))
            ->capture_default_str();
    o.epsilon_option = command
                           .add_option("--epsilon", o.epsilon,
                                       "ramp: allowed difference of approval rates between "
                                       "groups (0); budro: how far people may be moved in the "
                                       "attack, squared fair distance in the mean (0.1); "
                                       "fair-regression: of P(score >= z) in a group from "
                                       "everybody's, at every z (0.1), one for all, or one for "
                                       "each group in the order of their names")
                           ->delimiter(',');
    o.gamma_option =
        command
            .add_option("--gamma", o.ramp.gamma,
                        "ramp: width of the randomised band of scores (in [-1, 1]); 0: a cut")
            ->capture_default_str();
}

using Note = std::function<void(const CLI::Option*, std::string_view)>;

/// What one notion or oracle of fair regression has no use for.
void note_regression(const Options& o, const Note& note) {
    const auto& regression = o.regression;
    if (regression.notion == "sp") note(regression.zeta_option, "--notion bgl");
    if (regression.notion == "bgl") {
        for (const auto* option : regression.parity_options) note(option, "--notion sp");
        note(o.epsilon_option, "--notion sp");
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
    if (o.learner == "budro" && o.budro.keep == "last")
        note(o.early_stopping_option, "--keep robust-loss or balanced-accuracy");
    if (o.learner != "budro" && o.baseline != "project")
        for (const auto* option : o.budro.options) note(option, "--learner budro");
    if (!needs_metric(o)) {
        for (const auto* option : o.metric.options) note(option, "--learner budro");
        note(o.save_metric_option, "--learner budro");
    }
    if (!is_reduction(o.learner)) note(o.reduction_fits_option, "--learner eg, gs or rs");
    if (is_reduction(o.learner)) {
        for (const auto* option : o.fairgbm.own) note(option, "--learner fairgbm");
        note(o.early_stopping_option, "--learner gbdt or fairgbm");
    }
    if (o.postprocess != "ramp") {
        if (!needs_metric(o) && o.learner != kFairRegression)
            note(o.epsilon_option, "--postprocess ramp, --learner budro or fair-regression");
        note(o.gamma_option, "--postprocess ramp");
        note(o.criterion_option, "--postprocess ramp");
    }
    return notes;
}

void add_train_options(CLI::App& command, TrainOptions& o) {
    command.add_option("--data", o.data, "the table: .csv or .csv.gz")->required();
    command.add_option("--schema", o.schema, "schema file; see `rampart schema infer`")->required();
    command.add_option("--out", o.out, "model file to write")->required();
    command.add_option("--cache", o.cache,
                       "file or folder: keeps the table as it was read, for the next time");
    command.add_option("--learner", o.learner)
        ->check(CLI::IsMember({"gbdt", "fairgbm", "eg", "gs", "rs", "budro", "fair-regression"}))
        ->capture_default_str();
    command
        .add_option("--baseline", o.baseline,
                    "gbdt: reweigh makes label and protected group independent; project learns "
                    "from columns less what tells the protected attributes (for comparison)")
        ->check(CLI::IsMember({"none", "reweigh", "project"}))
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
    o.allow_infeasible_option =
        command.add_flag("--allow-infeasible", o.allow_infeasible,
                         "fairgbm, eg, gs, rs, budro: write a model that misses a constraint, too; "
                         "else exit code 1, and nothing is written");
    add_postprocess_options(command, o);
    add_regression_training_options(command, o.regression);
    add_regression_options(command, o.regression);
    add_budro_options(command, o.budro);
    add_metric_options(command, o.metric);
    o.save_metric_option =
        command.add_option("--save-metric", o.save_metric, "budro: file for the fair metric");
    add_learner_options(command, o);
}

namespace {

base::Result<size_t> find(const dataset::FeatureSchema& schema, std::string_view name,
                          std::string_view reason, std::string_view option) {
    if (const auto feature = schema.find(name)) return *feature;
    std::vector<std::string_view> names;
    for (const auto& spec : schema.features()) names.push_back(spec.name);
    return base::invalid_argument(std::string(reason), "{}: there is no feature '{}'; there are {}",
                                  option, name, fmt::join(names, ", "));
}

base::Result<int> direction_of(std::string_view word, std::string_view rule) {
    if (word == "increasing") return 1;
    if (word == "decreasing") return -1;
    return base::invalid_argument("bad_monotone",
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
            return base::invalid_argument("bad_monotone",
                                          "--monotone {}: write FEATURE=increasing or "
                                          "FEATURE=decreasing",
                                          rule);
        }
        RAMPART_TRY(const size_t feature,
                    find(schema, rule.substr(0, equals), "bad_monotone", "--monotone"));
        RAMPART_TRY(params.monotone[feature], direction_of(rule.substr(equals + 1), rule));
    }
    params.interactions.clear();
    for (std::string_view rule : rules.interactions) {
        auto& set = params.interactions.emplace_back();
        for (bool more = true; more;) {
            const size_t plus = rule.find('+');
            more = plus != std::string_view::npos;
            RAMPART_TRY(const size_t feature,
                        find(schema, rule.substr(0, plus), "bad_interactions", "--interactions"));
            set.push_back(static_cast<uint32_t>(feature));
            if (more) rule.remove_prefix(plus + 1);
        }
    }
    return base::ok();
}

}  // namespace rampart::cli
