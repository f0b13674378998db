#include "rampart/budro/audit.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "rampart/base/reasons.hpp"
#include "rampart/budro/reasons.hpp"

namespace rampart::budro {
namespace {

constexpr double kLeastProbability = 1e-12;
constexpr size_t kMostPairs = 10'000;

base::Status check(const AuditedRows& rows, const IndividualAuditParams& params) {
    if (params.transport.method != TransportMethod::kExact)
        return base::make_error(
            Reason::kBadAuditParameter, "the method is {}; a certificate needs {}",
            to_string(params.transport.method), to_string(TransportMethod::kExact));
    if (params.most_pairs > kMostPairs)
        return base::make_error(Reason::kBadAuditParameter, "most_pairs is {}; allowed are 0 to {}",
                                params.most_pairs, kMostPairs);
    if (rows.answers.size() != rows.labels.size())
        return base::make_error(base::Reason::kBadSize, "{} answers for {} labels",
                                rows.answers.size(), rows.labels.size());
    for (size_t i = 0; i < rows.answers.size(); ++i)
        if (!(rows.answers[i] >= 0 && rows.answers[i] <= 1))
            return base::make_error(Reason::kBadAnswer,
                                    "row {}: the model's answer is {}, not in [0, 1]", i,
                                    rows.answers[i]);
    return base::ok();
}

/// [2 x n]
std::vector<double> losses_of(const AuditedRows& rows, AuditLoss loss) {
    const size_t n = rows.answers.size();
    std::vector<double> losses(2 * n);
    for (size_t i = 0; i < n; ++i) {
        const double p = rows.answers[i];
        if (loss == AuditLoss::kDecision) {
            losses[i] = p;
            losses[n + i] = 1 - p;
            continue;
        }
        const double kept = std::clamp(p, kLeastProbability, 1 - kLeastProbability);
        losses[i] = -std::log1p(-kept);
        losses[n + i] = -std::log(kept);
    }
    return losses;
}

/// Those that add most to the loss first.
void keep_worst(std::vector<TreatedDifferently>& pairs, size_t most) {
    std::sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) {
        const double x = a.excess(), y = b.excess();
        return x != y ? x > y : std::tie(a.person, a.other) < std::tie(b.person, b.other);
    });
    pairs.resize(std::min(pairs.size(), most));
}

}  // namespace

base::Result<IndividualAudit> audit_individual(const AuditedRows& rows,
                                               const IndividualAuditParams& params,
                                               base::ThreadPool* pool) {
    RAMPART_RETURN_IF_ERROR(check(rows, params));
    auto transport_params = params.transport;
    transport_params.moves = true;
    RAMPART_TRY(
        auto solver,
        TransportSolver::create(
            {.points = rows.points, .labels = rows.labels, .classes = 2, .weights = rows.weights},
            transport_params, pool));
    const auto losses = losses_of(rows, params.loss);
    RAMPART_TRY(const auto transport, solver.solve(losses));
    IndividualAudit out;
    out.loss = transport.loss;
    out.robust_loss = transport.primal;
    out.bound = std::max(transport.primal, transport.dual);
    out.eta = transport.eta;
    out.budget = transport.budget;
    out.cost = transport.cost;
    const size_t n = rows.answers.size();
    for (const auto& move : transport.moves) {
        const double* const by_label = losses.data() + rows.labels[move.from] * n;
        // one of several people at a point stands for all: that changes no decision
        if (!(by_label[move.to] > by_label[move.from])) continue;
        out.worst.push_back({move.from, move.to, move.mass, move.squared_distance,
                             by_label[move.from], by_label[move.to]});
        out.moved += move.mass;
    }
    out.pairs = out.worst.size();
    keep_worst(out.worst, params.most_pairs);
    return out;
}

}  // namespace rampart::budro
