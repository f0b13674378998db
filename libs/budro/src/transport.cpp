#include "rampart/budro/transport.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "duals.hpp"
#include "entropic.hpp"
#include "rampart/base/enum_names.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/budro/reasons.hpp"
#include "search.hpp"
#include "tile_search.hpp"

namespace rampart::budro {

namespace {

constexpr int kMostClasses = 64;
constexpr double kMostLoss = 1e6;
constexpr size_t kMostTilesInGroup = 64;

using Name = base::EnumName<TransportMethod>;
constexpr std::array kNames = {
    Name{TransportMethod::kExact, "exact"}, Name{TransportMethod::kSgd, "sgd"},
    Name{TransportMethod::kEntropic, "entropic"}, Name{TransportMethod::kBisection, "bisection"}};

base::Status check_range(std::string_view field, double value, double lo, double hi) {
    if (value >= lo && value <= hi) return base::ok();
    return base::make_error(Reason::kBadTransportParameter, "{} is {}; allowed are {} to {}", field,
                            value, lo, hi);
}

base::Status check(const TransportProblem& problem) {
    if (problem.points == nullptr)
        return base::make_error(base::Reason::kNoRows, "there are no points");
    RAMPART_RETURN_IF_ERROR(validate(*problem.points));
    const size_t n = problem.points->rows;
    if (problem.classes < 1 || problem.classes > kMostClasses)
        return base::make_error(base::Reason::kBadSize, "{} classes; allowed are 1 to {}",
                                problem.classes, kMostClasses);
    if (problem.labels.size() != n || (!problem.weights.empty() && problem.weights.size() != n)) {
        return base::make_error(base::Reason::kBadSize, "{} labels and {} weights for {} points",
                                problem.labels.size(), problem.weights.size(), n);
    }
    for (size_t i = 0; i < n; ++i) {
        if (problem.labels[i] >= problem.classes)
            return base::make_error(base::Reason::kBadLabel, "row {}: label {} of {} classes", i,
                                    problem.labels[i], problem.classes);
        if (problem.weights.empty() || (problem.weights[i] > 0 && problem.weights[i] <= 1e12))
            continue;
        return base::make_error(base::Reason::kBadWeight,
                                "row {}: weight {} is not above 0 and at most 1e12", i,
                                problem.weights[i]);
    }
    return base::ok();
}

/// The search with the largest table of distances that fits.
base::Result<std::unique_ptr<Search>> search_for(const SupportPoints& points, int classes,
                                                 const TransportParams& params, size_t held,
                                                 base::ThreadPool* pool) {
    constexpr size_t kFewPoints = 256;  // among whom everything is looked at as fast
    const bool by_tiles = params.search == TransportSearch::kTiles ||
                          (params.search == TransportSearch::kAuto && points.count() > kFewPoints);
    size_t needed = held;
    for (size_t group = 0; by_tiles && group <= kMostTilesInGroup;
         group = std::max<size_t>(1, 2 * group)) {
        const size_t tables = bytes_of_tile_search(points, classes, group);
        needed = held + tables;
        // with as many entries of what is remembered from round to round, if they can be had
        const size_t runs = group == 0 ? (points.sources.size() - 1) / points.count() + 1
                                       : static_cast<size_t>(classes);
        if (held + (1 + runs) * tables <= params.memory_budget ||
            (group == kMostTilesInGroup && needed <= params.memory_budget))
            return make_tile_search(points, classes, params.instructions, group,
                                    params.memory_budget - needed, pool);
    }
    if (!by_tiles && needed <= params.memory_budget) return make_brute_force(points, pool);
    return base::make_error(Reason::kMemoryBudget,
                            "{} distinct points of {} dimensions need {} bytes, and the "
                            "memory budget is {}; raise it or take fewer people",
                            points.count(), points.dimensions, needed, params.memory_budget);
}

}  // namespace

std::string_view to_string(TransportMethod method) { return base::name_of(kNames, method); }

base::Result<TransportMethod> parse_transport_method(std::string_view text) {
    return base::value_of(kNames, text, Reason::kUnknownTransportMethod);
}

base::Status validate(const TransportParams& params) {
    if (params.epsilon != 0)
        RAMPART_RETURN_IF_ERROR(check_range("epsilon", params.epsilon, 1e-9, 1e12));
    RAMPART_RETURN_IF_ERROR(check_range("gap_tolerance", params.gap_tolerance, 0, 1e-3));
    RAMPART_RETURN_IF_ERROR(check_range("eta_tolerance", params.eta_tolerance, 1e-15, 0.1));
    RAMPART_RETURN_IF_ERROR(check_range("sgd.initial_eta", params.sgd.initial_eta, 0, 1e12));
    RAMPART_RETURN_IF_ERROR(check_range("sgd.steps", params.sgd.steps, 1, 1e6));
    RAMPART_RETURN_IF_ERROR(check_range("sgd.batch", params.sgd.batch, 1, 1e6));
    RAMPART_RETURN_IF_ERROR(
        check_range("sgd.learning_rate", params.sgd.learning_rate, 1e-12, 1e12));
    RAMPART_RETURN_IF_ERROR(check_range("sgd.momentum", params.sgd.momentum, 0, 0.999999));
    RAMPART_RETURN_IF_ERROR(check_range("entropic.gamma", params.entropic.gamma, 1e-9, 1e6));
    if (!model::supports(params.instructions))
        return base::make_error(Reason::kBadTransportParameter,
                                "instructions are {}, which this processor has not; leave the "
                                "default",
                                model::to_string(params.instructions));
    return base::ok();
}

struct TransportSolver::Parts {
    TransportParams params;
    base::ThreadPool* pool;
    int classes;
    double budget;
    std::vector<uint8_t> labels;
    std::vector<double> weights;  // [n], sum 1
    SupportPoints points;
    std::unique_ptr<Search> search;
    BracketedDual bracketed;
    SgdDual sgd;
    std::optional<EntropicDual> entropic;

