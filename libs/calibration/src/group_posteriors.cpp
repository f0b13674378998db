#include "rampart/calibration/group_posteriors.hpp"

#include <algorithm>

#include "rampart/base/check.hpp"
#include "rampart/calibration/reasons.hpp"
#include "rampart/gbdt/log_loss.hpp"
#include "rampart/model/batch_engine.hpp"

namespace rampart::calibration {
namespace {

using Given = model::GroupBlindAdjustment::Given;

/// The rows with the label that is given.
dataset::Dataset rows_given(const dataset::Dataset& data, Given given) {
    std::vector<uint32_t> rows;
    for (uint32_t i = 0; i < data.rows(); ++i)
        if (given == Given::kNothing || (data.label[i] == 1) == (given == Given::kFavourable))
            rows.push_back(i);
    return data.subset(rows);
}

base::Status check(const dataset::Dataset& data, const GroupPosteriorParams& params) {
    RAMPART_RETURN_IF_ERROR(gbdt::validate(params.learner));
    if (params.learner.early_stopping_rounds > 0)
        return base::make_error(Reason::kEarlyStoppingOfPosteriors,
                                "early_stopping_rounds is {}; nothing judges the iterates: "
                                "set it to 0 and choose trees",
                                params.learner.early_stopping_rounds);
    RAMPART_RETURN_IF_ERROR(params.given == Given::kNothing ? dataset::check_columns(data)
                                                            : dataset::validate(data));
    if (data.rows() == 0 || data.group.size() != data.rows())
        return base::make_error(Reason::kNoGroups,
                                "{} rows, of which {} have a group: give rows with groups",
                                data.rows(), data.group.size());
    if (data.group_names.size() < 2)
        return base::make_error(Reason::kNoGroups,
                                "{} protected groups, and at least 2 are needed: name "
                                "columns under `protected`",
                                data.group_names.size());
    return base::ok();
}

}  // namespace

base::Result<std::vector<model::Ensemble>> fit_group_posteriors(const dataset::Dataset& data,
                                                                const GroupPosteriorParams& params,
                                                                base::ThreadPool* pool) {
    RAMPART_RETURN_IF_ERROR(check(data, params));
    const auto rows = rows_given(data, params.given);
    const size_t groups = data.group_names.size();
    for (size_t k = 0; k < groups; ++k) {
        const auto count =
            std::count(rows.group.begin(), rows.group.end(), static_cast<int32_t>(k));
        if (count == 0)
            return base::make_error(Reason::kAbsentGroup,
                                    "group '{}' has no row with label {}: leave it out, or "
                                    "take another criterion",
                                    data.group_names[k],
                                    params.given == Given::kFavourable ? 1 : 0);
    }
    RAMPART_TRY(const auto bins, gbdt::Bins::create(rows, params.learner.max_bins, pool));
    std::vector<model::Ensemble> posteriors;
    for (size_t k = groups == 2 ? 1 : 0; k < groups; ++k) {
        std::vector<uint8_t> member(rows.rows());
        for (size_t i = 0; i < member.size(); ++i)
            member[i] = rows.group[i] == static_cast<int32_t>(k) ? 1 : 0;
        gbdt::LogLoss objective(member, rows.weight);
        RAMPART_TRY(posteriors.emplace_back(),
                    gbdt::train(rows, objective, params.learner, pool, {.bins = &bins}));
    }
    return posteriors;
}

std::vector<double> group_posteriors(std::span<const model::Ensemble> posteriors, size_t groups,
                                     const dataset::Dataset& data, base::ThreadPool* pool) {
    RAMPART_CHECK(posteriors.size() == (groups == 2 ? 1 : groups), "{} ensembles for {} groups",
                  posteriors.size(), groups);
    const size_t n = data.rows();
    std::vector<double> out(n * groups), raw(n);
    for (size_t e = 0; e < posteriors.size(); ++e) {
        model::BatchEngine(posteriors[e]).predict_raw(model::TableView::of(data), raw, pool);
        for (size_t i = 0; i < n; ++i)
            out[i * groups + (groups == 2 ? 1 : e)] = model::sigmoid(raw[i]);
    }
    for (size_t i = 0; i < n; ++i) {
        double* const row = out.data() + i * groups;
        if (groups == 2) {
            row[0] = 1 - row[1];
            continue;
        }
        double sum = 0;
        for (size_t k = 0; k < groups; ++k) sum += row[k];
        for (size_t k = 0; k < groups; ++k)
            row[k] = sum > 0 ? row[k] / sum : 1 / static_cast<double>(groups);
    }
    return out;
}

}  // namespace rampart::calibration
