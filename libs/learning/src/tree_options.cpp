#include "tree_options.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "rampart/base/limits.hpp"
#include "rampart/gbdt/reasons.hpp"
#include "rampart/learning/fair_metric.hpp"
#include "rampart/learning/reasons.hpp"

namespace rampart::learning {
namespace {

using base::Result;

constexpr double kMost = 1e9;

Result<size_t> find_feature(const dataset::FeatureSchema& schema, std::string_view name,
                            base::AnyReason reason, std::string_view option) {
    if (const auto feature = schema.find(name)) return *feature;
    std::vector<std::string_view> names;
    for (const auto& spec : schema.features()) names.push_back(spec.name);
    return base::make_error(reason, "{}: there is no feature '{}'; there are {}", option, name,
                            fmt::join(names, ", "));
}

Result<int> sign_of(std::string_view word, std::string_view rule) {
    if (word == "increasing") return 1;
    if (word == "decreasing") return -1;
    return base::make_error(gbdt::Reason::kBadMonotone,
                            "monotone {}: '{}' is no direction; write increasing or decreasing",
                            rule, word);
}

/// Reads rules like "income=increasing".
Result<std::vector<int>> monotone_of(const std::vector<std::string>& rules,
                                     const dataset::FeatureSchema& schema) {
    std::vector<int> out(rules.empty() ? 0 : schema.size(), 0);
    for (const std::string_view rule : rules) {
        const size_t equals = rule.rfind('=');
        if (equals == std::string_view::npos)
            return base::make_error(gbdt::Reason::kBadMonotone,
                                    "monotone {}: write FEATURE=increasing or FEATURE=decreasing",
                                    rule);
        RAMPART_TRY(const size_t feature, find_feature(schema, rule.substr(0, equals),
                                                       gbdt::Reason::kBadMonotone, "monotone"));
        RAMPART_TRY(out[feature], sign_of(rule.substr(equals + 1), rule));
    }
    return out;
}

/// Reads sets like "income+debt".
Result<std::vector<std::vector<uint32_t>>> interactions_of(const std::vector<std::string>& rules,
                                                           const dataset::FeatureSchema& schema) {
    std::vector<std::vector<uint32_t>> out;
    for (std::string_view rule : rules) {
        auto& set = out.emplace_back();
        for (bool more = true; more;) {
            const size_t plus = rule.find('+');
            more = plus != std::string_view::npos;
            RAMPART_TRY(const size_t feature,
                        find_feature(schema, rule.substr(0, plus), gbdt::Reason::kBadInteractions,
                                     "interactions"));
            set.push_back(static_cast<uint32_t>(feature));
            if (more) rule.remove_prefix(plus + 1);
        }
    }
    return out;
}

/// Returns whether the fair metric may have a column of the name. (It has one for missing values of
/// a feature where the rows have some.)
bool may_be_column(const dataset::FeatureSchema& schema, const std::string& name) {
    return std::any_of(
        schema.features().begin(), schema.features().end(), [&](const auto& feature) {
            const auto& categories = feature.categories;
            return name == feature.name + " is missing" ||
                   (feature.kind == dataset::FeatureKind::kNumeric && name == feature.name) ||
                   std::any_of(categories.begin(), categories.end(), [&](const auto& category) {
                       return name == feature.name + "=" + category;
                   });
        });
}

/// Checks the features whose differences the fair metric weighs or leaves out.
base::Status check_metric(const std::vector<std::string>& weights,
                          const std::vector<std::string>& directions,
                          const dataset::FeatureSchema& schema) {
    for (const auto& text : weights) {
        RAMPART_TRY(const auto weight, named_number(text, "metric_weights"));
        const auto found = find_feature(schema, weight.first, Reason::kBadOption, "metric_weights");
        if (!found) return found.error();
    }
    for (const auto& text : directions) {
        RAMPART_TRY(const auto direction, direction_of(text, '+', "protected_directions"));
        for (const auto& [name, coefficient] : direction.coefficients)
            if (!may_be_column(schema, name))
                return base::make_error(Reason::kBadOption,
                                        "protected_directions is '{}': there is no column '{}'; "
                                        "write a numeric feature's name, or FEATURE=CATEGORY",
                                        text, name);
    }
    return base::ok();
}

gbdt::LearnerParams params_of(const OptionValues& values) {
    gbdt::LearnerParams p;
    p.trees = values.integer("trees");
    p.leaves = values.integer("leaves");
    p.max_depth = values.integer("max_depth");
    p.learning_rate = values.number("learning_rate");
    p.min_rows_in_leaf = values.integer("min_rows_in_leaf");
    p.min_hessian_in_leaf = values.number("min_hessian_in_leaf");
    p.l1 = values.number("l1");
    p.l2 = values.number("l2");
    p.min_gain = values.number("min_gain");
    p.max_bins = values.integer("max_bins");
    p.feature_fraction = values.number("feature_fraction");
    p.row_fraction = values.number("row_fraction");
    p.category_smooth = values.number("category_smooth");
    p.category_l2 = values.number("category_l2");
    p.max_category_threshold = values.integer("max_category_threshold");
    p.min_category_rows = values.integer("min_category_rows");
    p.min_category_group_rows = values.integer("min_category_group_rows");
    return p;
}

}  // namespace

std::vector<Option> tree_options() {
    const gbdt::LearnerParams p;
    using base::limits::kMaxLeaves;
    using base::limits::kMaxTrees;
    const std::vector<std::string> none;
    return {
        {"trees", int64_t{p.trees}, "number of trees", 1, kMaxTrees},
        {"leaves", int64_t{p.leaves}, "maximum leaves per tree", 2, kMaxLeaves},
        {"max_depth", int64_t{p.max_depth}, "maximum depth per tree; 0: no limit", 0, 1000},
        {"learning_rate", p.learning_rate, "shrinkage per tree", 1e-6, 1},
        {"min_rows_in_leaf", int64_t{p.min_rows_in_leaf}, "minimum rows per leaf", 1, kMost},
        {"min_hessian_in_leaf", p.min_hessian_in_leaf,
         "minimum sum of weights times p(1 - p) per leaf", 0, kMost},
        {"l1", p.l1, "L1 penalty on leaf values", 0, kMost},
        {"l2", p.l2, "L2 penalty on leaf values", 0, kMost},
        {"min_gain", p.min_gain, "minimum gain of a split", 0, kMost},
        {"max_bins", int64_t{p.max_bins}, "maximum histogram bins per feature", 2, 255},
        {"feature_fraction", p.feature_fraction, "fraction of features sampled per tree", 1e-6, 1},
        {"row_fraction", p.row_fraction, "fraction of rows sampled per tree", 1e-9, 1},
        {"category_smooth", p.category_smooth,
         "categories are sorted by g / (h + this); of more categories than bins, each one's mean "
         "label is smoothed by so many rows",
         0, kMost},
        {"category_l2", p.category_l2, "L2 penalty added in splits of many categories", 0, kMost},
        {"max_category_threshold", int64_t{p.max_category_threshold},
         "maximum categories on one side of a split", 1, 4096},
        {"min_category_rows", int64_t{p.min_category_rows},
         "minimum rows of a category that is split off or has a mean label of its own", 0, kMost},
        {"min_category_group_rows", int64_t{p.min_category_group_rows},
         "minimum rows between two splits of sorted categories", 0, kMost},
        {"monotone", none,
         "FEATURE=increasing or FEATURE=decreasing: the only direction in which the score may "
         "change with the feature"},
        {"interactions", none,
         "FEATURE+FEATURE…: sets of features; a branch of a tree uses features of one set only"},
    };
}

Option early_stopping_option(int64_t rounds) {
    return {"early_stopping_rounds", rounds,
            "stop after so many trees without improvement on the validation rows; 0: never", 0,
            kMost};
}

base::Status check_trees(const OptionValues& values) { return gbdt::validate(params_of(values)); }

base::Status check_features(const OptionValues& values, const dataset::FeatureSchema& schema) {
    const auto named = [&](std::string_view option) {
        return values.has(option) ? values.texts(option) : std::vector<std::string>();
    };
    RAMPART_TRY(const auto directions, monotone_of(named("monotone"), schema));
    for (size_t i = 0; i < directions.size(); ++i)
        if (directions[i] != 0 && schema.features()[i].kind == dataset::FeatureKind::kCategorical)
            return base::make_error(gbdt::Reason::kBadMonotone,
                                    "monotone {}: it is categorical, and categories have no order",
                                    schema.features()[i].name);
    RAMPART_TRY(const auto sets, interactions_of(named("interactions"), schema));
    for (const char* option : {"protected_features", "indicators"})
        for (const auto& name : named(option)) {
            const auto found = find_feature(schema, name, Reason::kBadOption, option);
            if (!found) return found.error();
        }
    return check_metric(named("metric_weights"), named("protected_directions"), schema);
}

Result<gbdt::LearnerParams> tree_params(const OptionValues& values, const Task& task) {
    auto params = params_of(values);
    params.seed = task.seed;
    const auto& schema = task.train.schema;
    RAMPART_TRY(params.monotone, monotone_of(values.texts("monotone"), schema));
    RAMPART_TRY(params.interactions, interactions_of(values.texts("interactions"), schema));
    if (values.has("early_stopping_rounds") && task.validation != nullptr)
        params.early_stopping_rounds = values.integer("early_stopping_rounds");
    RAMPART_RETURN_IF_ERROR(gbdt::validate(params));
    return params;
}

Result<const model::Ensemble*> start_of(const Task& task) {
    const model::Ensemble* none = nullptr;
    if (task.start == nullptr) return none;
    const auto refused = [](std::string_view why) {
        return base::make_error(Reason::kCannotResume, "the model to go on from {}", why);
    };
    const auto* link = std::get_if<model::LearnedLink>(&task.start->links().back());
    if (link == nullptr) return refused("holds no trees");
    if (!link->additional_ensembles.empty())
        return refused("mixes several ensembles: take a model that has one");
    if (link->scale.kind == model::ScoreScale::Kind::kUnit)
        return refused("is of fair regression, whose trees add up to a score and not to log-odds");
    if (!(task.start->schema() == task.train.schema))
        return refused("has other features: train with the schema that it was trained with");
    return &link->ensemble;
}

gbdt::ProgressCallback tree_progress(const Task& task) {
    return [&task](const gbdt::Progress& p) {
        return task.progress(
            {static_cast<size_t>(p.iteration), static_cast<size_t>(p.trees), "trees"});
    };
}

}  // namespace rampart::learning
