#include <algorithm>
#include <utility>

#include "question.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/gbdt/regression.hpp"
#include "rampart/gbdt/soft_cross_entropy.hpp"
#include "rampart/gbdt/squared.hpp"

namespace rampart::fair_regression {
namespace {

class CellObjective : public gbdt::Objective {
  public:
    explicit CellObjective(const RegressionQuestion& question) : question_(question) {}
    std::string_view name() const override { return "cells"; }
    double initial_score() const override { return 0.5; }
    void gradients_of_rows(std::span<const double> scores, size_t first, std::span<float> g,
                           std::span<float> h) const override {
        for (size_t i = 0; i < g.size(); ++i) {
            const auto slope = question_.cells->slope(first + i, scores[first + i]);
            const double w = weight_of(question_, first + i);
            g[i] = static_cast<float>(w * slope.value);
            h[i] = static_cast<float>(w * slope.curvature);
        }
    }

  private:
    const RegressionQuestion& question_;
};

constexpr size_t kLeastBins = 32, kRowsOfABin = 16;

using Made = base::Result<std::unique_ptr<gbdt::Objective>>;

template <class Loss>
Made boxed(base::Result<Loss> loss) {
    if (!loss) return loss.error();
    return std::unique_ptr<gbdt::Objective>(std::make_unique<Loss>(*std::move(loss)));
}

Made objective_of(const RegressionQuestion& q) {
    switch (q.task) {
        case RegressionTask::kLeastSquares:
            return boxed(gbdt::SquaredError::create(q.targets, q.weights));
        case RegressionTask::kCrossEntropy:
            return boxed(gbdt::SoftCrossEntropy::create(q.targets, q.weights));
        case RegressionTask::kAbsolute:
            return boxed(gbdt::AbsoluteError::create(q.targets, q.weights));
        case RegressionTask::kQuantile:
            return boxed(gbdt::QuantileLoss::create(q.targets, q.weights, q.parameter));
        case RegressionTask::kHuber:
            return boxed(gbdt::HuberLoss::create(q.targets, q.weights, q.parameter));
        case RegressionTask::kPoisson:
            return boxed(gbdt::PoissonLoss::create(q.targets, q.weights));
        case RegressionTask::kCells:
            break;
    }
    return std::unique_ptr<gbdt::Objective>(std::make_unique<CellObjective>(q));
}

}  // namespace

base::Result<GbdtRegressionOracle> GbdtRegressionOracle::create(
    const dataset::Dataset& data, const gbdt::LearnerParams& params, base::ThreadPool* pool,
    const dataset::Dataset* validation) {
    RAMPART_RETURN_IF_ERROR(gbdt::validate(params));
    if (params.early_stopping_rounds > 0)
        return base::invalid_argument("early_stopping_of_reductions",
                                      "early_stopping_rounds is {}; a reduction changes the "
                                      "targets from fit to fit, so there is no loss to stop by: "
                                      "set it to 0 and choose trees",
                                      params.early_stopping_rounds);
    // with few rows, finer bins tell no more and cost most of the time
    const int enough = static_cast<int>(std::max<size_t>(kLeastBins, data.rows() / kRowsOfABin));
    auto own = params;
    own.max_bins = std::min(own.max_bins, enough);
    RAMPART_TRY(auto bins, gbdt::Bins::create(data, own.max_bins, pool));
    return GbdtRegressionOracle(data, own, pool, validation, std::move(bins));
}

GbdtRegressionOracle::GbdtRegressionOracle(const dataset::Dataset& data, gbdt::LearnerParams params,
                                           base::ThreadPool* pool,
                                           const dataset::Dataset* validation, gbdt::Bins bins)
    : data_(&data),
      params_(std::move(params)),
      pool_(pool),
      validation_(validation),
      bins_(std::move(bins)) {}

base::Result<RegressionAnswer> GbdtRegressionOracle::fit(const RegressionQuestion& question) {
    RAMPART_RETURN_IF_ERROR(validate(question, data_->rows()));
    RAMPART_TRY(const auto objective, objective_of(question));
    auto params = params_;
    const auto* const start =
        question.start == nullptr ? nullptr : std::get_if<model::Ensemble>(question.start);
    if (start != nullptr) {
        const size_t trees = start->trees.size() + static_cast<size_t>(std::max(1, question.more));
        if (trees > base::limits::kMaxTrees)
            return base::out_of_range("too_many_trees", "{} trees; at most {} are allowed", trees,
                                      base::limits::kMaxTrees);
        params.trees = static_cast<int>(trees);
    }
    RegressionAnswer answer;
    const gbdt::TrainingOptions options{
        .validation = validation_,
        .progress =
            [&](const gbdt::Progress& p) {
                if (p.iteration < p.trees) return true;
                answer.scores.assign(p.scores.begin(), p.scores.end());
                answer.validation_scores.assign(p.validation_scores.begin(),
                                                p.validation_scores.end());
                return true;
            },
        .start = start,
        .bins = &bins_};
    RAMPART_TRY(answer.model, gbdt::train(*data_, *objective, params, pool_, options));
    return answer;
}

}  // namespace rampart::fair_regression
