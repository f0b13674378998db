#include "learner_params.hpp"

#include "rampart/base/limits.hpp"
#include "rampart/gbdt/reasons.hpp"

namespace rampart::gbdt {
namespace {

namespace limits = base::limits;

template <class T>
base::Status check_range(std::string_view field, T value, T lo, T hi) {
    if (value >= lo && value <= hi) return base::ok();
    return base::make_error(Reason::kBadLearnerParameter, "{} is {}; allowed are {} to {}", field,
                            value, lo, hi);
}

base::Status check_fraction(std::string_view field, double value) {
    if (value > 0 && value <= 1) return base::ok();
    return base::make_error(Reason::kBadLearnerParameter, "{} is {}; allowed is above 0 up to 1",
                            field, value);
}

base::Status check_interactions(const LearnerParams& params, size_t features) {
    for (size_t i = 0; i < params.interactions.size(); ++i) {
        const auto& set = params.interactions[i];
        if (set.empty()) {
            return base::make_error(Reason::kBadInteractions,
                                    "interactions[{}] names no feature; remove it", i);
        }
        for (const uint32_t feature : set) {
            if (feature < features) continue;
            return base::make_error(Reason::kBadInteractions,
                                    "interactions[{}] names feature {}; there are {}", i, feature,
                                    features);
        }
    }
    return base::ok();
}

base::Status check_monotone(const LearnerParams& params, const dataset::FeatureSchema& schema) {
    if (params.monotone.empty()) return base::ok();
    if (params.monotone.size() != schema.size()) {
        return base::make_error(Reason::kBadMonotone,
                                "monotone has {} entries for {} features; give one for each, "
                                "0 for an unconstrained one",
                                params.monotone.size(), schema.size());
    }
    for (size_t f = 0; f < schema.size(); ++f) {
        const auto& spec = schema.features()[f];
        if (params.monotone[f] == 0 || spec.kind == dataset::FeatureKind::kNumeric) continue;
        return base::make_error(Reason::kBadMonotone,
                                "feature '{}' is categorical and has no order to be monotone "
                                "in; make it numeric or its entry 0",
                                spec.name);
    }
    return base::ok();
}

}  // namespace

base::Status validate(const LearnerParams& params) {
    constexpr int kManyRows = static_cast<int>(limits::kMaxRows);
    constexpr double kLarge = 1e12;
    RAMPART_RETURN_IF_ERROR(
        check_range("trees", params.trees, 1, static_cast<int>(limits::kMaxTrees)));
    RAMPART_RETURN_IF_ERROR(check_fraction("learning_rate", params.learning_rate));
    RAMPART_RETURN_IF_ERROR(
        check_range("leaves", params.leaves, 2, static_cast<int>(limits::kMaxLeaves)));
    RAMPART_RETURN_IF_ERROR(
        check_range("max_depth", params.max_depth, 0, static_cast<int>(limits::kMaxLeaves)));
    RAMPART_RETURN_IF_ERROR(check_range("min_rows_in_leaf", params.min_rows_in_leaf, 1, kManyRows));
    RAMPART_RETURN_IF_ERROR(
        check_range("min_hessian_in_leaf", params.min_hessian_in_leaf, 0.0, kLarge));
    RAMPART_RETURN_IF_ERROR(check_range("l1", params.l1, 0.0, kLarge));
    RAMPART_RETURN_IF_ERROR(check_range("l2", params.l2, 0.0, kLarge));
    RAMPART_RETURN_IF_ERROR(check_range("min_gain", params.min_gain, 0.0, kLarge));
    RAMPART_RETURN_IF_ERROR(check_range("max_bins", params.max_bins, 2, 255));
    RAMPART_RETURN_IF_ERROR(check_fraction("feature_fraction", params.feature_fraction));
    RAMPART_RETURN_IF_ERROR(check_fraction("row_fraction", params.row_fraction));
    RAMPART_RETURN_IF_ERROR(check_range("category_smooth", params.category_smooth, 0.0, kLarge));
    RAMPART_RETURN_IF_ERROR(check_range("category_l2", params.category_l2, 0.0, kLarge));
    RAMPART_RETURN_IF_ERROR(
        check_range("min_category_rows", params.min_category_rows, 1, kManyRows));
    RAMPART_RETURN_IF_ERROR(
        check_range("min_category_group_rows", params.min_category_group_rows, 1, kManyRows));
    RAMPART_RETURN_IF_ERROR(
        check_range("max_category_threshold", params.max_category_threshold, 1, 256));
    for (const int direction : params.monotone) {
        RAMPART_RETURN_IF_ERROR(check_range("monotone", direction, -1, 1));
    }
    RAMPART_RETURN_IF_ERROR(check_range("number of interactions", params.interactions.size(),
                                        size_t{0}, limits::kMaxFeatures));
    if (!model::supports(params.instructions)) {
        return base::make_error(Reason::kBadLearnerParameter,
                                "instructions are {}, which this processor lacks; leave the "
                                "default",
                                model::to_string(params.instructions));
    }
    return check_range("early_stopping_rounds", params.early_stopping_rounds, 0,
                       static_cast<int>(limits::kMaxTrees));
}

base::Status check_against(const LearnerParams& params, const dataset::FeatureSchema& schema) {
    RAMPART_RETURN_IF_ERROR(check_monotone(params, schema));
    return check_interactions(params, schema.size());
}

}  // namespace rampart::gbdt
