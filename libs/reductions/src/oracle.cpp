#include "rampart/reductions/oracle.hpp"

#include <algorithm>
#include <utility>

#include "rampart/gbdt/log_loss.hpp"
#include "rampart/gbdt/soft_cross_entropy.hpp"

namespace rampart::reductions {

base::Result<GbdtOracle> GbdtOracle::create(const dataset::Dataset& data,
                                            const gbdt::LearnerParams& params,
                                            base::ThreadPool* pool,
                                            const dataset::Dataset* validation) {
    RAMPART_RETURN_IF_ERROR(gbdt::validate(params));
    if (params.early_stopping_rounds > 0)
        return base::invalid_argument("early_stopping_of_reductions",
                                      "early_stopping_rounds is {}; a reduction changes the labels "
                                      "from fit to fit, so there is no loss to stop by: set it to "
                                      "0 and choose trees",
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

OracleAnswer GbdtOracle::constant(double raw) const {
    OracleAnswer answer;
    answer.ensemble.base_score = raw;
    answer.scores.assign(data_->rows(), raw);
    if (validation_ != nullptr) answer.validation_scores.assign(validation_->rows(), raw);
    return answer;
}

base::Result<OracleAnswer> GbdtOracle::fit(const WeightedTargets& question) {
    const auto& targets = question.targets;
    if (targets.size() != data_->rows())
        return base::invalid_argument("bad_size", "{} targets for {} rows", targets.size(),
                                      data_->rows());
    // checks the question, too
    RAMPART_TRY(auto soft,
                gbdt::SoftCrossEntropy::create(std::vector<double>(targets.begin(), targets.end()),
                                               question.weights));
    const auto alike = [&](float target) { return target == targets.front(); };
    if (std::all_of(targets.begin(), targets.end(), alike)) return constant(soft.initial_score());

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
        .bins = &bins_};
    const auto run = [&](gbdt::Objective& objective) {
        return gbdt::train(*data_, objective, params_, pool_, options);
    };
    const auto hard = [](float target) { return target == 0 || target == 1; };
    if (std::all_of(targets.begin(), targets.end(), hard)) {
        // the same loss, computed many rows at a time
        const std::vector<uint8_t> labels(targets.begin(), targets.end());
        gbdt::LogLoss loss(labels, question.weights);
        RAMPART_TRY(answer.ensemble, run(loss));
    } else {
        RAMPART_TRY(answer.ensemble, run(soft));
    }
    return answer;
}

}  // namespace rampart::reductions
