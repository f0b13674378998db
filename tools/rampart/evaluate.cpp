#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "commands.hpp"
#include "evaluation.hpp"
#include "rampart/dataset/feature_schema_toml.hpp"
#include "rampart/dataset/read_table.hpp"
#include "rampart/dataset/split.hpp"
#include "rampart/model/model_file.hpp"
#include "training_record.hpp"

namespace rampart::cli {
namespace {

struct Options {
    std::string model, data, schema, split = "test";
    std::optional<double> threshold;
    double confidence = 0.95;
};

base::Result<dataset::TableSchema> schema_for(const Options& options, const model::Policy& policy,
                                              const std::optional<TrainingRecord>& record) {
    if (options.schema.empty() && !record)
        return base::invalid_argument(
            "no_schema",
            "{} does not carry the schema of a table: say with --schema which column is the label",
            options.model);
    RAMPART_TRY(auto schema,
                options.schema.empty()
                    ? dataset::parse_table_schema(record->table_schema, "the model's schema")
                    : dataset::read_table_schema(options.schema));
    if (!(schema.features == policy.schema()))
        return base::invalid_argument("other_features",
                                      "the features in {} are not those of the model {}: give the "
                                      "schema that it was trained with",
                                      options.schema, options.model);
    return schema;
}

base::Result<dataset::Dataset> part_of(const Options& options, dataset::Dataset data,
                                       const std::optional<TrainingRecord>& record) {
    if (options.split == "all") return data;
    if (!record)
        return base::failed_precondition(
            "no_split", "{} does not remember a split: evaluate on all rows with --split all",
            options.model);
    if (digest_of(data).hex() != record->data_sha256)
        return base::failed_precondition("other_data",
                                         "{} is not the table that {} was trained on, so that the "
                                         "model's split says nothing about it: "
                                         "evaluate on all rows with --split all",
                                         options.data, options.model);
    RAMPART_TRY(const auto fractions, dataset::parse_split(record->split));
    RAMPART_TRY(const auto rows,
                dataset::split_rows(data, fractions, record->seed).part(options.split));
    if (rows.empty())
        return base::failed_precondition("empty_part",
                                         "the split {} leaves no {} rows: choose another part",
                                         record->split, options.split);
    return data.subset(rows);
}

base::Result<Answer> evaluate(const Options& options) {
    RAMPART_TRY(const auto loaded, model::load_model_file(options.model));
    RAMPART_TRY(const auto record, record_of(loaded.policy));
    RAMPART_TRY(const auto schema, schema_for(options, loaded.policy, record));
    RAMPART_TRY(auto table, dataset::read_table(options.data, schema));
    RAMPART_TRY(const auto data, part_of(options, std::move(table), record));
    RAMPART_TRY(const auto evaluation,
                evaluate_policy(loaded.policy, data, options.threshold, options.confidence));
    const auto rule = options.threshold ? fmt::format("score >= {}", *options.threshold) : "policy";
    boost::json::object json{{"model", options.model},
                             {"id", loaded.id.value()},
                             {"data", options.data},
                             {"split", options.split},
                             {"decided_by", rule}};
    for (auto& [key, value] : to_json(evaluation)) json[key] = value;
    return Answer{.text = fmt::format("{} on {} ({} rows), decided by {}\n\n{}", options.model,
                                      options.data, options.split, rule, to_text(evaluation)),
                  .json = boost::json::serialize(json),
                  .notes = {}};
}

}  // namespace

void add_evaluate(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "evaluate",
         .summary = "Measure a model on labelled rows: accuracy, AUC, rates and gaps by group",
         .example = "rampart evaluate --model m.rmp --data data.csv.gz --split test --json",
         .detail = "A model made by `rampart train` remembers schema, split and seed. On another "
                   "table than "
                   "its own use --split all."},
        [options](const Context&) { return evaluate(*options); });
    command.add_option("--model", options->model, "the model file")->required();
    command.add_option("--data", options->data, "the table: .csv or .csv.gz")->required();
    command.add_option("--schema", options->schema, "schema file, if the model carries none");
    command.add_option("--split", options->split, "rows to measure on")
        ->check(CLI::IsMember({"train", "validation", "test", "all"}))
        ->capture_default_str();
    command
        .add_option("--threshold", options->threshold,
                    "approve where P(favourable) is at least this, instead of what the policy does")
        ->check(CLI::Range(0.0, 1.0));
    command.add_option("--confidence", options->confidence, "of the intervals")
        ->check(CLI::Range(0.5, 0.9999))
        ->capture_default_str();
}

}  // namespace rampart::cli
