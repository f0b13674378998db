#include "rampart/fair_regression/baselines.hpp"

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <algorithm>

#include "best_response.hpp"
#include "linear_design.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/fair_regression/reasons.hpp"

namespace rampart::fair_regression {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Eigen::Index kMostEntries = 100'000'000;

/// Slopes that leave every direction of `forbidden` alone, as columns.
MatrixXd complement(const MatrixXd& forbidden) {
    Eigen::ColPivHouseholderQR<MatrixXd> qr(forbidden);
    qr.setThreshold(1e-10);
    const MatrixXd q = qr.householderQ() * MatrixXd::Identity(forbidden.rows(), forbidden.rows());
    return q.rightCols(forbidden.rows() - qr.rank());
}

}  // namespace

base::Result<BaselinePredictor> fit_unconstrained(const RegressionRows& rows,
                                                  const RegressionLoss& loss,
                                                  reductions::Oracle& oracle,
                                                  size_t validation_rows) {
    RAMPART_RETURN_IF_ERROR(validate(rows));
    RAMPART_TRY(auto response,
                fit_loss(loss, {rows.label.begin(), rows.label.end()},
                         {rows.weight.begin(), rows.weight.end()}, oracle, validation_rows));
    BaselinePredictor out{.model = std::move(response.model),
                          .predictions = std::move(response.predictions),
                          .validation_predictions = std::move(response.validation_predictions)};
    for (auto* predictions : {&out.predictions, &out.validation_predictions})
        for (double& u : *predictions) u = std::clamp(u, 0.0, 1.0);
    return out;
}

base::Result<model::LinearModel> fit_seo(const dataset::Dataset& data, const RegressionRows& rows,
                                         double ridge) {
    RAMPART_RETURN_IF_ERROR(validate(rows));
    if (rows.groups < 2)
        return base::make_error(Reason::kBadGroups,
                                "one group: there is nothing to be uncorrelated with");
    if (data.rows() != rows.size())
        return base::make_error(base::Reason::kBadSize, "{} rows of features and {} labels",
                                data.rows(), rows.size());
    if (!(ridge >= 1e-9 && ridge <= 1e6))
        return base::make_error(Reason::kBadLinearParameter, "ridge is {}; allowed are 1e-9 to 1e6",
                                ridge);
    LinearDesign design;
    RAMPART_RETURN_IF_ERROR(design.describe(data));
    const auto n = signed_of(rows.size()), d = signed_of(design.columns.size());
    VectorXd weight(n), label(n);
    MatrixXd member = MatrixXd::Zero(n, signed_of(rows.groups));
    for (size_t row = 0; row < rows.size(); ++row) {
        weight[signed_of(row)] = rows.weight_of(row);
        label[signed_of(row)] = rows.label[row];
        member(signed_of(row), signed_of(rows.group_of(row))) = 1;
    }
    weight /= weight.sum();
    if (n * d > kMostEntries)
        return base::make_error(base::Reason::kTooLarge,
                                "{} rows and {} columns with one a category; this takes at most "
                                "{} numbers: use fewer rows",
                                n, d, kMostEntries);
    const MatrixXd x = design.dense();
    const Eigen::RowVectorXd mean = weight.transpose() * x;
    const double mean_label = weight.dot(label);
    const MatrixXd centred = x.rowwise() - mean;
    const MatrixXd weighted = weight.asDiagonal() * centred;
    const MatrixXd free = complement(weighted.transpose() * member);
    VectorXd beta = VectorXd::Zero(d + 1);
    if (free.cols() > 0) {
        const MatrixXd inner = centred * free;
        MatrixXd gram = inner.transpose() * weight.asDiagonal() * inner;
        gram.diagonal().array() += ridge;
        const VectorXd moment = free.transpose() * (weighted.transpose() * label);
        beta.head(d) = free * gram.ldlt().solve(moment);
    }
    beta[d] = mean_label - mean.dot(beta.head(d));
    return design.model_of(beta);
}

}  // namespace rampart::fair_regression
