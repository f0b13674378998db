#pragma once

#include <Eigen/Core>
#include <functional>
#include <vector>

#include "rampart/budro/metric.hpp"

/// Rows as columns of numbers: the space in which fair distances are measured.
namespace rampart::budro {

inline Eigen::Index eigen_size(size_t n) { return static_cast<Eigen::Index>(n); }

/// Where the columns of a feature are: [first, first + count).
struct ColumnRange {
    size_t first = 0, count = 0;
};

/// [features]; the columns of a feature stand together, in the schema's order.
std::vector<ColumnRange> ranges_of(const std::vector<FairMetric::Column>& columns, size_t features);

/// Means and scales of the rows given, weights by feature (0: no columns).
std::vector<FairMetric::Column> describe_columns(const dataset::Dataset& data,
                                                 std::span<const double> weights);

/// Returns the rows with numbers clipped to their 1 % and 99 % quantiles by weight, where these
/// differ.
dataset::Dataset clipped(const dataset::Dataset& data);

/// One entry; categories is the size of a categorical feature.
double column_entry(const FairMetric::Column& column, size_t categories, float value);

/// Calls `use` with blocks of rows: [rows x columns], the number of the first.
void for_blocks(const dataset::Dataset& data, const std::vector<FairMetric::Column>& columns,
                const std::function<void(const Eigen::Ref<const Eigen::MatrixXd>&, size_t)>& use);

}  // namespace rampart::budro
