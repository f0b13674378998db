#pragma once

#include <Eigen/Core>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/model/linear_model.hpp"

/// The columns that linear models are fitted to: numbers standardised, then a category each its
/// own, and last an intercept. A row has one category a feature, so X is kept as numbers and codes.
namespace rampart::fair_regression {

inline Eigen::Index signed_of(size_t n) { return static_cast<Eigen::Index>(n); }

struct LinearDesign {
    struct Column {
        size_t feature = 0;
        int64_t code = -1;  // -1: the number itself
        double mean = 0, scale = 1;
    };

    const dataset::Dataset* data = nullptr;
    std::vector<Column> columns;  // all but the intercept

    /// Errors: columns of the data, no rows, "too_large".
    base::Status describe(const dataset::Dataset& table);
    /// Returns the model of the unscaled features, from coefficients of the standardised columns.
    model::LinearModel model_of(const Eigen::VectorXd& beta) const;
    /// Returns the coefficients of a model of the same features.
    Eigen::VectorXd coefficients_of(const model::LinearModel& model) const;

    Eigen::VectorXd scores(const Eigen::VectorXd& beta) const;     // X beta
    Eigen::VectorXd moments(const Eigen::VectorXd& slopes) const;  // X' slopes
    /// X' diag(weights) X, its lower half; weights >= 0.
    Eigen::MatrixXd gram(const Eigen::VectorXd& weights) const;
    Eigen::MatrixXd dense() const;  // [n x columns], without the intercept

  private:
    using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    void list_columns();

    Rows numbers_;                              // [n x numeric features]
    std::vector<std::vector<int32_t>> places_;  // by categorical feature: [n] columns, or -1
};

}  // namespace rampart::fair_regression
