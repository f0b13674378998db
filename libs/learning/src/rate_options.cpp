#include "rate_options.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "rampart/fairness/reasons.hpp"
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
         "bound that decides the threshold, which is moved until it just holds: \"fpr<=0.05\", or "
         "fnr, statistical_parity; empty: the threshold"},
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
        const auto point = fairness::parse_targets(text);
        if (!point) return point.error().with_context("operate_at");
        if (point->size() != 1)
            return base::make_error(fairness::Reason::kBadTarget,
                                    "operate_at '{}': it takes one rate, as in fpr<=0.05", text);
        out.meets = point->front();
    }
    RAMPART_RETURN_IF_ERROR(validate(out));
    return out;
}

double threshold_on(const fairness::OperatingPoint& point, const model::Ensemble& ensemble,
                    const Task& task) {
    const auto& judging = task.validation != nullptr ? *task.validation : task.train;
    std::vector<double> scores(judging.rows());
    if (point.meets)
        model::BatchEngine(ensemble).predict_raw(model::TableView::of(judging), scores, task.pool);
    return fairness::threshold_of(point, judging, scores);
}

std::vector<Option> lagrangian_options() {
    const fairgbm::LagrangianParams p;
    return {
        {"proxy",
         std::string(to_string(p.proxy)),
         "differentiable stand-in for a rate",
         0,
         0,
         {"cross_entropy", "quadratic", "hinge", "sigmoid"}},
        {"proxy_margin",
         p.proxy_margin,
         "distance from the threshold, in raw score, from which a row adds nothing to the proxy; "
         "not for sigmoid",
         1e-6,
         100,
         {},
         "proxy!=sigmoid"},
        {"multiplier_step", p.ascent.step,
         "step size of the multipliers, in units of the learning rate", 1e-12, 1e6},
        {"paper_compat", p.ascent.paper_compat,
         "update as printed in the paper (its step is absolute)"},
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
