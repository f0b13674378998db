#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "commands.hpp"
#include "rampart/dataset/feature_schema_toml.hpp"
#include "rampart/dataset/infer_schema.hpp"

namespace rampart::cli {
namespace {

struct Options {
    std::string file;
    dataset::ColumnRoles roles;
    std::string weight;
};

base::Result<Answer> infer(const Options& options) {
    auto roles = options.roles;
    if (!options.weight.empty()) roles.weight_column = options.weight;
    RAMPART_TRY(const auto draft, dataset::infer_schema(options.file, roles));
    Answer answer;
    answer.text = dataset::write_table_schema(draft.schema, draft.remarks);

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
         .detail = "Each guess says what it rests on; columns left out (constants, row numbers, too "
                   "many values) are listed with the reason."},
        [options](const Context&) { return infer(*options); });
    command.add_option("FILE", options->file, "the table: .csv or .csv.gz with a header")
        ->required();
    command.add_option("--label", options->roles.label_column, "column to predict")->required();
    command.add_option("--favourable", options->roles.favourable, "the label's good value")
        ->required();
    command
        .add_option("--protected", options->roles.protected_columns,
                    "columns whose combinations are the protected groups; never features")
        ->delimiter(',');
    command.add_option("--weight", options->weight, "column of row weights");
    command.add_option("--ignore", options->roles.ignored_columns, "columns to leave out")
        ->delimiter(',');
}

}  // namespace rampart::cli
