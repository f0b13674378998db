#include "rampart/evaluation/regression_loss.hpp"

#include "rampart/base/reasons.hpp"
#include "rampart/dataset/text.hpp"
#include "rampart/evaluation/reasons.hpp"

namespace rampart::evaluation {

using base::Result;
using fair_regression::RegressionLoss;

Result<RegressionLoss> parse_loss(const std::string& name, std::optional<double> parameter) {
    if (name == "logistic") return RegressionLoss::logistic(parameter.value_or(5));
    if (name == "quantile") return RegressionLoss::quantile(parameter.value_or(0.5));
    if (name == "huber") return RegressionLoss::huber(parameter.value_or(0.1));
    if (name == "poisson") return RegressionLoss::poisson(parameter.value_or(5));
    if (parameter)
        return base::make_error(base::Reason::kBadUsage,
                                "--loss-parameter {}: the {} loss has none", *parameter, name);
    if (name == "squared") return RegressionLoss::squared();
    if (name == "absolute") return RegressionLoss::absolute();
    return base::make_error(base::Reason::kBadUsage, "--loss '{}' is not known", name);
}

std::string loss_text(const RegressionLoss& loss) {
    return loss.parameter() == 0 ? loss.name()
                                 : fmt::format("{} {}", loss.name(), loss.parameter());
}

Result<RegressionLoss> parse_loss_text(const std::string& text) {
    const auto space = text.find(' ');
    if (space == std::string::npos) return parse_loss(text, std::nullopt);
    const auto number = dataset::parse_number(std::string_view(text).substr(space + 1));
    if (!number)
        return base::make_error(Reason::kBadTrainingRecord, "the model's loss is '{}'", text);
    return parse_loss(text.substr(0, space), *number);
}

}  // namespace rampart::evaluation
