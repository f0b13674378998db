#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "frame/commands.hpp"
#include "frame/figures_text.hpp"
#include "rampart/dataset/read_table.hpp"
#include "rampart/dataset/twins.hpp"
#include "rampart/evaluation/evaluation.hpp"
#include "rampart/evaluation/model_table.hpp"
#include "rampart/evaluation/regression_evaluation.hpp"
#include "rampart/model/model_file.hpp"

namespace rampart::cli {
namespace {

struct Options {
    std::string model, data, schema, split = "test";
    std::optional<double> threshold;
    double confidence = 0.95;
};

/// Counts the rows of a part that have a twin among the training rows; nullopt: these are not
/// known.
base::Result<std::optional<size_t>> twins_in_training(
    const evaluation::ModelTableNames& names, const std::string& split,
    const dataset::Dataset& table, const std::optional<model::TrainingRecord>& record) {
    const bool part = split == "validation" || split == "test";
    if (!part || !evaluation::is_training_table(table, record)) return std::optional<size_t>();
    RAMPART_TRY(const auto rows, evaluation::rows_of_part(names, split, table, record));
    RAMPART_TRY(const auto learnt, evaluation::rows_of_part(names, "train", table, record));
    return std::optional(dataset::count_twins(table.subset(rows), table.subset(learnt)));
}

base::Result<Answer> evaluate(const Options& options) {
    RAMPART_TRY(const auto loaded, model::load_model_file(options.model));
    const auto& record = loaded.policy.state().training;
    const evaluation::ModelTableNames names{options.model, options.data, options.schema};
    RAMPART_TRY(const auto schema, evaluation::schema_for(names, loaded.policy, record));
    RAMPART_TRY(auto table, dataset::read_table(options.data, schema));
    auto notes = table.notes;
    RAMPART_TRY(const auto twins, twins_in_training(names, options.split, table, record));
    RAMPART_TRY(const auto data,
                evaluation::part_of(names, options.split, std::move(table), record));
    const auto rule = options.threshold ? fmt::format("score >= {}", *options.threshold) : "policy";
    boost::json::object json{{"model", options.model},
                             {"id", loaded.id.value()},
                             {"data", options.data},
                             {"split", options.split},
                             {"decided_by", rule}};
    std::string text = fmt::format("{} on {} ({} rows), decided by {}\n\n", options.model,
                                   options.data, options.split, rule);
    if (twins) {
        json["twins"] = *twins;
        text += fmt::format("{} of {} rows have the same features as a training row\n\n", *twins,
                            data.rows());
    }
    const auto take = [&](const auto& evaluation) {
        for (auto& [key, value] : to_json(evaluation)) json[key] = value;
        text += to_text(evaluation);
    };
    RAMPART_TRY(const auto loss, evaluation::regression_loss_of(loaded.policy));
    if (loss) {
        fair_regression::LabelRange range;
        if (schema.label_range) range = {schema.label_range->lo, schema.label_range->hi};
        RAMPART_TRY(
            const auto evaluation,
            evaluation::evaluate_regression(loaded.policy, *loss, data, range, options.threshold));
        take(evaluation);
    } else {
        RAMPART_RETURN_IF_ERROR(evaluation::require_labels(data, names));
        RAMPART_TRY(const auto evaluation,
                    evaluation::evaluate_policy(loaded.policy, data, options.threshold,
                                                options.confidence));
        take(evaluation);
    }
    return Answer{
        .text = std::move(text), .json = boost::json::serialize(json), .notes = std::move(notes)};
}

}  // namespace

void add_evaluate(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "evaluate",
         .summary = "Measure a model on labelled rows: accuracy, AUC, rates and gaps by group",
         .example = "rampart evaluate --model m.rmp --data data.csv.gz --split test --json",
         .detail =
             "A model made by `rampart train` carries its schema, split and seed, so that a part "
             "is the same rows again, by column or time as well; a part that was a file of "
             "its own is asked of that file. On any other table use --split all.",
         .reads_no_store = true},
        [options](const Context&) { return evaluate(*options); });
    command.add_option("--model", options->model, "the model file")->required();
    command.add_option("--data", options->data, "the table: .csv or .csv.gz")->required();
    command.add_option("--schema", options->schema, "schema file, if the model carries none");
    command.add_option("--split", options->split, "rows to measure on")
        ->check(CLI::IsMember({"train", "validation", "test", "all"}))
        ->capture_default_str();
    command
        .add_option("--threshold", options->threshold,
                    "approve from this P(favourable) on, instead of the policy's decision")
        ->check(CLI::Range(0.0, 1.0));
    command.add_option("--confidence", options->confidence, "confidence level of the intervals")
        ->check(CLI::Range(0.5, 0.9999))
        ->capture_default_str();
}

}  // namespace rampart::cli
