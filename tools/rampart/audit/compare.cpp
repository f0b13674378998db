// compare: two models on a table, or two registered policies on what a store has logged
#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "audit/compare_on_log.hpp"
#include "frame/commands.hpp"
#include "frame/named_file.hpp"
#include "frame/reasons.hpp"
#include "rampart/dataset/read_table.hpp"
#include "rampart/evaluation/comparison.hpp"
#include "rampart/evaluation/model_table.hpp"
#include "rampart/evaluation/reasons.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/report/text_table.hpp"

namespace rampart::cli {
namespace {

namespace json = boost::json;

constexpr size_t kShiftsShown = 10;

struct Options {
    std::string first, second, data, schema, split = "all";
};

/// One model's answers for the rows that both are compared on.
struct Answered {
    std::string id;
    dataset::Dataset data;
    evaluation::PolicyAnswers answers;
};

base::Result<Answered> answers_of(const Options& options, const std::string& model) {
    RAMPART_TRY(const auto loaded, model::load_model_file(model));
    const auto& record = loaded.policy.state().training;
    const evaluation::ModelTableNames names{model, options.data, options.schema};
    RAMPART_TRY(const auto schema, evaluation::schema_for(names, loaded.policy, record));
    RAMPART_TRY(auto table, dataset::read_table(options.data, schema));
    RAMPART_TRY(auto data, evaluation::part_of(names, options.split, std::move(table), record));
    RAMPART_TRY(auto answers, evaluation::policy_answers(loaded.policy, data, std::nullopt));
    return Answered{std::string(loaded.id.value()), std::move(data), std::move(answers)};
}

std::string percent(double x) { return fmt::format("{:.2f} %", 100 * x); }
std::string percent(const std::optional<double>& x) { return x ? percent(*x) : "–"; }

json::value value_of(const std::optional<double>& x) { return x ? json::value(*x) : nullptr; }

std::string table_of(const std::string& title, const std::vector<evaluation::ComparedRows>& parts) {
    report::Table lines{{title, "rows", "both", "first only", "second only", "neither",
                         "first: mean score", "second", "good of first only",
                         "good of second only"}};
    for (const auto& part : parts)
        lines.push_back({part.name, std::to_string(part.rows), percent(part.approved.both),
                         percent(part.approved.first_only), percent(part.approved.second_only),
                         percent(part.approved.neither), fmt::format("{:.4f}", part.first_score),
                         fmt::format("{:.4f}", part.second_score),
                         percent(part.favourable_first_only),
                         percent(part.favourable_second_only)});
    return report::align(lines) + "\n";
}

json::array array_of(const std::vector<evaluation::ComparedRows>& parts) {
    json::array list;
    for (const auto& part : parts)
        list.push_back({{"name", part.name},
                        {"rows", part.rows},
                        {"approved_by_both", part.approved.both},
                        {"approved_by_first_only", part.approved.first_only},
                        {"approved_by_second_only", part.approved.second_only},
                        {"approved_by_neither", part.approved.neither},
                        {"first_mean_score", part.first_score},
                        {"second_mean_score", part.second_score},
                        {"favourable_of_first_only", value_of(part.favourable_first_only)},
                        {"favourable_of_second_only", value_of(part.favourable_second_only)}});
    return list;
}

base::Result<Answer> compare_on_table(const Options& options) {
    for (const auto& [flag, text] : {std::pair("--first", &options.first),
                                     {"--second", &options.second},
                                     {"--data", &options.data}})
        if (text->empty())
            return base::make_error(
                Reason::kMisuse,
                "{}: is missing; give --first, --second and --data, or --config and two --policy",
                flag);
    RAMPART_TRY(const auto first, answers_of(options, options.first));
    RAMPART_TRY(const auto second, answers_of(options, options.second));
    if (first.data.label != second.data.label || first.data.target != second.data.target)
        return base::make_error(evaluation::Reason::kOtherData,
                                "the {} rows of {} and of {} are not the same: compare on --split "
                                "all",
                                options.split, options.first, options.second);
    RAMPART_TRY(const auto found,
                evaluation::compare_answers(first.answers, second.answers, first.data));
    std::string text = fmt::format(
        "first {}, second {}, on {} ({} rows): approved by which, with the same draw for both\n\n",
        options.first, options.second, options.data, options.split);
    text += table_of("rows", {found.all});
    if (!found.groups.empty()) text += table_of("group", found.groups);
    text += table_of("score of first", found.bands);
    report::Table shifts{{"feature", "PSI from approved by first to approved by second"}};
    json::array all_shifts;
    for (const auto& shift : found.shifts) {
        if (shifts.size() <= kShiftsShown)
            shifts.push_back({shift.feature, fmt::format("{:.4f}", shift.psi)});
        all_shifts.push_back({{"feature", shift.feature}, {"psi", shift.psi}});
    }
    text += report::align(shifts);
    text += fmt::format("\nPSI of the scores: {:.4f} (below 0.1: little, above 0.25: much)\n",
                        found.score_psi);
    const json::object out{{"first", options.first},
                           {"first_id", first.id},
                           {"second", options.second},
                           {"second_id", second.id},
                           {"data", options.data},
                           {"split", options.split},
                           {"all", array_of({found.all}).front()},
                           {"groups", array_of(found.groups)},
                           {"bands", array_of(found.bands)},
                           {"score_psi", found.score_psi},
                           {"shifts", all_shifts}};
    return Answer{.text = std::move(text), .json = json::serialize(out), .notes = {}};
}

/// Returns whether the decisions of a store are asked about. Errors: "misuse" where both are.
base::Result<bool> asks_a_log(const Options& options, const LogComparisonOptions& log) {
    const bool is_log = !log.config.empty() || !log.policies.empty();
    const bool is_table = !options.first.empty() || !options.second.empty() ||
                          !options.data.empty() || !options.schema.empty();
    if (is_log && is_table)
        return base::make_error(Reason::kMisuse,
                                "--first, --second, --data and --schema are of a table, --config "
                                "and --policy of a store: give the ones or the others");
    if (is_log && log.config.empty())
        return base::make_error(Reason::kMisuse, "--config: is missing; name the store's");
    if (!is_log && !(log.from.empty() && log.to.empty()))
        return base::make_error(Reason::kMisuse,
                                "--from and --to are of a store: give --config and two --policy");
    return is_log;
}

base::Result<Answer> compare(const Options& options, const LogComparisonOptions& log) {
    RAMPART_TRY(const bool on_log, asks_a_log(options, log));
    return on_log ? compare_on_log(log) : named_file(compare_on_table(options));
}

void add_log_options(CLI::App& command, LogComparisonOptions& log) {
    command.add_option("--config", log.config, "rampartd.toml of a store");
    command.add_option("--policy", log.policies,
                       "id of a registered model; twice: the first, and the one beside it");
    command.add_option("--from", log.from, "applications of this time (ISO 8601) or later");
    command.add_option("--to", log.to, "applications before this time (ISO 8601)");
    command.add_option("--confidence", log.confidence, "of each interval, between 0 and 1")
        ->capture_default_str();
}

}  // namespace

void add_compare(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto log = std::make_shared<LogComparisonOptions>();
    auto& command = frame.add(
        {.name = "compare",
         .summary = "Compare two models, on a table or on a store's decisions: who is approved by "
                    "one alone, by group and score",
         .example = "rampart compare --first old.rmp --second new.rmp --data data.csv.gz",
         .detail =
             "Shares are those of decisions by the same draw: a row that the first approves with "
             "probability p and the second with q is approved by the first alone with p - q if "
             "that is positive. Good: of those, the share of favourable labels. PSI is the "
             "population stability index. With --config and two --policy the rows are logged "
             "decisions about persons of the development side, the first of each, and the mean "
             "impact of both policies and of the difference is estimated from the outcomes, with "
             "an interval; no outcome of the vault is read. No node may be serving the store."},
        [options, log](const Context&) { return compare(*options, *log); });
    command.add_option("--first", options->first, "a model file, such as the champion's");
    command.add_option("--second", options->second, "the model file beside it");
    command.add_option("--data", options->data, "the table: .csv or .csv.gz");
    command.add_option("--schema", options->schema, "schema file, if a model carries none");
    command
        .add_option("--split", options->split,
                    "rows to compare on: all, or a part of the table that both were trained on")
        ->check(CLI::IsMember({"train", "validation", "test", "all"}))
        ->capture_default_str();
    add_log_options(command, *log);
}

}  // namespace rampart::cli
