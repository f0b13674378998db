// metrics: what a metric of /metrics means.
#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <memory>
#include <string>

#include "frame/commands.hpp"
#include "frame/metric_table.hpp"
#include "frame/reasons.hpp"
#include "rampart/runtime/metric_list.hpp"

namespace rampart::cli {
namespace {

namespace json = boost::json;

base::Result<Answer> metrics(const std::string& name) {
    Answer answer;
    json::array found;
    for (const auto& metric : runtime::metric::all()) {
        if (!name.empty() && metric.name.find(name) == std::string_view::npos) continue;
        answer.text += fmt::format("{} ({}{}{}): {}\n", metric.name, metric.type,
                                   metric.labels.empty() ? "" : " by ", metric.labels, metric.help);
        found.push_back(json::object{{"name", metric.name},
                                     {"type", metric.type},
                                     {"labels", metric.labels},
                                     {"help", metric.help}});
    }
    if (found.empty()) {
        return base::make_error(Reason::kUnknownMetric,
                                "no metric has '{}' in its name; `rampart metrics` lists all",
                                name.substr(0, 60));
    }
    if (name.empty()) answer.text = metric_page();
    answer.json = json::serialize(json::object{{"metrics", std::move(found)}});
    return answer;
}

}  // namespace

void add_metrics(Frame& frame) {
    auto name = std::make_shared<std::string>();
    auto& command =
        frame.add({.name = "metrics",
                   .summary = "Look up a metric of GET /metrics: type, labels, what it means",
                   .example = "rampart metrics rampart_join_clock_lag_seconds",
                   .detail = "Without NAME: the table of all, as in schemas/metrics.md."},
                  [name](const Context&) { return metrics(*name); });
    command.add_option("NAME", *name, "the metric, or a part of its name");
}

}  // namespace rampart::cli
