#include "objective.hpp"

#include <algorithm>

#include "chunks.hpp"

namespace rampart::budro {
namespace {

constexpr float kLeastCurvature = 1e-16f;

}  // namespace

void WeighedOutcomes::gradients_of_rows(std::span<const double> scores, size_t first,
                                        std::span<float> g, std::span<float> h) const {
    const size_t n = scores.size();
    for (size_t k = 0; k < g.size(); ++k) {
        const size_t i = first + k;
        const auto slopes = loss_.slopes(scores[i]);
        const double w0 = mass_[i] * by_class_[0], w1 = mass_[n + i] * by_class_[1];
        g[k] = static_cast<float>(w0 * slopes.slope[0] + w1 * slopes.slope[1]);
        h[k] = std::max(static_cast<float>(w0 * slopes.curvature[0] + w1 * slopes.curvature[1]),
                        kLeastCurvature);
    }
}

base::Result<Attack> Attack::create(const dataset::Dataset& data, const Points& points,
                                    const BudroParams& params, const OutcomeLoss& loss,
                                    base::ThreadPool* pool) {
    TransportParams how = params.transport;
    how.moves = false;
    const std::vector<double> weights(data.weight.begin(), data.weight.end());
    RAMPART_TRY(auto solver, TransportSolver::create({&points, data.label, 2, weights}, how, pool));
    return Attack(std::move(solver), loss,
                  params.weighted_attack ? params.positive_class_weight : 1, pool);
}

base::Result<Transport> Attack::on(std::span<const double> scores) {
    const size_t n = scores.size();
    losses_.resize(2 * n);
    constexpr double kMostLoss = 1e6;
    for_chunks(pool_, n, gbdt::kChunkRows, [&](size_t, size_t first, size_t last) {
        for (size_t i = first; i < last; ++i) {
            const auto both = loss_->losses(scores[i]);
            losses_[i] = both.loss[0];
            losses_[n + i] = std::min(both.loss[1] * positive_class_weight_, kMostLoss);
        }
    });
    return solver_.solve(losses_);
}

void BudroObjective::prepare(std::span<const double> scores) {
    if (constrained_) constrained_->prepare(scores);
}

void BudroObjective::gradients_of_rows(std::span<const double> scores, size_t first,
                                       std::span<float> g, std::span<float> h) const {
    outcomes_.gradients_of_rows(scores, first, g, h);
    if (!constrained_) return;
    // what the constraints add to the log loss of the people as they are
    std::vector<float> with_g(g.size()), with_h(g.size()), own_g(g.size()), own_h(g.size());
    constrained_->gradients_of_rows(scores, first, with_g, with_h);
    plain_.gradients_of_rows(scores, first, own_g, own_h);
    for (size_t k = 0; k < g.size(); ++k) {
        g[k] += with_g[k] - own_g[k];
        h[k] = std::max(h[k] + (with_h[k] - own_h[k]), kLeastCurvature);
    }
}

void BudroObjective::rows_scored(std::span<const double> scores, size_t first, size_t n) {
    if (constrained_) constrained_->rows_scored(scores, first, n);
}

void BudroObjective::after_tree(int iteration, std::span<const double> scores) {
    if (constrained_) constrained_->after_tree(iteration, scores);
}

}  // namespace rampart::budro
