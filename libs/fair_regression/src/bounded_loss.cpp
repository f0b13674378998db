#include "rampart/fair_regression/bounded_loss.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "best_response.hpp"
#include "game.hpp"
#include "rampart/base/check.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/fair_regression/reasons.hpp"

namespace rampart::fair_regression {
namespace {

constexpr double kStepDivisor = 2;     // divisor of Algorithm 2's step
constexpr double kRounding = 1e-7;     // rounding of losses by linear programs
constexpr double kLeastWeight = 1e-6;  // weight of rows that a question does not ask about
constexpr int kConstants = 100;

base::Result<std::vector<double>> bounds_of(const std::vector<double>& zeta, size_t groups) {
    auto out = zeta;
    if (out.size() == 1) out.assign(groups, out.front());
    if (out.size() != groups)
        return base::make_error(Reason::kBadBoundedLossParameter,
                                "{} bounds of loss for {} groups; give one, or one a group",
                                out.size(), groups);
    for (const double z : out)
        if (!(z >= 0) || !std::isfinite(z))
            return base::make_error(Reason::kBadBoundedLossParameter,
                                    "zeta is {}; allowed is a finite number of at least 0", z);
    return out;
}

/// The rows' weights times what the multipliers make of their group's.
std::vector<float> weights_under(const RegressionRows& rows, std::span<const double> shares,
                                 std::span<const double> multipliers, bool with_cost) {
    std::vector<float> weights;
    weights.reserve(rows.size());
    for (size_t row = 0; row < rows.size(); ++row) {
        const size_t k = rows.group_of(row);
        const double factor = (with_cost ? 1 : 0) + multipliers[k] / shares[k];
        weights.push_back(static_cast<float>(rows.weight_of(row) * std::max(kLeastWeight, factor)));
    }
    return weights;
}

BoundedLossJudged judged(std::vector<double> group_losses, std::span<const double> shares,
                         std::span<const double> zeta) {
    BoundedLossJudged out;
    out.violation = -std::numeric_limits<double>::infinity();
    for (size_t k = 0; k < shares.size(); ++k) {
        out.loss += shares[k] * group_losses[k];
        out.violation = std::max(out.violation, group_losses[k] - zeta[k]);
    }
    out.group_losses = std::move(group_losses);
    return out;
}

/// [constants][groups]: losses of the predictors that give i / kConstants to every row.
std::vector<std::vector<double>> constant_losses(const RegressionRows& rows,
                                                 const RegressionLoss& loss) {
    std::vector<std::vector<double>> out;
    for (int i = 0; i <= kConstants; ++i)
        out.push_back(group_losses(
            rows, loss, std::vector<double>(rows.size(), static_cast<double>(i) / kConstants)));
    return out;
}

struct Known {
    reductions::OracleModel model;
    std::vector<double> predictions, validation_predictions;
    std::vector<double> losses;  // by group
};

/// Algorithm 2 on some rows.
class BoundedLoss {
  public:
    BoundedLoss(const RegressionRows& rows, const RegressionRows* validation,
                const RegressionLoss& loss, const BoundedLossParams& params,
                std::vector<double> zeta, reductions::Oracle& oracle)
        : rows_(rows),
          validation_(validation),
          loss_(loss),
          params_(params),
          zeta_(std::move(zeta)),
          shares_(group_shares(rows)),
          oracle_(oracle),
          game_(
              {std::vector<double>(zeta_.size(), -std::numeric_limits<double>::infinity()), zeta_},
              params.game, [this](std::span<const double> multipliers, bool with_cost) {
                  return respond(multipliers, with_cost);
              }) {
        if (validation != nullptr) validation_shares_ = group_shares(*validation);
    }

    base::Result<BoundedLossResult> run() {
        add_constants();
        const std::vector<double> none(zeta_.size());
        RAMPART_RETURN_IF_ERROR(game_.begin(none));
        tolerance_ =
            params_.game.optimality_gap > 0 ? params_.game.optimality_gap : half_standard_error();
        game_.set_gap(tolerance_);
        const bool columns = params_.game.method == GameMethod::kColumnGeneration;
        bool near = false;
        if (!columns) {
            RAMPART_TRY(near, game_.exponentiated_gradient(kStepDivisor));
        }
        RAMPART_RETURN_IF_ERROR(game_.generate_columns(false).map([](bool) {}));
        RAMPART_TRY(const auto tightest, game_.mixture(1, false));
        result_.least_violation = tightest.violation;
        if (tightest.violation > kRounding) return without_mixture(tightest);
        if (columns) {
            RAMPART_TRY(near, game_.generate_columns(true, true));
        }
        return feasible(near);
    }

