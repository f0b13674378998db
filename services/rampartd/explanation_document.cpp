#include "services/rampartd/explanation_document.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <numeric>

#include "rampart/notices/reasons.hpp"
#include "rampart/report/probability.hpp"

namespace rampart::rampartd {
namespace {

namespace json = boost::json;
using attribution::Cited;
using attribution::DeclinedBy;
using attribution::LinkStep;
using notices::Direction;

/// Returns where the value of a unit lies, as the words of a lender need it.
Direction direction_of(const DecisionExplanation& of, const attribution::Unit& unit) {
    if (unit.features.size() != 1) return Direction::kAny;
    const size_t feature = unit.features.front();
    return notices::direction_of(of.features[feature], of.decision.application, of.row[feature],
                                 of.nearest[feature]);
}

json::array steps_json(const std::vector<LinkStep>& steps) {
    json::array out;
    for (const auto& step : steps) {
        json::object one{{"link", step.link},
                         {"kind", step.bootstrap ? "bootstrap" : "learned"},
                         {"rule", step.rule},
                         {"p_approve", step.approve},
                         {"p_exploit", step.exploit}};
        if (!step.bootstrap) {
            one["score"] = step.score;
            one["reads_group"] = step.reads_group;
            one["explored"] = step.explored;
            if (step.link > 1)
                one["trust_region"] =
                    json::object{{"from", step.lo}, {"to", step.hi}, {"held", step.clipped()}};
        }
        out.push_back(std::move(one));
    }
    return out;
}

/// Returns another applicant's P in whole hundredths, rounded down: where a rule reads one feature,
/// more digits would give that applicant's value of it.
double in_hundredths(double p) { return std::floor(p * 100 + 1e-9) / 100; }

/// Returns what P is at least with the cited units restored, which makes P another applicant's.
double restored_at_least(const DecisionExplanation& of, const Cited& cited) {
    const double known = cited.reaches ? of.decision.draw : of.decision.p_approve;
    return std::max(known, in_hundredths(cited.p_restored));
}

json::object cited_json(const DecisionExplanation& of, const Cited& cited) {
    json::array reasons;
    for (const size_t unit : cited.units)
        reasons.push_back(
            json::object{{"unit", of.units[unit].name},
                         {"direction", notices::to_string(direction_of(of, of.units[unit]))}});
    return {{"declined_by", attribution::to_string(cited.by)},
            {"reasons", std::move(reasons)},
            {"among_others", cited.others},
            {"p_restored", restored_at_least(of, cited)},
            {"reaches_draw", cited.reaches},
            {"p_reference", in_hundredths(cited.p_reference)},
            {"every_set_tried", cited.exact},
            {"reference_row_hmac_sha256", of.nearest_mac.hex()}};
}

/// Returns the units by how much they lower P, largest magnitude first.
std::vector<size_t> by_magnitude(const std::vector<double>& values) {
    std::vector<size_t> order(values.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return std::abs(values[a]) > std::abs(values[b]); });
    return order;
}

std::string step_text(const LinkStep& step) {
    if (step.bootstrap)
        return fmt::format("Link {}, the declared rule: P(approve) {:.4f}.", step.link,
                           step.approve);
    auto text = fmt::format("Link {}, learned{}: score {:.4f}, by its rule {:.4f}", step.link,
                            step.reads_group ? ", reads the group" : "", step.score, step.rule);
    if (step.explored != step.rule) text += fmt::format(", with exploration {:.4f}", step.explored);
    if (step.clipped())
        text += fmt::format(", held by the trust region from {:.4f} to {:.4f}", step.lo, step.hi);
    return text + fmt::format(": P(approve) {:.4f}.", step.approve);
}

std::string_view how_text(DeclinedBy by) {
    switch (by) {
        case DeclinedBy::kFeatures:
            return "Declined by the features: no draw would have approved.";
        case DeclinedBy::kFeaturesAndDraw:
            return "Declined by the features and the draw.";
        case DeclinedBy::kDraw:
            return "Declined by the draw: it would have declined the nearest reference row, too.";
        case DeclinedBy::kExploration:
            return "Declined by exploration: without it this draw would have approved.";
    }
    return {};
}

void add_cited_text(const DecisionExplanation& of, const Cited& cited, json::array& lines) {
    lines.emplace_back(how_text(cited.by));
    std::string names;
    for (const size_t unit : cited.units)
        names += fmt::format("{}{}", names.empty() ? "" : ", ", of.units[unit].name);
    if (names.empty()) {
        lines.emplace_back("No feature is a reason.");
        return;
    }
    lines.emplace_back(fmt::format("Reasons: {}{}.", names, cited.others ? ", among others" : ""));
    lines.emplace_back(
        fmt::format("With the nearest reference row's values of them P(approve) is at least "
                    "{:.4f}, {} the draw{}.",
                    restored_at_least(of, cited), cited.reaches ? "above" : "not above",
                    cited.exact ? "" : " (found greedily: a smaller set may do)"));
}

json::array text_of(const DecisionExplanation& of) {
    const auto& decision = of.decision;
    json::array lines;
    for (const auto& step : of.steps) lines.emplace_back(step_text(step));
    if (decision.exploration_spent)
        lines.emplace_back(
            fmt::format("Without exploration (the day's was used up, or people had stopped it): "
                        "P(approve) {:.4f}.",
                        decision.p_approve));
    const double u = decision.draw, p = decision.p_approve;
    lines.emplace_back(fmt::format("The draw {} is {} P(approve) {}: {}.",
                                   report::probability_text(u, {p}), u < p ? "below" : "not below",
                                   report::probability_text(p, {u}),
                                   domain::to_string(decision.action)));
    if (of.cited) add_cited_text(of, *of.cited, lines);
    return lines;
}

/// Returns the direction of a word; nullopt: there is none.
std::optional<Direction> direction_named(const json::value& word) {
    for (const auto direction :
         {Direction::kAny, Direction::kLow, Direction::kHigh, Direction::kMissing})
        if (word.is_string() && word.as_string() == notices::to_string(direction)) return direction;
    return std::nullopt;
}

base::Error unknown(std::string_view what) {
    return base::make_error(notices::Reason::kUnknownCode,
                            "the stored explanation has {}, which this release does not know",
                            what);
}

}  // namespace

