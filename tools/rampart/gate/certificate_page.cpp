#include "gate/certificate_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rampart/report/html.hpp"
#include "rampart/report/svg.hpp"

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

/// Draws one line for each group: from the lower bound to the estimate, beside the line that had
/// to be cleared.
std::string picture(const Certificate& c) {
    const double needed = 0 - c.plan.config.margin;
    std::vector<double> ends{needed};
    for (const auto& group : c.results) {
        ends.push_back(lower_bound(c, group));
        ends.push_back(group.bound.mean_gain);
    }
    const auto range = report::padded_range(ends, 0.08);
    const report::Axis x{range.lo, range.hi, 260, 880};
    const double height = 30.0 * static_cast<double>(c.results.size()) + 30;
    report::Svg svg(900, height, "lower bound and estimate of each group");
    for (const double value : report::ticks(x, 6)) {
        svg.line("grid", x.at(value), 0, x.at(value), height - 20);
        svg.text(x.at(value), height - 6, report::Anchor::kMiddle, report::tick_text(value),
                 "tick");
    }
    svg.line("zero", x.at(needed), 0, x.at(needed), height - 20, "what a lower bound has to reach");
    double y = 18;
    for (const auto& group : c.results) {
        // -infinity, where nothing is proved, is the left end
        const double bound = x.at(lower_bound(c, group)), estimate = x.at(group.bound.mean_gain);
        svg.text(0, y + 4, report::Anchor::kStart, report::shortened(group.name, 32));
        svg.open(style_of(group.passed))
            .line("whisker", bound, y, estimate, y)
            .line("whisker", bound, y - 5, bound, y + 5)
            .circle("dot", estimate, y, 5)
            .close();
        y += 30;
    }
    return svg.markup();
}

void add_group_table(const Certificate& c, report::Html& page) {
    std::vector<report::Row> rows;
    for (size_t g = 0; g < c.results.size(); ++g) {
        const auto& plan = c.plan.groups[g];
        const auto& group = c.results[g];
        rows.push_back({group.name,
                        std::to_string(plan.units),
                        std::to_string(plan.records),
                        std::to_string(plan.missing),
                        number(group.bound.mean_gain),
                        number(lower_bound(c, group)),
                        {group.passed ? "yes" : "no", style_of(group.passed)}});
    }
    page.table(
        {"group", "people", "decisions", "outcomes missing", "estimate", "lower bound", "passed"},
        rows);
}

void add_results(const Certificate& c, report::Html& page) {
    if (c.results.empty()) return;
    const auto& config = c.plan.config;
    const std::string units = config.impact_units.empty() ? "units" : config.impact_units;
    page.heading("Each group");
    page.paragraph(
        fmt::format(
            "Change of the average impact, in {}, against {}. The dot is the estimate, the "
            "bar reaches down to its lower bound ({}, confidence {:.4g} %). A group passes "
            "when the whole bar lies to the right of the line at {:g}; all groups must.",
            units,
            config.at_least ? fmt::format("the constant {:g}", *config.at_least) : "the reference",
            to_string(config.bound), 100 * (1 - c.plan.delta), 0 - config.margin),
        "soft");
    page.raw(picture(c));
    add_group_table(c, page);
}

/// Returns the averages that a statement rests on, one on each line.
report::Cell ends_of(const certification::ConstraintPlan& plan,
                     const certification::ConstraintResult::Statement& result, size_t s) {
    std::string markup;
    for (size_t i = 0; i < result.ends.size(); ++i) {
        const auto& end = plan.tests.statements[s][i].end;
        const auto& found = result.ends[i];
        markup +=
            fmt::format("{}{}: {}, {} {}", i == 0 ? "" : "<br/>",
                        report::escaped(plan.means[end.leaf]), number(found.estimate.value_or(NAN)),
                        end.upper ? "at most" : "at least", number(found.bound.value_or(NAN)));
    }
    return report::Cell::raw(std::move(markup));
}

/// Adds a row for each statement: what was found, and how far the lower end of its interval lies
/// from 0.
void add_constraints(const Certificate& c, report::Html& page) {
    if (c.constraint_results.empty()) return;
    page.heading("Constraints");
    page.paragraph(
        fmt::format("Each holds with confidence {:.4g} %. A constraint that consists of several "
                    "statements has a line for each; it passes when the margin of all of them, the "
                    "lower end of what is proved, is at least 0.",
                    100 * (1 - c.plan.delta)),
        "soft");
    std::vector<report::Row> rows;
    for (size_t k = 0; k < c.constraint_results.size(); ++k) {
        const auto& plan = c.plan.constraint_plans[k];
        const auto& result = c.constraint_results[k];
        for (size_t s = 0; s < result.statements.size(); ++s) {
            const auto& statement = result.statements[s];
            const std::string what =
                s == 0 ? fmt::format("{}<br/><code>{}</code>", report::escaped(plan.name),
                                     report::escaped(plan.expression))
                       : "";
            rows.push_back({report::Cell::raw(what),
                            ends_of(plan, statement, s),
                            number(statement.lower.value_or(NAN)),
                            {statement.passed ? "yes" : "no", style_of(statement.passed)}});
        }
    }
    page.table({"constraint", "averages: estimate, bound", "margin", "passed"}, rows);
}

void add_assumptions(const Certificate& c, report::Html& page) {
    if (c.assumptions.empty()) return;
    std::vector<report::Row> rows;
    for (const auto& a : c.assumptions)
        rows.push_back(
            {a.tested ? report::Cell("tested") : report::Cell::raw("<b>assumed</b>"), a.text});
    page.heading("What it rests on").facts(rows);
}

void add_facts(const Certificate& c, const std::string& key_id, report::Html& page) {
    std::vector<report::Row> rows;
    const auto fact = [&](const char* name, const std::string& value) {
        rows.push_back({name, value});
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
    page.heading("The run").facts(rows);
}

}  // namespace

std::string certificate_page(const Certificate& c, const std::string& key_id) {
    const std::string verdict(to_string(c.verdict));
    report::Html page;
    page.title(verdict, style_of(c.verdict == Verdict::kCertified)).paragraph(c.claim);
    if (!c.message.empty()) page.paragraph(c.message);
    add_results(c, page);
    add_constraints(c, page);
    add_assumptions(c, page);
    add_facts(c, key_id, page);
    if (!c.recipe.empty()) {
        page.heading("How the figures are computed").paragraph(c.recipe, "soft");
    }
    page.paragraph(
        "This page was made after signature, evidence and every figure had been checked. It is no "
        "certificate itself: the signed file is.",
        "soft");
    return report::document(fmt::format("{}: {}", verdict, c.plan.identity.candidate_id), page);
}

}  // namespace rampart::cli
