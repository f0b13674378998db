#include "rampart/fair_regression/loss_names.hpp"

#include "rampart/base/reasons.hpp"
#include "rampart/model/reasons.hpp"

namespace rampart::fair_regression {

using base::Result;

Result<RegressionLoss> parse_loss(const std::string& name, std::optional<double> parameter) {
    if (name == "logistic") return RegressionLoss::logistic(parameter.value_or(5));
    if (name == "quantile") return RegressionLoss::quantile(parameter.value_or(0.5));
    if (name == "huber") return RegressionLoss::huber(parameter.value_or(0.1));
    if (name == "poisson") return RegressionLoss::poisson(parameter.value_or(5));
    if (parameter)
        return base::make_error(base::Reason::kBadUsage, "loss parameter {}: the {} loss has none",
                                *parameter, name);
    if (name == "squared") return RegressionLoss::squared();
    if (name == "absolute") return RegressionLoss::absolute();
    return base::make_error(base::Reason::kBadUsage,
                            "loss '{}' is not known; there are squared, logistic, absolute, "
                            "quantile, huber and poisson",
                            name);
}

std::string loss_text(const RegressionLoss& loss) {
    return loss.parameter() == 0 ? loss.name()
                                 : fmt::format("{} {}", loss.name(), loss.parameter());
}

model::StoredLoss stored(const RegressionLoss& loss) { return {loss.kind(), loss.parameter()}; }

Result<RegressionLoss> loss_of(const model::StoredLoss& stored) {
    switch (stored.kind) {
        case model::RegressionLossKind::kSquared:
            return RegressionLoss::squared();
        case model::RegressionLossKind::kLogistic:
            return RegressionLoss::logistic(stored.parameter);
        case model::RegressionLossKind::kAbsolute:
            return RegressionLoss::absolute();
        case model::RegressionLossKind::kQuantile:
            return RegressionLoss::quantile(stored.parameter);
        case model::RegressionLossKind::kHuber:
            return RegressionLoss::huber(stored.parameter);
        case model::RegressionLossKind::kPoisson:
            return RegressionLoss::poisson(stored.parameter);
        case model::RegressionLossKind::kTweedie:
            return RegressionLoss::tweedie(stored.parameter);
        case model::RegressionLossKind::kUser:
            break;
    }
    return base::make_error(model::Reason::kBadRegressionLoss,
                            "a loss of the caller's own is in no model file; name one of "
                            "Rampart's");
}

}  // namespace rampart::fair_regression
