#include "frame/metric_options.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>

#include "frame/reasons.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/budro/reasons.hpp"
#include "rampart/dataset/csv.hpp"
#include "rampart/dataset/reasons.hpp"
#include "rampart/learning/fair_metric.hpp"

namespace rampart::cli {
namespace {

constexpr size_t kMostDirectionsNamed = 8;

base::Result<uint32_t> row_of(std::string_view text, size_t rows, std::string_view where) {
    uint32_t row = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), row);
    if (error != std::errc{} || end != text.data() + text.size() || row < 1 || row > rows)
        return base::make_error(Reason::kNoSuchRow, "{}: row '{}'; the table has rows 1 to {}",
                                where, text, rows);
    return row - 1;
}

/// CSV with the columns first, second, comparable (1 or 0); rows are numbered from 1.
base::Result<std::vector<budro::ComparedPair>> read_pairs(const std::string& path, size_t rows) {
    RAMPART_TRY(auto csv, dataset::CsvReader::open(path));
    if (csv.columns() != std::vector<std::string>{"first", "second", "comparable"})
        return base::make_error(Reason::kBadPairs,
                                "{}: the columns have to be first,second,comparable", path);
    std::vector<budro::ComparedPair> pairs;
    while (true) {
        RAMPART_TRY(const bool more, csv.next());
        if (!more) return pairs;
        const auto cells = csv.cells();
        const auto where = fmt::format("{}, line {}", path, csv.line());
        budro::ComparedPair pair;
        RAMPART_TRY(pair.first, row_of(cells[0], rows, where));
        RAMPART_TRY(pair.second, row_of(cells[1], rows, where));
        if (cells[2] != "0" && cells[2] != "1")
            return base::make_error(Reason::kBadPairs, "{}: comparable is '{}'; wanted is 1 or 0",
                                    where, cells[2]);
        pair.comparable = cells[2] == "1";
        pairs.push_back(pair);
        if (pairs.size() > budro::FairMetric::kMaxPairs)
            return base::make_error(budro::Reason::kTooManyPairs, "{}: more than {} pairs", path,
                                    budro::FairMetric::kMaxPairs);
    }
}

}  // namespace

bool MetricOptions::given() const {
    return std::any_of(sources.begin(), sources.end(),
                       [](const CLI::Option* option) { return option->count() > 0; });
}

void add_metric_options(CLI::App& command, MetricOptions& o, const std::string& group) {
    const auto keep = [&](CLI::Option* option, bool source = true) {
        o.options.push_back(option->group(group));
        if (source) o.sources.push_back(option);
        return option;
    };
    auto* file = keep(command.add_option("--metric", o.metric,
                                         "fair metric to read from a file; excludes the options "
                                         "that learn one"));
    auto* from = keep(command
                          .add_option("--metric-from", o.from,
                                      "learn the fair metric from the protected columns (the "
                                      "default, if no metric is given)")
                          ->check(CLI::IsMember({"protected"})));
    auto* feature = keep(command.add_option(
        "--protected-feature", o.protected_features,
        "protected feature; it and its linear predictors are projected out of the metric; may be "
        "repeated"));
    auto* indicator = keep(command.add_option(
        "--indicator", o.indicators,
        "feature that is projected out of the metric, without its predictors; may be repeated"));
    auto* direction = keep(command.add_option(
        "--protected-direction", o.directions,
        "COLUMN:NUMBER,…: a direction that is projected out of the metric; a column is a numeric "
        "feature or FEATURE=CATEGORY; may be repeated"));
    auto* pairs = keep(command.add_option(
        "--compared-pairs", o.pairs,
        "CSV file with the columns first, second, comparable: row numbers from 1, and whether the "
        "two rows were judged to be comparable (1 or 0)"));
    auto* weights = keep(command.add_option("--metric-weight", o.weights,
                                            "FEATURE:NUMBER: weight of a feature's differences, 1 "
                                            "if not given; may be repeated"),
                         false);
    auto* l2 = keep(command
                        .add_option("--metric-l2", o.l2,
                                    "L2 penalty of the regressions that predict the protected "
                                    "attributes, in mean loss + l2/2·|w|^2")
                        ->capture_default_str(),
                    false);
    auto* scale = keep(
        command
            .add_option("--metric-scale", o.scale,
                        "unit of a number's differences: its standard deviation; robust: that of "
                        "the values between the 1 % and 99 % quantiles")
            ->check(CLI::IsMember({"robust", "standard"}))
            ->capture_default_str(),
        false);
    for (auto* option : {from, feature, indicator, direction, pairs, weights, l2, scale})
        file->excludes(option);
}

