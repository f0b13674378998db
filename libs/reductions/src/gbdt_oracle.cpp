#include <algorithm>
#include <utility>

#include "rampart/base/limits.hpp"
#include "rampart/gbdt/log_loss.hpp"
#include "rampart/gbdt/regression.hpp"
#include "rampart/gbdt/soft_cross_entropy.hpp"
#include "rampart/gbdt/squared.hpp"
#include "rampart/model/reasons.hpp"
#include "rampart/reductions/oracle.hpp"
#include "rampart/reductions/reasons.hpp"

namespace rampart::reductions {
namespace {

class CellObjective : public gbdt::Objective {
  public:
    explicit CellObjective(const OracleQuestion& question) : question_(question) {}
    std::string_view name() const override { return "cells"; }
    double initial_score() const override { return 0.5; }
    void gradients_of_rows(std::span<const double> scores, size_t first, std::span<float> g,
                           std::span<float> h) const override {
        for (size_t i = 0; i < g.size(); ++i) {
            const auto slope = question_.cells->slope(first + i, scores[first + i]);
            const double w = question_.weight_of(first + i);
            g[i] = static_cast<float>(w * slope.value);
            h[i] = static_cast<float>(w * slope.curvature);
        }
    }

  private:
    const OracleQuestion& question_;
};

using Made = base::Result<std::unique_ptr<gbdt::Objective>>;

template <class Loss>
Made boxed(base::Result<Loss> loss) {
    if (!loss) return loss.error();
    return std::unique_ptr<gbdt::Objective>(std::make_unique<Loss>(*std::move(loss)));
}

/// The log loss of labels that are all 0 or 1, many rows at a time.
class LabelLoss : public gbdt::Objective {
  public:
    explicit LabelLoss(const OracleQuestion& question)
        : labels_(question.targets.begin(), question.targets.end()),
          loss_(labels_, question.weights) {}
    std::string_view name() const override { return loss_.name(); }
    double initial_score() const override { return loss_.initial_score(); }
    void gradients_of_rows(std::span<const double> scores, size_t first, std::span<float> g,
                           std::span<float> h) const override {
        loss_.gradients_of_rows(scores, first, g, h);
    }

  private:
    std::vector<uint8_t> labels_;
    gbdt::LogLoss loss_;
};

bool are_labels(const std::vector<double>& targets) {
    return std::all_of(targets.begin(), targets.end(),
                       [](double target) { return target == 0 || target == 1; });
}

bool all_equal(const std::vector<double>& targets) {
    return std::all_of(targets.begin(), targets.end(),
                       [&](double target) { return target == targets.front(); });
}

Made objective_of(const OracleQuestion& q) {
    switch (q.task) {
        case OracleTask::kLeastSquares:
            return boxed(gbdt::SquaredError::create(q.targets, q.weights));
        case OracleTask::kClassification:
            if (are_labels(q.targets))
                return std::unique_ptr<gbdt::Objective>(std::make_unique<LabelLoss>(q));
            [[fallthrough]];
        case OracleTask::kCrossEntropy:
            return boxed(gbdt::SoftCrossEntropy::create(q.targets, q.weights));
        case OracleTask::kAbsolute:
            return boxed(gbdt::AbsoluteError::create(q.targets, q.weights));
        case OracleTask::kQuantile:
            return boxed(gbdt::QuantileLoss::create(q.targets, q.weights, q.parameter));
        case OracleTask::kHuber:
            return boxed(gbdt::HuberLoss::create(q.targets, q.weights, q.parameter));
        case OracleTask::kPoisson:
            return boxed(gbdt::PoissonLoss::create(q.targets, q.weights));
        case OracleTask::kCells:
            break;
    }
    return std::unique_ptr<gbdt::Objective>(std::make_unique<CellObjective>(q));
}

}  // namespace

base::Result<GbdtOracle> GbdtOracle::create(const dataset::Dataset& data,
                                            const gbdt::LearnerParams& params,
                                            base::ThreadPool* pool,
                                            const dataset::Dataset* validation) {
    RAMPART_RETURN_IF_ERROR(gbdt::validate(params));
    if (params.early_stopping_rounds > 0)
        return base::make_error(Reason::kEarlyStoppingOfReductions,
                                "early_stopping_rounds is {}; a reduction changes the "
                                "targets from fit to fit, so there is no loss to stop by: "
                                "set it to 0 and choose trees",
                                params.early_stopping_rounds);
    RAMPART_TRY(auto bins, gbdt::Bins::create(data, params.max_bins, pool));
    return GbdtOracle(data, params, pool, validation, std::move(bins));
}

GbdtOracle::GbdtOracle(const dataset::Dataset& data, gbdt::LearnerParams params,
                       base::ThreadPool* pool, const dataset::Dataset* validation, gbdt::Bins bins)
    : data_(&data),
      params_(std::move(params)),
      pool_(pool),
      validation_(validation),
      bins_(std::move(bins)) {}

OracleAnswer GbdtOracle::constant(double score) const {
    OracleAnswer answer;
    model::Ensemble ensemble;
    ensemble.base_score = score;
    answer.model = std::move(ensemble);
    answer.scores.assign(data_->rows(), score);
    if (validation_ != nullptr) answer.validation_scores.assign(validation_->rows(), score);
    return answer;
}

base::Result<OracleAnswer> GbdtOracle::fit(const OracleQuestion& question) {
    RAMPART_RETURN_IF_ERROR(validate(question, data_->rows()));
    RAMPART_TRY(const auto objective, objective_of(question));
    if (question.task == OracleTask::kClassification && all_equal(question.targets))
        return constant(objective->initial_score());
    auto params = params_;
    const auto* const start =
        question.start == nullptr ? nullptr : std::get_if<model::Ensemble>(question.start);
    if (start != nullptr) {
        const size_t trees = start->trees.size() + static_cast<size_t>(std::max(1, question.more));
        if (trees > base::limits::kMaxTrees)
            return base::make_error(model::Reason::kTooManyTrees,
                                    "{} trees; at most {} are allowed", trees,
                                    base::limits::kMaxTrees);
        params.trees = static_cast<int>(trees);
    }
    OracleAnswer answer;
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

}  // namespace rampart::reductions