  private:
    /// The best constants, for all and for each group: they cost no question.
    void add_constants() {
        const auto losses = constant_losses(rows_, loss_);
        std::vector<size_t> picked;
        const auto best_by = [&](const auto& measure) {
            size_t best = 0;
            for (size_t i = 1; i < losses.size(); ++i)
                if (measure(losses[i]) < measure(losses[best])) best = i;
            if (std::find(picked.begin(), picked.end(), best) == picked.end())
                picked.push_back(best);
        };
        best_by([&](const auto& l) {
            return std::inner_product(l.begin(), l.end(), shares_.begin(), 0.0);
        });
        for (size_t k = 0; k < shares_.size(); ++k) best_by([&](const auto& l) { return l[k]; });
        for (const size_t i : picked) {
            model::Ensemble constant;
            constant.base_score = static_cast<double>(i) / kConstants;
            Known known{.model = constant,
                        .predictions = std::vector<double>(rows_.size(), constant.base_score),
                        .validation_predictions = {},
                        .losses = losses[i]};
            if (validation_ != nullptr)
                known.validation_predictions.assign(validation_->size(), constant.base_score);
            game_.add(column_of(known));
            known_.push_back(std::move(known));
        }
    }

    GameColumn column_of(const Known& known) const {
        return {judged(known.losses, shares_, zeta_).loss, known.losses};
    }

    base::Result<GameColumn> respond(std::span<const double> multipliers, bool with_cost) {
        RAMPART_TRY(auto response,
                    fit_loss(loss_, {rows_.label.begin(), rows_.label.end()},
                             weights_under(rows_, shares_, multipliers, with_cost), oracle_,
                             validation_ == nullptr ? 0 : validation_->size()));
        Known known{.model = std::move(response.model),
                    .predictions = std::move(response.predictions),
                    .validation_predictions = std::move(response.validation_predictions),
                    .losses = {}};
        known.losses = group_losses(rows_, loss_, known.predictions);
        auto column = column_of(known);
        known_.push_back(std::move(known));
        return column;
    }

    /// Returns the standard error of the plain predictor's loss; that predictor is the latest.
    double half_standard_error() const {
        const auto& predictions = known_.back().predictions;
        double sum = 0, squares = 0, total = 0;
        for (size_t row = 0; row < rows_.size(); ++row) {
            const double w = rows_.weight_of(row);
            const double l = loss_.value(rows_.label[row], std::clamp(predictions[row], 0.0, 1.0));
            sum += w * l;
            squares += w * l * l;
            total += w;
        }
        const double variance = std::max(0.0, squares / total - std::pow(sum / total, 2));
        return std::max(1e-9, 0.5 * std::sqrt(variance / static_cast<double>(rows_.size())));
    }

    BoundedLossResult without_mixture(const GameMixture& tightest) {
        std::vector<double> multipliers;
        const double margin = game_.lower_bound(false, &multipliers);
        const double sum = std::accumulate(multipliers.begin(), multipliers.end(), 0.0);
        if (margin > kRounding && sum > 0) {
            for (double& l : multipliers) l /= sum;
            result_.outcome = BoundedLossOutcome::kInfeasible;
            result_.proof = {std::move(multipliers), margin / sum};
        }
        result_.train = mixed(tightest.weights, false);
        if (validation_ != nullptr) result_.validation = mixed(tightest.weights, true);
        finish();
        return std::move(result_);
    }

    BoundedLossJudged on_validation(const Known& known) const {
        return judged(group_losses(*validation_, loss_, known.validation_predictions),
                      validation_shares_, zeta_);
    }