std::string to_json(const DecisionExplanation& of) {
    json::array contributions;
    for (const size_t unit : by_magnitude(of.values.lowered))
        contributions.push_back(json::object{{"unit", of.units[unit].name},
                                             {"lowers_p_by", of.values.lowered[unit]},
                                             {"standard_error", of.values.error[unit]}});
    json::object out{{"decision_id", of.decision.id.value()},
                     {"policy_id", of.decision.policy.value()},
                     {"action", domain::to_string(of.decision.action)},
                     {"draw", of.decision.draw},
                     {"p_approve", of.decision.p_approve},
                     {"p_exploit", of.decision.p_exploit},
                     {"exploration_spent", of.decision.exploration_spent},
                     {"group_read", of.group_read},
                     {"links", steps_json(of.steps)},
                     {"reference", json::object{{"rows", of.reference.size()},
                                                {"pool", of.reference.pool},
                                                {"lowest_p", in_hundredths(of.reference.lowest)},
                                                {"mean_p", of.values.reference},
                                                {"hmac_sha256", of.reference_mac.hex()},
                                                {"draw_key_id", of.draw_key_id}}},
                     {"exact", of.values.exact},
                     {"contributions", std::move(contributions)},
                     {"text", text_of(of)}};
    if (of.cited) out["decline"] = cited_json(of, *of.cited);
    return json::serialize(out);
}

base::Result<std::vector<notices::Cited>> cited_in(std::string_view document) {
    std::vector<notices::Cited> cited;
    json::error_code failed;
    const auto parsed = json::parse(document, failed);
    const auto* object = failed ? nullptr : parsed.if_object();
    if (object == nullptr) return unknown("a form");
    const auto* decline = object->if_contains("decline");
    if (decline == nullptr) return cited;
    const auto* reasons =
        decline->is_object() ? decline->as_object().if_contains("reasons") : nullptr;
    if (reasons == nullptr || !reasons->is_array()) return unknown("no list of reasons");
    for (const auto& reason : reasons->as_array()) {
        const auto* one = reason.if_object();
        const auto* unit = one == nullptr ? nullptr : one->if_contains("unit");
        const auto* word = one == nullptr ? nullptr : one->if_contains("direction");
        const auto direction = word == nullptr ? std::nullopt : direction_named(*word);
        if (unit == nullptr || !unit->is_string() || !direction) return unknown("a reason");
        cited.push_back({std::string(unit->as_string()), *direction});
    }
    return cited;
}

}  // namespace rampart::rampartd
