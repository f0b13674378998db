#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <cmath>
#include <filesystem>

#include "frame/commands.hpp"
#include "learn/data_profile_page.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/dataset/feature_schema_toml.hpp"
#include "rampart/dataset/read_table.hpp"
#include "rampart/dataset/reasons.hpp"
#include "rampart/dataset/row_keys.hpp"

namespace rampart::cli {
namespace {

namespace json = boost::json;
using data_profile::Part;
using data_profile::Profile;

struct Options {
    std::string data, schema, time, period, report;
};

json::value number_json(double value) {
    return std::isnan(value) ? json::value() : json::value(value);
}

json::object json_of(const Part& part) {
    return {{"name", part.name},
            {"rows", part.rows},
            {"share", part.share},
            {"label", number_json(part.label)}};
}

json::object json_of(const data_profile::Feature& feature) {
    json::array bars, missing, periods;
    for (const auto& bar : feature.bars) bars.push_back(json_of(bar));
    for (const double share : feature.missing_by_group) missing.push_back(number_json(share));
    for (const auto& one : feature.periods)
        periods.push_back({{"missing", number_json(one.missing)},
                           {"psi", number_json(one.shift)},
                           {"psi_by_chance", number_json(one.by_chance)}});
    json::object object{
        {"name", feature.name},
        {"kind", feature.kind == dataset::FeatureKind::kNumeric ? "numeric" : "categorical"},
        {"missing", json_of(feature.missing)},
        {"distinct", feature.distinct},
        {"numbers", nullptr},
        {"bars", std::move(bars)},
        {"missing_by_group", std::move(missing)},
        {"periods", std::move(periods)}};
    if (const auto& numbers = feature.numbers) {
        json::object quantiles;
        for (size_t k = 0; k < numbers->quantiles.size(); ++k)
            quantiles[fmt::format("{}", data_profile::kQuantiles[k])] = numbers->quantiles[k];
        object["numbers"] = {{"least", numbers->least},
                             {"greatest", numbers->greatest},
                             {"mean", numbers->mean},
                             {"deviation", numbers->deviation},
                             {"quantiles", std::move(quantiles)}};
    }
    return object;
}

json::object json_of(const Profile& profile) {
    json::array groups, features, periods;
    for (const auto& group : profile.groups) {
        auto one = json_of(group.part);
        one["interval"] = group.interval
                              ? json::value(json::array{group.interval->lo, group.interval->hi})
                              : json::value();
        groups.push_back(std::move(one));
    }
    for (const auto& feature : profile.features) features.push_back(json_of(feature));
    for (const auto& period : profile.periods) {
        auto one = json_of(period.part);
        json::array shares;
        for (const double share : period.group_shares) shares.push_back(number_json(share));
        one["group_shares"] = std::move(shares);
        periods.push_back(std::move(one));
    }
    return {{"all", json_of(profile.all)},
            {"groups", std::move(groups)},
            {"features", std::move(features)},
            {"periods", std::move(periods)},
            {"reference_periods", profile.reference},
            {"findings", json::value_from(data_profile::findings(profile))}};
}

/// Returns the days of a feature whose dates the schema file reads, as seconds; empty: it is none.
/// Fails with "bad_split_time".
base::Result<std::vector<double>> dates_of(const Options& o, const dataset::TableSchema& schema,
                                           const dataset::Dataset& table) {
    std::vector<double> time;
    const auto feature = table.schema.find(o.time);
    const auto* rule = schema.rule_of(o.time);
    if (!feature || rule == nullptr || !rule->date) return time;
    for (const float day : table.columns[*feature]) {
        if (std::isnan(day))
            return base::make_error(dataset::Reason::kBadSplitTime,
                                    "{}: row {} has no date in '{}': a period is needed for each",
                                    o.data, time.size() + 1, o.time);
        time.push_back(double{day} * 86'400);
    }
    return time;
}

base::Result<data_profile::Periods> periods_of(const Options& o, const dataset::TableSchema& schema,
                                               const dataset::Dataset& table) {
    if (o.time.empty()) {
        if (o.period.empty()) return data_profile::Periods{};
        return base::make_error(base::Reason::kBadUsage,
                                "--period {} needs the column of the times: --time-column",
                                o.period);
    }
    RAMPART_TRY(const auto dates, dates_of(o, schema, table));
    if (!dates.empty())
        return data_profile::periods_of(dates, dataset::TimeScale::kDates, o.period);
    RAMPART_TRY(const auto keys, dataset::read_row_keys(o.data, "", o.time, &schema));
    return data_profile::periods_of(keys.time, keys.scale, o.period);
}

std::string text_of(const ProfileWords& words, const Profile& profile) {
    auto text =
        fmt::format("{}: {} rows, {} features; {} {}\n", words.title, profile.all.rows,
                    profile.features.size(), words.label, label_text(words, profile.all.label));
    if (!profile.groups.empty()) text += "\n" + report::align(group_table(words, profile));
    text += "\n" + report::align(feature_table(profile));
    const auto found = data_profile::findings(profile);
    if (!found.empty()) text += "\nto look at\n";
    for (const auto& one : found) text += "  " + one + "\n";
    return text;
}

base::Result<Answer> profile(const Options& o) {
    RAMPART_TRY(const auto schema, dataset::read_table_schema(o.schema));
    RAMPART_TRY(const auto table, dataset::read_table(o.data, schema));
    RAMPART_TRY(const auto periods, periods_of(o, schema, table));
    RAMPART_TRY(const auto profile, data_profile::profile_of(table, periods));
    const ProfileWords words{std::filesystem::path(o.data).filename().string(),
                             table.numeric() ? "mean of " + schema.label_text() : "favourable %",
                             table.numeric(), table.notes};
    Answer answer;
    answer.notes = table.notes;
    answer.text = text_of(words, profile);
    auto document = json_of(profile);
    document["data"] = o.data;
    document["label"] = schema.label_text();
    if (!o.report.empty()) {
        RAMPART_RETURN_IF_ERROR(
            base::write_file_atomically(o.report, data_profile_page(words, profile)));
        answer.text += fmt::format("wrote {}\n", o.report);
        document["report"] = o.report;
    }
    answer.json = json::serialize(document);
    return answer;
}

}  // namespace

void add_data_profile(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "data profile",
         .summary = "Show what is in a table: distributions, missing, groups, change over time",
         .example = "rampart data profile --data loans.csv.gz --schema schema.toml --time-column "
                    "granted_on --report profile.html",
         .detail = "Shares and means are of the rows' weights. Change over time is the population "
                   "stability index from the first periods, with at least a quarter of the rows, "
                   "to each later one, beside what chance gives.",
         .reads_no_store = true},
        [options](const Context&) { return profile(*options); });
    command.add_option("--data", options->data, "the table: .csv or .csv.gz")->required();
    command
        .add_option("--schema", options->schema,
                    "its schema file; 'rampart schema infer' drafts one")
        ->required();
    command.add_option("--time-column", options->time,
                       "column of dates or numbers, of any role, to show change by");
    command
        .add_option("--period", options->period,
                    "month, quarter or year; default: the shortest with at most 60 periods")
        ->check(CLI::IsMember({"month", "quarter", "year"}));
    command.add_option("--report", options->report, "HTML page to write");
}

}  // namespace rampart::cli
