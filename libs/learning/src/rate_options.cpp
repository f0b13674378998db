#include "rate_options.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "rampart/learning/reasons.hpp"
#include "rampart/model/batch_engine.hpp"

namespace rampart::learning {

std::vector<Option> rate_options(std::vector<std::string> constraints) {
    const std::vector<std::string> none;
    return {
        {"constraints", std::move(constraints),
         "rates that have to be alike in all groups: fpr, fnr, equalized_odds (both), "
         "statistical_parity (approval rates) or error; fnr@sex compares the groups of one "
         "protected attribute"},
        {"tolerance",
         0.01,
         "allowed difference of a rate between groups",
         0,
         1,
         {},
         "constraints!=",
         true},
        {"targets", none,
         "bounds on rates over all rows: \"fpr<=0.05\", \"statistical_parity<=0.3\" (approves at "
         "most 30 %)"},
        {"operate_at", std::string(),
         "where the threshold is put: \"approve=0.7\" (approve as many), \"bad_rate<=0.03\" (share "
         "of the unfavourable label among those approved), \"fpr<=0.05\" or \"fnr<=0.1\", each as "
         "far "
         "as it just holds; empty: at `threshold`"},
        {"threshold",
         0.5,
         "approve from this P(favourable) on",
         1e-6,
         1 - 1e-6,
         {},
         "operate_at=",
         true},
    };
}

bool asks_for_rates(const OptionValues& values) {
    return !values.texts("constraints").empty() || !values.texts("targets").empty();
}

base::Result<RateSettings> rate_settings(const OptionValues& values) {
    RateSettings out;
    const double tolerance = values.number("tolerance");
    for (const auto& text : values.texts("constraints")) {
        auto parity = fairness::parse_parity(text, tolerance);
        if (!parity) return parity.error().with_context("constraints");
        out.constraints.parity.insert(out.constraints.parity.end(), parity->begin(), parity->end());
    }
    if (const auto& texts = values.texts("targets"); !texts.empty()) {
        auto targets = fairness::parse_targets(fmt::format("{}", fmt::join(texts, ",")));
        if (!targets) return targets.error().with_context("targets");
        out.constraints.targets = *std::move(targets);
    }
    RAMPART_TRY(out.operating_point, operating_point(values));
    RAMPART_RETURN_IF_ERROR(validate(out.constraints));
    return out;
}

base::Result<fairness::OperatingPoint> operating_point(const OptionValues& values) {
    fairness::OperatingPoint out{.threshold = values.number("threshold")};
    if (const auto& text = values.text("operate_at"); !text.empty()) {
        const auto point = fairness::parse_operating_point(text);
        if (!point) return point.error().with_context("operate_at");
        out = *point;
    }
    RAMPART_RETURN_IF_ERROR(validate(out));
    return out;
}

base::Result<Kept> rates_kept(const dataset::Dataset& rows, std::span<const double> approve,
                              const OptionValues& values) {
    RAMPART_TRY(const auto rates, rate_settings(values));
    const auto& [parity, targets] = rates.constraints;
    if (parity.empty() && targets.empty()) return Kept{};
    RAMPART_TRY(const auto system, fairness::RateSystem::create(rows, rates.constraints));
    const auto found = system.values(system.approved(rows, approve));
    std::vector<std::string> text;
    for (size_t i = 0; i < parity.size(); ++i)
        text.push_back(fmt::format("{}{}{} differs by {:.4f}", to_string(parity[i].rate),
                                   parity[i].attribute.empty() ? "" : "@", parity[i].attribute,
                                   found.gaps[i]));
    for (size_t i = 0; i < targets.size(); ++i)
        text.push_back(fmt::format("{} is {:.4f}", to_string(targets[i].rate), found.targets[i]));
    return Kept{largest_gap(found), found.violation, fmt::format("{}", fmt::join(text, ", "))};
}

base::Result<double> threshold_on(const fairness::OperatingPoint& point,
                                  const model::Ensemble& ensemble, const Task& task) {
    const auto& judging = task.validation != nullptr ? *task.validation : task.train;
    std::vector<double> scores(judging.rows());
    if (!point.moves()) return fairness::threshold_of(point, judging, scores);
    model::BatchEngine(ensemble).predict_raw(model::TableView::of(judging), scores, task.pool);
    const double threshold = fairness::threshold_of(point, judging, scores);
    const bool asked_for_none = point.meets && point.meets->at_most == 0;
    if (!asked_for_none && *std::max_element(scores.begin(), scores.end()) < threshold)
        return base::make_error(Reason::kNothingApproved,
                                "`operate_at` is '{}', and no threshold that approves anybody "
                                "keeps it on the {} rows that judge",
                                fairness::to_string(point), judging.rows());
    return threshold;
}

std::vector<Option> lagrangian_options() {
    const fairgbm::LagrangianParams p;
    constexpr std::string_view kConstrained = "constraints!=|targets!=";
    return {
        {"proxy",
         std::string(to_string(p.proxy)),
         "differentiable stand-in for a rate",
         0,
         0,
         {"cross_entropy", "quadratic", "hinge", "sigmoid"},
         kConstrained},
        {"proxy_margin",
         p.proxy_margin,
         "distance from the threshold, in raw score, from which a row adds nothing to the proxy; "
         "not for sigmoid",
         1e-6,
         100,
         {},
         "proxy!=sigmoid&constraints!=|targets!="},
        {"multiplier_step",
         p.ascent.step,
         "step size of the multipliers, in units of the learning rate; where an output best misses "
         "the constraints at `operate_at`, FairGBM tries 4, 16 and 64 times as much as well",
         1e-12,
         1e6,
         {},
         kConstrained},
        {"paper_compat",
         p.ascent.paper_compat,
         "update as printed in the paper (its step is absolute)",
         0,
         0,
         {},
         kConstrained},
    };
}

base::Result<fairgbm::LagrangianParams> lagrangian_params(const OptionValues& values,
                                                          const fairness::OperatingPoint& point) {
    fairgbm::LagrangianParams params;
    RAMPART_TRY(params.proxy, fairgbm::parse_proxy(values.text("proxy")));
    params.proxy_margin = values.number("proxy_margin");
    params.ascent.step = values.number("multiplier_step");
    params.ascent.paper_compat = values.flag("paper_compat");
    params.operating_point = point;
    RAMPART_RETURN_IF_ERROR(validate(params));
    return params;
}

Option favourable_weight_option() {
    return {"favourable_weight",
            1.0,
            "weight of a row with the favourable label",
            1e-6,
            1e6,
            {},
            {},
            true};
}

model::RampRule rule_at(double raw_threshold) {
    model::RampRule rule;
    rule.thresholds = {std::clamp(2 * model::sigmoid(raw_threshold) - 1, -1.0, 1.0)};
    return rule;
}

double largest_gap(const fairness::RateValues& values) {
    return values.gaps.empty() ? 0 : *std::max_element(values.gaps.begin(), values.gaps.end());
}

}  // namespace rampart::learning
