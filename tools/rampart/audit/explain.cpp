#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <numeric>
#include <thread>

#include "audit/explain_decision.hpp"
#include "frame/commands.hpp"
#include "frame/figures_text.hpp"
#include "frame/named_file.hpp"
#include "frame/reasons.hpp"
#include "rampart/dataset/read_table.hpp"
#include "rampart/dataset/reasons.hpp"
#include "rampart/dataset/text.hpp"
#include "rampart/evaluation/explainer.hpp"
#include "rampart/evaluation/model_table.hpp"
#include "rampart/explain/importance.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/report/text_table.hpp"

namespace rampart::cli {
namespace {

namespace json = boost::json;

constexpr size_t kMaxRowsShown = 1000;
constexpr uint64_t kSampleSeed = 0;

struct Options {
    evaluation::ModelTableNames names;
    evaluation::ExplainerOptions explainer;
    std::vector<size_t> rows;
    size_t top = 10;
    std::string split = "all";
    size_t sample = 10'000;
    size_t threads = std::max(1u, std::thread::hardware_concurrency());
    DecisionOptions decision;
};

/// Positions of values, largest magnitude first (ties: schema order).
std::vector<size_t> by_magnitude(std::span<const double> values) {
    std::vector<size_t> order(values.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return std::abs(values[a]) > std::abs(values[b]); });
    return order;
}

std::string signed_number(double x) { return fmt::format("{:+.4f}", x); }

size_t shown_of(const Options& options, size_t features) {
    return options.top == 0 ? features : std::min(options.top, features);
}

struct RowText {
    std::string text;
    json::object object;
};

/// One row taken apart.
RowText row_of(const Options& options, const model::Policy& policy,
               const evaluation::Explainer& explainer, const dataset::Dataset& table, size_t number,
               std::span<const double> phi) {
    const auto& features = policy.schema().features();
    const auto order = by_magnitude(phi);
    const size_t shown = shown_of(options, order.size());
    const double base = explainer.shap.base_value();
    const double sum = std::accumulate(phi.begin(), phi.end(), 0.0);
    const double score = explainer.link->scale.apply(base + sum);
    report::Table lines{{"feature", "value", "contribution"}};
    json::array contributions;
    double others = 0;
    for (size_t i = 0; i < order.size(); ++i) {
        const size_t f = order[i];
        const float value = table.columns[f][number - 1];
        const auto text = evaluation::value_text(features[f], value);
        if (i < shown) lines.push_back({features[f].name, text, signed_number(phi[f])});
        if (i >= shown) others += phi[f];
        const bool numeric = features[f].kind == dataset::FeatureKind::kNumeric;
        json::value shown_value(text);
        if (numeric) shown_value = static_cast<double>(value);
        if (std::isnan(value)) shown_value = nullptr;
        contributions.push_back({{"feature", features[f].name},
                                 {"value", std::move(shown_value)},
                                 {"contribution", phi[f]}});
    }
    if (shown < order.size()) {
        lines.push_back(
            {fmt::format("{} others", order.size() - shown), "", signed_number(others)});
    }
    lines.push_back({"base value", "", signed_number(base)});
    const bool unit = explainer.link->scale.kind == model::ScoreScale::Kind::kUnit;
    lines.push_back({unit ? "sum" : "log-odds", "", signed_number(base + sum)});
    return {fmt::format("row {}: {} {:.4f}\n{}", number, unit ? "score" : "P(favourable)", score,
                        report::align(lines, 2)),
            {{"row", number},
             {"score", score},
             {"raw", base + sum},
             {"contributions", std::move(contributions)}}};
}

base::Status check_rows(const Options& options, size_t rows) {
    if (options.rows.size() > kMaxRowsShown)
        return base::make_error(dataset::Reason::kTooManyRows,
                                "--row names {} rows; allowed are {}", options.rows.size(),
                                kMaxRowsShown);
    for (const size_t row : options.rows) {
        if (row >= 1 && row <= rows) continue;
        return base::make_error(Reason::kNoSuchRow, "--row {}: {} has rows 1 to {}", row,
                                options.names.data, rows);
    }
    return base::ok();
}

void put_rows(const Options& options, const model::Policy& policy,
              const evaluation::Explainer& explainer, const dataset::Dataset& table,
              base::ThreadPool& pool, std::string& text, json::object& out) {
    std::vector<uint32_t> rows;
    for (const size_t row : options.rows) rows.push_back(static_cast<uint32_t>(row - 1));
    const size_t d = policy.schema().size();
    std::vector<double> phi(rows.size() * d);
    explainer.shap.explain_rows(table, rows, phi, &pool);
    json::array list;
    for (size_t i = 0; i < rows.size(); ++i) {
        auto row = row_of(options, policy, explainer, table, options.rows[i],
                          std::span(phi).subspan(i * d, d));
        text += "\n" + row.text;
        list.push_back(std::move(row.object));
    }
    out["rows"] = std::move(list);
}

/// How much each feature matters over a sample of rows.
base::Status put_importance(const Options& options, const model::Policy& policy,
                            const evaluation::Explainer& explainer, const dataset::Dataset& part,
                            base::ThreadPool& pool, std::string& text, json::object& out) {
    const size_t most = options.sample == 0 ? part.rows() : options.sample;
    const auto data = part.subset(evaluation::sample_rows(part.rows(), most, kSampleSeed));
    RAMPART_TRY(const auto mean, explain::mean_absolute_contributions(explainer.shap, data, &pool));
    const auto splits = explain::split_importance(explainer.link->ensemble, mean.size());
    double gain = 0;
    for (const auto& feature : splits) gain += feature.gain;
    const auto order = by_magnitude(mean);
    report::Table lines{{"feature", "mean |contribution|", "gain", "splits"}};
    json::array list;
    for (size_t i = 0; i < order.size(); ++i) {
        const size_t f = order[i];
        const auto& name = policy.schema().features()[f].name;
        const double share = gain > 0 ? splits[f].gain / gain : 0;
        if (i < shown_of(options, order.size()))
            lines.push_back({name, fmt::format("{:.4f}", mean[f]),
                             fmt::format("{:.1f} %", 100 * share),
                             std::to_string(splits[f].splits)});
        list.push_back({{"feature", name},
                        {"mean_absolute_contribution", mean[f]},
                        {"gain", splits[f].gain},
                        {"splits", splits[f].splits},
                        {"cover", splits[f].cover}});
    }
    text += fmt::format("\nover {} of {} rows ({}):\n{}", data.rows(), part.rows(), options.split,
                        report::align(lines));
    if (shown_of(options, order.size()) < order.size())
        text += fmt::format("({} more features: --top 0 shows all)\n", order.size() - options.top);
    out["split"] = options.split;
    out["sampled_rows"] = data.rows();
    out["importance"] = std::move(list);
    return base::ok();
}

base::Result<Answer> explain_model(const Options& options) {
    RAMPART_TRY(const auto loaded, model::load_model_file(options.names.model));
    const auto& record = loaded.policy.state().training;
    RAMPART_TRY(const auto schema, evaluation::schema_for(options.names, loaded.policy, record));
    RAMPART_TRY(const auto table, dataset::read_table(options.names.data, schema));
    RAMPART_RETURN_IF_ERROR(check_rows(options, table.rows()));
    if (options.rows.empty())
        RAMPART_RETURN_IF_ERROR(evaluation::require_labels(table, options.names));
    RAMPART_TRY(const auto explainer,
                evaluation::make_explainer(options.explainer, options.names, loaded.policy, record,
                                           schema, table));
    json::object out{{"model", options.names.model},
                     {"id", loaded.id.value()},
                     {"link", explainer.link_number},
                     {"variant", explainer.variant},
                     {"base_value", explainer.shap.base_value()}};
    const bool unit = explainer.link->scale.kind == model::ScoreScale::Kind::kUnit;
    std::string text = fmt::format(
        "{}, link {}: contributions to the {}, {}\n", options.names.model, explainer.link_number,
        unit ? "score before it is kept within [0, 1]" : "log-odds", explainer.variant);
    if (explainer.reference_rows > 0) {
        text += fmt::format("reference: {} rows of {}, SHA-256 {}\n", explainer.reference_rows,
                            explainer.reference, explainer.reference_sha256);
        out["reference"] = json::object{{"from", explainer.reference},
                                        {"rows", explainer.reference_rows},
                                        {"sha256", explainer.reference_sha256}};
    }
    base::ThreadPool pool(options.threads);
    if (!options.rows.empty()) {
        put_rows(options, loaded.policy, explainer, table, pool, text, out);
    } else {
        RAMPART_TRY(const auto part,
                    evaluation::part_of(options.names, options.split, table, record));
        RAMPART_RETURN_IF_ERROR(
            put_importance(options, loaded.policy, explainer, part, pool, text, out));
    }
    Answer answer{.text = std::move(text), .json = json::serialize(out), .notes = {}};
    if (auto note = main_ensemble_note(*explainer.link); !note.empty())
        answer.notes.push_back(std::move(note));
    return answer;
}

base::Result<Answer> explain(Options& options) {
    if (!options.decision.decision.empty()) {
        options.decision.top = options.top;
        return explain_decision(options.decision);
    }
    if (options.names.model.empty() || options.names.data.empty())
        return base::make_error(Reason::kMisuse,
                                "give --model and --data, or --decision and --config");
    return named_file(explain_model(options));
}

void add_decision_options(CLI::App& command, DecisionOptions& o) {
    auto* decision =
        command.add_option("--decision", o.decision, "explain the decision of this id in a store")
            ->excludes("--model")
            ->excludes("--data");
    auto* config = command.add_option("--config", o.config,
                                      "with --decision: rampartd.toml of the store, which no node "
                                      "may be serving");
    decision->needs(config);
    config->needs(decision);
    command
        .add_option("--feature-group", o.feature_groups,
                    "with --decision: features that are one reason, NAME=FEATURE,FEATURE, where * "
                    "stands for any characters; may be given several times")
        ->needs(decision);
    command
        .add_option("--svg", o.svg,
                    "with --decision: file for a picture of it, which names features, not values")
        ->needs(decision);
}

}  // namespace

