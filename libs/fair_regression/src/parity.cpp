#include "rampart/fair_regression/parity.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "best_response.hpp"
#include "game.hpp"
#include "rampart/base/check.hpp"
#include "rampart/base/enum_names.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/fair_regression/reasons.hpp"
#include "rampart/reductions/reasons.hpp"

namespace rampart::fair_regression {
namespace {

using Name = base::EnumName<RegressionReduction>;
constexpr std::array kNames = {Name{RegressionReduction::kLoss, "loss"},
                               Name{RegressionReduction::kLeastSquares, "least_squares"},
                               Name{RegressionReduction::kCostSensitive, "cost_sensitive"}};

constexpr double kStepDivisor = 8;  // divisor of Algorithm 1's step

base::Result<std::vector<double>> epsilons(const ParityRegressionParams& params, size_t groups) {
    RAMPART_RETURN_IF_ERROR(validate(params.game));
    if (params.refine < 0 || params.refine > 1000 || params.warm_start_steps < 0 ||
        params.warm_start_steps > 100)
        return base::make_error(
            Reason::kBadParityParameter,
            "refine is {}, warm_start_steps {}; allowed are 0 to 1000 and 0 to 100", params.refine,
            params.warm_start_steps);
    auto epsilon = params.epsilon;
    if (epsilon.size() == 1) epsilon.assign(groups, epsilon.front());
    if (epsilon.size() != groups)
        return base::make_error(Reason::kBadParityParameter,
                                "{} epsilons for {} groups; give one, or one a group",
                                epsilon.size(), groups);
    for (const double e : epsilon)
        if (!(e >= 0 && e <= 1))
            return base::make_error(Reason::kBadParityParameter,
                                    "epsilon is {}; allowed are 0 to 1", e);
    return epsilon;
}

/// Algorithm 1 on some rows.
class Parity {
  public:
    Parity(const RegressionRows& rows, const LevelRows& levels, const LevelRows* validation,
           const RegressionLoss& loss, const ParityRegressionParams& params,
           std::vector<double> epsilon, reductions::Oracle& oracle)
        : rows_(rows),
          levels_(levels),
          validation_(validation),
          params_(params),
          epsilon_(std::move(epsilon)),
          responder_(rows, levels, loss, params, oracle,
                     validation == nullptr ? 0 : validation->rows()),
          game_(bounds(), params.game, [this](std::span<const double> multipliers, bool) {
              return respond(multipliers);
          }) {}

    base::Result<ParityRegressionResult> run() {
        add_constants();
        const std::vector<double> none(levels_.groups() * static_cast<size_t>(levels_.levels()));
        RAMPART_RETURN_IF_ERROR(game_.begin(none));
        tolerance_ = params_.game.optimality_gap > 0 ? params_.game.optimality_gap
                                                     : half_standard_error(none);
        game_.set_gap(tolerance_);
        RAMPART_RETURN_IF_ERROR(repair());
        const bool columns = params_.game.method == GameMethod::kColumnGeneration;
        RAMPART_TRY(const bool near, columns ? game_.generate_columns(true)
                                             : game_.exponentiated_gradient(kStepDivisor));
        return result(near);
    }

  private:
    GameBounds bounds() const {
        GameBounds out;
        for (const double e : epsilon_) {
            for (int j = 0; j < levels_.levels(); ++j) {
                out.upper.push_back(e);
                out.lower.push_back(-e);
            }
        }
        return out;
    }

    /// The best constant predictor; the other constants are never of use.
    void add_constants() {
        RegressionMember best;
        best.train.loss = std::numeric_limits<double>::infinity();
        int level_of_best = 0;
        for (int level = 0; level <= levels_.levels(); ++level) {
            auto summary = levels_.constant(level);
            if (summary.loss >= best.train.loss) continue;
            best.train = std::move(summary);
            level_of_best = level;
        }
        model::Ensemble constant;
        constant.base_score = levels_.middle(level_of_best);
        best.model = std::move(constant);
        if (validation_ != nullptr) best.validation = validation_->constant(level_of_best);
        game_.add({best.train.loss, std::vector<double>(best.train.tails.size())});
        known_.push_back(std::move(best));
    }

    base::Result<GameColumn> respond(std::span<const double> multipliers) {
        RAMPART_TRY(auto response, responder_.respond(multipliers));
        return known(std::move(response));
    }

    GameColumn known(RegressionResponse response) {
        const auto levels = levels_of(response.predictions, levels_.levels());
        RegressionMember member{.model = std::move(response.model),
                                .weight = 0,
                                .train = levels_.summary(levels),
                                .validation = {}};
        if (validation_ != nullptr)
            member.validation =
                validation_->summary(levels_of(response.validation_predictions, levels_.levels()));
        latest_ = std::move(response.predictions);
        GameColumn column{member.train.loss, levels_.disparities(member.train.tails)};
        known_.push_back(std::move(member));
        return column;
    }

