#include "calibrate.hpp"

#include <algorithm>

namespace rampart::postprocessing {

learning::Option calibration_option() {
    return {"calibration",
            std::string("default"),
            "calibration of the score before the rule, by group where the criterion is about "
            "labels and the group is known; default: beta where it is about labels, else none",
            0,
            0,
            {"default", "none", "isotonic", "platt", "beta"}};
}

std::optional<calibration::CalibrationMethod> calibration_method(
    const learning::OptionValues& values, std::optional<calibration::CalibrationMethod> fallback) {
    const auto& text = values.text("calibration");
    if (text == "default") return fallback;
    const auto method = calibration::parse_calibration(text);
    return method ? std::optional(*method) : std::nullopt;  // "none"
}

base::Status calibrate(const Rows& rows, std::optional<calibration::CalibrationMethod> method,
                       bool by_group, const Setting& setting, Fitted& fitted) {
    if (method) {
        // folds are dealt out within groups, where every row is in one
        const bool known =
            !rows.group.empty() && std::all_of(rows.group.begin(), rows.group.end(),
                                               [](int32_t group) { return group >= 0; });
        RAMPART_TRY(fitted.calibration,
                    calibration::fit_calibration(
                        {.score = rows.p,
                         .label = rows.label,
                         .group = known ? std::span(rows.group) : std::span<const int32_t>(),
                         .groups = known ? rows.groups() : 1,
                         .weight = rows.weight},
                        {.method = *method,
                         .by_group = by_group,
                         .folds = setting.report ? size_t{5} : size_t{0},
                         .seed = setting.seed}));
        fitted.rule.calibrations = fitted.calibration->maps;
        fitted.method = method;
    }
    model::LearnedLink link;
    fitted.rule.put_on(link, {});
    for (size_t i = 0; i < rows.size(); ++i) {
        const size_t group = by_group ? static_cast<size_t>(rows.group[i]) : 0;
        fitted.scores.push_back(link.value(link.probability(rows.p[i], group)));
    }
    return base::ok();
}

double break_even(const Setting& setting) {
    return std::clamp((setting.threshold - setting.intercept) / setting.slope, 0.0, 1.0);
}

}  // namespace rampart::postprocessing
