#include "rampart/budro/train.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "objective.hpp"
#include "rampart/base/enum_names.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/budro/reasons.hpp"
#include "rampart/dataset/reasons.hpp"
#include "rampart/gbdt/reasons.hpp"
#include "rampart/model/batch_engine.hpp"

namespace rampart::budro {

namespace {

constexpr std::array kFirstTrees = {
    base::EnumName<FirstTree>{FirstTree::kData, "data"},
    base::EnumName<FirstTree>{FirstTree::kBothLabels, "both-labels"},
    base::EnumName<FirstTree>{FirstTree::kNone, "none"}};
constexpr std::array kSelections = {
    base::EnumName<ModelSelection>{ModelSelection::kLast, "last"},
    base::EnumName<ModelSelection>{ModelSelection::kLeastRobustLoss, "robust-loss"},
    base::EnumName<ModelSelection>{ModelSelection::kMostBalancedAccuracy, "balanced-accuracy"}};

base::Status check(const dataset::Dataset& data, const Points& points, const BudroParams& params,
                   const BudroOptions& options) {
    RAMPART_RETURN_IF_ERROR(validate(params));
    if (data.rows() == 0) return base::make_error(base::Reason::kNoRows, "there are no rows");
    RAMPART_RETURN_IF_ERROR(dataset::check_columns(data));
    if (points.rows != data.rows())
        return base::make_error(base::Reason::kBadSize,
                                "{} points for {} rows: one for each is wanted", points.rows,
                                data.rows());
    const auto* validation = options.validation;
    if (validation == nullptr) {
        if (params.selection == ModelSelection::kMostBalancedAccuracy ||
            options.validation_points != nullptr)
            return base::make_error(gbdt::Reason::kNoValidationSet,
                                    "to keep the model of the most balanced accuracy, or for "
                                    "validation points, give validation rows");
        return base::ok();
    }
    if (!(validation->schema == data.schema) || validation->rows() == 0)
        return base::make_error(dataset::Reason::kOtherSchema,
                                "the validation rows have other features than the training "
                                "rows, or are none: split one table");
    if (const auto status = dataset::check_columns(*validation); !status)
        return status.error().with_context("validation rows");
    return base::ok();
}

double sum_of_weights(const dataset::Dataset& data) {
    double sum = 0;
    for (size_t i = 0; i < data.rows(); ++i) sum += static_cast<double>(data.weight_of(i));
    return sum;
}

/// All rows with their own label, or half with each label.
std::vector<double> unmoved(const dataset::Dataset& data, double total, bool both) {
    const size_t n = data.rows();
    std::vector<double> mass(2 * n);
    for (size_t i = 0; i < n; ++i) {
        const double w = static_cast<double>(data.weight_of(i)) / total;
        mass[data.label[i] * n + i] = both ? w / 2 : w;
        if (both) mass[(1 - data.label[i]) * n + i] = w / 2;
    }
    return mass;
}

std::optional<double> balanced_accuracy(const dataset::Dataset& data,
                                        std::span<const double> scores, double threshold) {
    double right[2] = {0, 0}, all[2] = {0, 0};
    for (size_t i = 0; i < data.rows(); ++i) {
        const auto w = static_cast<double>(data.weight_of(i));
        all[data.label[i]] += w;
        if ((scores[i] >= threshold) == (data.label[i] == 1)) right[data.label[i]] += w;
    }
    if (!(all[0] > 0 && all[1] > 0)) return std::nullopt;
    return (right[0] / all[0] + right[1] / all[1]) / 2;
}

gbdt::LearnerParams scaled(gbdt::LearnerParams learner, double by) {
    constexpr double kMost = 1e12;  // gbdt::validate()'s
    for (double* value :
         {&learner.l1, &learner.l2, &learner.min_hessian_in_leaf, &learner.min_gain})
        *value = std::min(*value * by, kMost);
    return learner;
}

/// One training.
class Training {
  public:
    static base::Result<Training> create(const dataset::Dataset& data, const Points& points,
                                         const BudroParams& params, base::ThreadPool* pool,
                                         const BudroOptions& options) {
        Training out(data, params, pool, options);
        RAMPART_TRY(auto attack, Attack::create(data, points, params, *out.loss_, pool));
        out.attack_.emplace(std::move(attack));
        if (options.validation_points != nullptr) {
            auto other = Attack::create(*options.validation, *options.validation_points, params,
                                        *out.loss_, pool);
            if (!other) return other.error().with_context("validation rows");
            out.validation_attack_.emplace(*std::move(other));
        }
        return out;
    }

