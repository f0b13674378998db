#pragma once

#include <Eigen/Core>
#include <vector>

#include "rampart/fairness/regression/oracle.hpp"

/// The columns that linear models are fitted to: numbers standardised, a category each its own, and
/// last an intercept.
namespace rampart::fairness {

inline Eigen::Index signed_of(size_t n) { return static_cast<Eigen::Index>(n); }

struct LinearDesign {
    struct Column {
        size_t feature = 0;
        int64_t code = -1;  // -1: the number itself
        double mean = 0, scale = 1;
    };

    const dataset::Dataset* data = nullptr;
    std::vector<Column> columns;
    Eigen::MatrixXd x;  // [n x columns + 1]

    /// Errors: columns of the data, no rows, "too_large".
    base::Status describe(const dataset::Dataset& table);
    /// Of the features as they are, from coefficients of the standardised columns.
    LinearModel model_of(const Eigen::VectorXd& beta) const;

  private:
    void list_columns();
    void fill();
};

}  // namespace rampart::fairness
