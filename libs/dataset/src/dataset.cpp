#include "rampart/dataset/dataset.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rampart/base/check.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/dataset/reasons.hpp"

namespace rampart::dataset {
namespace {

namespace limits = base::limits;

base::Status check_size(std::string_view what, size_t have, size_t rows) {
    if (have == rows) return base::ok();
    return base::make_error(base::Reason::kBadSize, "{} has {} entries for {} rows", what, have,
                            rows);
}

bool is_allowed(const FeatureSpec& spec, float value) {
    if (std::isnan(value)) return true;
    if (spec.kind == FeatureKind::kNumeric) return std::isfinite(value);
    return value >= 0 && value < static_cast<float>(spec.categories.size()) &&
           value == static_cast<float>(static_cast<uint32_t>(value));
}

/// Returns whether no value is infinite: a loop that the compiler can vectorise.
bool all_finite_or_missing(std::span<const float> column) {
    bool infinite = false;
    for (const float x : column) infinite |= std::abs(x) == std::numeric_limits<float>::infinity();
    return !infinite;
}

base::Status check_column(const FeatureSpec& spec, std::span<const float> column) {
    if (spec.kind == FeatureKind::kNumeric && all_finite_or_missing(column)) return base::ok();
    for (size_t row = 0; row < column.size(); ++row) {
        if (is_allowed(spec, column[row])) continue;
        return base::make_error(
            base::Reason::kBadFeatureValue,
            "row {}, feature '{}': {} is not {}; encode values with the schema", row, spec.name,
            column[row],
            spec.kind == FeatureKind::kNumeric
                ? "a finite number"
                : fmt::format("a category code from 0 to {}", spec.categories.size() - 1));
    }
    return base::ok();
}

base::Status check_labels(const Dataset& data) {
    if (!data.label.empty() && !data.target.empty()) {
        return base::make_error(Reason::kTwoLabels,
                                "{} labels and {} targets; a table has one of them",
                                data.label.size(), data.target.size());
    }
    for (size_t row = 0; row < data.target.size(); ++row) {
        if (std::isfinite(data.target[row])) continue;
        return base::make_error(base::Reason::kBadLabel,
                                "row {}: target {} is not finite; leave rows "
                                "without an outcome out",
                                row, data.target[row]);
    }
    for (size_t row = 0; row < data.label.size(); ++row) {
        if (data.label[row] <= 1) continue;
        return base::make_error(base::Reason::kBadLabel, "row {}: label {} is neither 0 nor 1", row,
                                data.label[row]);
    }
    return base::ok();
}

base::Status check_both_labels(const Dataset& data) {
    if (data.numeric()) {
        return base::make_error(
            Reason::kNumericLabel,
            "the label is a number, but a label of two values is needed; "
            "train it with --learner regression-trees or fair-regression, or give "
            "the schema `favourable` instead of `label_range`");
    }
    const auto ones = static_cast<size_t>(std::count(data.label.begin(), data.label.end(), 1));
    if (ones > 0 && ones < data.rows()) return base::ok();
    return base::make_error(Reason::kOneLabel, "all {} rows have label {}; both labels are needed",
                            data.rows(), ones > 0 ? 1 : 0);
}

base::Status check_targets_differ(const Dataset& data) {
    if (!data.numeric()) {
        return base::make_error(Reason::kBinaryLabel,
                                "the label has two values, but a number is needed; "
                                "give the schema `label_range` instead of `favourable`");
    }
    const auto [least, most] = std::minmax_element(data.target.begin(), data.target.end());
    if (*least < *most) return base::ok();
    return base::make_error(Reason::kOneLabel,
                            "all {} rows have the target {}: there is nothing to learn",
                            data.rows(), *least);
}

base::Status check_weights(const Dataset& data) {
    for (size_t row = 0; row < data.weight.size(); ++row) {
        const float w = data.weight[row];
        if (!(w > 0) || !std::isfinite(w)) {
            return base::make_error(base::Reason::kBadWeight,
                                    "row {}: weight {} is not a finite number above 0; leave the "
                                    "row out instead",
                                    row, w);
        }
    }
    return base::ok();
}

base::Status check_groups(const Dataset& data) {
    if (data.group.empty() && data.group_names.empty()) return base::ok();
    if (data.group_names.empty() || data.group_names.size() > limits::kMaxGroups) {
        return base::make_error(base::Reason::kBadGroupCount, "{} groups; allowed are 1 to {}",
                                data.group_names.size(), limits::kMaxGroups);
    }
    RAMPART_RETURN_IF_ERROR(check_size("group", data.group.size(), data.rows()));
    std::vector<size_t> count(data.group_names.size());
    for (size_t row = 0; row < data.rows(); ++row) {
        const int32_t group = data.group[row];
        if (group < 0 || static_cast<size_t>(group) >= count.size()) {
            return base::make_error(base::Reason::kBadGroup,
                                    "row {}: group {}; allowed are 0 to {}", row, group,
                                    count.size() - 1);
        }
        ++count[static_cast<size_t>(group)];
    }
    for (size_t g = 0; g < count.size(); ++g) {
        if (count[g] == 0) {
            return base::make_error(base::Reason::kEmptyGroup,
                                    "group '{}' has no rows; remove it or merge it "
                                    "with another",
                                    data.group_names[g]);
        }
    }
    return base::ok();
}

template <class T>
std::vector<T> pick(const std::vector<T>& values, std::span<const uint32_t> rows) {
    std::vector<T> picked;
    if (values.empty()) return picked;
    picked.reserve(rows.size());
    for (const uint32_t row : rows) picked.push_back(values[row]);
    return picked;
}

}  // namespace

void Dataset::copy_row(size_t row, std::span<float> out) const {
    RAMPART_CHECK(row < rows() && out.size() == columns.size(), "row {} of {}, {} of {} values",
                  row, rows(), out.size(), columns.size());
    for (size_t f = 0; f < columns.size(); ++f) out[f] = columns[f][row];
}

Dataset Dataset::subset(std::span<const uint32_t> picked) const {
    for (const uint32_t row : picked) RAMPART_CHECK(row < rows(), "row {} of {}", row, rows());
    Dataset out;
    out.schema = schema;
    out.columns.reserve(columns.size());
    for (const auto& column : columns) out.columns.push_back(pick(column, picked));
    out.label = pick(label, picked);
    out.target = pick(target, picked);
    out.weight = pick(weight, picked);
    out.group = pick(group, picked);
    out.group_names = group_names;
    return out;
}

base::Status check_columns(const Dataset& data) {
    if (data.rows() > limits::kMaxRows) {
        return base::make_error(Reason::kTooManyRows, "{} rows; allowed are {}", data.rows(),
                                limits::kMaxRows);
    }
    if (data.columns.size() != data.schema.size() || data.columns.empty()) {
        return base::make_error(base::Reason::kBadSize,
                                "{} columns for a schema of {} features (at least 1)",
                                data.columns.size(), data.schema.size());
    }
    for (size_t f = 0; f < data.columns.size(); ++f) {
        const FeatureSpec& spec = data.schema.features()[f];
        RAMPART_RETURN_IF_ERROR(
            check_size(fmt::format("column '{}'", spec.name), data.columns[f].size(), data.rows()));
        RAMPART_RETURN_IF_ERROR(check_column(spec, data.columns[f]));
    }
    if (!data.weight.empty()) {
        RAMPART_RETURN_IF_ERROR(check_size("weight", data.weight.size(), data.rows()));
    }
    RAMPART_RETURN_IF_ERROR(check_weights(data));
    return check_labels(data);
}

base::Status validate(const Dataset& data) {
    if (data.rows() == 0) {
        return base::make_error(base::Reason::kNoRows, "the data set has no rows");
    }
    RAMPART_RETURN_IF_ERROR(check_columns(data));
    RAMPART_RETURN_IF_ERROR(check_both_labels(data));
    return check_groups(data);
}

base::Status validate_numeric(const Dataset& data) {
    if (data.rows() == 0) {
        return base::make_error(base::Reason::kNoRows, "the data set has no rows");
    }
    RAMPART_RETURN_IF_ERROR(check_columns(data));
    RAMPART_RETURN_IF_ERROR(check_targets_differ(data));
    return check_groups(data);
}

}  // namespace rampart::dataset
