#include "rampart/training/parameter_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gate_objective.hpp"
#include "rampart/numeric/cma_es.hpp"
#include "rampart/training/gate_inputs.hpp"
#include "rampart/training/reasons.hpp"

namespace rampart::training {
namespace {

using base::Result;
using candidate_selection::SafetyObjective;
using training_set::DevelopmentSet;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kWidestRamp = 2, kNarrowestRamp = 0.02, kFarthestThreshold = 0.6,
                 kMostExploration = 0.3, kShortestStep = 0.05;

/// theta: ln gamma, kappa, then epsilon if there is exploration, then the threshold without a rule.
struct Coordinates {
    bool explores = false, thresholds = false;
    LinkParameters begin;

    LinkParameters decode(std::span<const double> theta) const {
        LinkParameters p = begin;
        p.gamma = std::exp(theta[0]);
        p.kappa = theta[1];
        if (explores) p.epsilon = theta[2];
        if (thresholds) p.threshold = theta.back();
        return p;
    }
    std::vector<double> encode() const {
        std::vector<double> theta{std::log(std::clamp(begin.gamma, kNarrowestRamp, kWidestRamp)),
                                  begin.kappa};
        if (explores) theta.push_back(begin.epsilon);
        if (thresholds) theta.push_back(begin.threshold);
        return theta;
    }
    numeric::Box box() const {
        numeric::Box box{{std::log(kNarrowestRamp), std::min(kShortestStep, begin.kappa)},
                         {std::log(kWidestRamp), begin.kappa}};
        if (explores) {
            box.lower.push_back(begin.epsilon);
            box.upper.push_back(std::max(kMostExploration, begin.epsilon));
        }
        if (thresholds) {
            box.lower.push_back(-kFarthestThreshold);
            box.upper.push_back(kFarthestThreshold);
        }
        return box;
    }
    std::vector<double> scales() const {
        std::vector<double> out{0.7, std::max(0.01, begin.kappa / 3)};
        if (explores) out.push_back(0.05);
        if (thresholds) out.push_back(0.2);
        return out;
    }
};

/// P(approve) of the rows that the gate would read, under given parameters.
class LinkOnRows {
  public:
    LinkOnRows(const SearchInputs& in, std::vector<size_t> seen)
        : in_(in), seen_(std::move(seen)) {}

    /// Returns one value per row; all are NaN when no rule can be found.
    std::vector<double> approve(const LinkParameters& p) const {
        const auto ramped = ramped_by(p);
        if (!ramped) return std::vector<double>(seen_.size(), kNaN);
        const model::Exploration exploration{in_.exploration, p.epsilon};
        std::vector<double> pi;
        pi.reserve(seen_.size());
        for (const size_t i : seen_) {
            if (std::isnan((*ramped)[i])) {
                pi.push_back(in_.rows.reference[i]);
                continue;
            }
            const double s = in_.rows.before[i], reach = p.kappa * std::min(s, 1 - s);
            pi.push_back(std::clamp(exploration.apply((*ramped)[i]), s - reach, s + reach));
        }
        return pi;
    }

  private:
    Result<std::vector<double>> ramped_by(const LinkParameters& p) const {
        if (in_.rule) return in_.rule(p.gamma);
        const model::RampRule ramp{p.gamma, 0.5, {p.threshold}, {1.0}};
        std::vector<double> out;
        for (const double f : in_.rows.score)
            out.push_back(std::isnan(f) ? kNaN : ramp.apply(f, 0));
        return out;
    }

    const SearchInputs& in_;
    std::vector<size_t> seen_;
};

/// What a search evaluates a link's parameters with.
struct Evaluation {
    SafetyObjective objective;
    LinkOnRows link;

