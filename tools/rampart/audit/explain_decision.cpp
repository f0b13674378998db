#include "audit/explain_decision.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "audit/decision_picture.hpp"
#include "frame/node_access.hpp"
#include "rampart/attribution/reasons.hpp"
#include "rampart/base/file.hpp"
#include "rampart/evaluation/model_table.hpp"
#include "rampart/report/probability.hpp"
#include "rampart/report/svg.hpp"
#include "rampart/report/text_table.hpp"
#include "services/rampartd/explanation_document.hpp"
#include "services/rampartd/node.hpp"

namespace rampart::cli {
namespace {

using attribution::Cited;
using attribution::DeclinedBy;
using attribution::Unit;
using base::Result;
using rampartd::DecisionExplanation;

/// Reads NAME=FEATURE,FEATURE.
Result<std::vector<attribution::FeatureGroup>> groups_in(const std::vector<std::string>& texts) {
    std::vector<attribution::FeatureGroup> groups;
    for (const auto& text : texts) {
        const auto equals = text.find('=');
        if (equals == std::string::npos || equals + 1 == text.size())
            return base::make_error(attribution::Reason::kBadFeatureGroup,
                                    "--feature-group '{}' is not NAME=FEATURE,FEATURE", text);
        auto& group = groups.emplace_back();
        group.name = text.substr(0, equals);
        for (size_t at = equals + 1; at <= text.size();) {
            const auto comma = std::min(text.find(',', at), text.size());
            group.features.push_back(text.substr(at, comma - at));
            at = comma + 1;
        }
    }
    return groups;
}

constexpr size_t kValuesLength = 48;  // characters

std::string p_text(double p) { return report::probability_text(p); }

/// Returns the values of a unit's features in a row, as people write them; the first ones of many.
std::string values_of(const DecisionExplanation& of, const Unit& unit,
                      const std::vector<float>& row) {
    std::string text;
    for (const size_t j : unit.features) {
        if (!text.empty()) text += ", ";
        if (unit.features.size() > 1) text += of.features[j].name + " ";
        text += evaluation::value_text(of.features[j], row[j]);
    }
    return unit.features.size() > 1 ? report::shortened(text, kValuesLength) : text;
}

std::string steps_text(const DecisionExplanation& of) {
    report::Table table{{"link", "", "score", "rule", "explored", "trust region", "P(approve)"}};
    for (const auto& step : of.steps) {
        const auto number = fmt::format("{}", step.link);
        if (step.bootstrap) {
            table.push_back(
                {number, "declared rule", "", p_text(step.rule), "", "", p_text(step.approve)});
            continue;
        }
        const auto region =
            step.link == 1 ? std::string() : p_text(step.lo) + " to " + p_text(step.hi);
        table.push_back({number,
                         fmt::format("learned{}{}", step.reads_group ? ", reads the group" : "",
                                     step.clipped() ? ", held by the trust region" : ""),
                         p_text(step.score), p_text(step.rule), p_text(step.explored), region,
                         p_text(step.approve)});
    }
    return report::align(table, 2);
}

std::string draw_text(const DecisionExplanation& of) {
    const auto& decision = of.decision;
    std::string text;
    if (decision.exploration_spent)
        text += fmt::format(
            "without exploration (the day's was used up, or people had stopped it): P(approve) "
            "{}\n",
            p_text(decision.p_approve));
    const bool below = decision.draw < decision.p_approve;
    return text + fmt::format("draw {} is {} P(approve) {}: {}\n",
                              report::probability_text(decision.draw, {decision.p_approve}),
                              below ? "below" : "not below",
                              report::probability_text(decision.p_approve, {decision.draw}),
                              domain::to_string(decision.action));
}

/// Returns the units by how much they lower P, largest magnitude first.
std::vector<size_t> by_magnitude(const std::vector<double>& values) {
    std::vector<size_t> order(values.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return std::abs(values[a]) > std::abs(values[b]); });
    return order;
}

std::string values_text(const DecisionExplanation& of, size_t top) {
    const auto& set = of.reference;
    auto text = fmt::format(
        "against {} applicants with P(approve) of at least {} of {} looked at, mean {}\n"
        "(HMAC-SHA-256 under the draw key {}: {}):\n",
        set.size(), p_text(set.lowest), set.pool, p_text(of.values.reference), of.draw_key_id,
        of.reference_mac.hex());
    report::Table table{{"feature", "value", "lowers P by", "standard error"}};
    const auto order = by_magnitude(of.values.lowered);
    const size_t shown = top == 0 ? order.size() : std::min(top, order.size());
    double others = 0;
    for (size_t i = 0; i < order.size(); ++i) {
        const size_t unit = order[i];
        const double error = of.values.error[unit];
        if (i >= shown) others += of.values.lowered[unit];
        if (i < shown)
            table.push_back({of.units[unit].name, values_of(of, of.units[unit], of.row),
                             fmt::format("{:+.4f}", of.values.lowered[unit]),
                             error == 0 ? "exact" : fmt::format("{:.4f}", error)});
    }
    if (shown < order.size())
        table.push_back({fmt::format("{} others", order.size() - shown), "",
                         fmt::format("{:+.4f}", others), ""});
    return text + report::align(table, 2);
}

std::string how_text(const DecisionExplanation& of, const Cited& cited) {
    const auto p = p_text(of.values.p), reference = p_text(cited.p_reference);
    switch (cited.by) {
        case DeclinedBy::kFeatures:
            return "declined by the features: no draw would have approved\n";
        case DeclinedBy::kFeaturesAndDraw:
            return fmt::format(
                "declined by the features and the draw: P(approve) is {}, and the draw was not "
                "below it\n",
                p);
        case DeclinedBy::kDraw:
            return fmt::format(
                "declined by the draw: it would have declined the nearest reference row (P {}) as "
                "well; P(approve) is {}\n",
                reference, p);
        case DeclinedBy::kExploration:
            return "declined by exploration: without it this draw would have approved, so that no "
                   "feature is the reason\n";
    }
    return {};
}

/// Returns what the cited reasons claim.
std::string claim_text(const DecisionExplanation& of, const Cited& cited) {
    if (cited.units.empty()) {
        if (cited.by == DeclinedBy::kExploration) return {};
        return "no feature is cited: none lowers P so that restoring it would raise P\n";
    }
    const double u = of.decision.draw;
    const auto restored = report::probability_text(cited.p_restored, {u, of.values.p}),
               draw = report::probability_text(u, {cited.p_restored});
    const char* found = cited.exact ? "" : " (found greedily: a smaller set may do)";
    const bool one = cited.units.size() == 1;
    const char* least = one ? "" : "; without one of them it is less";
    if (cited.reaches)
        return fmt::format(
            "claim: restored to the nearest reference row, {} P from {} to {}, above the draw "
            "{}{}{}\n",
            one ? "it raises" : "they raise", p_text(of.values.p), restored, draw,
            one ? "" : "; without one of them it is not", found);
    return fmt::format(
        "claim: restored to the nearest reference row, {} P from {} to {}, the most that {} "
        "features can{}; it does not reach the draw {}{}{}\n",
        one ? "it raises" : "they raise", p_text(of.values.p), restored, attribution::kMostCited,
        least, draw, cited.others ? "; there are others" : "", found);
}

std::string cited_text(const DecisionExplanation& of, const Cited& cited) {
    auto text = how_text(of, cited);
    if (!cited.units.empty()) {
        report::Table table{{"", "reason", "value", "nearest reference row"}};
        for (const size_t number : cited.units) {
            const auto& unit = of.units[number];
            table.push_back({fmt::format("{}", table.size()), unit.name,
                             values_of(of, unit, of.row), values_of(of, unit, of.nearest)});
        }
        text += report::align(table, 2);
    }
    return text + claim_text(of, cited) +
           fmt::format("nearest reference row: HMAC-SHA-256 {}\n", of.nearest_mac.hex());
}

std::string picture_of(const DecisionExplanation& of, size_t top) {
    return draw_picture({.decision = of.decision.id.value(),
                         .action = std::string(domain::to_string(of.decision.action)),
                         .policy = of.decision.policy.value(),
                         .steps = of.steps,
                         .p = of.decision.p_approve,
                         .draw = of.decision.draw,
                         .units = of.units,
                         .values = of.values,
                         .cited = of.cited ? of.cited->units : std::vector<size_t>(),
                         .top = top});
}

}  // namespace

Result<Answer> explain_decision(const DecisionOptions& options) {
    RAMPART_TRY(const auto groups, groups_in(options.feature_groups));
    RAMPART_TRY(const auto node, open_existing(options.config));
    const domain::DecisionId id(options.decision);
    RAMPART_TRY(auto decision, node->decisions().find(id));
    rampartd::Explainer explainer(node->explain_deps());
    RAMPART_TRY(const auto of, explainer.explain(std::move(decision), groups));
    Answer answer;
    answer.text = fmt::format("decision {}: {}, by policy {}\n\n{}{}\n{}", of.decision.id,
                              domain::to_string(of.decision.action), of.decision.policy,
                              steps_text(of), draw_text(of), values_text(of, options.top));
    if (of.cited) answer.text += "\n" + cited_text(of, *of.cited);
    answer.json = rampartd::to_json(of);
    if (!options.svg.empty()) {
        // it is about a person
        RAMPART_RETURN_IF_ERROR(
            base::write_file_atomically(options.svg, picture_of(of, options.top), 0600));
        answer.text += fmt::format("\nwrote {}\n", options.svg.string());
    }
    return answer;
}

}  // namespace rampart::cli
