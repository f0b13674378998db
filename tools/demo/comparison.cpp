#include "tools/demo/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>

#include "rampart/report/chart.hpp"
#include "rampart/report/html.hpp"
#include "rampart/report/text_table.hpp"

namespace rampart::demo {
namespace {

namespace json = boost::json;

constexpr const char* kEverybody = "everybody";

/// Returns the largest difference between groups.
double gap(const std::map<std::string, double>& by_group) {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (const auto& [name, rate] : by_group) {
        if (name == kEverybody) continue;
        least = std::min(least, rate);
        most = std::max(most, rate);
    }
    return most - least;
}

report::Table table_of(const Comparison& all) {
    report::Table table{{"recipe", "learner", "runs", "charged", "certified", "confirmed", "gain",
                         "worst group", "gap before", "gap after", "CPU s"}};
    for (const auto& one : all.recipes) {
        if (!one.failed.empty()) {
            table.push_back({one.recipe, one.left_out ? "left out" : "failed"});
            table.back().resize(table.front().size(), "-");
            continue;
        }
        table.push_back({one.recipe, one.learner, fmt::format("{}", one.runs),
                         fmt::format("{}", one.spent), fmt::format("{}", one.certified),
                         fmt::format("{}", one.confirmed), fmt::format("{:+.2f}", one.gain),
                         fmt::format("{:+.2f}", one.worst_gain),
                         fmt::format("{:.3f}", one.gap_first), fmt::format("{:.3f}", one.gap_final),
                         fmt::format("{:.0f}", one.cpu_seconds)});
    }
    return table;
}

/// Returns the verdict of a run, with what it says or the group that is furthest from passing.
std::string reason_of(const GateRun& run) {
    const auto weakest = std::min_element(
        run.groups.begin(), run.groups.end(),
        [](const auto& a, const auto& b) { return a.lower_bound < b.lower_bound; });
    auto out = fmt::format("the last run was {}", run.verdict);
    if (weakest != run.groups.end())
        out += fmt::format("; lower bound of the weakest group, {}: {:+.2f}", weakest->name,
                           weakest->lower_bound);
    return run.detail.empty() ? out : fmt::format("{}; {}", out, run.detail);
}

std::string heading(const Comparison& all) {
    return fmt::format("{}: {} applicants from {}, seed {}", all.stream, all.rows, all.data,
                       all.seed);
}

std::string explanation(const Comparison& all) {
    return fmt::format(
        "Gain: final policy less the first, true mean impact per applicant of the vault ({}); "
        "worst group: the group that gains least. Gap: largest difference between groups of the "
        "mean P(approve), of the first policy and of the final one.",
        all.impact_units);
}

/// Returns for each recipe without a certificate why there is none.
std::vector<std::string> notes_of(const Comparison& all) {
    std::vector<std::string> out;
    for (const auto& one : all.recipes) {
        if (!one.why_none.empty())
            out.push_back(fmt::format("{}: nothing was certified: {}", one.recipe, one.why_none));
        if (!one.failed.empty())
            out.push_back(fmt::format("{} {}: {}", one.recipe,
                                      one.left_out ? "is left out" : "failed", one.failed));
    }
    return out;
}

}  // namespace

ComparedRecipe compared(const std::string& recipe, const Report& report) {
    ComparedRecipe out;
    out.recipe = recipe;
    out.learner = report.learner;
    out.runs = static_cast<long>(report.gate_runs.size());
    for (const auto& run : report.gate_runs) out.spent += run.delta > 0;
    out.certified = report.certificates;
    out.confirmed = report.certificates_right;
    out.worst_gain = std::numeric_limits<double>::infinity();
    for (const auto& [group, first] : report.value_first) {
        const auto last = report.value_final.find(group);
        if (last == report.value_final.end()) continue;
        const double gain = last->second - first;
        if (group == kEverybody) {
            out.gain = gain;
        } else if (gain < out.worst_gain) {
            out.worst_gain = gain;
            out.worst_group = group;
        }
    }
    out.gap_first = gap(report.approved_first);
    out.gap_final = gap(report.approved_final);
    const auto cpu = report.seconds.find("service_cpu");
    if (cpu != report.seconds.end()) out.cpu_seconds = cpu->second;
    if (out.certified == 0 && !report.gate_runs.empty())
        out.why_none = reason_of(report.gate_runs.back());
    return out;
}

std::string to_json(const Comparison& all) {
    const auto number = [](double v) {
        return std::isfinite(v) ? json::value(v) : json::value(nullptr);
    };
    json::array recipes;
    for (const auto& one : all.recipes)
        recipes.push_back({{"recipe", one.recipe},
                           {"learner", one.learner},
                           {"runs", one.runs},
                           {"charged", one.spent},
                           {"certified", one.certified},
                           {"confirmed", one.confirmed},
                           {"gain", number(one.gain)},
                           {"worst_gain", number(one.worst_gain)},
                           {"worst_group", one.worst_group},
                           {"gap_first", number(one.gap_first)},
                           {"gap_final", number(one.gap_final)},
                           {"cpu_seconds", number(one.cpu_seconds)},
                           {"why_none", one.why_none},
                           {"failed", one.failed},
                           {"left_out", one.left_out}});
    return json::serialize(json::object{{"stream", all.stream},
                                        {"data", all.data},
                                        {"seed", all.seed},
                                        {"rows", all.rows},
                                        {"impact_units", all.impact_units},
                                        {"recipes", recipes}});
}

std::string to_html(const Comparison& all) {
    report::Html page;
    page.title(fmt::format("Rampart: recipes on {}", all.stream));
    page.paragraph(heading(all), "soft");
    auto rows = report::rows_of(table_of(all));
    const report::Row head = rows.front();
    rows.erase(rows.begin());
    for (size_t i = 0; i < rows.size(); ++i) {
        const auto& name = all.recipes[i].recipe;
        rows[i][0] = report::Cell::raw(
            fmt::format("<a href='{0}/report.html'>{0}</a>", report::escaped(name)), "left");
    }
    page.table(head, rows, "wide");
    page.paragraph(explanation(all), "soft");
    std::vector<report::Estimate> gains;
    for (const auto& one : all.recipes)
        if (one.failed.empty())
            gains.push_back({fmt::format("{} ({} of {})", one.recipe, one.confirmed, one.certified),
                             one.worst_gain, one.gain, std::nan(""),
                             one.confirmed == one.certified});
    page.raw(
        report::interval_chart("Gain of the final policy over the first", all.impact_units, gains));
    page.paragraph(
        "Dot: everybody; end of the bar: the group that gains least. In brackets: certificates "
        "that the hidden truth confirms.",
        "soft");
    for (const auto& note : notes_of(all)) page.paragraph(note);
    return report::document(fmt::format("Rampart: recipes on {}", all.stream), page);
}

std::string to_text(const Comparison& all) {
    std::string out = fmt::format("{}\n\n{}\n{}\n", heading(all), report::align(table_of(all), 2),
                                  explanation(all));
    for (const auto& note : notes_of(all)) out += note + "\n";
    return out;
}

}  // namespace rampart::demo
