#include "best_response.hpp"

#include <algorithm>
#include <cmath>

#include "rampart/base/check.hpp"
#include "rampart/fair_regression/reasons.hpp"

namespace rampart::fair_regression {
namespace {

base::Status check_scores(const std::vector<double>& scores, size_t rows, std::string_view which) {
    if (scores.size() != rows)
        return base::make_error(Reason::kBadAnswer,
                                "the oracle scored {} {} rows of {}; it has to know them all",
                                scores.size(), which, rows);
    for (size_t row = 0; row < rows; ++row)
        if (!std::isfinite(scores[row]))
            return base::make_error(Reason::kBadAnswer, "the oracle's score of {} row {} is {}",
                                    which, row, scores[row]);
    return base::ok();
}

/// u = intercept + slope · score.
base::Result<RegressionResponse> asked(reductions::Oracle& oracle,
                                       const reductions::OracleQuestion& question, size_t rows,
                                       size_t validation_rows, double intercept, double slope) {
    RAMPART_TRY(auto answer, oracle.fit(question));
    RAMPART_RETURN_IF_ERROR(check_scores(answer.scores, rows, "training"));
    if (validation_rows == 0) answer.validation_scores.clear();  // not needed
    RAMPART_RETURN_IF_ERROR(check_scores(answer.validation_scores, validation_rows, "validation"));
    RegressionResponse out;
    const bool same = intercept == 0 && slope == 1;
    out.model = same ? std::move(answer.model)
                     : reductions::affine(std::move(answer.model), intercept, slope);
    out.predictions = std::move(answer.scores);
    out.validation_predictions = std::move(answer.validation_scores);
    for (auto* scores : {&out.predictions, &out.validation_predictions})
        for (double& u : *scores) u = intercept + slope * u;
    return out;
}

double largest(const std::vector<double>& values) {
    double most = 0;
    for (const double v : values) most = std::max(most, std::abs(v));
    return most;
}

}  // namespace

std::vector<double> repaired(const RegressionRows& rows, std::span<const double> predictions) {
    struct Group {
        std::vector<uint32_t> rows;   // by prediction
        std::vector<double> reached;  // weight up to each, its own by half, over the group's
        double share = 0;
    };
    std::vector<Group> groups(rows.groups);
    for (size_t row = 0; row < rows.size(); ++row)
        groups[rows.group_of(row)].rows.push_back(static_cast<uint32_t>(row));
    const auto shares = group_shares(rows);
    for (size_t k = 0; k < groups.size(); ++k) {
        auto& group = groups[k];
        group.share = shares[k];
        std::stable_sort(group.rows.begin(), group.rows.end(),
                         [&](uint32_t a, uint32_t b) { return predictions[a] < predictions[b]; });
        double sum = 0;
        for (const uint32_t row : group.rows) {
            group.reached.push_back(sum + rows.weight_of(row) / 2);
            sum += rows.weight_of(row);
        }
        for (double& r : group.reached) r /= sum;
    }
    std::vector<double> out(rows.size());
    for (const auto& own : groups) {
        std::vector<size_t> at(groups.size());  // ranks only rise
        for (size_t i = 0; i < own.rows.size(); ++i) {
            double mean = 0;
            for (size_t k = 0; k < groups.size(); ++k) {
                const auto& other = groups[k];
                while (at[k] + 1 < other.rows.size() && other.reached[at[k]] < own.reached[i])
                    ++at[k];
                mean += other.share * std::clamp(predictions[other.rows[at[k]]], 0.0, 1.0);
            }
            out[own.rows[i]] = std::clamp(mean, 0.0, 1.0);
        }
    }
    return out;
}

base::Result<RegressionResponse> fit_loss(const RegressionLoss& loss, std::vector<double> labels,
                                          std::vector<float> weights, reductions::Oracle& oracle,
                                          size_t validation_rows) {
    const size_t n = labels.size();
    reductions::OracleQuestion question{
        .parameter = loss.parameter(), .targets = std::move(labels), .weights = std::move(weights)};
    double intercept = 0, slope = 1;
    switch (loss.kind()) {
        case LossKind::kSquared:
        case LossKind::kUser:
            question.task = reductions::OracleTask::kLeastSquares;
            break;
        case LossKind::kAbsolute:
            question.task = reductions::OracleTask::kAbsolute;
            break;
        case LossKind::kQuantile:
            question.task = reductions::OracleTask::kQuantile;
            break;
        case LossKind::kHuber:
            question.task = reductions::OracleTask::kHuber;
            break;
        case LossKind::kLogistic:  // log-odds C (2u - 1)
            question.task = reductions::OracleTask::kCrossEntropy;
            intercept = 0.5;
            slope = 0.5 / loss.parameter();
            break;
        case LossKind::kPoisson:  // logarithm of the mean C (u - 1)
            question.task = reductions::OracleTask::kPoisson;
            intercept = 1;
            slope = 1 / loss.parameter();
            break;
        case LossKind::kTweedie:
            RAMPART_CHECK(false, "fair regression does not bound the {} loss", loss.name());
    }
    return asked(oracle, question, n, validation_rows, intercept, slope);
}

/// With c_j = N (g_j - g_{j-1}): where c_j > 0, a slope c_j from z_j - 1/(2N) on; where c_j < 0, a
/// slope c_j up to z_j + 1/(2N). Nodes are half a cell apart; at a step itself half of it counts.
reductions::CellLoss hinges(std::span<const double> costs, int levels) {
    const auto n = static_cast<size_t>(levels);
    reductions::CellLoss out;
    out.first = 0;
    out.step = 0.5 / levels;
    out.nodes = 2 * n + 3;
    std::vector<double> rise(out.nodes);
    for (size_t cell = 0; cell < costs.size() / (n + 1); ++cell) {
        std::fill(rise.begin(), rise.end(), 0.0);
        double slope = 0;
        for (size_t j = 1; j <= n; ++j) {
            const double c = levels * (costs[cell * (n + 1) + j] - costs[cell * (n + 1) + j - 1]);
            const size_t at = c > 0 ? 2 * j - 1 : 2 * j + 1;
            rise[at] += std::abs(c) / 2;
            rise[at + 1] += std::abs(c) / 2;
            slope += std::min(0.0, c);
        }
        for (const double r : rise) {
            slope += r;
            out.slopes.push_back(slope);
        }
    }
    out.least_curvature = std::max(1e-6, largest(out.slopes));
    return out;
}

/// Each step of g at z_j, spread over the cells beside it, has the slope c_j at z_j and falls to 0
/// at its neighbours: together, c interpolated. Outside [0, 1] nothing pulls further out.
reductions::CellLoss smoothed_steps(std::span<const double> costs, int levels) {
    const auto n = static_cast<size_t>(levels);
    reductions::CellLoss out;
    out.first = 0;
    out.step = 1.0 / levels;
    out.nodes = n + 2;
    for (size_t cell = 0; cell < costs.size() / (n + 1); ++cell) {
        const double* const g = costs.data() + cell * (n + 1);
        out.slopes.push_back(std::min(0.0, levels * (g[1] - g[0])));
        for (size_t j = 1; j <= n; ++j) out.slopes.push_back(levels * (g[j] - g[j - 1]));
        out.slopes.push_back(std::max(0.0, levels * (g[n] - g[n - 1])));
    }
    out.least_curvature = std::max(1.0, 4 * largest(out.slopes));
    return out;
}

base::Result<RegressionResponse> ParityResponder::ask(const std::vector<double>& costs) {
    if (params_.reduction == RegressionReduction::kCostSensitive) {
        auto cells = hinges(costs, levels_.levels());
        cells.cell_of_row = levels_.cells();
        const reductions::OracleQuestion question{
            .task = reductions::OracleTask::kCells, .weights = weights(), .cells = &cells};
        return asked(oracle_, question, rows_.size(), validation_rows_, 0, 1);
    }
    const bool squares = params_.reduction == RegressionReduction::kLeastSquares;
    const auto best = levels_.best_levels(costs);
    std::vector<double> target_of_cell, targets;
    for (const uint8_t level : best) {
        const double u = levels_.middle(level);
        target_of_cell.push_back(squares ? u : loss_.label_of(u));
    }
    targets.reserve(rows_.size());
    for (const uint32_t cell : levels_.cells()) targets.push_back(target_of_cell[cell]);
    return fit_loss(squares ? RegressionLoss::squared() : loss_, std::move(targets), weights(),
                    oracle_, validation_rows_);
}

base::Result<RegressionResponse> ParityResponder::refined(RegressionResponse response,
                                                          const std::vector<double>& costs) {
    if (std::holds_alternative<std::monostate>(response.model)) return response;
    auto cells = smoothed_steps(costs, levels_.levels());
    cells.cell_of_row = levels_.cells();
    const reductions::OracleQuestion question{.task = reductions::OracleTask::kCells,
                                              .weights = weights(),
                                              .cells = &cells,
                                              .start = &response.model,
                                              .more = params_.refine};
    RAMPART_TRY(auto further, asked(oracle_, question, rows_.size(), validation_rows_, 0, 1));
    const auto lagrangian = [&](const RegressionResponse& r) {
        return levels_.mean(costs, levels_of(r.predictions, levels_.levels()));
    };
    if (lagrangian(further) < lagrangian(response)) return further;
    return response;
}

base::Result<RegressionResponse> ParityResponder::repair(std::span<const double> predictions) {
    auto targets = repaired(rows_, predictions);
    for (double& target : targets) target = loss_.label_of(target);
    return fit_loss(loss_, std::move(targets), weights(), oracle_, validation_rows_);
}

base::Result<RegressionResponse> ParityResponder::respond(std::span<const double> multipliers) {
    const auto costs = levels_.costs(multipliers);
    const bool plain =
        std::all_of(multipliers.begin(), multipliers.end(), [](double l) { return l == 0; });
    auto response = plain ? fit_loss(loss_, {rows_.label.begin(), rows_.label.end()}, weights(),
                                     oracle_, validation_rows_)
                          : ask(costs);
    if (plain || !response || params_.refine == 0) return response;
    return refined(*std::move(response), costs);
}

}  // namespace rampart::fair_regression
