#include "linear_design.hpp"

#include <cmath>

#include "rampart/base/reasons.hpp"

namespace rampart::fair_regression {
namespace {

constexpr double kMostNumbers = 1e8;  // numeric features of all rows
constexpr size_t kMostColumns = 10'000;

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

double number(const LinearDesign::Column& column, float value) {
    return std::isnan(value) ? 0 : (static_cast<double>(value) - column.mean) / column.scale;
}

}  // namespace

void LinearDesign::list_columns() {
    const auto& features = data->schema.features();
    for (size_t j = 0; j < features.size(); ++j)
        if (features[j].kind != dataset::FeatureKind::kCategorical)
            columns.push_back(standardised(j, data->columns[j]));
    numbers_.resize(signed_of(data->rows()), signed_of(columns.size()));
    for (size_t c = 0; c < columns.size(); ++c)
        for (size_t i = 0; i < data->rows(); ++i)
            numbers_(signed_of(i), signed_of(c)) =
                number(columns[c], data->columns[columns[c].feature][i]);
    for (size_t j = 0; j < features.size(); ++j) {
        if (features[j].kind != dataset::FeatureKind::kCategorical) continue;
        const auto first = static_cast<int32_t>(columns.size());
        for (size_t code = 0; code < features[j].categories.size(); ++code)
            columns.push_back({j, static_cast<int64_t>(code), 0, 1});
        auto& places = places_.emplace_back();
        for (const float value : data->columns[j])
            places.push_back(std::isnan(value) ? -1 : first + static_cast<int32_t>(value));
    }
}

Eigen::VectorXd LinearDesign::scores(const Eigen::VectorXd& beta) const {
    Eigen::VectorXd out = numbers_ * beta.head(numbers_.cols());
    out.array() += beta[beta.size() - 1];
    for (const auto& places : places_)
        for (size_t i = 0; i < places.size(); ++i)
            if (places[i] >= 0) out[signed_of(i)] += beta[places[i]];
    return out;
}

Eigen::VectorXd LinearDesign::moments(const Eigen::VectorXd& slopes) const {
    Eigen::VectorXd out = Eigen::VectorXd::Zero(signed_of(columns.size() + 1));
    out.head(numbers_.cols()) = numbers_.transpose() * slopes;
    for (const auto& places : places_)
        for (size_t i = 0; i < places.size(); ++i)
            if (places[i] >= 0) out[places[i]] += slopes[signed_of(i)];
    out[out.size() - 1] = slopes.sum();
    return out;
}

Eigen::MatrixXd LinearDesign::gram(const Eigen::VectorXd& weights) const {
    const Eigen::Index last = signed_of(columns.size()), p = numbers_.cols();
    Rows out = Rows::Zero(last + 1, last + 1);
    const Eigen::MatrixXd scaled = weights.cwiseSqrt().asDiagonal() * numbers_;
    out.topLeftCorner(p, p).selfadjointView<Eigen::Lower>().rankUpdate(scaled.transpose());
    out.row(last).head(p) = weights.transpose() * numbers_;
    out(last, last) = weights.sum();
    for (size_t f = 0; f < places_.size(); ++f) {
        for (Eigen::Index i = 0; i < weights.size(); ++i) {
            const Eigen::Index at = places_[f][static_cast<size_t>(i)];
            if (at < 0) continue;
            out.row(at).head(p) += weights[i] * numbers_.row(i);
            out(last, at) += weights[i];
            for (size_t g = 0; g <= f; ++g) {  // columns of earlier features are further left
                const Eigen::Index other = places_[g][static_cast<size_t>(i)];
                if (other >= 0) out(at, other) += weights[i];
            }
        }
    }
    return out;
}

Eigen::MatrixXd LinearDesign::dense() const {
    Eigen::MatrixXd out = Eigen::MatrixXd::Zero(numbers_.rows(), signed_of(columns.size()));
    out.leftCols(numbers_.cols()) = numbers_;
    for (const auto& places : places_)
        for (size_t i = 0; i < places.size(); ++i)
            if (places[i] >= 0) out(signed_of(i), places[i]) = 1;
    return out;
}

base::Status LinearDesign::describe(const dataset::Dataset& table) {
    RAMPART_RETURN_IF_ERROR(dataset::check_columns(table));
    if (table.rows() == 0)
        return base::make_error(base::Reason::kNoRows, "the training set has no rows");
    data = &table;
    size_t numbers = 0, all = 0;
    for (const auto& feature : table.schema.features()) {
        const bool number = feature.kind != dataset::FeatureKind::kCategorical;
        numbers += number ? 1 : 0;
        all += number ? 1 : feature.categories.size();
    }
    const double entries = static_cast<double>(table.rows()) * static_cast<double>(numbers);
    if (entries > kMostNumbers || all > kMostColumns)
        return base::make_error(base::Reason::kTooLarge,
                                "{} rows, {} numeric features and {} columns with one a "
                                "category; a linear model here takes at most {} numbers and {} "
                                "columns: use trees, fewer rows or categories",
                                table.rows(), numbers, all, kMostNumbers, kMostColumns);
    list_columns();
    return base::ok();
}

model::LinearModel LinearDesign::model_of(const Eigen::VectorXd& beta) const {
    model::LinearModel out;
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

Eigen::VectorXd LinearDesign::coefficients_of(const model::LinearModel& model) const {
    Eigen::VectorXd beta(signed_of(columns.size() + 1));
    double intercept = model.intercept;
    for (size_t c = 0; c < columns.size(); ++c) {
        const auto& column = columns[c];
        if (column.code >= 0) {
            beta[signed_of(c)] = model.category[column.feature][static_cast<size_t>(column.code)];
            continue;
        }
        beta[signed_of(c)] = model.slope[column.feature] * column.scale;
        intercept += model.slope[column.feature] * column.mean;
    }
    beta[beta.size() - 1] = intercept;
    return beta;
}

}  // namespace rampart::fair_regression
