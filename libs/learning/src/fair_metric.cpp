#include "rampart/learning/fair_metric.hpp"

#include <charconv>

#include "rampart/dataset/reasons.hpp"
#include "rampart/learning/reasons.hpp"

namespace rampart::learning {
namespace {

/// Returns the value of the k-th attribute in "race=a,sex=f".
std::string value_in(std::string_view group, const std::vector<std::string>& attributes, size_t k) {
    std::string_view rest = group;
    for (size_t a = 0; a <= k; ++a)
        rest.remove_prefix(rest.find(attributes[a] + "=") + attributes[a].size() + 1);
    if (k + 1 < attributes.size()) rest = rest.substr(0, rest.find("," + attributes[k + 1] + "="));
    return std::string(rest);
}

}  // namespace

base::Result<std::pair<std::string, double>> named_number(std::string_view text,
                                                          std::string_view option) {
    const auto colon = text.rfind(':');
    double value = 0;
    const auto number = text.substr(std::min(text.size(), colon + 1));
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (colon == std::string_view::npos || colon == 0 || number.empty() || error != std::errc{} ||
        end != number.data() + number.size())
        return base::make_error(Reason::kBadOption, "{} is '{}': wanted is NAME:NUMBER", option,
                                text);
    return std::pair(std::string(text.substr(0, colon)), value);
}

base::Result<budro::ProtectedDirection> direction_of(const std::string& text, char separator,
                                                     std::string_view option) {
    budro::ProtectedDirection out{text, {}};
    std::string_view rest = text;
    while (true) {
        const auto next = rest.find(separator);
        RAMPART_TRY(auto entry, named_number(rest.substr(0, next), option));
        if (!out.coefficients.insert(std::move(entry)).second)
            return base::make_error(Reason::kBadOption, "{} is '{}': it names a column twice",
                                    option, text);
        if (next == std::string_view::npos) return out;
        rest.remove_prefix(next + 1);
    }
}

std::vector<budro::ProtectedAttribute> attributes_of(const dataset::Dataset& data,
                                                     const std::vector<std::string>& attributes) {
    if (attributes.empty())
        return {{.name = "group",
                 .group = data.group,
                 .groups = data.group_names.size(),
                 .group_names = data.group_names}};
    std::vector<budro::ProtectedAttribute> out;
    for (size_t k = 0; k < attributes.size(); ++k) {
        std::map<std::string, int32_t> codes;
        std::vector<int32_t> code_of_group;
        for (const auto& name : data.group_names)
            code_of_group.push_back(
                codes.emplace(value_in(name, attributes, k), static_cast<int32_t>(codes.size()))
                    .first->second);
        budro::ProtectedAttribute attribute{.name = attributes[k]};
        attribute.groups = codes.size();
        attribute.group_names.resize(codes.size());
        for (const auto& [value, code] : codes)
            attribute.group_names[static_cast<size_t>(code)] = value;
        for (const int32_t g : data.group)
            attribute.group.push_back(code_of_group[static_cast<size_t>(g)]);
        out.push_back(std::move(attribute));
    }
    return out;
}

budro::FairMetricSpec::Scale metric_scale(std::string_view text) {
    return text == "robust" ? budro::FairMetricSpec::Scale::kRobust
                            : budro::FairMetricSpec::Scale::kStandard;
}

std::vector<Option> metric_options() {
    const std::vector<std::string> none;
    return {
        {"protected_features", none,
         "features that are protected: they and their linear predictors are projected out of the "
         "fair metric"},
        {"indicators", none,
         "features that are projected out of the fair metric, without their predictors"},
        {"protected_directions", none,
         "COLUMN:NUMBER+COLUMN:NUMBER…: directions that are projected out of the fair metric; a "
         "column is a numeric feature or FEATURE=CATEGORY"},
        {"metric_weights", none,
         "FEATURE:NUMBER: weight of a feature's differences in the fair metric; otherwise 1"},
        {"metric_scale",
         std::string("robust"),
         "unit of a number's differences: its standard deviation; robust: that of the values "
         "between the 1 % and 99 % quantiles, so that a few values far out do not make all others "
         "alike",
         0,
         0,
         {"robust", "standard"}},
        {"metric_l2",
         budro::FairMetricSpec{}.l2,
         "L2 penalty of the regressions that predict the protected attributes, in mean loss + "
         "l2/2·|w|^2",
         1e-9,
         1e6,
         {},
         "protected_features!=|indicators=&protected_features!=|protected_directions=",
         true},
    };
}

base::Result<budro::FairMetric> fair_metric(const Task& task, const OptionValues& values) {
    if (!task.fair_metric.empty()) {
        RAMPART_TRY(auto metric, budro::FairMetric::decode(task.fair_metric));
        if (metric.schema() == task.train.schema) return metric;
        return base::make_error(dataset::Reason::kOtherSchema,
                                "the fair metric was learnt for other features than the model's; "
                                "learn one on this table");
    }
    budro::FairMetricSpec spec{.protected_features = values.texts("protected_features"),
                               .indicators = values.texts("indicators"),
                               .l2 = values.number("metric_l2"),
                               .scale = metric_scale(values.text("metric_scale"))};
    for (const auto& text : values.texts("protected_directions")) {
        RAMPART_TRY(spec.directions.emplace_back(),
                    direction_of(text, '+', "protected_directions"));
    }
    for (const auto& text : values.texts("metric_weights")) {
        RAMPART_TRY(auto weight, named_number(text, "metric_weights"));
        spec.weights.insert(std::move(weight));
    }
    if (spec.protected_features.empty() && spec.indicators.empty() && spec.directions.empty()) {
        if (task.train.group.empty())
            return base::make_error(Reason::kNoProtectedAttributes,
                                    "there are no protected attributes to learn the fair metric "
                                    "from: name them, or give protected_features or "
                                    "protected_directions");
        spec.attributes = attributes_of(task.train, task.attributes);
    }
    auto metric = budro::FairMetric::learn(task.train, spec);
    if (!metric) return metric.error().with_context("the fair metric");
    return metric;
}

}  // namespace rampart::learning