    Parts(const TransportProblem& problem, const TransportParams& with, double total,
          base::ThreadPool* threads)
        : params(with),
          pool(threads),
          classes(problem.classes),
          budget(with.epsilon_is_total ? with.epsilon / total : with.epsilon),
          labels(problem.labels.begin(), problem.labels.end()),
          points(find_support_points(problem, total)),
          sgd(with.sgd.seed) {
        for (size_t i = 0; i < labels.size(); ++i)
            weights.push_back((problem.weights.empty() ? 1 : problem.weights[i]) / total);
        if (params.method == TransportMethod::kEntropic) entropic.emplace(points, params.sgd.seed);
    }

    size_t bytes_of_people() const;
    base::Status check(std::span<const double> losses) const;
    double staying_loss(std::span<const double> losses) const;
    Transport start(std::span<const double> losses) const;
    void send(uint32_t from, uint32_t to, double mass, double distance, Transport& out) const;
    void carry_out(const Inner& inner, const Plan& plan, Transport& out) const;
    Transport by_map(const Inner& inner, std::span<const double> losses);
    Transport by_flows(const Inner& inner, std::span<const double> losses);
};

/// What is held whatever the search, the answer among it.
size_t TransportSolver::Parts::bytes_of_people() const {
    const size_t n = labels.size(), c = static_cast<size_t>(classes);
    const size_t of_point = (points.dimensions + c) * sizeof(double) + (c + 1) * sizeof(uint32_t);
    return points.count() * of_point +
           points.sources.size() * (sizeof(Source) + 6 * sizeof(Choice)) +
           n * (1 + (1 + c) * sizeof(double) + 2 * sizeof(uint32_t));
}

base::Status TransportSolver::Parts::check(std::span<const double> losses) const {
    const size_t n = labels.size();
    if (losses.size() != n * static_cast<size_t>(classes))
        return base::make_error(base::Reason::kBadSize, "{} losses for {} classes of {} people",
                                losses.size(), classes, n);
    for (size_t k = 0; k < losses.size(); ++k) {
        if (std::abs(losses[k]) <= kMostLoss) continue;
        return base::make_error(Reason::kBadLoss,
                                "row {}, class {}: loss {} is not a number within ±{}; keep "
                                "probabilities away from 0 and 1",
                                k % n, k / n, losses[k], kMostLoss);
    }
    return base::ok();
}

double TransportSolver::Parts::staying_loss(std::span<const double> losses) const {
    double sum = 0;
    for (size_t i = 0; i < labels.size(); ++i)
        sum += weights[i] * losses[labels[i] * labels.size() + i];
    return sum;
}

Transport TransportSolver::Parts::start(std::span<const double> losses) const {
    Transport out;
    out.budget = budget;
    out.loss = staying_loss(losses);
    out.mass.resize(losses.size());
    return out;
}

void TransportSolver::Parts::send(uint32_t from, uint32_t to, double mass, double distance,
                                  Transport& out) const {
    out.mass[labels[from] * labels.size() + to] += mass;
    if (params.moves && from != to && mass > 0) out.moves.push_back({from, to, mass, distance});
}

void TransportSolver::Parts::carry_out(const Inner& inner, const Plan& plan, Transport& out) const {
    for (uint32_t i = 0; i < labels.size(); ++i) {
        const uint32_t source = points.source_of_row[i];
        const auto send_by = [&](const std::vector<Choice>& map, double share) {
            const Choice& choice = map[source];
            send(i, inner.losses.row_of(labels[i], choice.point), share * weights[i],
                 choice.squared_distance, out);
        };
        const bool one =
            plan.second.empty() || plan.first[source].point == plan.second[source].point;
        if (one) {
            send_by(plan.first, 1);
            continue;
        }
        if (plan.share > 0) send_by(plan.first, plan.share);
        if (plan.share < 1) send_by(plan.second, 1 - plan.share);
    }
}

Transport TransportSolver::Parts::by_map(const Inner& inner, std::span<const double> losses) {
    search->begin_round(inner.losses);
    Plan plan;
    switch (params.method) {
        case TransportMethod::kSgd:
            plan = sgd.solve(inner);
            break;
        case TransportMethod::kBisection:
            plan = bracketed.bisection(inner);
            break;
        case TransportMethod::kExact:
        case TransportMethod::kEntropic:
            plan = bracketed.exact(inner);
            break;
    }
    Transport out = start(losses);
    out.eta = plan.eta;
    out.dual = plan.dual;
    const Sums first = inner.sums(plan.first);
    const Sums second = plan.second.empty() ? first : inner.sums(plan.second);
    out.cost = plan.share * first.cost + (1 - plan.share) * second.cost;
    out.primal = plan.share * first.loss + (1 - plan.share) * second.loss;
    carry_out(inner, plan, out);
    return out;
}

Transport TransportSolver::Parts::by_flows(const Inner& inner, std::span<const double> losses) {
    Transport out = start(losses);
    std::vector<std::vector<uint32_t>> rows_of_source(points.sources.size());
    for (uint32_t i = 0; i < labels.size(); ++i)
        rows_of_source[points.source_of_row[i]].push_back(i);
    const auto answer = entropic->solve(inner, losses, [&](std::span<const Flow> flows) {
        for (const Flow& flow : flows)
            for (const uint32_t from : rows_of_source[flow.source])
                send(from, flow.row, flow.share * weights[from], flow.squared_distance, out);
    });
    out.eta = answer.eta;
    out.dual = answer.dual;
    out.cost = answer.cost;
    out.primal = answer.primal;
    std::sort(out.moves.begin(), out.moves.end(), [](const Move& a, const Move& b) {
        return a.from != b.from ? a.from < b.from : a.to < b.to;
    });
    return out;
}

TransportSolver::TransportSolver(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
TransportSolver::~TransportSolver() = default;
TransportSolver::TransportSolver(TransportSolver&&) noexcept = default;
TransportSolver& TransportSolver::operator=(TransportSolver&&) noexcept = default;

base::Result<TransportSolver> TransportSolver::create(const TransportProblem& problem,
                                                      const TransportParams& params,
                                                      base::ThreadPool* pool) {
    RAMPART_RETURN_IF_ERROR(validate(params));
    RAMPART_RETURN_IF_ERROR(check(problem));
    double total = 0;
    for (size_t i = 0; i < problem.labels.size(); ++i)
        total += problem.weights.empty() ? 1 : problem.weights[i];
    auto parts = std::make_unique<Parts>(problem, params, total, pool);
    RAMPART_TRY(parts->search,
                search_for(parts->points, problem.classes, params, parts->bytes_of_people(), pool));
    return TransportSolver(std::move(parts));
}

base::Result<Transport> TransportSolver::solve(std::span<const double> losses) {
    Parts& parts = *parts_;
    RAMPART_RETURN_IF_ERROR(parts.check(losses));
    const TargetLosses targets = losses_of_targets(parts.points, losses, parts.classes);
    const Inner inner{parts.points, targets,       parts.params, *parts.search,
                      parts.pool,   parts.classes, parts.budget};
    parts.search->counts = {};
    Transport out = parts.params.method == TransportMethod::kEntropic
                        ? parts.by_flows(inner, losses)
                        : parts.by_map(inner, losses);
    out.gap = out.dual - out.primal;
    out.counts = parts.search->counts;
    return out;
}

size_t TransportSolver::bytes() const {
    return parts_->bytes_of_people() + parts_->search->bytes();
}

}  // namespace rampart::budro
