#include "group_blind_adjustments.hpp"

#include "rampart/base/check.hpp"

namespace rampart::model {
namespace {

double share_given(GroupBlindAdjustment::Given given, double favourable) {
    switch (given) {
        case GroupBlindAdjustment::Given::kNothing:
            return 1;
        case GroupBlindAdjustment::Given::kFavourable:
            return favourable;
        case GroupBlindAdjustment::Given::kUnfavourable:
            return 1 - favourable;
    }
    RAMPART_CHECK(false, "given {}", static_cast<int>(given));
}

}  // namespace

GroupBlindAdjustments::GroupBlindAdjustments(const std::vector<GroupBlindAdjustment>& pulls) {
    for (const GroupBlindAdjustment& pull : pulls) {
        auto& part = parts_.emplace_back(Part{pull.given, {}, pull.amounts});
        for (const Ensemble& posterior : pull.posteriors) part.engines.emplace_back(posterior);
    }
}

double GroupBlindAdjustments::Part::mean(std::span<const float> row) const {
    if (engines.size() == 1) {
        const double second = sigmoid(engines[0].predict_raw(row));
        return amounts[0] + second * (amounts[1] - amounts[0]);
    }
    double sum = 0, pulled = 0;
    for (size_t k = 0; k < engines.size(); ++k) {
        const double share = sigmoid(engines[k].predict_raw(row));
        sum += share;
        pulled += share * amounts[k];
    }
    // if every sigmoid is 0, all groups are equally likely
    if (sum > 0) return pulled / sum;
    for (const double amount : amounts) pulled += amount;
    return pulled / static_cast<double>(amounts.size());
}

double GroupBlindAdjustments::evaluate(std::span<const float> row, double favourable) const {
    double sum = 0;
    for (const Part& part : parts_) sum += part.mean(row) * share_given(part.given, favourable);
    return sum;
}

}  // namespace rampart::model