    /// A mixture's loss is the mean of its members'.
    BoundedLossJudged mixed(const std::vector<double>& weights, bool validation) const {
        std::vector<double> losses(zeta_.size());
        for (size_t k = 0; k < weights.size(); ++k) {
            if (weights[k] == 0) continue;
            const auto of_member =
                validation ? on_validation(known_[k]).group_losses : known_[k].losses;
            for (size_t a = 0; a < losses.size(); ++a) losses[a] += weights[k] * of_member[a];
        }
        return judged(std::move(losses), validation ? validation_shares_ : shares_, zeta_);
    }

    void finish() {
        result_.tolerance = tolerance_;
        result_.rounds = game_.rounds();
        result_.calls = game_.calls();
    }

    base::Result<BoundedLossResult> feasible(bool near) {
        RAMPART_TRY(const auto mixture, game_.best_mixture());
        result_.outcome = BoundedLossOutcome::kFeasible;
        result_.train = mixed(mixture.weights, false);
        if (validation_ != nullptr) result_.validation = mixed(mixture.weights, true);
        result_.lower = game_.lower_bound(true, &result_.multipliers);
        result_.gap = result_.train.loss - result_.lower;
        result_.converged = near || result_.gap <= tolerance_ + kRounding;
        if (loss_.convex()) average(mixture.weights);
        for (size_t k = 0; k < known_.size(); ++k) {
            if (mixture.weights[k] == 0) continue;
            BoundedLossMember member{.weight = mixture.weights[k]};
            member.train = judged(known_[k].losses, shares_, zeta_);
            if (validation_ != nullptr) member.validation = on_validation(known_[k]);
            member.model = std::move(known_[k].model);
            result_.members.push_back(std::move(member));
        }
        std::stable_sort(result_.members.begin(), result_.members.end(),
                         [](const auto& a, const auto& b) { return a.weight > b.weight; });
        finish();
        return std::move(result_);
    }

    void average(const std::vector<double>& weights) {
        std::vector<const reductions::OracleModel*> models;
        std::vector<double> used;
        Known mean{.model = {},
                   .predictions = std::vector<double>(rows_.size()),
                   .validation_predictions =
                       std::vector<double>(validation_ == nullptr ? 0 : validation_->size()),
                   .losses = {}};
        for (size_t k = 0; k < weights.size(); ++k) {
            if (weights[k] == 0) continue;
            models.push_back(&known_[k].model);
            used.push_back(weights[k]);
            for (size_t i = 0; i < mean.predictions.size(); ++i)
                mean.predictions[i] += weights[k] * known_[k].predictions[i];
            for (size_t i = 0; i < mean.validation_predictions.size(); ++i)
                mean.validation_predictions[i] += weights[k] * known_[k].validation_predictions[i];
        }
        auto model = averaged(models, used);
        if (!model) return;
        AveragedPredictor out{.model = std::move(*model)};
        out.train = judged(group_losses(rows_, loss_, mean.predictions), shares_, zeta_);
        if (validation_ != nullptr) out.validation = on_validation(mean);
        out.no_worse = out.train.loss <= result_.train.loss + kRounding;
        for (size_t a = 0; a < zeta_.size(); ++a)
            out.no_worse = out.no_worse &&
                           out.train.group_losses[a] <= result_.train.group_losses[a] + kRounding;
        result_.averaged = std::move(out);
    }

