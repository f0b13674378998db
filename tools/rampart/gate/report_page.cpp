#include "gate/report_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <functional>

#include "frame/node_access.hpp"
#include "rampart/report/chart.hpp"
#include "rampart/report/html.hpp"

namespace rampart::cli {
namespace {

namespace json = boost::json;
using report::Cell;
using report::Html;
using report::Row;

constexpr const char* kNone = "–";  // too few to say, or nothing to compare with

double real(const json::value& value) {
    return value.is_null() ? std::nan("") : value.to_number<double>();
}

int64_t count(const json::object& figures, std::string_view name) {
    return figures.at(name).to_number<int64_t>();
}

/// Returns what a figure of the report says; NaN: too few to say.
double value_of(const json::object& figures, std::string_view name) {
    const auto& figure = figures.at(name);
    return figure.is_null() ? std::nan("") : real(figure.at("value"));
}

/// Writes a value and its interval, each times `scale` with so many digits.
std::string with_interval(const json::object& figures, std::string_view name, double scale,
                          int digits) {
    const auto& figure = figures.at(name);
    if (figure.is_null()) return kNone;
    const auto text = [&](std::string_view member) {
        const double value = real(figure.at(member));
        return std::isfinite(value) ? fmt::format("{:.{}f}", scale * value, digits)
                                    : std::string(kNone);
    };
    return fmt::format("{} [{}, {}]", text("value"), text("lo"), text("hi"));
}

std::string name_of(const json::object& group) {
    return group.at("group").is_null() ? "all" : text_of(group.at("group"));
}

std::string known_of(const json::object& figures, std::string_view known, std::string_view of) {
    return fmt::format("{} of {}", count(figures, known), count(figures, of));
}

/// Returns the columns behind the first: those of one group, or of one month.
std::vector<std::string> columns_of(const json::object& figures) {
    return {std::to_string(count(figures, "decisions")),
            with_interval(figures, "approval", 100, 1),
            with_interval(figures, "impact_ratio", 1, 2),
            known_of(figures, "labelled", "matured_approved"),
            with_interval(figures, "unfavourable_rate", 100, 1),
            with_interval(figures, "impact", 1, 1)};
}
const std::vector<std::string> kHead{"decisions", "approved %", "ratio",
                                     "outcomes",  "bad %",      "impact"};

/// Returns the group's name, marked where others are compared with it.
std::string marked_name(const json::object& group, const json::array& groups) {
    const bool compared = std::any_of(groups.begin(), groups.end(), [&](const json::value& other) {
        return !group.at("group").is_null() && other.at("reference") == group.at("group");
    });
    return name_of(group) + (compared ? " *" : "");
}

report::Table whole_table(const json::object& document) {
    report::Table table{{"group"}};
    table[0].insert(table[0].end(), kHead.begin(), kHead.end());
    const auto& groups = document.at("groups").as_array();
    for (const auto& value : groups) {
        const auto& group = value.as_object();
        table.push_back({marked_name(group, groups)});
        const auto columns = columns_of(group.at("whole").as_object());
        table.back().insert(table.back().end(), columns.begin(), columns.end());
    }
    return table;
}

report::Table month_table(const json::object& group) {
    report::Table table{{"month", "matured", "impacts"}};
    table[0].insert(table[0].end(), kHead.begin(), kHead.end());
    for (const auto& value : group.at("months").as_array()) {
        const auto& month = value.as_object();
        table.push_back({text_of(month.at("month")), std::to_string(count(month, "matured")),
                         known_of(month, "impacts", "impact_due")});
        const auto columns = columns_of(month);
        table.back().insert(table.back().end(), columns.begin(), columns.end());
    }
    return table;
}

report::Table promotion_table(const json::object& document) {
    report::Table table{{"since", "what", "policy", "certified", "by"}};
    for (const auto& value : document.at("promotions").as_array()) {
        const auto& one = value.as_object();
        table.push_back({text_of(one.at("since")).substr(0, 10), text_of(one.at("kind")),
                         text_of(one.at("policy")).substr(0, 12),
                         one.at("certified").as_bool() ? "yes" : "no", text_of(one.at("actor"))});
    }
    return table;
}

report::Table run_table(const json::object& document) {
    report::Table table{{"run", "at", "verdict", "candidate", "why"}};
    for (const auto& value : document.at("runs").as_array()) {
        const auto& run = value.as_object();
        table.push_back({text_of(run.at("run")), text_of(run.at("at")).substr(0, 10),
                         text_of(run.at("verdict")), text_of(run.at("candidate")).substr(0, 12),
                         text_of(run.at("reason"))});
    }
    return table;
}

std::string period_text(const json::object& document) {
    return fmt::format(
        "{}: applications of {} to {}, as known at {}; persons outside the vault; intervals of "
        "{:g} %; *: others are compared with it; {}: fewer than {}, or nothing to compare with",
        text_of(document.at("product")), text_of(document.at("from")), text_of(document.at("to")),
        text_of(document.at("as_known_at")), 100 * real(document.at("confidence")), kNone,
        text_of(document.at("fewest")));
}

/// One figure of all groups over the months.
struct Drawn {
    std::string title, unit, figure;
    double scale = 1;
    bool outcomes = false;             // it is of matured decisions alone
    std::optional<double> level = {};  // a line
};

/// Adds where a promoted policy, or one that was rolled back to, began to decide.
void add_promotions(const json::object& document, report::LineChart& chart) {
    for (const auto& value : document.at("promotions").as_array()) {
        const auto month = text_of(value.at("since")).substr(0, 7);
        const auto at = std::find(chart.x.begin(), chart.x.end(), month);
        if (at == chart.x.end()) continue;
        chart.marks.emplace_back(at - chart.x.begin(),
                                 fmt::format("{} of {}", text_of(value.at("kind")),
                                             text_of(value.at("policy")).substr(0, 12)));
    }
}

std::string chart_of(const json::object& document, const Drawn& drawn) {
    report::LineChart chart{drawn.title, drawn.unit, {}, {}, {}, drawn.level};
    for (const auto& value : document.at("groups").as_array()) {
        const auto& group = value.as_object();
        report::Series series{name_of(group), {}};
        const bool first = chart.series.empty();
        for (const auto& each : group.at("months").as_array()) {
            const auto& month = each.as_object();
            const bool whole = count(month, "matured") == count(month, "decisions");
            if (first && drawn.outcomes && !whole && chart.marks.empty())
                chart.marks.emplace_back(chart.x.size(), "from here on not all has matured");
            if (first) chart.x.push_back(text_of(month.at("month")));
            series.y.push_back(drawn.scale * value_of(month, drawn.figure));
        }
        chart.series.push_back(std::move(series));
    }
    if (!drawn.outcomes) add_promotions(document, chart);
    return report::line_chart(chart);
}

void add_table(Html& page, const report::Table& table, size_t left) {
    auto rows = report::rows_of(table);
    for (auto& row : rows)
        for (size_t i = 0; i < left && i < row.size(); ++i) row[i].style = "left";
    const Row head = rows.front();
    rows.erase(rows.begin());
    page.table(head, rows, "wide");
}

void add_charts(Html& page, const json::object& document) {
    const auto units = text_of(document.at("impact_units"));
    page.raw("<div class='charts'>\n");
    for (const Drawn& drawn :
         {Drawn{"Approved", "% of decisions", "approval", 100},
          Drawn{"Ratio of approvals", "to those of the group with *", "impact_ratio", 1, false,
                0.8},
          Drawn{"Unfavourable outcomes", "% of the known ones", "unfavourable_rate", 100, true},
          Drawn{"Impact", units + " per decision with a known one", "impact", 1, true}})
        page.raw(chart_of(document, drawn));
    page.raw("</div>\n");
}

}  // namespace

std::string report_text(const json::object& document) {
    std::string text = period_text(document) + "\n\n" + report::align(whole_table(document), 1);
    if (const auto promotions = promotion_table(document); promotions.size() > 1)
        text += "\n" + report::align(promotions, 5);
    if (const auto runs = run_table(document); runs.size() > 1)
        text += "\n" + report::align(runs, 5);
    return text;
}

std::string report_page(const json::object& document) {
    Html page;
    page.title("Decisions of " + text_of(document.at("product")));
    page.paragraph(period_text(document), "soft");
    page.paragraph(
        "Ratio: the approvals of a group divided by those of the group with * of the same "
        "attribute; the line is at four fifths. Outcomes: how many are known of approved, matured "
        "decisions; bad: the unfavourable ones of these. Impact: of decisions whose impact has "
        "matured and is known, which all declines' is. Dashed lines: a policy began to decide; "
        "in figures of outcomes, from there on not all decisions have matured.",
        "soft");
    add_table(page, whole_table(document), 1);
    page.heading("Month by month");
    add_charts(page, document);
    for (const auto& value : document.at("groups").as_array()) {
        const auto& group = value.as_object();
        page.raw(fmt::format("<details><summary>{}</summary>\n", report::escaped(name_of(group))));
        add_table(page, month_table(group), 1);
        page.raw("</details>\n");
    }
    page.heading("Who decided");
    add_table(page, promotion_table(document), 5);
    page.heading("Runs of the gate");
    add_table(page, run_table(document), 5);
    return report::document("Decisions of " + text_of(document.at("product")), page);
}

}  // namespace rampart::cli
