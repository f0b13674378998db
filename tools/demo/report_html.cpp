#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "tools/demo/report.hpp"
#include "tools/demo/svg_chart.hpp"

namespace rampart::demo {
namespace {

constexpr const char* kStyle = R"(
:root{--ink:#0f172a;--soft:#64748b;--line:#e2e8f0;--paper:#fff;--card:#f8fafc;--good:#059669;
--bad:#b91c1c}
@media(prefers-color-scheme:dark){:root{--ink:#e2e8f0;--soft:#94a3b8;--line:#334155;--paper:#0f172a;
--card:#1e293b;--good:#34d399;--bad:#f87171}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:1060px;
margin:2rem auto;padding:0 1rem}
h1{font-size:1.7rem;margin:0}h2{font-size:1.2rem;margin:2.2rem 0 .6rem;
border-bottom:1px solid var(--line);padding-bottom:.3rem}
p.sub{color:var(--soft);margin:.2rem 0 1.2rem}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(170px,1fr));gap:.8rem}
.card{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.7rem .9rem}
.card b{display:block;font-size:1.35rem}
.card span{color:var(--soft);font-size:.85rem}
table{border-collapse:collapse;width:100%;font-size:.88rem;font-variant-numeric:tabular-nums}
th,td{padding:.3rem .6rem;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}
th{color:var(--soft);font-weight:600}
td:first-child,th:first-child,td.l,th.l{text-align:left}.scroll{overflow-x:auto}
.good{color:var(--good);font-weight:600}.bad{color:var(--bad);font-weight:600}
code{font-size:.85em}figure{margin:0 0 1rem}figcaption{font-weight:600;margin-bottom:.2rem}
small{color:var(--soft);font-weight:400}
.grid2{display:grid;grid-template-columns:repeat(auto-fit,minmax(420px,1fr));gap:1rem}
svg{width:100%;height:auto}
.tick,.row{font-size:11px;fill:var(--soft)}.row{fill:var(--ink)}.grid{stroke:var(--line)}
.zero{stroke:var(--ink)}.mark{stroke:var(--soft);stroke-dasharray:3 3}
.truth{fill:none;stroke:var(--ink);stroke-width:1.4}
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:.8rem;color:var(--soft)}
.legend i{display:inline-block;width:.8em;height:.8em;border-radius:2px;margin-right:.35em}
)";

std::string short_id(const std::string& id) { return id.substr(0, 12); }

