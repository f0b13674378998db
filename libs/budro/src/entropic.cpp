#include "entropic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rampart::budro {
namespace {

constexpr double kReach = 45;     // exp(-45) is nothing beside 1
constexpr size_t kSources = 512;  // sources whose flows are held at a time
constexpr int kMostSteps = 200;

}  // namespace

/// The losses of one solve. People at one point act as one whose loss is gamma·log of the sum of
/// exp(L / gamma).
struct EntropicDual::Round {
    const Inner& inner;
    std::span<const double> losses;
    const std::vector<std::vector<uint32_t>>& rows_of_point;
    double gamma;
    TargetLosses joint;

    double loss_of_row(size_t label, uint32_t row) const {
        return losses[label * inner.points.of_row.size() + row];
    }

    void join_points() {
        joint = inner.losses;
        for (size_t c = 0; c < static_cast<size_t>(inner.classes); ++c) {
            for (size_t p = 0; p < joint.points; ++p) {
                if (rows_of_point[p].empty()) continue;
                const double most = inner.losses.loss_of(c, p);
                double sum = 0;
                for (const uint32_t row : rows_of_point[p])
                    sum += std::exp((loss_of_row(c, row) - most) / gamma);
                joint.loss[c * joint.points + p] = most + gamma * std::log(sum);
            }
        }
    }

    /// Shares of candidates, in place: value becomes the share.
    static void to_shares(std::vector<Candidate>& candidates, double gamma) {
        std::sort(candidates.begin(), candidates.end(),
                  [](const Candidate& a, const Candidate& b) { return a.point < b.point; });
        double most = -std::numeric_limits<double>::infinity(), sum = 0;
        for (const Candidate& one : candidates) most = std::max(most, one.value);
        for (Candidate& one : candidates) sum += one.value = std::exp((one.value - most) / gamma);
        for (Candidate& one : candidates) one.value /= sum;
    }

    /// costs[k]: mean squared distance of sources[k].
    void costs(double eta, std::span<const uint32_t> sources, std::span<double> out) {
        inner.search.near(eta, kReach * gamma, sources,
                          [&](size_t k, std::span<const Candidate> found) {
                              std::vector<Candidate> shares(found.begin(), found.end());
                              to_shares(shares, gamma);
                              out[k] = 0;
                              for (const Candidate& one : shares)
                                  out[k] += one.value * one.squared_distance;
                          });
    }

    double cost(double eta) {
        const auto sources = inner.all_sources();
        std::vector<double> each(sources.size());
        costs(eta, sources, each);
        double sum = 0;
        for (const uint32_t k : sources) sum += inner.points.sources[k].weight * each[k];
        return sum;
    }

    /// Appends how `source` spreads over the rows of one point.
    void spread(uint32_t source, const Candidate& at, std::vector<Flow>& flows) const {
        const size_t label = inner.points.sources[source].label;
        const auto& rows = rows_of_point[at.point];
        if (rows.empty()) {
            flows.push_back({source, at.row, at.value, at.squared_distance});
            return;
        }
        const double all = joint.loss_of(label, at.point);
        for (const uint32_t row : rows) {
            const double share = at.value * std::exp((loss_of_row(label, row) - all) / gamma);
            if (share > 0) flows.push_back({source, row, share, at.squared_distance});
        }
    }

    /// Flows and true best values of sources first … last - 1. eta infinite: all mass stays.
    void flows(double eta, uint32_t first, uint32_t last, std::vector<std::vector<Flow>>& out,
               std::vector<double>& best) {
        std::vector<uint32_t> sources;
        for (uint32_t k = first; k < last; ++k) sources.push_back(k);
        out.assign(sources.size(), {});
        best.assign(sources.size(), -std::numeric_limits<double>::infinity());
        const auto visit = [&](size_t k, std::span<const Candidate> found) {
            const size_t label = inner.points.sources[sources[k]].label;
            std::vector<Candidate> shares(found.begin(), found.end());
            to_shares(shares, gamma);
            for (const Candidate& one : shares) {
                const double moved = one.squared_distance > 0 ? eta * one.squared_distance : 0;
                best[k] = std::max(best[k], inner.losses.loss_of(label, one.point) - moved);
                spread(sources[k], one, out[k]);
            }
        };
        if (std::isfinite(eta)) return inner.search.near(eta, kReach * gamma, sources, visit);
        for (size_t k = 0; k < sources.size(); ++k) {
            const Source& from = inner.points.sources[sources[k]];
            const Candidate own{0, 0, inner.losses.row_of(from.label, from.point), from.point};
            visit(k, std::span(&own, 1));
        }
    }
};

