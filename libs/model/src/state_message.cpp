#include "state_message.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rampart/base/check.hpp"
#include "rampart/model/reasons.hpp"

namespace rampart::model {
namespace {

using base::Result;

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();  // the same bits every time

base::Error bad(std::string_view what) {
    return base::make_error(Reason::kBadModelFile, "{}", what);
}

v1::ReasonMethod to_message(ReasonMethod method) {
    switch (method) {
        case ReasonMethod::kReplacement:
            return v1::REASON_METHOD_REPLACEMENT;
        case ReasonMethod::kShapley:
            return v1::REASON_METHOD_SHAPLEY;
    }
    RAMPART_CHECK(false, "reason method {}", static_cast<int>(method));
}

v1::RegressionLossKind to_message(RegressionLossKind kind) {
    switch (kind) {
        case RegressionLossKind::kSquared:
            return v1::REGRESSION_LOSS_KIND_SQUARED;
        case RegressionLossKind::kLogistic:
            return v1::REGRESSION_LOSS_KIND_LOGISTIC;
        case RegressionLossKind::kAbsolute:
            return v1::REGRESSION_LOSS_KIND_ABSOLUTE;
        case RegressionLossKind::kQuantile:
            return v1::REGRESSION_LOSS_KIND_QUANTILE;
        case RegressionLossKind::kHuber:
            return v1::REGRESSION_LOSS_KIND_HUBER;
        case RegressionLossKind::kPoisson:
            return v1::REGRESSION_LOSS_KIND_POISSON;
        case RegressionLossKind::kTweedie:
            return v1::REGRESSION_LOSS_KIND_TWEEDIE;
        case RegressionLossKind::kUser:  // no policy has it
            break;
    }
    RAMPART_CHECK(false, "loss {}", static_cast<int>(kind));
}

Result<ReasonReference> reasons_of(const v1::ReasonReference& message) {
    ReasonReference reasons;
    switch (message.method()) {
        case v1::REASON_METHOD_REPLACEMENT:
            reasons.method = ReasonMethod::kReplacement;
            break;
        case v1::REASON_METHOD_SHAPLEY:
            reasons.method = ReasonMethod::kShapley;
            break;
        default:
            return bad(fmt::format("unknown reason method {}", static_cast<int>(message.method())));
    }
    reasons.row.assign(message.row().begin(), message.row().end());
    return reasons;
}

Result<RegressionLossKind> loss_kind_of(v1::RegressionLossKind kind) {
    switch (kind) {
        case v1::REGRESSION_LOSS_KIND_SQUARED:
            return RegressionLossKind::kSquared;
        case v1::REGRESSION_LOSS_KIND_LOGISTIC:
            return RegressionLossKind::kLogistic;
        case v1::REGRESSION_LOSS_KIND_ABSOLUTE:
            return RegressionLossKind::kAbsolute;
        case v1::REGRESSION_LOSS_KIND_QUANTILE:
            return RegressionLossKind::kQuantile;
        case v1::REGRESSION_LOSS_KIND_HUBER:
            return RegressionLossKind::kHuber;
        case v1::REGRESSION_LOSS_KIND_POISSON:
            return RegressionLossKind::kPoisson;
        case v1::REGRESSION_LOSS_KIND_TWEEDIE:
            return RegressionLossKind::kTweedie;
        default:
            return bad(fmt::format("unknown regression loss {}", static_cast<int>(kind)));
    }
}

Result<TrainingRecord> training_of(const v1::TrainingRecord& message) {
    TrainingRecord training{message.table_schema(), message.split(), message.seed(), {}};
    const std::string& digest = message.data_sha256();
    if (digest.size() != training.data.bytes.size())
        return bad(fmt::format("the digest of the training table has {} bytes; expected {}",
                               digest.size(), training.data.bytes.size()));
    std::copy(digest.begin(), digest.end(), training.data.bytes.begin());
    return training;
}

}  // namespace

void state_to_message(const PolicyState& state, v1::PolicyState& out) {
    if (state.reasons) {
        auto& reasons = *out.mutable_reasons();
        reasons.set_method(to_message(state.reasons->method));
        for (const float value : state.reasons->row)
            reasons.add_row(std::isnan(value) ? kMissing : value);
    }
    out.set_fair_metric(state.fair_metric);
    if (const auto& values = state.fairgbm_multipliers)
        out.mutable_fairgbm()->mutable_multipliers()->Add(values->begin(), values->end());
    if (state.regression_loss) {
        out.mutable_regression_loss()->set_kind(to_message(state.regression_loss->kind));
        out.mutable_regression_loss()->set_parameter(state.regression_loss->parameter);
    }
    if (state.training) {
        auto& training = *out.mutable_training();
        training.set_table_schema(state.training->table_schema);
        training.set_split(state.training->split);
        training.set_seed(state.training->seed);
        const auto& digest = state.training->data.bytes;
        training.set_data_sha256(digest.data(), digest.size());
    }
    out.set_constraints_missed(state.constraints_missed);
}

Result<PolicyState> state_from_message(const v1::PolicyState& message) {
    PolicyState state;
    if (message.has_reasons()) {
        RAMPART_TRY(state.reasons, reasons_of(message.reasons()));
    }
    state.fair_metric = message.fair_metric();
    if (message.has_fairgbm()) {
        const auto& values = message.fairgbm().multipliers();
        state.fairgbm_multipliers.emplace(values.begin(), values.end());
    }
    if (message.has_regression_loss()) {
        auto& loss = state.regression_loss.emplace();
        loss.parameter = message.regression_loss().parameter();
        RAMPART_TRY(loss.kind, loss_kind_of(message.regression_loss().kind()));
    }
    if (message.has_training()) {
        RAMPART_TRY(state.training, training_of(message.training()));
    }
    state.constraints_missed = message.constraints_missed();
    return state;
}

}  // namespace rampart::model
