#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "frame/commands.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/dataset/feature_schema_toml.hpp"
#include "rampart/dataset/infer_schema.hpp"
#include "rampart/dataset/reasons.hpp"

namespace rampart::cli {
namespace {

struct Options {
    std::string file;
    dataset::ColumnRoles roles;
    std::string weight, target;
    std::vector<double> range;
};

base::Result<dataset::ColumnRoles> roles_of(const Options& options) {
    auto roles = options.roles;
    if (!options.weight.empty()) roles.weight_column = options.weight;
    const bool numeric = !options.target.empty();
    if (numeric ? !(roles.label_column.empty() && roles.favourable.empty())
                : roles.label_column.empty() || roles.favourable.empty())
        return base::make_error(base::Reason::kBadUsage,
                                "name what is to be predicted: --label and --favourable for "
                                "a column of two values, or --target for one of numbers");
    if (!numeric && !options.range.empty())
        return base::make_error(base::Reason::kBadUsage, "--range is of the numbers of --target");
    if (!numeric) return roles;
    roles.label_column = options.target;
    roles.numeric_label = true;
    if (!options.range.empty()) roles.label_range = {options.range[0], options.range[1]};
    return roles;
}

boost::json::value range_json(const std::optional<dataset::NumericRange>& range) {
    if (!range) return nullptr;
    return boost::json::array{range->lo, range->hi};
}

base::Result<Answer> infer(const Options& options) {
    RAMPART_TRY(const auto roles, roles_of(options));
    RAMPART_TRY(const auto draft, dataset::infer_schema(options.file, roles));
    Answer answer;
    answer.notes = draft.notes;
    answer.text = dataset::write_table_schema(draft.schema, draft.remarks);
    if (answer.text.size() > dataset::kMaxSchemaBytes)
        return base::make_error(
            dataset::Reason::kBadCategoryCount,
            "the schema of {} has {} bytes, and {} can be read: merge "
            "categories of its columns of texts, or leave some of them out with --ignore",
            options.file, answer.text.size(), dataset::kMaxSchemaBytes);

    boost::json::array features;
    for (const auto& feature : draft.schema.features.features())
        features.push_back(
            {{"name", feature.name},
             {"kind", feature.kind == dataset::FeatureKind::kNumeric ? "numeric" : "categorical"},
             {"categories", feature.categories.size()}});
    boost::json::object remarks;
    for (const auto& [column, remark] : draft.remarks) remarks[column] = remark;
    answer.json = boost::json::serialize(
        boost::json::object{{"label", draft.schema.label_column},
                            {"favourable", draft.schema.favourable},
                            {"label_range", range_json(draft.schema.label_range)},
                            {"protected", boost::json::value_from(draft.schema.protected_columns)},
                            {"ignored", boost::json::value_from(draft.schema.ignored_columns)},
                            {"features", std::move(features)},
                            {"remarks", std::move(remarks)},
                            {"schema_toml", answer.text}});
    return answer;
}

}  // namespace

void add_schema_infer(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "schema infer",
         .summary = "Draft the schema file of a CSV table, for a person to read and correct",
         .example = "rampart schema infer data.csv.gz --label default --favourable 0 --protected "
                    "sex,age_band "
                    "> schema.toml",
         .detail =
             "Each guess names its reason. Columns that are left out (constants, row numbers, too "
             "many values) are listed with the reason.",
         .reads_no_store = true},
        [options](const Context&) { return infer(*options); });
    command
        .add_option(
            "FILE", options->file,
            "the table: .csv or .csv.gz with a header, separated by commas, semicolons or tabs")
        ->required();
    command.add_option("--label", options->roles.label_column,
                       "column to predict, if it has two values");
    command.add_option("--favourable", options->roles.favourable,
                       "the value of the label that is good for the applicant");
    command.add_option(
        "--target", options->target,
        "column to predict, if it is a number (fair regression); instead of --label");
    command
        .add_option("--range", options->range,
                    "LO,HI: range of the target; default: the least and the greatest number in the "
                    "file")
        ->delimiter(',')
        ->expected(2);
    command
        .add_option("--protected", options->roles.protected_columns,
                    "columns whose combinations are the protected groups; they are never features")
        ->delimiter(',');
    command.add_option("--weight", options->weight, "column of row weights");
    command.add_option("--ignore", options->roles.ignored_columns, "columns to leave out")
        ->delimiter(',');
}

}  // namespace rampart::cli
