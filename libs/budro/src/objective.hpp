#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "rampart/budro/train.hpp"
#include "rampart/fairgbm/objective.hpp"
#include "rampart/gbdt/log_loss.hpp"

namespace rampart::budro {

/// The loss of rows that count with both labels, weighted by `mass`.
class WeighedOutcomes : public gbdt::Objective {
  public:
    /// mass: [2 x n]; gradients are its multiples by `scale` and the weights of the classes.
    WeighedOutcomes(const OutcomeLoss& loss, std::vector<double> mass, double scale,
                    double positive_class_weight, double initial_score)
        : loss_(loss),
          mass_(std::move(mass)),
          by_class_{scale, scale * positive_class_weight},
          initial_score_(initial_score) {}

    std::string_view name() const override { return loss_.name(); }
    double initial_score() const override { return initial_score_; }
    void gradients_of_rows(std::span<const double> scores, size_t first, std::span<float> g,
                           std::span<float> h) const override;
    void weigh(std::vector<double> mass) { mass_ = std::move(mass); }

  private:
    const OutcomeLoss& loss_;
    std::vector<double> mass_;
    double by_class_[2];
    double initial_score_;
};

/// An adversary who sees scores of some people.
class Attack {
  public:
    static base::Result<Attack> create(const dataset::Dataset& data, const Points& points,
                                       const BudroParams& params, const OutcomeLoss& loss,
                                       base::ThreadPool* pool);
    base::Result<Transport> on(std::span<const double> scores);

  private:
    Attack(TransportSolver solver, const OutcomeLoss& loss, double positive_class_weight,
           base::ThreadPool* pool)
        : solver_(std::move(solver)),
          loss_(&loss),
          positive_class_weight_(positive_class_weight),
          pool_(pool) {}

    TransportSolver solver_;
    const OutcomeLoss* loss_;
    double positive_class_weight_;
    base::ThreadPool* pool_;
    std::vector<double> losses_;
};

/// What trees are grown for from the second on. The attack on the scores of a tree is made by
/// the caller that watches the training and may fail; it is handed in by weigh().
class BudroObjective : public gbdt::Objective {
  public:
    BudroObjective(const dataset::Dataset& data, WeighedOutcomes outcomes,
                   std::optional<fairgbm::FairGbmObjective> constrained)
        : outcomes_(std::move(outcomes)), constrained_(std::move(constrained)), plain_(data) {}

    std::string_view name() const override { return "budro"; }
    double initial_score() const override { return outcomes_.initial_score(); }
    void prepare(std::span<const double> scores) override;
    void gradients_of_rows(std::span<const double> scores, size_t first, std::span<float> g,
                           std::span<float> h) const override;
    void rows_scored(std::span<const double> scores, size_t first, size_t n) override;
    void after_tree(int iteration, std::span<const double> scores) override;

    void weigh(std::vector<double> mass) { outcomes_.weigh(std::move(mass)); }
    const fairgbm::FairGbmObjective* constrained() const {
        return constrained_ ? &*constrained_ : nullptr;
    }

  private:
    WeighedOutcomes outcomes_;
    std::optional<fairgbm::FairGbmObjective> constrained_;
    gbdt::LogLoss plain_;
};

}  // namespace rampart::budro
