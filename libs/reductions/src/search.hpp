#pragma once

#include <map>
#include <optional>
#include <vector>

#include "rampart/reductions/train.hpp"

/// What the methods share.
namespace rampart::reductions {

/// Asks the oracle, evaluates the decisions of its answers, and remembers them: an answer depends
/// on the costs of cells alone, and costs that differ by a factor are the same question.
class Search {
  public:
    /// Checks all that comes in. Keeps references to all of it.
    static base::Result<Search> create(const dataset::Dataset& data, const ReductionParams& params,
                                       base::ThreadPool* pool, const ReductionOptions& options);

    /// The classifier that answers these costs of cells: its place in trials(). A fit, unless they
    /// have been asked before.
    base::Result<size_t> ask(const std::vector<double>& costs);

    const std::vector<ReductionTrial>& trials() const { return trials_; }
    bool used_up() const { return trials_.size() >= static_cast<size_t>(params_->fits); }
    /// Reports the progress; false: stop.
    bool report(double gap) const;

    const ReductionParams& params() const { return *params_; }
    double threshold() const { return threshold_; }
    const fairness::RateSystem& system() const { return train_.system; }
    bool on_other_rows() const { return validation_.has_value(); }
    const fairness::RateSystem& judging_system() const { return judging().system; }
    const ReductionJudged& judged(size_t trial) const {
        return validation_ ? *trials_[trial].validation : trials_[trial].train;
    }
    /// Drawn anew for each decision among the trials: by training rows, or by those that judge.
    ReductionJudged mixed(const std::vector<double>& weights, bool judging) const;

    /// The randomized classifier of these weights of trials (they add up to 1) is what is kept.
    ReductionResult result(const std::vector<double>& weights,
                           const fairness::RateValues& tightest);

  private:
    struct Rows {
        const dataset::Dataset* data;
        fairness::RateSystem system;
        std::vector<std::vector<double>> approved;  // by trial, by cell
    };
    Search(Rows train, std::optional<Rows> validation, const ReductionParams& params,
           const ReductionOptions& options);
    const Rows& judging() const { return validation_ ? *validation_ : train_; }
    ReductionJudged look(Rows& rows, std::span<const double> scores, double threshold) const;
    ReductionJudged mixed(const Rows& rows, const std::vector<double>& weights) const;

    Rows train_;
    std::optional<Rows> validation_;
    const ReductionParams* params_;
    const ReductionOptions* options_;
    double threshold_ = 0.5;
    std::optional<GbdtOracle> own_;
    std::vector<ReductionTrial> trials_;
    std::vector<model::Ensemble> ensembles_;  // ensembles of trials_
    std::map<std::vector<float>, size_t> known_;
};

base::Result<ReductionResult> exponentiated_gradient(Search& search);
base::Result<ReductionResult> grid_search(Search& search);
base::Result<ReductionResult> random_reweighing(Search& search);

/// For gs: multipliers, the origin first, so many.
std::vector<std::vector<double>> grid_points(const fairness::RateSystem& system, size_t count,
                                             double limit, uint64_t seed);

}  // namespace rampart::reductions