std::string card(const std::string& value, const std::string& label, const char* style = "") {
    return fmt::format("<div class='card'><b class='{}'>{}</b><span>{}</span></div>\n", style,
                       escape_html(value), escape_html(label));
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

LineChart monthly_chart(const Report& r, std::string title, std::string unit, const Pick& pick) {
    LineChart chart{std::move(title), std::move(unit), {}, {}, {}};
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
    std::string out =
        "<h2>Month by month</h2><p class='sub'>Dashed lines: a certified policy took over.</p><div "
        "class='grid2'>";
    out += render(monthly_chart(r, "Approved", "share of applications", [](const GroupMonth& g) {
        return ratio(static_cast<double>(g.approved), static_cast<double>(g.applications));
    }));
    out += render(
        monthly_chart(r, "Default", "share of approved, by the truth", [](const GroupMonth& g) {
            return ratio(static_cast<double>(g.defaults), static_cast<double>(g.approved_known));
        }));
    out += render(monthly_chart(
        r, "Impact", r.impact_units + " per application, by the truth",
        [](const GroupMonth& g) { return ratio(g.impact, static_cast<double>(g.impact_known)); }));
    out += render(monthly_chart(r, "Applications", "per month", [](const GroupMonth& g) {
        return static_cast<double>(g.applications);
    }));
    return out + "</div>\n";
}

std::string gate_section(const Report& r) {
    std::string out =
        "<h2>The gate</h2><p class='sub'>Each run asks: is the candidate no worse than the policy "
        "that decides "
        "now, for every protected group? Bar: one-sided lower bound at the run's confidence; dot: "
        "estimate; "
        "diamond: what the hidden outcomes say.</p>";
    out +=
        "<div class='scroll'><table><tr><th>run</th><th class='l'>time</th><th "
        "class='l'>verdict</th><th>δ</th>"
        "<th class='l'>candidate</th><th class='l'>weakest group</th><th>estimate</th><th>lower "
        "bound</th><th>true gain</th>"
        "<th class='l'>right?</th><th class='l'>why</th></tr>\n";
    for (const auto& run : r.gate_runs) {
        const GateGroup* weakest = nullptr;
        for (const auto& group : run.groups) {
            if (weakest == nullptr || group.lower_bound < weakest->lower_bound) weakest = &group;
        }
        out += fmt::format(
            "<tr><td>{}</td><td class='l'>{}</td><td class='l {}'>{}</td><td>{}</td><td "
            "class='l'><code>{}</code></td>",
            run.run, run.time.substr(0, 10), run.verdict == "CERTIFIED" ? "good" : "", run.verdict,
            run.delta > 0 ? fmt::format("{:.4f}", run.delta) : "–", short_id(run.candidate));
        if (weakest == nullptr) {
            out += "<td class='l'>–</td><td></td><td></td><td></td>";
        } else {
            out +=
                fmt::format("<td class='l'>{}</td><td>{:+.2f}</td><td>{:+.2f}</td><td>{}</td>",
                            escape_html(weakest->name), weakest->estimate, weakest->lower_bound,
                            weakest->true_gain ? fmt::format("{:+.2f}", *weakest->true_gain) : "–");
        }
        out += fmt::format("<td class='l {}'>{}</td><td class='l'>{}</td></tr>\n",
                           run.right.value_or(true) ? "good" : "bad",
                           run.right ? (*run.right ? "yes" : "NO") : "", escape_html(run.detail));
    }
    out += "</table></div>\n";
    for (const auto& run : r.gate_runs) {
        if (run.groups.empty()) continue;
        std::vector<Interval> rows;
        for (const auto& g : run.groups) {
            rows.push_back({fmt::format("{} ({})", g.name, g.units), g.lower_bound, g.estimate,
                            g.true_gain.value_or(std::nan("")), g.passed});
        }
        out += fmt::format("<details{}><summary>Run {}: {}</summary>",
                           run.verdict == "CERTIFIED" ? " open" : "", run.run, run.verdict);
        out += render_intervals("Gain over the policy in charge",
                                r.impact_units + ", by group (people)", rows) +
               "</details>\n";
    }
    return out;
}

std::string policy_section(const Report& r) {
    std::string out =
        "<h2>Policies</h2><p class='sub'>Value: true mean impact per applicant, had the policy "
        "decided about all "
        "people of the vault, whom no learner has seen.</p><div "
        "class='scroll'><table><tr><th>policy</th><th class='l'>id</th><th class='l'>learner</th>"
        "<th>links</th><th class='l'>live from</th><th class='l'>to</th><th "
        "class='l'>certified</th><th>everybody</th>";
    for (const auto& group : r.groups) out += "<th>" + escape_html(group) + "</th>";
    out += "</tr>\n";
    for (const auto& p : r.policies) {
        out += fmt::format(
            "<tr><td>{}</td><td class='l'><code>{}</code></td><td class='l'>{}</td><td>{}</td><td "
            "class='l'>{}</td>"
            "<td class='l'>{}</td><td class='l'>{}</td>",
            escape_html(p.name), short_id(p.id), escape_html(p.learner), p.links,
            p.live_from.empty() ? "never" : p.live_from.substr(0, 10),
            p.live_from.empty() ? "" : (p.live_to.empty() ? "now" : p.live_to.substr(0, 10)),
            p.certified ? "yes" : "no (declared bootstrap)");
        std::vector<std::string> names{"everybody"};
        names.insert(names.end(), r.groups.begin(), r.groups.end());
        for (const auto& name : names) {
            const auto it = p.value.find(name);
            out += it == p.value.end() ? "<td>–</td>" : fmt::format("<td>{:+.2f}</td>", it->second);
        }
        out += "</tr>\n";
    }
    return out + "</table></div>\n";
}

std::string ledger_section(const Report& r) {
    std::string out = fmt::format(
        "<h2>The δ ledger</h2><p class='sub'>Budget of the epoch: {}. A run is charged before it "
        "reads the "
        "vault; a refused one costs nothing.</p><div "
        "class='scroll'><table><tr><th>epoch</th><th>run</th>"
        "<th class='l'>time</th><th>δ</th><th>spent</th><th class='l'>candidate</th><th "
        "class='l'>verdict</th>"
        "<th class='l'>entry</th></tr>\n",
        r.delta_epoch);
    for (const auto& line : r.ledger) {
        out += fmt::format(
            "<tr><td>{}</td><td>{}</td><td class='l'>{}</td><td>{:.5f}</td><td>{:.5f}</td><td "
            "class='l'><code>{}</code></td>"
            "<td class='l'>{}</td><td class='l'><code>{}</code></td></tr>\n",
            line.epoch, line.run, line.time.substr(0, 10), line.delta, line.spent,
            short_id(line.candidate), line.verdict, short_id(line.hash));
    }
    return out + "</table></div>\n";
}

std::string joiner_section(const Report& r) {
    std::string out = "<h2>The join</h2><div class='cards'>";
    for (const auto& [name, count] : r.joiner) out += card(fmt::format("{}", count), name);
    return out + "</div>\n";
}

}  // namespace

std::string to_html(const Report& r) {
    std::string out =
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><meta name='viewport' "
        "content='width=device-width,initial-scale=1'><title>Rampart: " +
        escape_html(r.stream) + "</title><style>" + kStyle + "</style></head><body>\n";
    out += fmt::format(
        "<h1>Rampart: {}</h1><p class='sub'>{} applicants from {}, seed {}. Impact in {}, range "
        "[{:g}, {:g}].</p>\n",
        escape_html(r.stream), r.rows, escape_html(r.data), r.seed, escape_html(r.impact_units),
        r.impact_lo, r.impact_hi);
    out += cards(r) + monthly_charts(r) + gate_section(r) + policy_section(r) + ledger_section(r) +
           joiner_section(r);
    out +=
        fmt::format("<p class='sub'>State hash <code>{}</code></p></body></html>\n", r.state_hash);
    return out;
}

}  // namespace rampart::demo
