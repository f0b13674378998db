#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "rampart/report/chart.hpp"
#include "rampart/report/html.hpp"
#include "tools/demo/report.hpp"

namespace rampart::demo {
namespace {

using report::Cell;
using report::Html;
using report::Row;

/// Returns the first characters of an id, as code.
Cell id_cell(const std::string& id) {
    return Cell::raw(fmt::format("<code>{}</code>", report::escaped(id.substr(0, 12))), "left");
}

std::string card(const std::string& value, const std::string& label, const char* style = "") {
    return fmt::format("<div class='card'><b class='{}'>{}</b><span>{}</span></div>\n", style,
                       report::escaped(value), report::escaped(label));
}

std::string cards(const Report& r) {
    long decisions = 0, approved = 0;
    for (const auto& month : r.months) {
        const auto it = month.by_group.find("everybody");
        if (it == month.by_group.end()) continue;
        decisions += it->second.applications;
        approved += it->second.approved;
    }
    const auto first = r.value_first.find("everybody"), last = r.value_final.find("everybody");
    std::string out = "<div class='cards'>";
    out += card(fmt::format("{}", decisions), "decisions, each with its propensity");
    out += card(decisions == 0 ? "–"
                               : fmt::format("{:.1f} %", 100.0 * static_cast<double>(approved) /
                                                             static_cast<double>(decisions)),
                "approved");
    out += card(fmt::format("{} of {}", r.certificates, r.gate_runs.size()), "gate runs certified");
    out += card(fmt::format("{} of {}", r.certificates_right, r.certificates),
                "certificates that the hidden truth confirms",
                r.certificates_right == r.certificates ? "good" : "bad");
    if (first != r.value_first.end() && last != r.value_final.end()) {
        out += card(
            fmt::format("{:+.2f} → {:+.2f}", first->second, last->second),
            "mean impact per applicant of the vault, first → final policy (" + r.impact_units + ")",
            last->second >= first->second ? "good" : "bad");
    }
    out += card(r.final_not_below_first ? "yes" : "no",
                "final policy not below the first in any group",
                r.final_not_below_first ? "good" : "bad");
    return out + "</div>\n";
}

using Pick = std::function<double(const GroupMonth&)>;

report::LineChart monthly_chart(const Report& r, std::string title, std::string unit,
                                const Pick& pick) {
    report::LineChart chart{std::move(title), std::move(unit), {}, {}, {}};
    std::vector<std::string> names{"everybody"};
    names.insert(names.end(), r.groups.begin(), r.groups.end());
    for (const auto& name : names) chart.series.push_back({name, {}});
    for (const auto& month : r.months) {
        chart.x.push_back(month.month);
        for (auto& series : chart.series) {
            const auto it = month.by_group.find(series.name);
            series.y.push_back(it == month.by_group.end() ? std::nan("") : pick(it->second));
        }
    }
    for (const auto& policy : r.policies) {
        for (size_t i = 0; i < r.months.size(); ++i) {
            if (!policy.live_from.empty() && r.months[i].month == policy.live_from.substr(0, 7) &&
                i > 0) {
                chart.marks.emplace_back(i, policy.name + " takes over");
            }
        }
    }
    return chart;
}

double ratio(double part, double whole) { return whole == 0 ? std::nan("") : part / whole; }

std::string monthly_charts(const Report& r) {
    Html page;
    page.heading("Month by month");
    page.paragraph("Dashed lines: a certified policy took over.", "soft");
    std::string out = page.markup() + "<div class='charts'>\n";
    out += report::line_chart(
        monthly_chart(r, "Approved", "share of applications", [](const GroupMonth& g) {
            return ratio(static_cast<double>(g.approved), static_cast<double>(g.applications));
        }));
    out += report::line_chart(
        monthly_chart(r, "Default", "share of approved, by the truth", [](const GroupMonth& g) {
            return ratio(static_cast<double>(g.defaults), static_cast<double>(g.approved_known));
        }));
    out += report::line_chart(monthly_chart(
        r, "Impact", r.impact_units + " per application, by the truth",
        [](const GroupMonth& g) { return ratio(g.impact, static_cast<double>(g.impact_known)); }));
    out +=
        report::line_chart(monthly_chart(r, "Applications", "per month", [](const GroupMonth& g) {
            return static_cast<double>(g.applications);
        }));
    return out + "</div>\n";
}

/// Adds the table of all runs of the gate.
void add_gate_runs(const Report& r, Html& page) {
    std::vector<Row> rows;
    for (const auto& run : r.gate_runs) {
        const auto weakest = std::min_element(
            run.groups.begin(), run.groups.end(),
            [](const auto& a, const auto& b) { return a.lower_bound < b.lower_bound; });
        Row row{std::to_string(run.run),
                {run.time.substr(0, 10), "left"},
                {run.verdict, run.verdict == "CERTIFIED" ? "left good" : "left"},
                run.delta > 0 ? fmt::format("{:.4f}", run.delta) : "–",
                id_cell(run.candidate)};
        if (weakest == run.groups.end()) {
            row.insert(row.end(), {{"–", "left"}, "", "", ""});
        } else {
            row.insert(row.end(),
                       {{weakest->name, "left"},
                        fmt::format("{:+.2f}", weakest->estimate),
                        fmt::format("{:+.2f}", weakest->lower_bound),
                        weakest->true_gain ? fmt::format("{:+.2f}", *weakest->true_gain) : "–"});
        }
        row.push_back({run.right ? (*run.right ? "yes" : "NO") : "",
                       run.right.value_or(true) ? "left good" : "left bad"});
        row.push_back({run.detail, "left prose"});
        rows.push_back(std::move(row));
    }
    page.table({"run",
                {"time", "left"},
                {"verdict", "left"},
                "δ",
                {"candidate", "left"},
                {"weakest group", "left"},
                "estimate",
                "lower bound",
                "true gain",
                {"right?", "left"},
                {"why", "left"}},
               rows, "wide");
}

void add_gate(const Report& r, Html& page) {
    page.heading("The gate");
    page.paragraph(
        "Each run asks: is the candidate no worse than the policy that decides now, for every "
        "protected group? Bar: one-sided lower bound at the run's confidence; dot: estimate; "
        "diamond: what the hidden outcomes say.",
        "soft");
    add_gate_runs(r, page);
    for (const auto& run : r.gate_runs) {
        if (run.groups.empty()) continue;
        std::vector<report::Estimate> rows;
        for (const auto& g : run.groups)
            rows.push_back({fmt::format("{} ({})", g.name, g.units), g.lower_bound, g.estimate,
                            g.true_gain.value_or(std::nan("")), g.passed});
        page.raw(fmt::format("<details{}><summary>Run {}: {}</summary>\n",
                             run.verdict == "CERTIFIED" ? " open='open'" : "", run.run,
                             report::escaped(run.verdict)));
        page.raw(report::interval_chart("Gain over the policy in charge",
                                        r.impact_units + ", by group (people)", rows));
        page.raw("</details>\n");
    }
}

void add_policies(const Report& r, Html& page) {
    page.heading("Policies");
    page.paragraph(
        "Value: true mean impact per applicant, had the policy decided about all people of the "
        "held-out safety set (vault), which no learner has seen.",
        "soft");
    std::vector<std::string> names{"everybody"};
    names.insert(names.end(), r.groups.begin(), r.groups.end());
    Row head{
        "policy",       {"id", "left"},       {"learner", "left"}, "links", {"live from", "left"},
        {"to", "left"}, {"certified", "left"}};
    head.insert(head.end(), names.begin(), names.end());
    std::vector<Row> rows;
    for (const auto& p : r.policies) {
        const bool live = !p.live_from.empty();
        Row row{p.name,
                id_cell(p.id),
                {p.learner, "left"},
                std::to_string(p.links),
                {live ? p.live_from.substr(0, 10) : "never", "left"},
                {!live               ? ""
                 : p.live_to.empty() ? "now"
                                     : p.live_to.substr(0, 10),
                 "left"},
                {p.certified ? "yes" : "no (declared bootstrap)", "left"}};
        for (const auto& name : names) {
            const auto it = p.value.find(name);
            row.emplace_back(it == p.value.end() ? "–" : fmt::format("{:+.2f}", it->second));
        }
        rows.push_back(std::move(row));
    }
    page.table(head, rows, "wide");
}

void add_ledger(const Report& r, Html& page) {
    page.heading("The δ ledger");
    page.paragraph(fmt::format("Budget of the epoch: {}. A run is charged before it reads the "
                               "vault; a refused one costs nothing.",
                               r.delta_epoch),
                   "soft");
    std::vector<Row> rows;
    for (const auto& line : r.ledger)
        rows.push_back({std::to_string(line.epoch),
                        std::to_string(line.run),
                        {line.time.substr(0, 10), "left"},
                        fmt::format("{:.5f}", line.delta),
                        fmt::format("{:.5f}", line.spent),
                        id_cell(line.candidate),
                        {line.verdict, "left"},
                        id_cell(line.hash)});
    page.table({"epoch",
                "run",
                {"time", "left"},
                "δ",
                "spent",
                {"candidate", "left"},
                {"verdict", "left"},
                {"entry", "left"}},
               rows, "wide");
}

std::string joiner_cards(const Report& r) {
    std::string out = "<div class='cards'>";
    for (const auto& [name, count] : r.joiner) out += card(fmt::format("{}", count), name);
    return out + "</div>\n";
}

}  // namespace

std::string to_html(const Report& r) {
    Html page;
    page.title("Rampart: " + r.stream);
    page.paragraph(
        fmt::format("{} applicants from {}, seed {}, learner {}. Impact in {}, range [{:g}, {:g}].",
                    r.rows, r.data, r.seed, r.learner, r.impact_units, r.impact_lo, r.impact_hi),
        "soft");
    page.raw(cards(r)).raw(monthly_charts(r));
    add_gate(r, page);
    add_policies(r, page);
    add_ledger(r, page);
    page.heading("The join").raw(joiner_cards(r));
    page.raw(fmt::format("<p class='soft'>State hash <code>{}</code></p>\n",
                         report::escaped(r.state_hash)));
    return report::document("Rampart: " + r.stream, page);
}

}  // namespace rampart::demo
