#include "rampart/fairgbm/train.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>

#include "iterates.hpp"
#include "proxy_kernel.hpp"
#include "rampart/base/check.hpp"
#include "rampart/base/enum_names.hpp"
#include "rampart/fairgbm/reasons.hpp"

namespace rampart::fairgbm {
namespace {

using Name = base::EnumName<Output>;
constexpr std::array kNames = {Name{Output::kBest, "best"}, Name{Output::kLast, "last"},
                               Name{Output::kRandomized, "randomized"}};

constexpr double kNoPressure = 1e-300;  // multipliers that vanish in the gradients
constexpr double kLargestStep = 1e6;    // for multipliers
constexpr double kFewAlike = 0.01;      // where fewer get the rarer decision, others are tried

base::Status check(const dataset::Dataset& data, const FairGbmParams& params,
                   const FairGbmOptions& options) {
    if (!(params.min_gain_share >= 0 && params.min_gain_share <= 1))
        return base::make_error(Reason::kBadMinGainShare, "min gain share {} is outside [0, 1]",
                                params.min_gain_share);
    if ((options.start == nullptr) != (options.state == nullptr))
        return base::make_error(Reason::kIncompleteResumeState,
                                "to go on, FairGBM needs trees and multipliers: give both");
    const auto* validation = options.validation;
    if (validation == nullptr) return base::ok();
    if (!(validation->schema == data.schema) || validation->group_names != data.group_names)
        return base::make_error(Reason::kOtherValidationSchema,
                                "the validation rows have other features or groups than the "
                                "training rows: split one table");
    if (auto status = dataset::validate(*validation); !status)
        return status.error().with_context("validation rows");
    return base::ok();
}

/// Evaluates iterates on the validation rows.
class Evaluator {
  public:
    static base::Result<Evaluator> create(const dataset::Dataset& rows,
                                          const FairGbmParams& params) {
        auto system = fairness::RateSystem::create(rows, params.constraints);
        if (!system) return system.error().with_context("validation rows");
        return Evaluator(rows, *std::move(system), params.lagrangian.operating_point);
    }

    const fairness::RateSystem& system() const { return system_; }

    Scored evaluate(std::span<const double> scores, double* threshold = nullptr) {
        const double at = fairness::threshold_of(point_, *rows_, scores);
        if (threshold != nullptr) *threshold = at;
        Scored out;
        out.approved = system_.approved_from(*rows_, scores, at);
        log_loss_.gradients_of_rows(scores, 0, g_, h_);
        const float* const weights = rows_->weight.empty() ? nullptr : rows_->weight.data();
        out.loss = brier_sum(g_.data(), weights, g_.size()) / system_.total_weight();
        return out;
    }

  private:
    Evaluator(const dataset::Dataset& rows, fairness::RateSystem system,
              const fairness::OperatingPoint& point)
        : rows_(&rows),
          system_(std::move(system)),
          point_(point),
          log_loss_(rows),
          g_(rows.rows()),
          h_(rows.rows()) {}

    const dataset::Dataset* rows_;
    fairness::RateSystem system_;
    fairness::OperatingPoint point_;
    gbdt::LogLoss log_loss_;
    std::vector<float> g_, h_;
};

/// Evaluates each iterate on the validation rows, and ends the run when nothing gets
/// better.
class EarlyStopping {
  public:
    EarlyStopping(const FairGbmOptions& options, const FairGbmObjective& objective,
                  Evaluator* evaluator, const dataset::Dataset& data, const FairGbmParams& params)
        : options_(options),
          objective_(objective),
          evaluator_(evaluator),
          data_(data),
          rounds_(params.learner.early_stopping_rounds),
          moves_(params.lagrangian.operating_point.moves()) {}

    bool operator()(const gbdt::Progress& progress) {
        bool go_on = true;
        if (evaluator_ != nullptr) {
            double threshold = 0;
            Scored now = evaluator_->evaluate(progress.validation_scores, &threshold);
            // where the validation rows set the threshold, it is served: it decides here, too
            now.approved_train =
                moves_ ? objective_.system().approved_from(data_, progress.scores, threshold)
                       : objective_.trace().back().approved;
            Judges{&evaluator_->system(), &objective_.system()}.judge(now);
            rarest_.add(now);
            iterates_.push_back(std::move(now));
            thresholds_.push_back(threshold);
            if (iterates_.size() == 1 || replaces(iterates_.back(), iterates_[best_]))
                best_ = iterates_.size() - 1;
            go_on = rounds_ == 0 || iterates_.size() - 1 - best_ < static_cast<size_t>(rounds_);
        }
        if (options_.progress && !options_.progress(progress)) return false;
        return go_on;
    }

    const std::vector<Scored>& iterates() const { return iterates_; }
    const std::vector<double>& thresholds() const { return thresholds_; }

  private:
    bool replaces(const Scored& now, const Scored& best) const {
        const bool now_alike = rarest_.nearly_all(now), best_alike = rarest_.nearly_all(best);
        return now_alike == best_alike ? better(now, best) : best_alike;
    }