void add_explain(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& o = *options;
    auto& command = frame.add(
        {.name = "explain",
         .summary = "Explain a decision of a store; scores of a model by features (exact Shapley "
                    "values); or rank features over a table",
         .example = "rampart explain --model m.rmp --data data.csv.gz --row 12,40",
         .detail = "Contributions are in log-odds; with the base value they sum to the score's "
                   "log-odds. Unknown features are averaged over the paths of the training rows "
                   "through the trees, or, with --interventional, over a reference set. For a "
                   "mixture the first ensemble is explained. With --decision: P(approve) from link "
                   "to link to the draw, what each feature lowers it by, and the reasons of a "
                   "decline."},
        [options](const Context&) { return explain(*options); });
    command.add_option("--model", o.names.model, "the model file");
    command.add_option("--data", o.names.data, "the table: .csv or .csv.gz");
    add_decision_options(command, o.decision);
    command.add_option("--schema", o.names.schema, "schema file, if the model carries none");
    command
        .add_option("--row", o.rows,
                    "rows of the table to explain, from 1, e.g. 3,17; without it: the mean of each "
                    "feature over the table")
        ->delimiter(',');
    command.add_option("--top", o.top, "number of features to list; 0: all")->capture_default_str();
    command.add_flag("--interventional", o.explainer.interventional,
                     "compare with a reference set: the training rows if --data is the training "
                     "table, else the rows of --data");
    command.add_option("--reference", o.explainer.reference,
                       "a table whose rows are the reference set; implies --interventional");
    command
        .add_option("--reference-rows", o.explainer.reference_rows,
                    "maximum rows of the reference set, drawn with a fixed seed")
        ->check(CLI::Range(size_t{1}, explain::kMaxReferenceRows))
        ->capture_default_str();
    command.add_option("--link", o.explainer.link,
                       "link of the policy, from 1; default: the last learned one");
    command.add_option("--split", o.split, "without --row: the part of the table to average over")
        ->check(CLI::IsMember({"train", "validation", "test", "all"}))
        ->capture_default_str();
    command
        .add_option("--sample", o.sample,
                    "without --row: maximum number of rows, drawn with a fixed seed; 0: all")
        ->capture_default_str();
    command
        .add_option("--threads", o.threads,
                    "number of threads, default one per core; the result does not depend on it")
        ->check(CLI::Range(size_t{1}, size_t{256}));
}

}  // namespace rampart::cli