    base::Result<BudroResult> run() {
        RAMPART_RETURN_IF_ERROR(grow_first());
        std::optional<fairgbm::FairGbmObjective> constrained;
        if (params_.constraints) {
            auto made = fairgbm::FairGbmObjective::create(
                data_, *params_.constraints, params_.lagrangian, params_.learner.learning_rate);
            if (!made) return made.error();
            constrained.emplace(*std::move(made));
        }
        BudroObjective objective(data_, outcomes(), std::move(constrained));
        RAMPART_TRY(const bool go_on, look_at_first(objective));
        if (go_on) RAMPART_RETURN_IF_ERROR(grow_rest(objective));
        return finish();
    }

  private:
    Training(const dataset::Dataset& data, const BudroParams& params, base::ThreadPool* pool,
             const BudroOptions& options)
        : data_(data),
          params_(params),
          pool_(pool),
          options_(options),
          loss_(params.loss ? params.loss : make_log_outcome_loss()),
          total_(sum_of_weights(data)) {}

    WeighedOutcomes outcomes() const {
        const bool both = params_.first_tree == FirstTree::kBothLabels;
        auto mass = unmoved(data_, total_, both);
        double ones = 0, zeros = 0;
        for (size_t i = 0; i < data_.rows(); ++i) {
            zeros += mass[i];
            ones += mass[data_.rows() + i] * params_.positive_class_weight;
        }
        const double start =
            params_.initial_score.value_or(loss_->initial_score(ones / (zeros + ones)));
        return {*loss_, std::move(mass), total_, params_.positive_class_weight, start};
    }

    base::Status grow_first() {
        WeighedOutcomes plain = outcomes();
        ensemble_.base_score = plain.initial_score();
        if (params_.first_tree == FirstTree::kNone) return base::ok();
        auto learner = params_.learner;
        learner.trees = 1;
        learner.early_stopping_rounds = 0;
        RAMPART_TRY(ensemble_, gbdt::train(data_, plain, learner, pool_, {.bins = options_.bins}));
        return base::ok();
    }

    std::vector<double> scores_of(const dataset::Dataset& data) const {
        std::vector<double> scores(data.rows());
        model::BatchEngine(ensemble_).predict_raw(model::TableView::of(data), scores, pool_);
        return scores;
    }

    base::Result<bool> look_at_first(BudroObjective& objective) {
        const auto scores = scores_of(data_);
        const auto validation = options_.validation == nullptr ? std::vector<double>()
                                                               : scores_of(*options_.validation);
        return look(objective, ensemble_.trees.size(), scores, validation);
    }

    base::Status grow_rest(BudroObjective& objective) {
        auto learner = params_.paper_scale ? scaled(params_.learner, total_) : params_.learner;
        learner.early_stopping_rounds = 0;
        learner.trees += static_cast<int>(ensemble_.trees.size());
        std::optional<base::Error> failed;
        const auto watch = [&](const gbdt::Progress& p) {
            const auto go_on =
                look(objective, static_cast<size_t>(p.iteration), p.scores, p.validation_scores);
            if (!go_on) failed = go_on.error();
            return go_on && *go_on;
        };
        gbdt::TrainingOptions how{.validation = options_.validation, .progress = watch};
        how.bins = options_.bins;
        how.start = ensemble_.trees.empty() ? nullptr : &ensemble_;
        RAMPART_TRY(auto grown, gbdt::train(data_, objective, learner, pool_, how));
        if (failed) return *failed;
        ensemble_ = std::move(grown);
        return base::ok();
    }

    /// The round's entry, and the masses that the next tree is grown for. False: enough.
    base::Result<bool> look(BudroObjective& objective, size_t trees, std::span<const double> scores,
                            std::span<const double> validation) {
        RAMPART_TRY(auto sent, attack_->on(scores));
        BudroRound round{.trees = trees};
        round.robust_loss = sent.primal;
        round.dual = sent.dual;
        round.gap = sent.gap;
        round.loss = sent.loss;
        round.eta = sent.eta;
        round.cost = sent.cost;
        round.counts = sent.counts;
        const auto* constrained = objective.constrained();
        if (constrained != nullptr && !constrained->trace().empty()) {
            const fairgbm::FairGbmIteration& last = constrained->trace().back();
            round.violation = constrained->system().values(last.approved).violation;
            round.threshold = last.threshold;
        }
        if (options_.validation != nullptr) {
            round.validation_balanced_accuracy = balanced_accuracy(
                *options_.validation, validation, round.threshold.value_or(loss_->threshold()));
        }
        if (validation_attack_) {
            RAMPART_TRY(const auto theirs, validation_attack_->on(validation));
            round.validation_robust_loss = theirs.primal;
        }
        objective.weigh(std::move(sent.mass));
        rounds_.push_back(round);
        if (rounds_.size() == 1 || better(rounds_.back(), rounds_[best_]))
            best_ = rounds_.size() - 1;
        if (options_.progress && !options_.progress(round)) return false;
        const auto patience = static_cast<size_t>(params_.learner.early_stopping_rounds);
        return patience == 0 || rounds_.size() - 1 - best_ < patience;
    }

