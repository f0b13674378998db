#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/base/thread_pool.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/gbdt/bins.hpp"
#include "rampart/gbdt/learner.hpp"
#include "rampart/model/ensemble.hpp"
#include "rampart/model/linear_model.hpp"

/// What a reduction reduces to: a learner of the same rows, asked again and again with other
/// targets and weights (fair classification: Agarwal et al. 2018; fair regression: Agarwal et al.
/// 2019, section 3).
namespace rampart::reductions {

/// Gives a score per row. monostate: the model of an oracle outside this library, which only that
/// oracle can evaluate.
using OracleModel = std::variant<std::monostate, model::Ensemble, model::LinearModel>;
/// Returns a model of the same kind whose score is intercept + slope · the score of `model`.
OracleModel affine(OracleModel model, double intercept, double slope);
/// Returns the scores [n] of the rows. Not defined for a monostate.
std::vector<double> predict(const OracleModel& model, const dataset::Dataset& data,
                            base::ThreadPool* pool);

/// A loss that depends on a row's cell and score alone, given by its slope: continuous, linear
/// between the nodes first, first + step, …, and constant beyond the outer ones.
struct CellLoss {
    double first = 0, step = 1;                  // step > 0
    size_t nodes = 0;                            // >= 2
    std::vector<double> slopes = {};             // [cells x nodes] finite
    double least_curvature = 1;                  // > 0: no Newton step is longer than slope / that
    std::span<const uint32_t> cell_of_row = {};  // [n]

    struct Slope {
        double value, curvature;
    };
    Slope slope(size_t row, double score) const;
};

enum class OracleTask {
    kLeastSquares,  // scores near real targets
    kCrossEntropy,  // log-odds of targets in [0, 1]
    /// The same loss for a classifier: targets that are all equal give a constant, and targets that
    /// are all 0 or 1 use the vectorised log loss, which rounds differently.
    kClassification,
    kAbsolute,  // medians
    kQuantile,  // pinball loss; `parameter`: the quantile's order
    kHuber,     // Huber loss; `parameter`: its width
    kPoisson,   // logarithms of means; targets >= 0
    kCells,     // the loss of `cells`; no targets
};

struct OracleQuestion {
    OracleTask task = OracleTask::kLeastSquares;
    double parameter = 0;
    std::vector<double> targets = {};
    std::vector<float> weights = {};  // [n] finite and > 0; empty: all 1
    const CellLoss* cells = nullptr;  // for kCells
    /// kCells: a model to continue from, with `more` trees, or as many steps of a linear model. An
    /// oracle without such steps starts from the beginning. A model of the oracle's own kind.
    const OracleModel* start = nullptr;
    int more = 0;

    double weight_of(size_t row) const {
        return weights.empty() ? 1.0 : static_cast<double>(weights[row]);
    }
};
/// Checks what every oracle requires of a question about so many rows. Errors: bad_size,
/// bad_target, bad_weight, bad_cells, bad_parameter.
base::Status validate(const OracleQuestion& question, size_t rows);

struct OracleAnswer {
    OracleModel model;
    std::vector<double> scores;  // [n] of the training rows
    std::vector<double>
        validation_scores;  // scores of the validation rows; empty if there are none
};

/// Knows the rows. Its answer need not be the best one: a reduction relies only on the scores that
/// it sees. The same question gets the same answer.
class Oracle {
  public:
    virtual ~Oracle() = default;
    virtual base::Result<OracleAnswer> fit(const OracleQuestion& question) = 0;
};

/// Boosted trees. The rows are put into bins once for all fits. Keeps references: data sets and
/// pool have to outlive it. Labels, weights and groups of the data set are not read, except that
/// weights may shape the bins. Not thread safe.
class GbdtOracle : public Oracle {
  public:
    /// pool, validation: nullptr for none. Errors: parameters; columns; early stopping, which is
    /// undefined when targets change from fit to fit.
    static base::Result<GbdtOracle> create(const dataset::Dataset& data,
                                           const gbdt::LearnerParams& params,
                                           base::ThreadPool* pool,
                                           const dataset::Dataset* validation = nullptr);
    /// Errors: sizes, targets, weights, too many trees.
    base::Result<OracleAnswer> fit(const OracleQuestion& question) override;

  private:
    GbdtOracle(const dataset::Dataset& data, gbdt::LearnerParams params, base::ThreadPool* pool,
               const dataset::Dataset* validation, gbdt::Bins bins);
    OracleAnswer constant(double score) const;

    const dataset::Dataset* data_;
    gbdt::LearnerParams params_;
    base::ThreadPool* pool_;
    const dataset::Dataset* validation_;
    gbdt::Bins bins_;
};

}  // namespace rampart::reductions