EntropicDual::EntropicDual(const SupportPoints& points, uint64_t seed)
    : rows_of_point_(points.count()), random_(seed) {
    std::vector<uint32_t> count(points.count());
    for (const uint32_t p : points.of_row) ++count[p];
    for (uint32_t i = 0; i < points.of_row.size(); ++i) {
        const uint32_t p = points.of_row[i];
        if (count[p] > 1) rows_of_point_[p].push_back(i);
    }
}

/// The root of cost(η) = budget from above, by false position (Illinois) kept in a bracket.
double EntropicDual::spent_eta(Round& round) {
    const double budget = round.inner.budget, tolerance = round.inner.params.eta_tolerance;
    double low = 0, low_excess = round.cost(0) - budget;
    if (low_excess <= 0) return 0;
    const auto points = static_cast<double>(round.inner.points.of_row.size());
    double high = (round.inner.span_of_losses() + round.gamma * (1 + std::log(points))) / budget;
    if (eta_ > 0 && 1.2 * eta_ < high && round.cost(1.2 * eta_) <= budget) high = 1.2 * eta_;
    double high_excess = round.cost(high) - budget;
    int last = 0;
    for (int step = 0; step < kMostSteps && high - low > tolerance * high; ++step) {
        double eta = low + (high - low) * low_excess / (low_excess - high_excess);
        const double inside = 1e-3 * (high - low);
        eta = step % 4 == 3 ? (low + high) / 2 : std::clamp(eta, low + inside, high - inside);
        const double excess = round.cost(eta) - budget;
        if (excess > 0) {
            low = eta;
            low_excess = excess;
            if (last > 0) high_excess /= 2;
            last = 1;
        } else {
            high = eta;
            high_excess = excess;
            if (last < 0) low_excess /= 2;
            last = -1;
            if (excess == 0) break;
        }
    }
    return high;
}

double EntropicDual::solve_eta(Round& round) {
    const Inner& inner = round.inner;
    if (inner.budget == 0) return std::numeric_limits<double>::infinity();
    if (!inner.params.entropic.stochastic) return spent_eta(round);
    const SgdParams& params = inner.params.sgd;
    std::vector<double> each(static_cast<size_t>(params.batch));
    const auto cost = [&](std::span<const uint32_t> batch, double eta) {
        round.costs(eta, batch, each);
        double sum = 0;
        for (const double one : each) sum += one;
        return sum / static_cast<double>(batch.size());
    };
    const double start = params.restart || eta_ < 0 ? params.initial_eta : eta_;
    return descend(inner, start, random_, cost);
}

EntropicAnswer EntropicDual::solve(const Inner& inner, std::span<const double> losses,
                                   const Take& take) {
    Round round{inner, losses, rows_of_point_, inner.params.entropic.gamma, {}};
    round.join_points();
    inner.search.begin_round(round.joint);
    EntropicAnswer answer;
    answer.eta = solve_eta(round);
    if (std::isfinite(answer.eta)) eta_ = answer.eta;
    const auto sources = static_cast<uint32_t>(inner.points.sources.size());
    std::vector<std::vector<Flow>> flows;
    std::vector<double> best;
    for (uint32_t first = 0; first < sources; first += kSources) {
        const uint32_t last = std::min<uint32_t>(sources, first + kSources);
        round.flows(answer.eta, first, last, flows, best);
        for (size_t k = 0; k < flows.size(); ++k) {
            const Source& from = inner.points.sources[first + k];
            answer.dual += from.weight * best[k];
            for (const Flow& flow : flows[k]) {
                const double mass = from.weight * flow.share;
                answer.cost += mass * flow.squared_distance;
                answer.primal += mass * round.loss_of_row(from.label, flow.row);
            }
            take(flows[k]);
        }
    }
    if (std::isfinite(answer.eta)) answer.dual += answer.eta * inner.budget;
    return answer;
}

}  // namespace rampart::budro
