#include "reference/budro_classes.hpp"

#include <algorithm>
#include <cmath>

#include "rampart/base/limits.hpp"
#include "rampart/base/random.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/budro/reasons.hpp"
#include "rampart/gbdt/bins.hpp"

namespace rampart::reference {

using budro::BudroRound;
using budro::Points;
using budro::TransportParams;
using budro::TransportSolver;

namespace {

constexpr double kMostLoss = 1e6;
constexpr double kLeastCurvature = 1e-16;

/// Gradients that are given: of one tree.
class Given : public gbdt::Objective {
  public:
    Given(std::vector<float> g, std::vector<float> h) : g_(std::move(g)), h_(std::move(h)) {}
    std::string_view name() const override { return "budro_class"; }
    double initial_score() const override { return 0; }
    void gradients_of_rows(std::span<const double>, size_t first, std::span<float> g,
                           std::span<float> h) const override {
        std::copy_n(g_.begin() + static_cast<ptrdiff_t>(first), g.size(), g.begin());
        std::copy_n(h_.begin() + static_cast<ptrdiff_t>(first), h.size(), h.begin());
    }

  private:
    std::vector<float> g_, h_;
};

base::Status check(const dataset::Dataset& data, std::span<const uint8_t> labels, int classes,
                   const Points& points, const BudroClassesParams& params) {
    RAMPART_RETURN_IF_ERROR(gbdt::validate(params.learner));
    if (classes < 2 || classes > 64 || params.learner.early_stopping_rounds != 0 ||
        params.learner.trees >= static_cast<int>(base::limits::kMaxTrees))
        return base::make_error(budro::Reason::kBadBudroParameter,
                                "{} classes, {} trees, early_stopping_rounds {}; allowed are "
                                "2 to 64, fewer than {}, and 0",
                                classes, params.learner.trees, params.learner.early_stopping_rounds,
                                base::limits::kMaxTrees);
    for (const double weight : params.class_weights)
        if (!(weight > 0 && weight <= 1e6))
            return base::make_error(budro::Reason::kBadBudroParameter,
                                    "class weight {}; allowed is above 0 up to 1e6", weight);
    const bool fits =
        params.class_weights.empty() || params.class_weights.size() == static_cast<size_t>(classes);
    if (!fits || labels.size() != data.rows() || points.rows != data.rows())
        return base::make_error(
            base::Reason::kBadSize, "{} rows, {} labels, {} points, {} weights of {} classes",
            data.rows(), labels.size(), points.rows, params.class_weights.size(), classes);
    return base::ok();
}

/// One training.
class Training {
  public:
    Training(const dataset::Dataset& data, std::span<const uint8_t> labels, int classes,
             const BudroClassesParams& params, base::ThreadPool* pool)
        : data_(data),
          labels_(labels),
          classes_(static_cast<size_t>(classes)),
          n_(data.rows()),
          params_(params),
          pool_(pool),
          by_class_(params.class_weights),
          mass_(classes_ * n_),
          scores_(classes_ * n_),
          probabilities_(classes_ * n_),
          losses_(classes_ * n_) {
        by_class_.resize(classes_, 1);
        for (size_t i = 0; i < n_; ++i) total_ += static_cast<double>(data.weight_of(i));
    }

    base::Result<BudroClassesResult> run(TransportSolver& solver, const gbdt::Bins& bins,
                                         const std::function<bool(const BudroRound&)>& progress) {
        start();
        const int plain = params_.plain_first ? 1 : 0;
        for (int tree = 0; tree < plain; ++tree) RAMPART_RETURN_IF_ERROR(grow(0, bins));
        for (int round = 0;; ++round) {
            look();
            RAMPART_TRY(auto sent, solver.solve(losses_));
            BudroRound now{.trees = result_.ensembles[0].trees.size()};
            now.robust_loss = sent.primal;
            now.dual = sent.dual;
            now.gap = sent.gap;
            now.loss = sent.loss;
            now.eta = sent.eta;
            now.cost = sent.cost;
            now.counts = sent.counts;
            result_.rounds.push_back(now);
            if (round == params_.learner.trees || (progress && !progress(now))) break;
            mass_ = std::move(sent.mass);
            RAMPART_RETURN_IF_ERROR(grow(static_cast<uint64_t>(round) + 1, bins));
        }
        return std::move(result_);
    }

  private:
    /// All mass where it is; scores that give the classes' shares.
    void start() {
        std::vector<double> share(classes_);
        for (size_t i = 0; i < n_; ++i) {
            const double w = static_cast<double>(data_.weight_of(i)) / total_;
            mass_[labels_[i] * n_ + i] = w;
            share[labels_[i]] += w * by_class_[labels_[i]];
        }
        result_.ensembles.resize(classes_);
        for (size_t c = 0; c < classes_; ++c) {
            result_.ensembles[c].base_score = std::log(std::max(share[c], 1e-9));
            std::fill_n(scores_.begin() + static_cast<ptrdiff_t>(c * n_), n_,
                        result_.ensembles[c].base_score);
        }
        look();
    }