    /// Returns the standard error of the plain predictor's loss; that predictor is the latest.
    double half_standard_error(const std::vector<double>& none) const {
        auto squares = levels_.costs(none);
        for (double& c : squares) c *= c;
        const double mean = game_.columns().back().cost;
        const double square = levels_.mean(squares, levels_of(latest_, levels_.levels()));
        const double variance = std::max(0.0, square - mean * mean);
        return std::max(1e-9, 0.5 * std::sqrt(variance / static_cast<double>(rows_.size())));
    }

    /// The path to independence.
    base::Status repair() {
        for (int i = 0; i < params_.warm_start_steps; ++i) {
            if (game_.violation(game_.columns().back().rates) <= 0 || !game_.take_call()) break;
            RAMPART_TRY(auto response, responder_.repair(latest_));
            game_.add(known(std::move(response)));
        }
        return base::ok();
    }

    ParityJudged judged(const std::vector<double>& weights, const LevelRows& rows,
                        bool validation) const {
        ParityJudged out;
        const auto width = static_cast<size_t>(rows.levels());
        out.tails.resize(rows.groups() * width);
        for (size_t k = 0; k < weights.size(); ++k) {
            if (weights[k] == 0) continue;
            const LevelSummary& summary = validation ? *known_[k].validation : known_[k].train;
            out.loss += weights[k] * summary.loss;
            for (size_t i = 0; i < out.tails.size(); ++i)
                out.tails[i] += weights[k] * summary.tails[i];
        }
        out.disparities = rows.disparities(out.tails);
        out.violation = -1;
        for (size_t i = 0; i < out.disparities.size(); ++i) {
            const double size = std::abs(out.disparities[i]);
            out.disparity = std::max(out.disparity, size);
            out.violation = std::max(out.violation, size - epsilon_[i / width]);
        }
        return out;
    }

    base::Result<ParityRegressionResult> result(bool near) {
        RAMPART_TRY(const auto mixture, game_.best_mixture());
        ParityRegressionResult out;
        out.train = judged(mixture.weights, levels_, false);
        if (validation_ != nullptr) out.validation = judged(mixture.weights, *validation_, true);
        out.lower = game_.lower_bound(true, &out.multipliers);
        out.gap = out.train.loss - out.lower;
        out.tolerance = tolerance_;
        constexpr double kRounding = 1e-7;
        out.converged = near || out.gap <= tolerance_ + kRounding;
        out.discretisation = levels_.bound();
        out.rounds = game_.rounds();
        out.calls = game_.calls();
        if (!game_.average().empty()) {
            const auto average = judged(game_.average(), levels_, false);
            out.average_loss = average.loss;
            out.average_violation = average.violation;
        }
        for (size_t k = 0; k < known_.size(); ++k) {
            if (mixture.weights[k] == 0) continue;
            known_[k].weight = mixture.weights[k];
            out.members.push_back(std::move(known_[k]));
        }
        std::stable_sort(out.members.begin(), out.members.end(),
                         [](const auto& a, const auto& b) { return a.weight > b.weight; });
        return out;
    }

    const RegressionRows& rows_;
    const LevelRows& levels_;
    const LevelRows* validation_;
    const ParityRegressionParams& params_;
    std::vector<double> epsilon_;
    ParityResponder responder_;
    Game game_;
    std::vector<RegressionMember> known_;  // as the game's columns
    std::vector<double> latest_;           // what the latest answer says of the rows
    double tolerance_ = 0;
};

}  // namespace

std::string_view to_string(RegressionReduction reduction) {
    return base::name_of(kNames, reduction);
}

base::Result<RegressionReduction> parse_regression_reduction(std::string_view text) {
    return base::value_of(kNames, text, reductions::Reason::kUnknownReduction);
}

base::Result<ParityRegressionResult> fit_parity(const RegressionRows& rows,
                                                const RegressionLoss& loss,
                                                const ParityRegressionParams& params,
                                                reductions::Oracle& oracle,
                                                const RegressionRows* validation) {
    RAMPART_TRY(const auto levels, LevelRows::create(rows, loss, params.levels));
    RAMPART_TRY(auto epsilon, epsilons(params, rows.groups));
    if (validation == nullptr)
        return Parity(rows, levels, nullptr, loss, params, std::move(epsilon), oracle).run();
    if (validation->groups != rows.groups)
        return base::make_error(base::Reason::kOtherGroups,
                                "the validation rows have {} groups, the training rows {}",
                                validation->groups, rows.groups);
    auto judges = LevelRows::create(*validation, loss, params.levels);
    if (!judges) return judges.error().with_context("validation rows");
    return Parity(rows, levels, &*judges, loss, params, std::move(epsilon), oracle).run();
}

}  // namespace rampart::fair_regression
