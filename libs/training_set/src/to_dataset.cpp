#include <algorithm>
#include <cmath>

#include "rampart/training_set/reasons.hpp"
#include "rampart/training_set/training_set_builder.hpp"

namespace rampart::training_set {
namespace {

using base::Result;

/// Returns the rows to learn from; counts the others.
void select_rows(const DevelopmentSet& set, const DatasetOptions& options, TrainingTable& table) {
    for (size_t i = 0; i < set.rows.size(); ++i) {
        const Row& row = set.rows[i];
        if (row.repeat) {
            ++table.left_out_repeats;
        } else if (row.referred) {
            ++table.left_out_referred;
        } else if (row.overridden) {
            ++table.left_out_overridden;
        } else if (!row.approved) {
            ++table.left_out_declined;
        } else if (row.censored) {
            ++table.left_out_censored;
        } else if (!row.label) {
            ++table.left_out_unlabelled;
        } else if (options.learn == LearnFrom::kImpact && !row.impact) {
            ++table.left_out_without_impact;
        } else if (options.groups == GroupBy::kCells && !row.cell) {
            ++table.left_out_without_group;
        } else {
            table.rows.push_back(static_cast<uint32_t>(i));
        }
    }
}

/// Renumbers groups without holes: cells without a row are left out.
void add_groups(const DevelopmentSet& set, TrainingTable& table) {
    std::vector<int32_t> index(set.cell_names.size(), -1);
    for (const uint32_t i : table.rows) index[*set.rows[i].cell] = 0;
    for (size_t cell = 0; cell < index.size(); ++cell) {
        if (index[cell] < 0) {
            table.empty_groups.push_back(set.cell_names[cell]);
        } else {
            index[cell] = static_cast<int32_t>(table.data.group_names.size());
            table.data.group_names.push_back(set.cell_names[cell]);
        }
    }
    for (const uint32_t i : table.rows) table.data.group.push_back(index[*set.rows[i].cell]);
}

}  // namespace

Result<TrainingTable> to_dataset(const DevelopmentSet& set, const DatasetOptions& options) {
    if (!(options.weight_cap >= 1) || !std::isfinite(options.weight_cap)) {
        return base::make_error(Reason::kBadWeightCap,
                                "the weight cap is {}; it has to be finite and at least 1",
                                options.weight_cap);
    }
    TrainingTable table;
    select_rows(set, options, table);
    if (table.rows.empty()) {
        return base::make_error(
            Reason::kNoTrainingRows,
            "none of {} matured decisions can be learnt from: {} repeat a draw, {} were declined, "
            "{} referred, {} overridden, {} have no outcome, {} no impact, {} are censored, {} "
            "have no protected attributes",
            set.rows.size(), table.left_out_repeats, table.left_out_declined,
            table.left_out_referred, table.left_out_overridden, table.left_out_unlabelled,
            table.left_out_without_impact, table.left_out_censored, table.left_out_without_group);
    }
    dataset::Dataset& data = table.data;
    data.schema = set.schema;
    data.columns.resize(set.schema.size());
    for (size_t feature = 0; feature < data.columns.size(); ++feature) {
        data.columns[feature].reserve(table.rows.size());
        for (const uint32_t i : table.rows) data.columns[feature].push_back(set.learnt(i, feature));
    }
    for (const uint32_t i : table.rows) {
        const Row& row = set.rows[i];
        if (options.learn == LearnFrom::kImpact)
            data.target.push_back(*row.impact);
        else
            data.label.push_back(*row.label == 1 ? 1 : 0);
        const double weight = 1 / row.p_approve;
        table.capped_weights += weight > options.weight_cap ? 1 : 0;
        data.weight.push_back(static_cast<float>(std::min(weight, options.weight_cap)));
    }
    if (options.groups == GroupBy::kCells) add_groups(set, table);
    RAMPART_RETURN_IF_ERROR(data.numeric() ? dataset::validate_numeric(data)
                                           : dataset::validate(data));
    return table;
}

}  // namespace rampart::training_set
