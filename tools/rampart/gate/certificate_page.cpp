#include "gate/certificate_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frame/page.hpp"

namespace rampart::cli {
namespace {

using certification::Certificate;
using certification::GroupResult;
using certification::Verdict;

std::string number(double x) { return std::isfinite(x) ? fmt::format("{:+.4g}", x) : "none"; }

const char* style_of(bool good) { return good ? "good" : "bad"; }

/// What decided: the lower bound of the configured kind.
double lower_bound(const Certificate& c, const GroupResult& group) {
    switch (c.plan.config.bound) {
        case certification::Bound::kBetting:
            return group.bound.lower_betting;
        case certification::Bound::kStudentT:
            return group.bound.lower_t;
        case certification::Bound::kHoeffding:
            return group.bound.lower_hoeffding;
        case certification::Bound::kMaurerPontil:
            return group.bound.lower_maurer_pontil;
    }
    return -INFINITY;
}

/// A row a group: from the lower bound to the estimate, beside the line that had to be cleared.
std::string picture(const Certificate& c) {
    const double needed = 0 - c.plan.config.margin;
    double lo = needed, hi = needed;
    for (const auto& group : c.results) {
        const double bound = lower_bound(c, group);
        if (std::isfinite(bound)) lo = std::min(lo, bound);
        hi = std::max(hi, group.bound.mean_gain);
    }
    const double pad = 0.08 * std::max(hi - lo, 1e-9);
    const auto x = [&](double v) {
        return 260 + 620 * (std::max(v, lo) - lo + pad) / (hi - lo + 2 * pad);
    };
    const double height = 30.0 * static_cast<double>(c.results.size()) + 30;
    std::string out = fmt::format(
        "<svg viewBox='0 0 900 {}' role='img' aria-label='lower bound and estimate of each group'>"
        "<line class='zero' x1='{:.1f}' x2='{:.1f}' y1='0' y2='{}'/><text x='{:.1f}' y='{}' "
        "text-anchor='middle'>{:g}</text>\n",
        height, x(needed), x(needed), height - 20, x(needed), height - 4, needed);
    double y = 18;
    for (const auto& group : c.results) {
        const char* style = style_of(group.passed);
        out += fmt::format(
            "<text x='0' y='{}'>{}</text><line class='{} span' x1='{:.1f}' x2='{:.1f}' y1='{}' "
            "y2='{}'/>"
            "<circle class='{} dot' cx='{:.1f}' cy='{}' r='6'/>\n",
            y + 4, escaped(group.name), style, x(lower_bound(c, group)), x(group.bound.mean_gain),
            y, y, style, x(group.bound.mean_gain), y);
        y += 30;
    }
    return out + "</svg>\n";
}

std::string group_table(const Certificate& c) {
    std::string out =
        "<div "
        "class='scroll'><table><tr><th>group</th><th>people</th><th>decisions</th><th>outcomes "
        "missing</th>"
        "<th>estimate</th><th>lower bound</th><th>passed</th></tr>\n";
    for (size_t g = 0; g < c.results.size(); ++g) {
        const auto& plan = c.plan.groups[g];
        const auto& group = c.results[g];
        out += fmt::format(
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td "
            "class='{}'>{}</td></tr>\n",
            escaped(group.name), plan.units, plan.records, plan.missing,
            number(group.bound.mean_gain), number(lower_bound(c, group)), style_of(group.passed),
            group.passed ? "yes" : "no");
    }
    return out + "</table></div>\n";
}

std::string results(const Certificate& c) {
    if (c.results.empty()) return "";
    const auto& config = c.plan.config;
    const std::string units = config.impact_units.empty() ? "units" : config.impact_units;
    return fmt::format(
               "<h2>Each group</h2><p class='soft'>Change of the average impact, in {}, against "
               "{}. The dot is the estimate, "
               "the bar reaches down to its lower bound ({}, confidence {:.4g} %). A group passes "
               "when the whole bar lies "
               "to the right of the line at {:g}; all groups must.</p>\n",
               escaped(units),
               config.at_least ? fmt::format("the constant {:g}", *config.at_least)
                               : "the reference",
               to_string(config.bound), 100 * (1 - c.plan.delta), 0 - config.margin) +
           picture(c) + group_table(c);
}

/// A row a statement: what was found, and how far the lower end of its interval lies from 0.
std::string constraints_table(const Certificate& c) {
    if (c.constraint_results.empty()) return "";
    std::string out = fmt::format(
        "<h2>Constraints</h2><p class='soft'>Each holds with confidence {:.4g} %. A constraint "
        "that says "
        "several things at once has a line for each; it passes when the spare room of all of them, "
        "the "
        "lower end of what is proved, is at least 0.</p>\n<div "
        "class='scroll'><table><tr><th>constraint</th>"
        "<th>averages: estimate, bound</th><th>spare room</th><th>passed</th></tr>\n",
        100 * (1 - c.plan.delta));
    for (size_t k = 0; k < c.constraint_results.size(); ++k) {
        const auto& plan = c.plan.constraint_plans[k];
        const auto& result = c.constraint_results[k];
        for (size_t s = 0; s < result.statements.size(); ++s) {
            const auto& statement = result.statements[s];
            std::string ends;
            for (size_t i = 0; i < statement.ends.size(); ++i) {
                const auto& end = plan.tests.statements[s][i].end;
                const auto& found = statement.ends[i];
                ends += fmt::format(
                    "{}{}: {}, {} {}", i == 0 ? "" : "<br>", escaped(plan.means[end.leaf]),
                    number(found.estimate.value_or(NAN)), end.upper ? "at most" : "at least",
                    number(found.bound.value_or(NAN)));
            }
            const std::string what = s == 0
                                         ? fmt::format("{}<br><code>{}</code>", escaped(plan.name),
                                                       escaped(plan.expression))
                                         : "";
            out += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td class='{}'>{}</td></tr>\n",
                               what, ends, number(statement.lower.value_or(NAN)),
                               style_of(statement.passed), statement.passed ? "yes" : "no");
        }
    }
    return out + "</table></div>\n";
}

std::string assumptions(const Certificate& c) {
    if (c.assumptions.empty()) return "";
    std::string out = "<h2>What it rests on</h2><table class='facts'>\n";
    for (const auto& a : c.assumptions) {
        out += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n",
                           a.tested ? "tested" : "<b>assumed</b>", escaped(a.text));
    }
    return out + "</table>\n";
}

