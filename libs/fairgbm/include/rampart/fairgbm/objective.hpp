#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/fairgbm/multipliers.hpp"
#include "rampart/fairness/operating_point.hpp"
#include "rampart/fairness/rate_system.hpp"
#include "rampart/gbdt/log_loss.hpp"
#include "rampart/gbdt/objective.hpp"

/// FairGBM (Cruz et al. 2023): boosting under constraints on rates of decisions,
/// by a game between the learner and the multipliers.
///
/// The learner descends on  sum w·logloss + W · sum over cells κ_c · A_c,  where κ_c is what the
/// multipliers make of cell c (Multipliers::of_cells) and A_c bounds its approval share, as far as
/// κ_c pushes it:
///   κ_c > 0: weighted mean of proxy(f - threshold) bounds the share approved
///   κ_c < 0: |κ_c| times the mean of proxy(threshold - f) bounds the share declined
/// Every term is convex for cross-entropy, quadratic and hinge. (In the paper a rate that has to
/// rise enters as minus a convex proxy, which is unbounded below; see multipliers.hpp for the other
/// departures, and paper_compat for the paper as printed.) Then the multipliers ascend on the true
/// rates of the new scores.
///
/// Costs per row and iteration: a table lookup and a few operations on what the log loss has
/// computed anyway; the counts are taken while the new scores are in the cache.
namespace rampart::fairgbm {

/// z is how far a score is on the side that it is pushed away from; margin m (table 1).
enum class Proxy {
    kCrossEntropy,  // log(1 + exp(z + s)), s = log(exp(m) - 1): m at z = 0
    kQuadratic,     // max(0, z + m)^2 / 2
    kHinge,         // max(0, z + m)
    kSigmoid,       // 1 / (1 + exp(-z)): not convex, pushes near the threshold only; m is not used
};
std::string_view to_string(Proxy proxy);  // "cross_entropy", "quadratic", "hinge", "sigmoid"
base::Result<Proxy> parse_proxy(std::string_view text);

struct LagrangianParams {
    Proxy proxy = Proxy::kCrossEntropy;
    double proxy_margin = 1;  // (0, 100]
    bool curvature =
        true;  // curvature of the constraint term counts in the hessian, where positive
    AscentParams ascent = {};  // its paper_compat makes proxies concave where the paper's are, too
    fairness::OperatingPoint operating_point = {};
};
base::Status validate(const LagrangianParams& params);

/// State after one tree.
struct FairGbmIteration {
    std::vector<double> approved;     // by cell: share approved
    double threshold = 0;             // decision threshold, as a raw score
    double loss = 0;                  // weighted mean of (p - y)^2
    std::vector<double> multipliers;  // after the ascent
};

/// Keeps a reference to the data, which must outlive it. One training run each.
class FairGbmObjective : public gbdt::Objective {
  public:
    /// learning_rate: of the learner, which paces the ascent.
    static base::Result<FairGbmObjective> create(const dataset::Dataset& data,
                                                 const fairness::RateConstraints& constraints,
                                                 const LagrangianParams& params,
                                                 double learning_rate);

    std::string_view name() const override { return "fairgbm"; }
    double initial_score() const override { return log_loss_->initial_score(); }
    void prepare(std::span<const double> scores) override;
    void gradients_of_rows(std::span<const double> scores, size_t first, std::span<float> g,
                           std::span<float> h) const override;
    void rows_scored(std::span<const double> scores, size_t first, size_t n) override;
    void after_tree(int iteration, std::span<const double> scores) override;
    /// Ends the run after the last tree, with its scores: fills in the loss that the next gradients
    /// would have.
    void finish(std::span<const double> scores);

    const fairness::RateSystem& system() const { return *system_; }
    const Multipliers& multipliers() const { return multipliers_; }
    /// Continues with a saved run's multipliers.
    base::Status restore(const std::vector<double>& multipliers);
    const std::vector<FairGbmIteration>& trace() const { return trace_; }

    /// What gradients_of_rows() differentiates, at other scores, with the pushes that prepare()
    /// fixed.
    double lagrangian(std::span<const double> scores) const;

  private:
    FairGbmObjective(const dataset::Dataset& data, fairness::RateSystem system,
                     const LagrangianParams& params, double learning_rate);
    std::vector<size_t> proxy_worst(std::span<const double> scores) const;
    std::vector<double> approved(std::span<const double> scores) const;
    double loss() const;

    struct Pushes;  // what each cell's rows are pushed by, of the iteration
    const dataset::Dataset* data_;
    std::unique_ptr<fairness::RateSystem> system_;  // multipliers_ refers to it
    std::unique_ptr<gbdt::LogLoss> log_loss_;
    LagrangianParams params_;
    Multipliers multipliers_;
    std::shared_ptr<Pushes> pushes_;
    double threshold_ = 0;
    size_t stride_ = 1;
    // by chunk of rows; each is written by one thread at a time
    mutable std::vector<double> loss_sums_;
    std::vector<std::vector<double>> approved_sums_;
    std::vector<FairGbmIteration> trace_;
};

}  // namespace rampart::fairgbm