base::Result<budro::FairMetric> metric_of(const MetricOptions& o, const MetricTable& table) {
    if (!o.metric.empty()) {
        RAMPART_TRY(auto metric, budro::load_fair_metric(o.metric));
        if (metric.schema() == table.all.schema) return metric;
        return base::make_error(dataset::Reason::kOtherSchema,
                                "--metric {}: it was learnt for other features than the "
                                "model's; learn one on this table",
                                o.metric);
    }
    budro::FairMetricSpec spec{.protected_features = o.protected_features,
                               .indicators = o.indicators,
                               .l2 = o.l2,
                               .scale = learning::metric_scale(o.scale)};
    const auto& rows = o.pairs.empty() ? table.learn : table.all;
    if (!o.given() || !o.from.empty()) {
        if (table.protected_columns.empty())
            return base::make_error(Reason::kNoMetric,
                                    "the schema names no protected columns to learn the fair "
                                    "metric from: name them under `protected`, or give "
                                    "--metric, --protected-feature or --protected-direction");
        spec.attributes = learning::attributes_of(rows, table.protected_columns);
    }
    for (const auto& text : o.directions) {
        RAMPART_TRY(spec.directions.emplace_back(),
                    learning::direction_of(text, ',', "--protected-direction"));
    }
    for (const auto& text : o.weights) {
        RAMPART_TRY(auto weight, learning::named_number(text, "--metric-weight"));
        spec.weights.insert(std::move(weight));
    }
    if (!o.pairs.empty()) {
        RAMPART_TRY(spec.pairs, read_pairs(o.pairs, table.all.rows()));
    }
    auto metric = budro::FairMetric::learn(rows, spec);
    if (!metric) return metric.error().with_context("the fair metric");
    return metric;
}

base::Result<std::optional<budro::FairMetric>> metric_in(const model::Policy& policy) {
    const auto& bytes = policy.state().fair_metric;
    if (bytes.empty()) return std::optional<budro::FairMetric>();
    auto metric = budro::FairMetric::decode(bytes);
    if (!metric) return metric.error().with_context("the model's fair metric");
    if (!(metric->schema() == policy.schema()))
        return base::make_error(Reason::kOtherSchema,
                                "the model's fair metric is of other features");
    return std::optional(*std::move(metric));
}

std::string metric_text(const budro::FairMetric& metric) {
    std::vector<std::string> names;
    for (const auto& direction : metric.directions()) names.push_back(direction.name);
    const size_t all = names.size();
    names.resize(std::min(all, kMostDirectionsNamed));
    return fmt::format("{} columns in {} dimensions; projected out: {}{}", metric.columns().size(),
                       metric.dimensions(),
                       names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", ")),
                       all > names.size() ? fmt::format(" and {} more", all - names.size()) : "");
}

boost::json::object metric_json(const budro::FairMetric& metric) {
    boost::json::array directions;
    for (const auto& direction : metric.directions()) {
        boost::json::object coefficients;
        for (size_t c = 0; c < direction.coefficients.size(); ++c)
            if (direction.coefficients[c] != 0)
                coefficients[metric.column_name(c)] = direction.coefficients[c];
        directions.push_back({{"name", direction.name}, {"coefficients", std::move(coefficients)}});
    }
    return {{"sha256", metric.digest().hex()},
            {"columns", metric.columns().size()},
            {"dimensions", metric.dimensions()},
            {"subspace_dimensions", metric.subspace_dimensions()},
            {"directions", std::move(directions)}};
}

}  // namespace rampart::cli