std::string facts(const Certificate& c, const std::string& key_id) {
    std::string out = "<h2>The run</h2><table class='facts'>\n";
    const auto fact = [&](const char* name, const std::string& value) {
        out += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", name, escaped(value));
    };
    const auto& id = c.plan.identity;
    fact("candidate", id.candidate_id);
    fact("reference", id.reference_id);
    if (!id.missed_in_training.empty()) fact("missed in training", id.missed_in_training);
    fact("impact", id.metric);
    fact("decisions",
         fmt::format("{}, from {} to {}", id.vault_rule, base::to_iso8601(id.period_from),
                     base::to_iso8601(id.period_to)));
    if (c.ledger) {
        const auto& r = c.ledger->registration;
        fact("run",
             fmt::format("{} of {} in epoch {}, whose error budget is {}; {} certificates before",
                         r.run, c.ledger->epoch.runs, r.epoch, c.ledger->epoch.delta_epoch,
                         c.ledger->certificates_before));
        fact("registered", base::to_iso8601(r.at));
        fact("outcomes read", base::to_iso8601(c.vault_read_at));
        fact("ledger entry", c.ledger->entry.hex());
        fact("plan", r.plan.hex());
        fact("evidence",
             fmt::format("{} records, Merkle root {}", c.evidence_records, c.evidence_root.hex()));
    }
    fact("issued", base::to_iso8601(c.issued_at));
    fact("signed with key", key_id);
    return out + "</table>\n";
}

}  // namespace

std::string certificate_page(const Certificate& c, const std::string& key_id) {
    const std::string verdict(to_string(c.verdict));
    std::string out = fmt::format(
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><meta name='viewport' "
        "content='width=device-width,initial-scale=1'><title>{}: {}</title><style>{}</style></head>"
        "<body>\n<h1 class='{}'>{}</h1><p>{}</p>\n",
        verdict, escaped(c.plan.identity.candidate_id), kPageStyle,
        style_of(c.verdict == Verdict::kCertified), verdict, escaped(c.claim));
    if (!c.message.empty()) out += fmt::format("<p>{}</p>\n", escaped(c.message));
    out += results(c) + constraints_table(c) + assumptions(c) + facts(c, key_id);
    if (!c.recipe.empty()) {
        out += fmt::format("<h2>How the figures are computed</h2><p class='soft'>{}</p>\n",
                           escaped(c.recipe));
    }
    return out +
           "<p class='soft'>This page was made after signature, evidence and every figure had been "
           "checked. It is no "
           "certificate itself: the signed file is.</p></body></html>\n";
}

}  // namespace rampart::cli
