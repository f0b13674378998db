#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rampart/budro/metric.hpp"
#include "rampart/learning/learner.hpp"

/// The fair metric of a learner's options.
namespace rampart::learning {

/// Returns each protected attribute apart, of rows whose groups are all combinations of the
/// attributes' values: "race=a,sex=f" for {"race", "sex"}. Without attributes the groups are the
/// values of one, called "group".
std::vector<budro::ProtectedAttribute> attributes_of(const dataset::Dataset& data,
                                                     const std::vector<std::string>& attributes);

/// Reads NAME:NUMBER; the name may have colons. Errors: bad_option, of the option by its name.
base::Result<std::pair<std::string, double>> named_number(std::string_view text,
                                                          std::string_view option);
/// Reads COLUMN:NUMBER, several parted by the separator. Errors: those of named_number();
/// bad_option for a column that is named twice.
base::Result<budro::ProtectedDirection> direction_of(const std::string& text, char separator,
                                                     std::string_view option);

/// Returns the scale that the option `metric_scale` names: "robust" or "standard".
budro::FairMetricSpec::Scale metric_scale(std::string_view text);

/// Options that say what the metric projects out and weighs.
std::vector<Option> metric_options();

/// Returns the task's metric or, where it has none, learns one from the training rows: of the
/// features and directions that the options name, and without such of the protected attributes.
/// Errors: bad_metric_file, other_schema; no_protected_attributes; bad_option; those of
/// budro::FairMetric::learn.
base::Result<budro::FairMetric> fair_metric(const Task& task, const OptionValues& values);

}  // namespace rampart::learning
