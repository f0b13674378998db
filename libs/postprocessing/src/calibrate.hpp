#pragma once

#include "rampart/postprocessing/postprocessor.hpp"

/// Calibration of the score before a rule.
namespace rampart::postprocessing {

learning::Option calibration_option();

/// Returns the method that the option says; `fallback`: of "default".
std::optional<calibration::CalibrationMethod> calibration_method(
    const learning::OptionValues& values, std::optional<calibration::CalibrationMethod> fallback);

/// Fits maps of the method to the rows and notes them in `fitted`, with the scores that come of
/// them. Without a method the scores are those of the model.
base::Status calibrate(const Rows& rows, std::optional<calibration::CalibrationMethod> method,
                       bool by_group, const Setting& setting, Fitted& fitted);

/// Returns the P(favourable) from which on an approval is worth more than a decline.
double break_even(const Setting& setting);

}  // namespace rampart::postprocessing
