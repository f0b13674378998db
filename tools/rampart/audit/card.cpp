#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <thread>

#include "audit/card_page.hpp"
#include "frame/commands.hpp"
#include "frame/figures_text.hpp"
#include "frame/reasons.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/utf8.hpp"
#include "rampart/evaluation/model_card.hpp"
#include "rampart/evaluation/regression_evaluation.hpp"

namespace rampart::cli {
namespace {

namespace json = boost::json;

constexpr size_t kMaxStatementBytes = 10'000;

struct Options {
    evaluation::ModelCardOptions card;
    std::string out;
    std::vector<std::string> state;
};

/// KEY=TEXT, KEY one of kStatements.
base::Result<std::map<std::string, std::string>> statements_of(const Options& options) {
    std::map<std::string, std::string> stated;
    for (const auto& text : options.state) {
        const auto at = text.find('=');
        const auto key = text.substr(0, at);
        const bool known = std::any_of(std::begin(kStatements), std::end(kStatements),
                                       [&](const auto& s) { return key == s.key; });
        if (at == std::string::npos || !known) {
            std::string keys;
            for (const auto& statement : kStatements) {
                keys += fmt::format("{}{}", keys.empty() ? "" : ", ", statement.key);
            }
            return base::make_error(Reason::kBadStatement,
                                    "--state '{}' is not KEY=TEXT with one of the keys {}",
                                    text.substr(0, 100), keys);
        }
        const auto value = text.substr(at + 1);
        if (value.empty() || value.size() > kMaxStatementBytes || !base::is_utf8(value))
            return base::make_error(Reason::kBadStatement,
                                    "--state {}: wanted are 1 to {} bytes of UTF-8", key,
                                    kMaxStatementBytes);
        if (!stated.emplace(key, value).second)
            return base::make_error(Reason::kBadStatement, "--state {} is given twice", key);
    }
    return stated;
}

json::object json_of(const Options& options, const evaluation::ModelCard& card) {
    json::array features;
    for (const auto& feature : card.features) {
        json::object one{{"feature", card.policy.schema().features()[feature.feature].name},
                         {"mean_absolute_contribution", feature.mean_absolute_contribution},
                         {"gain", feature.splits.gain},
                         {"splits", feature.splits.splits},
                         {"missing", feature.missing}};
        if (feature.direction) {
            one["direction"] = to_string(feature.direction->direction);
            one["largest_rise"] = feature.direction->largest_rise;
            one["largest_fall"] = feature.direction->largest_fall;
            one["steps"] = feature.steps;
            one["all_steps"] = feature.all_steps;
        }
        features.push_back(std::move(one));
    }
    json::array calibration;
    for (const auto& bin : card.calibration) {
        calibration.push_back({{"rows", bin.favourable.rows},
                               {"mean_score", bin.mean_score},
                               {"rate", *bin.favourable.rate()}});
    }
    json::object out{{"card", options.out},
                     {"model", card.names.model},
                     {"id", card.id},
                     {"measured_on", card.rows_of},
                     {"data_sha256", card.data_sha256},
                     {"learned_from", card.learned_from},
                     {"variant", card.variant},
                     {"calibration_error", card.calibration_error},
                     {"calibration", std::move(calibration)},
                     {"features", std::move(features)}};
    out["performance"] = to_json(card.evaluation);
    return out;
}

base::Result<Answer> make(const Options& options) {
    RAMPART_TRY(const auto stated, statements_of(options));
    const auto folder = std::filesystem::absolute(options.out).parent_path();
    if (std::error_code error; !std::filesystem::is_directory(folder, error))
        return base::make_error(Reason::kNoSuchFolder,
                                "--out {}: the folder {} does not exist; make it first",
                                options.out, folder.string());
    RAMPART_TRY(const auto loaded, model::load_model_file(options.card.names.model));
    RAMPART_TRY(const auto loss, evaluation::regression_loss_of(loaded.policy));
    if (loss)
        return write_regression_card(options.card.names, loaded, *loss, options.card.split,
                                     options.out);
    RAMPART_TRY(const auto card, evaluation::make_model_card(options.card));
    RAMPART_RETURN_IF_ERROR(base::write_file_atomically(options.out, card_page(card, stated)));
    Answer answer;
    answer.text = fmt::format("wrote {}\nmodel {}\nmeasured on {} ({} rows)\n", options.out,
                              card.id, card.rows_of, card.evaluation.rows);
    answer.json = json::serialize(json_of(options, card));
    if (card.learned_from)
        answer.notes.push_back("the model may have learned from the rows that it is measured on");
    for (const auto& statement : kStatements) {
        if (card.policy.provenance().contains(statement.key) || stated.contains(statement.key))
            continue;
        answer.notes.push_back(fmt::format("the card says that '{}' is not stated: --state {}=…",
                                           statement.title, statement.key));
    }
    return answer;
}

}  // namespace

void add_card(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& o = *options;
    o.card.threads = std::max(1u, std::thread::hardware_concurrency());
    auto& command = frame.add(
        {.name = "card",
         .summary = "Write a model card: what a model is, its performance by group, its features",
         .example = "rampart card --model m.rmp --data data.csv.gz --out card.html",
         .detail = "One HTML file without scripts or links. Measured on the test rows of the table "
                   "that the model was trained on, or on all rows of another table.",
         .reads_no_store = true},
        [options](const Context&) { return make(*options); });
    command.add_option("--model", o.card.names.model, "the model file")->required();
    command.add_option("--data", o.card.names.data, "the table: .csv or .csv.gz")->required();
    command.add_option("--schema", o.card.names.schema, "schema file, if the model carries none");
    command.add_option("--out", o.out, "the page to write")->required();
    command
        .add_option("--split", o.card.split,
                    "rows to measure on; default: test, or all for another table")
        ->check(CLI::IsMember({"train", "validation", "test", "all"}));
    command.add_option("--plots", o.card.plots, "number of features with a plot of the score")
        ->check(CLI::Range(size_t{0}, size_t{60}))
        ->capture_default_str();
    command.add_option("--state", o.state,
                       "KEY=TEXT for what the model file does not state: intended_use, "
                       "not_intended_for, limits, owner, approved_by, review_by; may be repeated");
    command
        .add_option("--threads", o.card.threads,
                    "number of threads, default one per core; the card does not depend on it")
        ->check(CLI::Range(size_t{1}, size_t{256}));
}

}  // namespace rampart::cli