    double regret(const BudroRound& round) const {
        if (params_.selection == ModelSelection::kLast) return -static_cast<double>(round.trees);
        if (params_.selection == ModelSelection::kMostBalancedAccuracy)
            return -round.validation_balanced_accuracy.value_or(0);
        return round.validation_robust_loss.value_or(round.robust_loss);
    }

    /// Whether a is preferred to b.
    bool better(const BudroRound& a, const BudroRound& b) const {
        if (b.trees == 0) return true;
        if (params_.constraints && params_.selection != ModelSelection::kLast) {
            constexpr double kUnknown = 1e300;
            const double x = std::max(0.0, a.violation.value_or(kUnknown));
            const double y = std::max(0.0, b.violation.value_or(kUnknown));
            if (x != y) return x < y;
        }
        return regret(a) < regret(b);
    }

    BudroResult finish() {
        BudroResult out;
        out.ensemble = std::move(ensemble_);
        out.rounds = std::move(rounds_);
        out.selected_round = best_;
        out.ensemble.trees.resize(out.rounds[best_].trees);
        out.threshold = out.rounds[best_].threshold.value_or(loss_->threshold());
        return out;
    }

    const dataset::Dataset& data_;
    const BudroParams& params_;
    base::ThreadPool* pool_;
    const BudroOptions& options_;
    std::shared_ptr<const OutcomeLoss> loss_;
    double total_;
    std::optional<Attack> attack_, validation_attack_;
    model::Ensemble ensemble_;
    std::vector<BudroRound> rounds_;
    size_t best_ = 0;
};

}  // namespace

std::string_view to_string(FirstTree first) { return base::name_of(kFirstTrees, first); }
base::Result<FirstTree> parse_first_tree(std::string_view text) {
    return base::value_of(kFirstTrees, text, Reason::kUnknownFirstTree);
}
std::string_view to_string(ModelSelection selection) {
    return base::name_of(kSelections, selection);
}
base::Result<ModelSelection> parse_model_selection(std::string_view text) {
    return base::value_of(kSelections, text, Reason::kUnknownSelection);
}

base::Status validate(const BudroParams& params) {
    RAMPART_RETURN_IF_ERROR(gbdt::validate(params.learner));
    RAMPART_RETURN_IF_ERROR(validate(params.transport));
    constexpr double kMostWeight = 1e6;
    if (!(params.positive_class_weight > 0 && params.positive_class_weight <= kMostWeight))
        return base::make_error(Reason::kBadBudroParameter,
                                "positive_class_weight is {}; allowed is above 0 up to {}",
                                params.positive_class_weight, kMostWeight);
    if (params.initial_score && !(std::abs(*params.initial_score) <= model::kMaxRawValue))
        return base::make_error(Reason::kBadBudroParameter, "initial_score is {}; allowed is ±{}",
                                *params.initial_score, model::kMaxRawValue);
    const auto most = static_cast<int>(base::limits::kMaxTrees) - 1;
    if (params.learner.trees > most)
        return base::make_error(Reason::kBadBudroParameter,
                                "trees is {}; allowed are {} beside the first",
                                params.learner.trees, most);
    if (!params.constraints) return base::ok();
    if (params.loss && params.loss->name() != "log_loss")
        return base::make_error(Reason::kBadBudroParameter,
                                "group constraints are kept on log-odds: leave the log loss");
    RAMPART_RETURN_IF_ERROR(validate(*params.constraints));
    return validate(params.lagrangian);
}

base::Result<BudroResult> train_budro(const dataset::Dataset& data, const Points& points,
                                      const BudroParams& params, base::ThreadPool* pool,
                                      const BudroOptions& options) {
    RAMPART_RETURN_IF_ERROR(check(data, points, params, options));
    RAMPART_TRY(auto training, Training::create(data, points, params, pool, options));
    return training.run();
}

}  // namespace rampart::budro
