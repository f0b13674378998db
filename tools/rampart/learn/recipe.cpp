// recipe check: whether a recipe file can be trained by, said before the night in which it is.
#include "rampart/training/recipe.hpp"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <limits>
#include <memory>
#include <string>

#include "frame/commands.hpp"
#include "rampart/base/file.hpp"
#include "rampart/dataset/feature_schema_toml.hpp"
#include "rampart/dataset/read_table.hpp"
#include "services/rampartd/settings.hpp"

namespace rampart::cli {
namespace {

namespace json = boost::json;

constexpr size_t kMaxSchemaBytes = 16 << 20;

struct Options {
    std::string file, schema, product, data;
};

/// Returns what is wrong with the recipe for a table of the schema.
std::optional<training::Fault> misfit_of_table(const training::Recipe& recipe,
                                               const dataset::TableSchema& schema) {
    training::RowsToCome rows{.features = schema.features,
                              .numeric = schema.label_range.has_value()};
    if (!schema.protected_columns.empty())
        rows.groups = {schema.protected_columns, {}};  // their values are in the table
    if (schema.label_range) {
        rows.label_lo = schema.label_range->lo;
        rows.label_hi = schema.label_range->hi;
    }
    if (recipe.label == training::Label::kImpact) {  // in a service's range, not known here
        rows.numeric = true;
        rows.label_lo = -std::numeric_limits<double>::infinity();
        rows.label_hi = std::numeric_limits<double>::infinity();
    }
    return training::find_misfit(recipe, rows);
}

/// Checks the recipe with the features of the schema, and with labels and protected groups of the
/// product or, without one, of the schema.
base::Status check_rows(const training::Recipe& recipe, const dataset::TableSchema& schema,
                        const std::optional<rampartd::ProductFile>& product) {
    const auto misfit = product ? rampartd::find_misfit(recipe, schema.features, *product)
                                : misfit_of_table(recipe, schema);
    return misfit ? base::Status(training::located(recipe, *misfit)) : base::ok();
}

/// Checks that each group has enough of the table's rows in each stratum by a feature.
base::Status check_strata(const training::Recipe& recipe, const training::ChosenPostprocessor& post,
                          const dataset::Dataset& table) {
    postprocessing::Rows rows{.p = std::vector<double>(table.rows()),
                              .group = table.group,
                              .group_names = table.group_names};
    if (!post.needs().strata || rows.group.empty()) return base::ok();
    RAMPART_RETURN_IF_ERROR(postprocessing::add_strata(post.values, table, rows));
    const auto enough = postprocessing::check_cells(post.values, rows);
    if (enough) return base::ok();
    return training::located(recipe, {"postprocess", "within_feature", enough.error()});
}

json::object search_json(const tuning::Plan& plan) {
    json::array options;
    for (const auto& range : plan.ranges) options.emplace_back(range.option);
    return {{"method", to_string(plan.method)},
            {"trials", plan.trials},
            {"folds", plan.folds},
            {"options", std::move(options)}};
}

/// Returns the line about the recipe's search; empty: it has none.
std::string search_text(const training::Recipe& recipe) {
    if (!recipe.search) return {};
    std::vector<std::string_view> options;
    for (const auto& range : recipe.search->ranges) options.push_back(range.option);
    return fmt::format("  search     {}, {} settings of {}; {} folds by person\n",
                       to_string(recipe.search->method), recipe.search->trials,
                       fmt::join(options, ", "), recipe.search->folds);
}

base::Result<Answer> check(const Options& options) {
    training::Recipe recipe;
    RAMPART_RETURN_IF_ERROR(training::read_recipe_file(options.file, recipe));
    RAMPART_TRY(const auto chosen, training::chosen_learner(recipe));
    RAMPART_TRY(const auto post, training::chosen_postprocessor(recipe));
    const auto can = chosen.learner->capabilities(chosen.options);
    Answer answer;
    if (!options.schema.empty()) {
        RAMPART_TRY(const auto text, base::read_file(options.schema, kMaxSchemaBytes));
        RAMPART_TRY(const auto schema, dataset::parse_table_schema(text, options.schema));
        std::optional<rampartd::ProductFile> product;
        if (!options.product.empty()) {
            RAMPART_TRY(product, rampartd::load_product_file(options.product));
        }
        const auto fits = check_rows(recipe, schema, product);
        if (!fits) return fits.error().with_context(options.schema);
        if (!options.data.empty()) {
            RAMPART_TRY(const auto table, dataset::read_table(options.data, schema));
            RAMPART_RETURN_IF_ERROR(check_strata(recipe, post, table));
        }
        if ((can.groups || can.attributes || post.needs().groups) && !product &&
            schema.protected_columns.empty())
            answer.notes.push_back(fmt::format(
                "{} names no protected columns, and the recipe needs protected attributes in "
                "training: `rampart train` refuses it with this schema; a service has them in its "
                "product file",
                options.schema));
    }
    if (const auto fits = chosen.learner->check_labels(chosen.options, {});
        options.schema.empty() && recipe.label == training::Label::kOutcome && !fits)
        answer.notes.push_back(
            fmt::format("{}; this is of a service, --schema checks with a "
                        "table's labels",
                        fits.error().message));
    answer.text = fmt::format(
        "{}: {}\n  learner    {}\n  gives a    {}{}\n  options    {}\n  criterion  {}{}\n"
        "  options    {}\n{}  digest     {}\n",
        options.file, "a recipe that can be trained by", recipe.learner, to_string(can.output),
        can.groups || can.attributes ? "; needs protected attributes in training" : "",
        chosen.options.canonical(), recipe.criterion,
        post.needs().groups_to_decide ? "; reads the group when deciding" : "",
        post.values.canonical(), search_text(recipe), training::recipe_digest(recipe).hex());
    json::object found{{"learner", recipe.learner},
                       {"output", to_string(can.output)},
                       {"criterion", recipe.criterion},
                       {"postprocess", post.values.canonical()},
                       {"decides_by_group", post.needs().groups_to_decide},
                       {"options", chosen.options.canonical()},
                       {"digest", training::recipe_digest(recipe).hex()}};
    if (recipe.search) found["search"] = search_json(*recipe.search);
    answer.json = json::serialize(found);
    return answer;
}

}  // namespace

void add_recipe(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "recipe check",
         .summary = "Check a recipe: what a scheduled training would refuse at night",
         .example = "rampart recipe check ops/config/recipes/fairgbm.toml --schema schema.toml",
         .detail =
             "A recipe is a file that training.recipe of rampartd.toml names, or `rampart train "
             "--recipe`: a learner with its options (`rampart learners NAME`), and "
             "[postprocess].",
         .reads_no_store = true},
        [options](const Context&) { return check(*options); });
    command.add_option("RECIPE", options->file, "recipe file")->required();
    command.add_option("--schema", options->schema,
                       "schema file, whose features and protected columns the recipe's constraints "
                       "have to name");
    command
        .add_option("--product", options->product,
                    "product file of a service, whose protected attributes and groups the recipe's "
                    "constraints have to name, in place of the schema's columns, and whose label "
                    "or, with label = \"impact\", reported impact it learns, in place of the "
                    "schema's label")
        ->needs("--schema");
    command
        .add_option("--data", options->data,
                    "table of the schema: whether each group has enough rows in each stratum of "
                    "within_feature; a training fits the rule on a part of its rows")
        ->needs("--schema");
}

}  // namespace rampart::cli
