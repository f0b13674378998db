#include "rampart/postprocessing/rows.hpp"

#include "rampart/calibration/group_posteriors.hpp"

namespace rampart::postprocessing {
namespace {

constexpr int kLeavesOfPosteriors = 15;

/// Returns the values of the given rows, `width` of them a row.
template <class T>
std::vector<T> pick(const std::vector<T>& all, std::span<const uint32_t> rows, size_t width = 1) {
    std::vector<T> out;
    if (all.empty()) return out;
    out.reserve(rows.size() * width);
    for (const uint32_t row : rows)
        for (size_t k = 0; k < width; ++k) out.push_back(all[row * width + k]);
    return out;
}

}  // namespace

Rows Rows::subset(std::span<const uint32_t> rows) const {
    Rows out{.p = pick(p, rows),
             .group = pick(group, rows),
             .group_names = group_names,
             .label = pick(label, rows),
             .weight = pick(weight, rows),
             .posteriors = {},
             .strata = strata,
             .stratum = pick(stratum, rows),
             .stratum_names = stratum_names};
    for (const auto& posterior : posteriors)
        out.posteriors.push_back(pick(posterior, rows, groups()));
    return out;
}

dataset::Dataset Rows::table() const {
    dataset::Dataset out;
    out.schema =
        dataset::FeatureSchema::create({{"p", dataset::FeatureKind::kNumeric, {}}}).value();
    out.columns.emplace_back(p.begin(), p.end());
    out.label = label;
    out.weight = weight;
    out.group = group;
    out.group_names = group_names;
    return out;
}

base::Result<GroupModel> learn_groups(const dataset::Dataset& rows,
                                      std::span<const model::GroupBlindAdjustment::Given> given,
                                      int trees, base::ThreadPool* pool) {
    gbdt::LearnerParams learner;
    learner.trees = trees;
    learner.leaves = kLeavesOfPosteriors;
    GroupModel model;
    for (const auto one : given) {
        auto& adjustment = model.emplace_back();
        adjustment.given = one;
        RAMPART_TRY(adjustment.posteriors,
                    calibration::fit_group_posteriors(rows, {learner, one}, pool));
    }
    return model;
}

void add_posteriors(const GroupModel& model, const dataset::Dataset& features,
                    base::ThreadPool* pool, Rows& rows) {
    rows.posteriors.clear();
    for (const auto& adjustment : model)
        rows.posteriors.push_back(
            calibration::group_posteriors(adjustment.posteriors, rows.groups(), features, pool));
}

}  // namespace rampart::postprocessing
