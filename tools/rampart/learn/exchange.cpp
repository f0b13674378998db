// import, export: models of other libraries.
#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <filesystem>

#include "frame/commands.hpp"
#include "frame/figures_text.hpp"
#include "frame/frame.hpp"
#include "frame/reasons.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/dataset/feature_schema_toml.hpp"
#include "rampart/dataset/text.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/model_exchange/lightgbm_text.hpp"
#include "rampart/model_exchange/onnx.hpp"
#include "rampart/model_exchange/xgboost_json.hpp"

namespace rampart::cli {
namespace {

namespace json = boost::json;
using base::Result;

struct ImportOptions {
    std::string from, model, schema, out, positive;
};

/// Whether label 1 of the model is the schema's favourable one.
Result<bool> positive_is_favourable(const ImportOptions& options,
                                    const dataset::TableSchema& schema) {
    if (!options.positive.empty()) return options.positive == "favourable";
    const auto favourable = dataset::parse_number(schema.favourable);
    if (favourable == 1.0) return true;
    if (favourable == 0.0) return false;
    return base::make_error(
        Reason::kPositiveLabelUnknown,
        "the model scores label 1, and the schema's favourable label is '{}': say by --positive "
        "favourable or --positive unfavourable which of the two label 1 is",
        schema.favourable);
}

Result<Answer> import_model(const ImportOptions& options) {
    RAMPART_TRY(const auto schema, dataset::read_table_schema(options.schema));
    RAMPART_TRY(const auto text, base::read_file(options.model, base::limits::kMaxModelFileBytes));
    auto foreign = options.from == "lightgbm" ? model_exchange::read_lightgbm(text, schema.features)
                                              : model_exchange::read_xgboost(text, schema.features);
    if (!foreign) return foreign.error().with_context(options.model);
    RAMPART_TRY(const bool favourable, positive_is_favourable(options, schema));
    if (!favourable) model_exchange::negate(foreign->ensemble);
    Answer answer{.notes = foreign->notes};
    const auto raw = model_exchange::to_string(foreign->raw);
    if (foreign->raw != model_exchange::RawScore::kLogOdds) {
        answer.notes.push_back(fmt::format(
            "'{}' gives a {}, and a policy reads it as log-odds: higher scores are approved first, "
            "but its probabilities mean nothing",
            foreign->objective, raw));
    }
    const size_t trees = foreign->ensemble.trees.size();
    std::map<std::string, std::string> provenance{
        {"learner", options.from},
        {"objective", foreign->objective},
        {"positive_label", favourable ? "favourable" : "unfavourable"},
        {"imported_sha256", base::sha256(text).hex()}};
    model::LearnedLink link;
    link.ensemble = std::move(foreign->ensemble);
    RAMPART_TRY(const auto policy, model::Policy::create(schema.features, {std::move(link)}, {},
                                                         std::move(provenance)));
    RAMPART_TRY(const auto id, model::save_model_file(policy, options.out));
    answer.text = fmt::format("wrote {}\nid {}\n{} trees of {}, {}; label 1 is the {} one\n",
                              options.out, id.value(), trees, options.from, foreign->objective,
                              favourable ? "favourable" : "unfavourable");
    answer.json = json::serialize(json::object{{"model", options.out},
                                               {"id", id.value()},
                                               {"from", options.from},
                                               {"objective", foreign->objective},
                                               {"raw_score", raw},
                                               {"positive_is_favourable", favourable},
                                               {"trees", trees}});
    return answer;
}

struct ExportOptions {
    std::string to, model, out;
};

Result<Answer> export_model(const ExportOptions& options) {
    RAMPART_TRY(const auto loaded, model::load_model_file(options.model));
    const auto* link = loaded.policy.last_learned();
    if (link == nullptr) {
        return base::make_error(Reason::kNoTrees, "{}: a bootstrap policy has no trees to export",
                                options.model);
    }
    if (!link->additional_ensembles.empty()) {
        return base::make_error(
            Reason::kMixture, "{}: the last link is {}, and one {} model holds one ensemble",
            options.model, mixture_text(*link), options.to == "onnx" ? "ONNX" : "LightGBM");
    }
    if (!link->linears.empty() || link->scale.kind == model::ScoreScale::Kind::kUnit) {
        return base::make_error(
            Reason::kUnitScale,
            "{}: its score is {}, and what is exported are trees whose sum is log-odds",
            options.model, score_text(*link));
    }
    const bool onnx = options.to == "onnx";
    RAMPART_TRY(const auto text,
                onnx ? model_exchange::write_onnx(link->ensemble, loaded.policy.schema())
                     : model_exchange::write_lightgbm(link->ensemble, loaded.policy.schema()));
    RAMPART_RETURN_IF_ERROR(base::write_file_atomically(options.out, text));
    Answer answer;
    answer.text = fmt::format("wrote {}\n{} trees of {}\n", options.out,
                              link->ensemble.trees.size(), loaded.id.value());
    answer.json = json::serialize(json::object{{"model", options.out},
                                               {"to", options.to},
                                               {"id", loaded.id.value()},
                                               {"trees", link->ensemble.trees.size()}});
    answer.notes.push_back(fmt::format(
        "only the trees of the last link are exported, without ramp, exploration and the links "
        "before it; they score the favourable label{}",
        onnx ? "" : ", so that `rampart import` takes them back with --positive favourable"));
    if (onnx)
        answer.notes.emplace_back(
            "features are float32 in the order of the schema, categories as positions in their "
            "lists, NaN for missing and for categories not listed; round doubles to float32 first");
    if (auto note = main_ensemble_note(*link); !note.empty())
        answer.notes.push_back(std::move(note));
    return answer;
}

}  // namespace

void add_import(Frame& frame) {
    auto options = std::make_shared<ImportOptions>();
    auto& command = frame.add(
        {.name = "import",
         .summary = "Import a LightGBM or XGBoost model as a model file",
         .example = "rampart import --from lightgbm --model champion.txt --schema schema.toml "
                    "--out m.rmp",
         .reads_no_store = true},
        [options](const Context&) { return import_model(*options); });
    command.add_option("--from", options->from, "library that wrote the model")
        ->required()
        ->check(CLI::IsMember({"lightgbm", "xgboost"}));
    command
        .add_option("--model", options->model,
                    "model to import: LightGBM, the text of Booster.save_model; XGBoost, .json or "
                    ".ubj (whatever its name)")
        ->required();
    command
        .add_option("--schema", options->schema,
                    "schema file: features are matched by name; see `rampart schema infer`")
        ->required();
    command.add_option("--out", options->out, "model file to write")->required();
    command
        .add_option("--positive", options->positive,
                    "meaning of label 1; default: favourable if the schema's favourable label is 1")
        ->check(CLI::IsMember({"favourable", "unfavourable"}));
}

void add_export(Frame& frame) {
    auto options = std::make_shared<ExportOptions>();
    auto& command =
        frame.add({.name = "export",
                   .summary = "Export the trees of a model file for LightGBM or ONNX",
                   .example = "rampart export --to lightgbm --model m.rmp --out champion.txt",
                   .reads_no_store = true},
                  [options](const Context&) { return export_model(*options); });
    command.add_option("--to", options->to, "library or format to export for")
        ->required()
        ->check(CLI::IsMember({"lightgbm", "onnx"}));
    command.add_option("--model", options->model, "model file")->required();
    command.add_option("--out", options->out, "file to write: a LightGBM text, or .onnx")
        ->required();
}

}  // namespace rampart::cli
