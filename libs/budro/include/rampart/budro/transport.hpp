#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/base/thread_pool.hpp"
#include "rampart/budro/points.hpp"
#include "rampart/model/instruction_set.hpp"

/// The inner problem of BuDRO (Vargo et al. 2021, eq. 2.8): the worst-case distribution, that is,
/// the transport plan within a mean squared fair distance of epsilon that maximises a model's loss.
///
///   maximise   sum over j of w_j · sum over i of Π_ij · L[y_j][i]
///   subject to sum over j of w_j · sum over i of Π_ij · d²(i, j) <= epsilon,
///              Π >= 0, sum over i of Π_ij = 1 for every j,   weights w scaled to sum 1
///
/// L[c][i] is the loss of the model at person i if the right answer there were c: people keep their
/// label when they move. The dual (eq. B.14) has one variable, the price η of a unit of distance:
///   M(η) = η·epsilon + sum w_j · max over i of (L[y_j][i] - η·d²(i, j)),   η >= 0
/// convex and piecewise linear. No n x n matrix is ever held.
///
/// The target of a person is always chosen in double precision. Ties: the nearest target, then the
/// lowest row. Among people at the same point, the one with the greatest loss (the first of equals)
/// represents the point.
namespace rampart::budro {

enum class TransportMethod {
    /// Tangents and bisection on M until the gap closes, then the mixture of the maps at both ends
    /// of the bracket, which spends the budget to the last bit. Proves itself: see Transport::gap.
    kExact,
    kSgd,  // Algorithm 2: stochastic steps on η (kept >= 0), then one map; may miss the budget
    kEntropic,   // Algorithms 4 and 5 (with stochastic steps: 6); in logarithms, no overflow
    kBisection,  // Algorithm 7: bisection on the slope of M, then one map; below the budget
};
std::string_view to_string(TransportMethod method);  // "exact", "sgd", "entropic", "bisection"
base::Result<TransportMethod> parse_transport_method(std::string_view text);

/// How the largest value over i is found. All give the same bits.
enum class TransportSearch {
    kAuto,        // tiles where there are enough points, else everything
    kTiles,       // tiles of points and bounds on their distances; most pairs are never looked at
    kBruteForce,  // every pair of points, each time
};

/// Steps down a sampled slope of M; people are drawn in proportion to their weights.
struct SgdParams {
    double initial_eta = 0.1;     // >= 0
    int steps = 100;              // 1 … 1'000'000 a solve
    int batch = 200;              // 1 … 1'000'000 people a step
    double learning_rate = 1e-4;  // > 0
    double momentum = 0.9;        // [0, 1)
    /// Each solve() begins at initial_eta again, as the paper's program does; else where the last
    /// one ended.
    bool restart = false;
    uint64_t seed = 0;
};

struct EntropicParams {
    double gamma = 5e-5;      // > 0: how much the entropy counts
    bool stochastic = false;  // η by Algorithm 6 with SgdParams instead of bisection
};

struct TransportParams {
    TransportMethod method = TransportMethod::kExact;
    double epsilon = 0.1;           // 0, or from 1e-9 to 1e12
    bool epsilon_is_total = false;  // bounds sum w·d² with the weights as given, not their mean
    /// kExact ends when dual - primal <= gap_tolerance · max(1, |dual|). [0, 1e-3]; 0: when nothing
    /// is left to gain in double precision.
    double gap_tolerance = 1e-12;
    /// kBisection and kEntropic end when η is known to within this share of itself. [1e-15, 0.1]
    double eta_tolerance = 1e-9;
    SgdParams sgd = {};
    EntropicParams entropic = {};
    TransportSearch search = TransportSearch::kAuto;
    /// Bytes that the solver may hold, its copy of the points among them. What saves time (tables
    /// of distances) is made as large as fits.
    size_t memory_budget = size_t{1} << 30;
    bool moves = true;  // whether Transport::moves is filled in
    model::InstructionSet instructions = model::fastest_supported();
};
/// Fails with bad_transport_parameter, naming field, value and range.
base::Status validate(const TransportParams& params);

/// The people of a transport problem.
struct TransportProblem {
    const Points* points = nullptr;
    std::span<const uint8_t> labels = {};  // [n] 0 … classes - 1
    int classes = 2;                       // 1 … 64
    std::span<const double> weights = {};  // [n] finite, > 0; empty: all 1
};

/// `mass` of the people at `from` is counted at `to` instead (not of those who stay).
struct Move {
    uint32_t from = 0, to = 0;    // rows
    double mass = 0;              // share of all mass, in [0, 1]
    double squared_distance = 0;  // between them
};

struct SearchCounts {
    uint64_t evaluations = 0;  // evaluations of M, each over all sources or those still open
    uint64_t pairs = 0;        // (person, target) that these were about, duplicates merged
    uint64_t screened = 0;     // pairs whose distance was computed in single precision
    uint64_t decided = 0;      // in double precision
};

struct Transport {
    double eta = 0;     // price of distance; infinity where epsilon is 0
    double budget = 0;  // epsilon as a mean
    double cost = 0;    // mean squared distance that was spent
    double loss = 0;    // mean loss without moving: sum w_j · L[y_j][j]
    double primal = 0;  // mean loss where people were sent: the robust loss
    double dual = 0;    // M(η), which no transport within the budget exceeds
    /// dual - primal: how far from the worst case this is at most. (kSgd may overspend, and then it
    /// may be below 0.)
    double gap = 0;
    std::vector<double> mass;  // [classes x n], sum 1: the attacked distribution
    std::vector<Move> moves;   // by `from`, without rows that stay
    SearchCounts counts;

    /// The certificate of individual fairness (eq. 3.2): what moving costs in loss.
    double performance_gap() const { return primal - loss; }
};

/// Solves the problem for one vector of losses after another, from boosting round to boosting
/// round, each starting from the answers of the last. Deterministic: the same calls give the same
/// bits whatever the number of threads, instructions and search (`counts` apart). Not thread safe.
///
/// What the methods promise, beside the dual bound: kExact gap <= gap_tolerance and
/// cost = min(budget, what pays) to rounding; kBisection cost <= budget and
/// gap = η · (budget - cost); kEntropic cost <= budget up to eta_tolerance (stochastic: not), and
/// gap <= gamma · log(n) + η · |budget - cost|.
class TransportSolver {
  public:
    /// Copies what it needs. `pool` may be nullptr, else it has to outlive the solver. Errors:
    /// validate() of points and params, bad_size, bad_label, bad_weight, memory_budget.
    static base::Result<TransportSolver> create(const TransportProblem& problem,
                                                const TransportParams& params,
                                                base::ThreadPool* pool);
    ~TransportSolver();
    TransportSolver(TransportSolver&&) noexcept;
    TransportSolver& operator=(TransportSolver&&) noexcept;

    /// Solves one round. losses: [classes x n], losses[c * n + i] the loss of row i if labelled c;
    /// |loss| <= 1e6.
    /// Errors: bad_size, bad_loss.
    base::Result<Transport> solve(std::span<const double> losses);

    size_t bytes() const;  // held, about

  private:
    struct Parts;
    explicit TransportSolver(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> parts_;
};

}  // namespace rampart::budro