    candidate_selection::Prediction of(const LinkParameters& p) const {
        return objective.predict(link.approve(p));
    }
};

SearchedParameters searched(const LinkParameters& p,
                            const candidate_selection::Prediction& prediction, size_t evaluations) {
    SearchedParameters out{.parameters = p,
                           .predicted_to_pass = prediction.passes,
                           .predicted_gain = -prediction.loss,
                           .weakest_signal = -std::numeric_limits<double>::infinity(),
                           .chance = prediction.chance,
                           .evaluations = evaluations};
    for (const auto& bound : prediction.bounds)
        out.weakest_signal = std::max(out.weakest_signal, bound.signals);
    return out;
}

base::Status check(const DevelopmentSet& development, const SearchRows& rows,
                   const GateForecastInputs& forecast) {
    if (forecast.config.at_least || forecast.config.max_weight) {
        return base::make_error(
            Reason::kBadSelection,
            "selection compares with the policy in charge, record by record: leave "
            "out gate.at_least and gate.max_weight, or set training.selection = \"none\"");
    }
    const size_t n = development.rows.size();
    if (rows.score.size() != n || rows.before.size() != n || rows.reference.size() != n ||
        forecast.vault_units.size() != development.group_names.size()) {
        return base::make_error(
            Reason::kBadSelection,
            "{} rows and {} groups: scores ({}), earlier links ({}), reference ({}) or "
            "vault units ({}) are not as many",
            n, development.group_names.size(), rows.score.size(), rows.before.size(),
            rows.reference.size(), forecast.vault_units.size());
    }
    return base::ok();
}

Result<Evaluation> evaluation_of(const SearchInputs& in) {
    const DevelopmentSet& development = in.development;
    RAMPART_RETURN_IF_ERROR(check(development, in.rows, in.gate));
    RAMPART_TRY(const auto feedback, selection_feedback(development, in.champion, in.champion));
    RAMPART_TRY(auto objective, objective_of(feedback, in.gate, in.limits.power));
    return Evaluation{std::move(objective),
                      LinkOnRows(in, gate_rows(development, in.champion, in.champion))};
}

}  // namespace

Result<SearchedParameters> search_parameters(const SearchInputs& in) {
    RAMPART_TRY(const auto evaluation, evaluation_of(in));
    const Coordinates coordinates{in.exploration != model::ExplorationMode::kNone, !in.rule,
                                  in.begin};
    numeric::CmaEsOptions options;
    options.scales = coordinates.scales();
    options.max_evaluations = in.limits.evaluations;
    options.max_restarts = 1;
    options.seed = in.limits.seed;
    const auto cost = [&](std::span<const double> theta) {
        return evaluation.objective.cost(evaluation.link.approve(coordinates.decode(theta)));
    };
    const std::vector<std::vector<double>> starts{coordinates.encode()};
    RAMPART_TRY(const auto found, numeric::minimise(cost, starts, coordinates.box(), options));
    const auto parameters = coordinates.decode(found.x);
    return searched(parameters, evaluation.of(parameters), found.evaluations);
}

Result<SearchedParameters> search_grid(const SearchInputs& in) {
    RAMPART_TRY(const auto evaluation, evaluation_of(in));
    SearchedParameters best = searched(in.begin, evaluation.of(in.begin), 1);
    double highest = std::max(0.0, best.chance * best.predicted_gain);
    size_t evaluations = 1;
    for (const double width : {1.0, 1.0 / 3, 1.0 / 6}) {
        for (const double step : {1.0, 0.5}) {
            LinkParameters p = in.begin;
            p.gamma = std::max(width * p.gamma, std::min(p.gamma, kNarrowestRamp));
            p.kappa *= step;
            if (p.gamma == in.begin.gamma && p.kappa == in.begin.kappa) continue;
            const auto one = searched(p, evaluation.of(p), ++evaluations);
            const double expected = one.chance * one.predicted_gain;
            if (!(expected > highest)) continue;  // NaN and a loss never are
            highest = expected;
            best = one;
        }
    }
    best.evaluations = evaluations;
    return best;
}

}  // namespace rampart::training