    const RegressionRows& rows_;
    const RegressionRows* validation_;
    const RegressionLoss& loss_;
    const BoundedLossParams& params_;
    std::vector<double> zeta_, shares_, validation_shares_;
    reductions::Oracle& oracle_;
    Game game_;
    std::vector<Known> known_;  // as the game's columns
    double tolerance_ = 0;
    BoundedLossResult result_;
};

base::Status check_multipliers(const std::vector<double>& multipliers, size_t groups) {
    double sum = 0;
    bool good = multipliers.size() == groups;
    for (const double l : multipliers) {
        good = good && l >= 0 && std::isfinite(l);
        sum += l;
    }
    if (good && std::abs(sum - 1) <= 1e-9) return base::ok();
    return base::make_error(Reason::kNotInfeasible,
                            "{} multipliers of sum {} for {} groups; a proof has one a "
                            "group, none below 0, of sum 1",
                            multipliers.size(), sum, groups);
}

}  // namespace

std::string_view to_string(BoundedLossOutcome outcome) {
    switch (outcome) {
        case BoundedLossOutcome::kFeasible:
            return "feasible";
        case BoundedLossOutcome::kInfeasible:
            return "infeasible";
        case BoundedLossOutcome::kUndecided:
            break;
    }
    return "undecided";
}

base::Result<BoundedLossResult> fit_bounded_loss(const RegressionRows& rows,
                                                 const RegressionLoss& loss,
                                                 const BoundedLossParams& params,
                                                 reductions::Oracle& oracle,
                                                 const RegressionRows* validation) {
    RAMPART_RETURN_IF_ERROR(validate(rows));
    RAMPART_RETURN_IF_ERROR(validate(params.game));
    RAMPART_TRY(auto zeta, bounds_of(params.zeta, rows.groups));
    if (validation != nullptr) {
        if (const auto status = validate(*validation); !status)
            return status.error().with_context("validation rows");
        if (validation->groups != rows.groups)
            return base::make_error(base::Reason::kOtherGroups,
                                    "the validation rows have {} groups, the training rows "
                                    "{}",
                                    validation->groups, rows.groups);
    }
    return BoundedLoss(rows, validation, loss, params, std::move(zeta), oracle).run();
}

base::Status check_infeasible(const RegressionRows& rows, const RegressionLoss& loss,
                              const std::vector<double>& zeta, const InfeasibilityProof& proof,
                              reductions::Oracle& oracle) {
    RAMPART_RETURN_IF_ERROR(validate(rows));
    RAMPART_TRY(const auto bounds, bounds_of(zeta, rows.groups));
    RAMPART_RETURN_IF_ERROR(check_multipliers(proof.multipliers, rows.groups));
    const auto shares = group_shares(rows);
    const auto refutes = [&](const std::vector<double>& losses, std::string_view who) {
        double sum = 0;
        for (size_t a = 0; a < losses.size(); ++a)
            sum += proof.multipliers[a] * (losses[a] - bounds[a]);
        if (sum > 0) return base::ok();
        return base::Status(base::make_error(
            Reason::kNotInfeasible, "{} has a weighted excess of loss of {}, which is not above 0",
            who, sum));
    };
    const std::vector<double> labels(rows.label.begin(), rows.label.end());
    const std::vector<double> none(rows.groups);
    for (const bool plain : {false, true}) {
        RAMPART_TRY(const auto response,
                    fit_loss(loss, labels,
                             weights_under(rows, shares, plain ? none : proof.multipliers, plain),
                             oracle, 0));
        RAMPART_RETURN_IF_ERROR(refutes(group_losses(rows, loss, response.predictions),
                                        plain ? "the plain predictor" : "the best response"));
    }
    for (const auto& losses : constant_losses(rows, loss))
        RAMPART_RETURN_IF_ERROR(refutes(losses, "a constant"));
    return base::ok();
}

std::optional<reductions::OracleModel> averaged(
    std::span<const reductions::OracleModel* const> models, std::span<const double> weights) {
    RAMPART_CHECK(models.size() == weights.size());
    model::Ensemble trees;
    std::optional<model::LinearModel> linear;
    double constant = 0;
    for (size_t m = 0; m < models.size(); ++m) {
        const auto scaled = reductions::affine(*models[m], 0, weights[m]);
        if (const auto* ensemble = std::get_if<model::Ensemble>(&scaled)) {
            constant += ensemble->base_score;
            trees.trees.insert(trees.trees.end(), ensemble->trees.begin(), ensemble->trees.end());
            continue;
        }
        const auto* line = std::get_if<model::LinearModel>(&scaled);
        if (line == nullptr) return std::nullopt;
        if (!linear) {
            linear = *line;
            continue;
        }
        if (line->slope.size() != linear->slope.size()) return std::nullopt;
        linear->intercept += line->intercept;
        for (size_t j = 0; j < line->slope.size(); ++j) {
            linear->slope[j] += line->slope[j];
            for (size_t c = 0; c < line->category[j].size(); ++c)
                linear->category[j][c] += line->category[j][c];
        }
    }
    if (models.empty() || (linear && !trees.trees.empty()) ||
        trees.trees.size() > base::limits::kMaxTrees)
        return std::nullopt;
    if (linear) {
        linear->intercept += constant;
        return reductions::OracleModel(*std::move(linear));
    }
    trees.base_score = constant;
    return reductions::OracleModel(std::move(trees));
}

}  // namespace rampart::fair_regression