    const FairGbmOptions& options_;
    const FairGbmObjective& objective_;
    Evaluator* evaluator_;
    const dataset::Dataset& data_;
    int rounds_;
    bool moves_;
    size_t best_ = 0;
    RarestDecision rarest_;
    std::vector<Scored> iterates_;
    std::vector<double> thresholds_;
};

Scored of(const FairGbmIteration& iteration, const fairness::RateSystem& system) {
    Scored out;
    out.approved = iteration.approved;
    out.loss = iteration.loss;
    Judges{&system, nullptr}.judge(out);
    return out;
}

/// The iterates first … last as one randomized classifier (one iterate: itself).
Judged judged(const std::vector<Scored>& iterates, size_t first, size_t last,
              const fairness::RateSystem& system, double threshold) {
    Judged out;
    std::vector<double> approved(system.cells());
    const auto count = static_cast<double>(last - first + 1);
    for (size_t i = first; i <= last; ++i) {
        out.loss += iterates[i].loss / count;
        for (size_t cell = 0; cell < approved.size(); ++cell)
            approved[cell] += iterates[i].approved[cell] / count;
    }
    out.values = system.values(approved);
    out.threshold = threshold;
    return out;
}

double share_of_ones(const dataset::Dataset& data) {
    double ones = 0, all = 0;
    for (size_t i = 0; i < data.rows(); ++i) {
        const auto w = static_cast<double>(data.weight_of(i));
        ones += data.label[i] * w;
        all += w;
    }
    return ones / all;
}

/// Selects an iterate and fills the verdict. The trees before trace.front() belong to options.start.
void select_iterate(FairGbmResult& result, const FairGbmObjective& objective,
                    const EarlyStopping& stopping, Evaluator* evaluator,
                    const dataset::Dataset& data, const FairGbmParams& params,
                    const FairGbmOptions& options) {
    auto& verdict = result.verdict;
    const size_t before = options.start == nullptr ? 0 : options.start->trees.size();
    std::vector<Scored> train;
    for (const auto& iteration : result.trace) train.push_back(of(iteration, objective.system()));
    const bool elsewhere = evaluator != nullptr;
    const auto& system = elsewhere ? evaluator->system() : objective.system();
    const auto& iterates = elsewhere ? stopping.iterates() : train;
    const double ones = share_of_ones(elsewhere ? *options.validation : data);
    const Judges judges{&system, elsewhere ? &objective.system() : nullptr};
    const Choice choice =
        choose(ones * (1 - ones), iterates, judges, params.output, params.min_gain_share);

    verdict.judged_on = elsewhere ? JudgedOn::kValidation : JudgedOn::kTrain;
    verdict.first = before + choice.first + 1;
    verdict.trees = before + choice.last + 1;
    verdict.trees_grown = before + result.trace.size();
    for (size_t i = 0; elsewhere && i < train.size(); ++i)
        train[i].approved = iterates[i].approved_train;
    verdict.train = judged(
        train, choice.first, choice.last, objective.system(),
        elsewhere ? stopping.thresholds()[choice.last] : result.trace[choice.last].threshold);
    if (elsewhere) {
        for (size_t i = 0; i < iterates.size(); ++i)
            result.validation_trace.push_back(
                judged(iterates, i, i, system, stopping.thresholds()[i]));
        verdict.validation =
            judged(iterates, choice.first, choice.last, system, stopping.thresholds()[choice.last]);
    }
    const Judged& decisive = elsewhere ? *verdict.validation : verdict.train;
    verdict.feasibility = std::max(decisive.values.violation, verdict.train.values.violation) <= 0
                              ? Feasibility::kFeasible
                              : Feasibility::kInfeasible;
    verdict.tightest = system.values(iterates[choice.tightest].approved);
    verdict.tightest.violation = choice.least_violation;
    verdict.rarer = std::min(decisive.values.approval, 1 - decisive.values.approval);
    verdict.most_rarer = choice.most_rarer;
    for (size_t i = choice.first; i <= choice.last; ++i)
        result.thresholds.push_back(elsewhere ? stopping.thresholds()[i]
                                              : result.trace[i].threshold);
    result.threshold = decisive.threshold;
    result.state.multipliers = result.trace[choice.last].multipliers;
    result.ensemble.trees.resize(verdict.trees);
}

/// Returns whether a run's choice is taken in place of another's: it does not decide nearly all
/// alike, it keeps the constraints, its trees come nearer to them. if_equal: the answer where both
/// come as near.
bool preferred(const FairGbmVerdict& next, const FairGbmVerdict& best, bool if_equal) {
    const double enough = kNearlyAll * std::max(next.most_rarer, best.most_rarer);
    const bool decides = next.rarer >= enough, best_decides = best.rarer >= enough;
    if (decides != best_decides) return decides;
    if (next.feasibility != best.feasibility) return next.feasibility == Feasibility::kFeasible;
    if (next.feasibility == Feasibility::kFeasible) return false;
    const double here = next.tightest.violation, there = best.tightest.violation;
    return here < there || (if_equal && here == there);
}

/// Trains once: learner and multipliers in turn.
base::Result<FairGbmResult> run(const dataset::Dataset& data, const FairGbmParams& params,
                                base::ThreadPool* pool, const FairGbmOptions& options) {
    RAMPART_RETURN_IF_ERROR(gbdt::validate(params.learner));
    RAMPART_TRY(auto objective,
                FairGbmObjective::create(data, params.constraints, params.lagrangian,
                                         params.learner.learning_rate));
    RAMPART_RETURN_IF_ERROR(check(data, params, options));
    if (options.state != nullptr)
        RAMPART_RETURN_IF_ERROR(objective.restore(options.state->multipliers));
    std::optional<Evaluator> evaluator;
    if (options.validation != nullptr) {
        auto made = Evaluator::create(*options.validation, params);
        if (!made) return made.error();
        evaluator.emplace(*std::move(made));
    }
    EarlyStopping stopping(options, objective, evaluator ? &*evaluator : nullptr, data, params);

    auto learner = params.learner;
    learner.early_stopping_rounds = 0;  // the loss alone would stop at an unfair iterate
    const gbdt::TrainingOptions how{.validation = options.validation,
                                    .progress =
                                        [&](const gbdt::Progress& p) {
                                            const bool go_on = stopping(p);
                                            if (!go_on || p.iteration == p.trees)
                                                objective.finish(p.scores);
                                            return go_on;
                                        },
                                    .start = options.start};
    RAMPART_TRY(auto ensemble, gbdt::train(data, objective, learner, pool, how));
    FairGbmResult result;
    result.ensemble = std::move(ensemble);
    result.trace = objective.trace();
    select_iterate(result, objective, stopping, evaluator ? &*evaluator : nullptr, data, params,
                   options);
    return result;
}

}  // namespace

std::string missed_text(const fairness::RateConstraints& constraints,
                        const fairness::RateValues& values) {
    RAMPART_CHECK(values.gaps.size() == constraints.parity.size() &&
                  values.targets.size() == constraints.targets.size());
    std::vector<std::string> missed;
    for (size_t i = 0; i < values.gaps.size(); ++i) {
        const auto& c = constraints.parity[i];
        if (values.gaps[i] <= c.tolerance) continue;
        missed.push_back(fmt::format("{}{}{} differs by {:.4f} between groups, {} is allowed",
                                     to_string(c.rate), c.attribute.empty() ? "" : "@", c.attribute,
                                     values.gaps[i], c.tolerance));
    }
    for (size_t i = 0; i < values.targets.size(); ++i) {
        const auto& target = constraints.targets[i];
        if (values.targets[i] > target.at_most)
            missed.push_back(fmt::format("{} is {:.4f}, {} is allowed", to_string(target.rate),
                                         values.targets[i], target.at_most));
    }
    return fmt::format("{}", fmt::join(missed, "; "));
}

std::string missed_constraints(const FairGbmVerdict& verdict,
                               const fairness::RateConstraints& constraints) {
    const auto& train = verdict.train.values;
    const bool in_training =
        !verdict.validation || verdict.validation->values.violation < train.violation;
    const auto& worse = in_training ? train : verdict.validation->values;
    if (worse.violation <= 0) return {};
    return fmt::format("{} ({} rows)", missed_text(constraints, worse),
                       in_training ? "training" : "validation");
}

std::string_view to_string(Output output) { return base::name_of(kNames, output); }

base::Result<Output> parse_output(std::string_view text) {
    return base::value_of(kNames, text, Reason::kUnknownOutput);
}

base::Result<FairGbmResult> train_fairgbm(const dataset::Dataset& data, const FairGbmParams& params,
                                          base::ThreadPool* pool, const FairGbmOptions& options) {
    bool stopped = false;
    FairGbmOptions watched = options;
    watched.progress = [&](const gbdt::Progress& p) {
        stopped = options.progress && !options.progress(p);
        return !stopped;
    };
    RAMPART_TRY(auto best, run(data, params, pool, watched));
    best.verdict.multiplier_step = params.lagrangian.ascent.step;
    const auto done = [&] {
        return stopped || (best.verdict.feasibility == Feasibility::kFeasible &&
                           best.verdict.rarer >= kFewAlike);
    };
    if (params.output != Output::kBest || params.lagrangian.ascent.paper_compat ||
        options.start != nullptr)
        return best;
    const bool moves = params.lagrangian.operating_point.moves();
    for (const double times : {4.0, 16.0, 64.0, 0.0}) {
        if (times > 0 && !moves) continue;
        if (done()) return best;
        FairGbmParams other = params;
        auto& ascent = other.lagrangian.ascent;
        ascent.step = std::min(times * ascent.step, kLargestStep);
        const bool plain = times == 0;
        if (plain) {
            ascent.step = kNoPressure;
            ascent.damping = 0;  // pushes by itself
        }
        RAMPART_TRY(auto next, run(data, other, pool, watched));
        next.verdict.plain = plain;
        next.verdict.multiplier_step = plain ? 0 : ascent.step;
        if (preferred(next.verdict, best.verdict, plain)) best = std::move(next);
    }
    return best;
}

}  // namespace rampart::fairgbm
