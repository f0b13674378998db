#include "linear_design.hpp"

#include <cmath>

namespace rampart::fairness {
namespace {

constexpr double kMostEntries = 1e8;

LinearDesign::Column standardised(size_t feature, const std::vector<float>& values) {
    double sum = 0, squares = 0, count = 0;
    for (const float value : values) {
        if (std::isnan(value)) continue;
        sum += static_cast<double>(value);
        count += 1;
    }
    const double mean = count > 0 ? sum / count : 0;
    for (const float value : values)
        if (!std::isnan(value)) squares += std::pow(static_cast<double>(value) - mean, 2);
    const double sd = count > 0 ? std::sqrt(squares / count) : 0;
    return {feature, -1, mean, sd > 0 ? sd : 1};
}

double entry(const LinearDesign::Column& column, float value) {
    if (std::isnan(value)) return 0;
    const double v = static_cast<double>(value);
    if (column.code < 0) return (v - column.mean) / column.scale;
    return v == static_cast<double>(column.code) ? 1 : 0;
}

}  // namespace

void LinearDesign::list_columns() {
    for (size_t j = 0; j < data->columns.size(); ++j) {
        const auto& feature = data->schema.features()[j];
        if (feature.kind != dataset::FeatureKind::kCategorical) {
            columns.push_back(standardised(j, data->columns[j]));
            continue;
        }
        for (size_t code = 0; code < feature.categories.size(); ++code)
            columns.push_back({j, static_cast<int64_t>(code), 0, 1});
    }
}

void LinearDesign::fill() {
    x.resize(signed_of(data->rows()), signed_of(columns.size() + 1));
    for (size_t c = 0; c < columns.size(); ++c)
        for (size_t i = 0; i < data->rows(); ++i)
            x(signed_of(i), signed_of(c)) = entry(columns[c], data->columns[columns[c].feature][i]);
    x.rightCols(1).setOnes();
}

base::Status LinearDesign::describe(const dataset::Dataset& table) {
    RAMPART_RETURN_IF_ERROR(dataset::check_columns(table));
    if (table.rows() == 0) return base::invalid_argument("no_rows", "the training set has no rows");
    data = &table;
    list_columns();
    const double entries =
        static_cast<double>(table.rows()) * static_cast<double>(columns.size() + 1);
    if (entries > kMostEntries)
        return base::out_of_range("too_large",
                                  "{} rows and {} columns with one a category; a linear model here "
                                  "takes at most {} numbers: use trees, or fewer rows",
                                  table.rows(), columns.size(), kMostEntries);
    fill();
    return base::ok();
}

LinearModel LinearDesign::model_of(const Eigen::VectorXd& beta) const {
    LinearModel out;
    const size_t d = data->columns.size();
    out.slope.resize(d);
    out.mean.resize(d);
    out.category.resize(d);
    out.intercept = beta[beta.size() - 1];
    for (size_t j = 0; j < d; ++j)
        out.category[j].resize(data->schema.features()[j].categories.size());
    for (size_t c = 0; c < columns.size(); ++c) {
        const auto& column = columns[c];
        const double b = beta[signed_of(c)];
        if (column.code >= 0) {
            out.category[column.feature][static_cast<size_t>(column.code)] = b;
            continue;
        }
        out.slope[column.feature] = b / column.scale;
        out.mean[column.feature] = column.mean;
        out.intercept -= b / column.scale * column.mean;
    }
    return out;
}

}  // namespace rampart::fairness
