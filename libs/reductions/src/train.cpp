#include "rampart/reductions/train.hpp"

#include <algorithm>

#include "rampart/base/check.hpp"
#include "rampart/model/batch_engine.hpp"
#include "rampart/reductions/reasons.hpp"
#include "search.hpp"

namespace rampart::reductions {
namespace {

base::Status check_range(std::string_view field, double value, double lo, double hi) {
    if (value >= lo && value <= hi) return base::ok();
    return base::make_error(Reason::kBadReductionParameter, "{} is {}; allowed are {} to {}", field,
                            value, lo, hi);
}

/// Approves where a member does: at its threshold the score is f.
model::RampRule step_at(double threshold, const model::LearnedLink& link) {
    const double f = link.score_slope * model::sigmoid(threshold) + link.score_intercept;
    model::RampRule rule;
    rule.thresholds = {std::clamp(f, -1.0, 1.0)};
    return rule;
}

}  // namespace

base::Status validate(const ReductionParams& params) {
    constexpr double kLarge = 1e6, kSmall = 1e-6;
    RAMPART_RETURN_IF_ERROR(gbdt::validate(params.learner));
    RAMPART_RETURN_IF_ERROR(validate(params.constraints));
    RAMPART_RETURN_IF_ERROR(validate(params.operating_point));
    RAMPART_RETURN_IF_ERROR(check_range("fits", params.fits, 1, ReductionParams::kMaxFits));
    RAMPART_RETURN_IF_ERROR(check_range("bound", params.bound, kSmall, kLarge));
    RAMPART_RETURN_IF_ERROR(check_range("gap", params.gap, 0, kLarge));
    RAMPART_RETURN_IF_ERROR(check_range("grid_limit", params.grid_limit, kSmall, kLarge));
    RAMPART_RETURN_IF_ERROR(check_range("spread", params.spread, 1, kLarge));
    RAMPART_RETURN_IF_ERROR(check_range("min_gain_share", params.min_gain_share, 0, 1));
    if (params.method == Reduction::kExponentiatedGradient && params.operating_point.moves())
        return base::make_error(Reason::kOperatingPointOfEg,
                                "exponentiated gradient decides by several classifiers "
                                "without a score in common to put at an operating point: "
                                "constrain fpr, fnr or statistical_parity as a target instead "
                                "of {}",
                                to_string(params.operating_point));
    return base::ok();
}

base::Result<ReductionResult> train_reduction(const dataset::Dataset& data,
                                              const ReductionParams& params, base::ThreadPool* pool,
                                              const ReductionOptions& options) {
    RAMPART_TRY(auto search, Search::create(data, params, pool, options));
    switch (params.method) {
        case Reduction::kGridSearch:
            return grid_search(search);
        case Reduction::kRandomReweighing:
            return random_reweighing(search);
        case Reduction::kExponentiatedGradient:
            break;
    }
    return exponentiated_gradient(search);
}

model::LearnedLink link_of(std::span<const ReductionMember> members) {
    RAMPART_CHECK(!members.empty());
    std::vector<const ReductionMember*> order;
    for (const auto& member : members) order.push_back(&member);
    std::stable_sort(order.begin(), order.end(),
                     [](const auto* a, const auto* b) { return a->weight > b->weight; });
    // the first one explains the mixture: no reasons follow from a score that is the same for all
    std::stable_partition(order.begin(), order.end(), [](const ReductionMember* member) {
        return model::reads_a_feature(member->ensemble);
    });
    model::LearnedLink link;
    link.ensemble = order.front()->ensemble;
    link.ramp = step_at(order.front()->threshold, link);
    if (order.size() == 1) return link;
    for (size_t i = 0; i < order.size(); ++i) {
        if (i > 0) link.additional_ensembles.push_back(order[i]->ensemble);
        model::Member member{.ensemble = static_cast<uint32_t>(i), .weight = order[i]->weight};
        if (order[i]->threshold != order.front()->threshold)
            member.ramp = step_at(order[i]->threshold, link);
        link.members.push_back(std::move(member));
    }
    return link;
}

}  // namespace rampart::reductions