    /// Probabilities and losses of the scores.
    void look() {
        for_chunks(n_, [&](size_t first, size_t last) {
            std::vector<double> f(classes_), p(classes_);
            for (size_t i = first; i < last; ++i) {
                for (size_t c = 0; c < classes_; ++c) f[c] = scores_[c * n_ + i];
                softmax(f, p);
                const double most = *std::max_element(f.begin(), f.end());
                double sum = 0;
                for (const double x : f) sum += std::exp(x - most);
                for (size_t c = 0; c < classes_; ++c) {
                    probabilities_[c * n_ + i] = p[c];
                    losses_[c * n_ + i] =
                        std::min(by_class_[c] * (most - f[c] + std::log(sum)), kMostLoss);
                }
            }
        });
    }

    template <class Task>
    void for_chunks(size_t n, const Task& task) {
        const auto one = [&](size_t chunk) {
            task(chunk * gbdt::kChunkRows, std::min(n, (chunk + 1) * gbdt::kChunkRows));
        };
        const size_t chunks = (n + gbdt::kChunkRows - 1) / gbdt::kChunkRows;
        if (pool_ != nullptr) return pool_->run(chunks, one);
        for (size_t chunk = 0; chunk < chunks; ++chunk) one(chunk);
    }

    Given gradients(size_t label) {
        std::vector<float> g(n_), h(n_);
        const double spread = static_cast<double>(classes_) / static_cast<double>(classes_ - 1);
        for_chunks(n_, [&](size_t first, size_t last) {
            for (size_t i = first; i < last; ++i) {
                double all = 0;
                for (size_t c = 0; c < classes_; ++c) all += by_class_[c] * mass_[c * n_ + i];
                const double own = by_class_[label] * mass_[label * n_ + i];
                const double p = probabilities_[label * n_ + i];
                g[i] = static_cast<float>(total_ * (all * p - own));
                h[i] = static_cast<float>(
                    std::max(total_ * spread * all * p * (1 - p), kLeastCurvature));
            }
        });
        return {std::move(g), std::move(h)};
    }

    /// A tree for each class, all by the same scores.
    base::Status grow(uint64_t round, const gbdt::Bins& bins) {
        std::vector<double> grown(scores_.size());
        for (size_t c = 0; c < classes_; ++c) {
            Given objective = gradients(c);
            auto learner = params_.learner;
            learner.trees = 1;
            learner.seed = base::mix64(params_.learner.seed ^ base::mix64(round * classes_ + c));
            gbdt::TrainingOptions how;
            how.bins = &bins;
            how.progress = [&](const gbdt::Progress& p) {
                std::copy(p.scores.begin(), p.scores.end(),
                          grown.begin() + static_cast<ptrdiff_t>(c * n_));
                return true;
            };
            RAMPART_TRY(auto tree, gbdt::train(data_, objective, learner, pool_, how));
            result_.ensembles[c].trees.push_back(std::move(tree.trees[0]));
        }
        for (size_t k = 0; k < scores_.size(); ++k) scores_[k] += grown[k];
        look();
        return base::ok();
    }

    const dataset::Dataset& data_;
    std::span<const uint8_t> labels_;
    size_t classes_, n_;
    const BudroClassesParams& params_;
    base::ThreadPool* pool_;
    double total_ = 0;
    std::vector<double> by_class_;
    std::vector<double> mass_, scores_, probabilities_, losses_;  // [classes x n]
    BudroClassesResult result_;
};

}  // namespace

void softmax(std::span<const double> scores, std::span<double> probabilities) {
    const double most = *std::max_element(scores.begin(), scores.end());
    double sum = 0;
    for (size_t c = 0; c < scores.size(); ++c) sum += probabilities[c] = std::exp(scores[c] - most);
    for (double& p : probabilities) p /= sum;
}

base::Result<BudroClassesResult> train_budro_classes(
    const dataset::Dataset& data, std::span<const uint8_t> labels, int classes,
    const Points& points, const BudroClassesParams& params, base::ThreadPool* pool,
    const std::function<bool(const BudroRound&)>& progress) {
    RAMPART_RETURN_IF_ERROR(check(data, labels, classes, points, params));
    RAMPART_TRY(const auto bins, gbdt::Bins::create(data, params.learner.max_bins, pool));
    const std::vector<double> weights(data.weight.begin(), data.weight.end());
    TransportParams how = params.transport;
    how.moves = false;
    RAMPART_TRY(auto solver,
                TransportSolver::create({&points, labels, classes, weights}, how, pool));
    return Training(data, labels, classes, params, pool).run(solver, bins, progress);
}

}  // namespace rampart::reference
