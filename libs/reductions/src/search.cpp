#include "search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rampart/base/check.hpp"
#include "rampart/fairgbm/reasons.hpp"
#include "rampart/reductions/reasons.hpp"

namespace rampart::reductions {
namespace {

base::Status check_validation(const dataset::Dataset& data, const dataset::Dataset& validation) {
    if (!(validation.schema == data.schema) || validation.group_names != data.group_names)
        return base::make_error(fairgbm::Reason::kOtherValidationSchema,
                                "the validation rows have other features or groups than the "
                                "training rows: split one table");
    if (auto status = dataset::validate(validation); !status)
        return status.error().with_context("validation rows");
    return base::ok();
}

base::Status check_answer(const OracleAnswer& answer, size_t rows, size_t validation_rows) {
    if (answer.scores.size() != rows || answer.validation_scores.size() != validation_rows)
        return base::make_error(
            Reason::kBadOracle, "the oracle scored {} and {} rows, there are {} and {}",
            answer.scores.size(), answer.validation_scores.size(), rows, validation_rows);
    if (!std::holds_alternative<model::Ensemble>(answer.model))
        return base::make_error(Reason::kBadOracle,
                                "the oracle's model is no ensemble of trees; a mixture has "
                                "trees as members");
    return base::ok();
}

/// Returns a threshold that decides these rows alike and lies halfway between two scores: when it
/// is turned into a probability and back, rounding moves no row to the other side.
double amid(std::span<const double> scores, double threshold) {
    double below = -std::numeric_limits<double>::infinity(), above = -below;
    for (const double score : scores) {
        if (score >= threshold)
            above = std::min(above, score);
        else
            below = std::max(below, score);
    }
    if (std::isinf(above)) return below + 1;
    if (std::isinf(below)) return above - 1;
    return below + (above - below) / 2;
}

/// Returns a key that is equal for costs that ask the same question.
std::vector<float> key_of(const fairness::RateSystem& system, const std::vector<double>& costs) {
    double mean = 0;
    for (size_t cell = 0; cell < costs.size(); ++cell)
        mean += system.cell_weight()[cell] * std::abs(costs[cell]) / system.total_weight();
    std::vector<float> key(costs.size());
    for (size_t cell = 0; cell < costs.size(); ++cell)
        if (mean > 0) key[cell] = static_cast<float>(costs[cell] / mean);
    return key;
}

}  // namespace

base::Result<Search> Search::create(const dataset::Dataset& data, const ReductionParams& params,
                                    base::ThreadPool* pool, const ReductionOptions& options) {
    RAMPART_RETURN_IF_ERROR(reductions::validate(params));
    RAMPART_RETURN_IF_ERROR(dataset::validate(data));
    RAMPART_TRY(auto system, fairness::RateSystem::create(data, params.constraints));
    std::optional<Rows> validation;
    if (options.validation != nullptr) {
        RAMPART_RETURN_IF_ERROR(check_validation(data, *options.validation));
        auto made = fairness::RateSystem::create(*options.validation, params.constraints);
        if (!made) return made.error().with_context("validation rows");
        validation = Rows{options.validation, *std::move(made), {}};
    }
    Search search(Rows{&data, std::move(system), {}}, std::move(validation), params, options);
    if (options.oracle == nullptr) {
        auto made = GbdtOracle::create(data, params.learner, pool, options.validation);
        if (!made) return made.error();
        search.own_.emplace(*std::move(made));
    }
    return search;
}

Search::Search(Rows train, std::optional<Rows> validation, const ReductionParams& params,
               const ReductionOptions& options)
    : train_(std::move(train)),
      validation_(std::move(validation)),
      params_(&params),
      options_(&options),
      threshold_(params.operating_point.moves() ? 0.5 : params.operating_point.threshold) {}

base::Result<size_t> Search::ask(const std::vector<double>& costs) {
    const auto key = key_of(train_.system, costs);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    Oracle* const oracle = options_->oracle != nullptr ? options_->oracle : &*own_;
    RAMPART_TRY(auto answer, oracle->fit(relabelled(train_.system, *train_.data, costs)));
    RAMPART_RETURN_IF_ERROR(
        check_answer(answer, train_.data->rows(), validation_ ? validation_->data->rows() : 0));
    ReductionTrial trial;
    trial.costs = costs;
    // the threshold is in the costs: raw score 0 is as likely as not to be worth it
    if (params_->operating_point.moves()) {
        const auto& scores = validation_ ? answer.validation_scores : answer.scores;
        trial.threshold =
            amid(scores, fairness::threshold_of(params_->operating_point, *judging().data, scores));
    }
    trial.train = look(train_, answer.scores, trial.threshold);
    if (validation_)
        trial.validation = look(*validation_, answer.validation_scores, trial.threshold);
    trials_.push_back(std::move(trial));
    ensembles_.push_back(std::get<model::Ensemble>(std::move(answer.model)));
    known_.emplace(key, trials_.size() - 1);
    return trials_.size() - 1;
}

bool Search::report(double gap) const {
    if (!options_->progress) return true;
    return options_->progress({trials_.size(), static_cast<size_t>(params_->fits), gap});
}

ReductionJudged Search::look(Rows& rows, std::span<const double> scores, double threshold) const {
    auto approved = rows.system.approved_from(*rows.data, scores, threshold);
    ReductionJudged out{rows.system.values(approved),
                        decision_loss(rows.system, approved, threshold_)};
    rows.approved.push_back(std::move(approved));
    return out;
}

ReductionJudged Search::mixed(const std::vector<double>& weights, bool judged) const {
    return mixed(judged ? judging() : train_, weights);
}

ReductionJudged Search::mixed(const Rows& rows, const std::vector<double>& weights) const {
    RAMPART_CHECK(weights.size() <= trials_.size());
    std::vector<double> approved(rows.system.cells());
    for (size_t i = 0; i < weights.size(); ++i)
        for (size_t cell = 0; cell < approved.size(); ++cell)
            approved[cell] += weights[i] * rows.approved[i][cell];
    return {rows.system.values(approved), decision_loss(rows.system, approved, threshold_)};
}

ReductionResult Search::result(const std::vector<double>& weights,
                               const fairness::RateValues& tightest) {
    ReductionResult out;
    for (size_t i = 0; i < weights.size(); ++i) {
        trials_[i].weight = weights[i];
        if (weights[i] > 0)
            out.members.push_back({std::move(ensembles_[i]), trials_[i].threshold, weights[i]});
    }
    auto& verdict = out.verdict;
    verdict.judged_on = validation_ ? fairgbm::JudgedOn::kValidation : fairgbm::JudgedOn::kTrain;
    verdict.train = mixed(train_, weights);
    if (validation_) verdict.validation = mixed(*validation_, weights);
    const auto& decisive = validation_ ? *verdict.validation : verdict.train;
    verdict.feasibility = decisive.values.violation <= kRateRounding
                              ? fairgbm::Feasibility::kFeasible
                              : fairgbm::Feasibility::kInfeasible;
    verdict.tightest = tightest;
    out.trials = std::move(trials_);
    return out;
}

}  // namespace rampart::reductions
