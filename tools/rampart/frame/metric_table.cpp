#include "frame/metric_table.hpp"

#include <fmt/format.h>

#include <string_view>

#include "rampart/runtime/metric_list.hpp"

namespace rampart::cli {
namespace {

/// Returns "`a`, `b`" of "a,b".
std::string as_code(std::string_view names) {
    std::string out;
    while (!names.empty()) {
        const size_t comma = names.find(',');
        out += fmt::format("{}`{}`", out.empty() ? "" : ", ", names.substr(0, comma));
        names = comma == std::string_view::npos ? "" : names.substr(comma + 1);
    }
    return out;
}

}  // namespace

std::string metric_page() {
    std::string page =
        "# Metrics\n\n"
        "Every metric that a service of Rampart shows at `GET /metrics`, as `rampart metrics` "
        "prints it (a\ntest compares them), in Prometheus' text format: base units, counters end "
        "in "
        "`_total`. Alert rules:\n[`ops/alerts`](../ops/alerts/README.md); a dashboard for Grafana: "
        "[`ops/dashboards`](../ops/dashboards/README.md).\n\n"
        "| metric | type | labels | meaning |\n| --- | --- | --- | --- |\n";
    for (const auto& metric : runtime::metric::all()) {
        page += fmt::format("| `{}` | {} | {} | {} |\n", metric.name, metric.type,
                            as_code(metric.labels), metric.help);
    }
    return page;
}

}  // namespace rampart::cli
