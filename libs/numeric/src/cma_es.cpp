#include "rampart/numeric/cma_es.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>

#include "rampart/base/random.hpp"
#include "rampart/numeric/reasons.hpp"

namespace rampart::numeric {
namespace {

using base::make_error;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMaxCondition = 1e14;  // past it C is no longer positive definite in practice

/// The strategy's constants for n coordinates and a population (tutorial, table 1).
struct Constants {
    Constants(size_t n_, size_t population_)
        : n(n_), population(population_), parents(population / 2) {
        const double half = std::log((static_cast<double>(population) + 1) / 2);
        weights.resize(static_cast<Eigen::Index>(parents));
        for (size_t i = 0; i < parents; ++i) {
            weights[static_cast<Eigen::Index>(i)] = half - std::log(static_cast<double>(i) + 1);
        }
        weights /= weights.sum();
        const double d = static_cast<double>(n);
        mu = 1 / weights.squaredNorm();
        c_sigma = (mu + 2) / (d + mu + 5);
        damping = 1 + 2 * std::max(0.0, std::sqrt((mu - 1) / (d + 1)) - 1) + c_sigma;
        c_path = (4 + mu / d) / (d + 4 + 2 * mu / d);
        c_one = 2 / ((d + 1.3) * (d + 1.3) + mu);
        c_mu = std::min(1 - c_one, 2 * (mu - 2 + 1 / mu) / ((d + 2) * (d + 2) + mu));
        normal_length = std::sqrt(d) * (1 - 1 / (4 * d) + 1 / (21 * d * d));
        decompose_every = std::max<size_t>(1, static_cast<size_t>(1 / (10 * d * (c_one + c_mu))));
        history = 10 + static_cast<size_t>(std::ceil(30 * d / static_cast<double>(population)));
    }

    size_t n, population, parents;
    VectorXd weights;
    double mu = 0, c_sigma = 0, damping = 0, c_path = 0, c_one = 0, c_mu = 0, normal_length = 0;
    size_t decompose_every = 1, history = 10;
};

/// Everything that is the same for all runs, and what they have found.
struct Search {
    const Cost& cost;
    const Box& box;
    const CmaEsOptions& options;
    const Cancelled& cancelled;
    VectorXd scale;
    Minimum best;

    size_t left() const { return options.max_evaluations - best.evaluations; }
    bool stop_all() const {
        return best.stopped == Stopped::kTarget || best.stopped == Stopped::kCancelled;
    }

    void into_box(Eigen::Ref<VectorXd> x) const {
        for (size_t i = 0; i < box.lower.size(); ++i) {
            double& v = x[static_cast<Eigen::Index>(i)];
            v = std::clamp(v, box.lower[i], box.upper[i]);
        }
    }

    double evaluate(const double* x) {
        const std::span<const double> point(x, static_cast<size_t>(scale.size()));
        double value = cost(point);
        if (std::isnan(value)) value = kInfinity;
        ++best.evaluations;
        if (best.x.empty() || value < best.cost) {
            best.x.assign(point.begin(), point.end());
            best.cost = value;
        }
        if (value <= options.target) best.stopped = Stopped::kTarget;
        return value;
    }
};

/// One run of the strategy. Coordinates are in units of the scales, so that sigma starts at 1.
class Run {
  public:
    Run(Search& search, const VectorXd& start, size_t population, base::Random random)
        : search_(search),
          c_(static_cast<size_t>(start.size()), population),
          random_(random),
          mean_(start.cwiseQuotient(search.scale)),
          path_sigma_(VectorXd::Zero(start.size())),
          path_(path_sigma_),
          covariance_(MatrixXd::Identity(start.size(), start.size())),
          axes_(covariance_),
          lengths_(VectorXd::Ones(start.size())),
          points_(start.size(), static_cast<Eigen::Index>(population)),
          costs_(population),
          order_(population) {}

    /// Until it converges, or `budget` evaluations are used. False: the budget ended it.
    bool go(size_t budget) {
        const size_t until = search_.best.evaluations + budget;
        for (size_t generation = 1;; ++generation) {
            if (search_.best.evaluations + c_.population > until) return false;
            if (search_.cancelled && search_.cancelled()) {
                search_.best.stopped = Stopped::kCancelled;
                return false;
            }
            sample();
            if (search_.best.stopped == Stopped::kTarget) return true;
            adapt(generation);
            if (generation % c_.decompose_every == 0 && !decompose()) return true;
            if (converged()) return true;
        }
    }

  private:
    void sample() {
        VectorXd z(mean_.size()), x(mean_.size());
        for (size_t k = 0; k < c_.population; ++k) {
            for (auto& v : z) v = random_.normal();
            x = mean_ + sigma_ * (axes_ * lengths_.cwiseProduct(z));
            x = x.cwiseProduct(search_.scale);
            search_.into_box(x);
            costs_[k] = search_.evaluate(x.data());
            points_.col(static_cast<Eigen::Index>(k)) = x.cwiseQuotient(search_.scale);
        }
        std::iota(order_.begin(), order_.end(), Eigen::Index{0});
        std::stable_sort(order_.begin(), order_.end(), [&](Eigen::Index a, Eigen::Index b) {
            return costs_[static_cast<size_t>(a)] < costs_[static_cast<size_t>(b)];
        });
    }

    void adapt(size_t generation) {
        const VectorXd old = mean_;
        mean_.setZero();
        for (size_t i = 0; i < c_.parents; ++i) {
            mean_ += c_.weights[static_cast<Eigen::Index>(i)] * points_.col(order_[i]);
        }
        const VectorXd step = (mean_ - old) / sigma_;
        const VectorXd white = axes_ * (axes_.transpose() * step).cwiseQuotient(lengths_);
        path_sigma_ = (1 - c_.c_sigma) * path_sigma_ +
                      std::sqrt(c_.c_sigma * (2 - c_.c_sigma) * c_.mu) * white;
        const double length = path_sigma_.norm();
        const double warm =
            std::sqrt(1 - std::pow(1 - c_.c_sigma, 2 * static_cast<double>(generation)));
        const double limit = (1.4 + 2 / (static_cast<double>(c_.n) + 1)) * c_.normal_length;
        const bool slow = length / warm < limit;  // a long path is not also fed into C
        path_ *= 1 - c_.c_path;
        if (slow) path_ += std::sqrt(c_.c_path * (2 - c_.c_path) * c_.mu) * step;
        const double lost = slow ? 0 : c_.c_one * c_.c_path * (2 - c_.c_path);
        covariance_ *= 1 - c_.c_one - c_.c_mu + lost;
        covariance_ += c_.c_one * path_ * path_.transpose();
        for (size_t i = 0; i < c_.parents; ++i) {
            const VectorXd y = (points_.col(order_[i]) - old) / sigma_;
            covariance_ += c_.c_mu * c_.weights[static_cast<Eigen::Index>(i)] * y * y.transpose();
        }
        sigma_ *=
            std::exp(std::min(1.0, c_.c_sigma / c_.damping * (length / c_.normal_length - 1)));
        remember(costs_[static_cast<size_t>(order_[0])]);
    }

    void remember(double cost) {
        recent_.push_back(cost);
        if (recent_.size() > c_.history) recent_.pop_front();
    }

    /// False when C is degenerate: the run has come to its end.
    bool decompose() {
        const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(covariance_);
        if (solver.info() != Eigen::Success) return false;
        const VectorXd& values = solver.eigenvalues();
        const double least = values[0], most = values[values.size() - 1];
        if (!(least > 0) || !std::isfinite(most) || most > kMaxCondition * least) return false;
        axes_ = solver.eigenvectors();
        lengths_ = values.cwiseSqrt();
        return true;
    }

    bool converged() const {
        const double widest = sigma_ * std::max(std::sqrt(covariance_.diagonal().maxCoeff()),
                                                path_.cwiseAbs().maxCoeff());
        if (!std::isfinite(widest) || widest < search_.options.step_tolerance) return true;
        if (recent_.size() < c_.history) return false;
        const auto [least, most] = std::minmax_element(recent_.begin(), recent_.end());
        // all infinite: nothing found here
        return std::isinf(*least) || *most - *least <= search_.options.cost_tolerance;
    }

    Search& search_;
    Constants c_;
    base::Random random_;
    double sigma_ = 1;
    VectorXd mean_, path_sigma_, path_;
    MatrixXd covariance_, axes_;
    VectorXd lengths_;
    MatrixXd points_;
    std::vector<double> costs_;
    std::vector<Eigen::Index> order_;
    std::deque<double> recent_;
};

base::Status check_box(const Box& box, size_t n) {
    if (box.lower.size() != box.upper.size() || (!box.lower.empty() && box.lower.size() != n)) {
        return make_error(Reason::kBadSearch, "box: {} lower and {} upper ends for {} coordinates",
                          box.lower.size(), box.upper.size(), n);
    }
    for (size_t i = 0; i < box.lower.size(); ++i) {
        if (!(box.lower[i] <= box.upper[i])) {
            return make_error(Reason::kBadSearch, "box: coordinate {} has the ends [{}, {}]", i,
                              box.lower[i], box.upper[i]);
        }
    }
    return base::ok();
}

base::Status check_options(const CmaEsOptions& o, size_t n) {
    const auto require = [](bool holds, const char* field, auto value, const char* range) {
        if (holds) return base::ok();
        return base::Status(
            make_error(Reason::kBadSearch, "{}: {} has to lie in {}", field, value, range));
    };
    RAMPART_RETURN_IF_ERROR(
        require(o.scale > 0 && std::isfinite(o.scale), "scale", o.scale, "(0, inf)"));
    if (!o.scales.empty() && o.scales.size() != n) {
        return make_error(Reason::kBadSearch, "scales: {} for {} coordinates", o.scales.size(), n);
    }
    for (const double s : o.scales) {
        RAMPART_RETURN_IF_ERROR(require(s > 0 && std::isfinite(s), "scales", s, "(0, inf)"));
    }
    RAMPART_RETURN_IF_ERROR(
        require(o.population == 0 || (o.population >= 4 && o.population <= kMaxPopulation),
                "population", o.population, "4 … 100000, or be 0"));
    RAMPART_RETURN_IF_ERROR(require(o.max_evaluations >= 1 && o.max_evaluations <= kMaxEvaluations,
                                    "max_evaluations", o.max_evaluations, "1 … 10^9"));
    RAMPART_RETURN_IF_ERROR(require(o.max_restarts >= 0 && o.max_restarts <= 20, "max_restarts",
                                    o.max_restarts, "0 … 20"));
    RAMPART_RETURN_IF_ERROR(
        require(o.cost_tolerance >= 0, "cost_tolerance", o.cost_tolerance, "[0, inf)"));
    RAMPART_RETURN_IF_ERROR(
        require(o.step_tolerance >= 0, "step_tolerance", o.step_tolerance, "[0, inf)"));
    return require(!std::isnan(o.target), "target", o.target, "(-inf, inf)");
}

base::Status check(std::span<const std::vector<double>> starts, const Box& box,
                   const CmaEsOptions& options) {
    if (starts.empty() || starts.size() > kMaxStarts) {
        return make_error(Reason::kBadSearch, "starts: {} points; give 1 to {}", starts.size(),
                          kMaxStarts);
    }
    const size_t n = starts[0].size();
    if (n < 1 || n > kMaxDimension) {
        return make_error(Reason::kBadSearch, "starts: {} coordinates; 1 to {} can be searched", n,
                          kMaxDimension);
    }
    for (const auto& start : starts) {
        if (start.size() != n ||
            !std::all_of(start.begin(), start.end(), [](double v) { return std::isfinite(v); })) {
            return make_error(Reason::kBadSearch, "starts: each has to have {} finite coordinates",
                              n);
        }
    }
    RAMPART_RETURN_IF_ERROR(check_box(box, n));
    return check_options(options, n);
}

/// Where a restart begins: anywhere in the box; without one, around the best point.
VectorXd random_start(const Search& search, base::Random& random) {
    VectorXd x = Eigen::Map<const VectorXd>(search.best.x.data(), search.scale.size());
    for (Eigen::Index i = 0; i < x.size(); ++i) {
        const auto k = static_cast<size_t>(i);
        const bool boxed = !search.box.lower.empty() && std::isfinite(search.box.lower[k]) &&
                           std::isfinite(search.box.upper[k]);
        x[i] = boxed ? random.uniform(search.box.lower[k], search.box.upper[k])
                     : x[i] + 2 * search.scale[i] * random.normal();
    }
    search.into_box(x);
    return x;
}

size_t default_population(size_t n) {
    return 4 + static_cast<size_t>(3 * std::log(static_cast<double>(n)));
}

}  // namespace

base::Result<Minimum> minimise(const Cost& cost, std::span<const std::vector<double>> starts,
                               const Box& box, const CmaEsOptions& options,
                               const Cancelled& cancelled) {
    RAMPART_RETURN_IF_ERROR(check(starts, box, options));
    const size_t n = starts[0].size();
    Search search{cost,
                  box,
                  options,
                  cancelled,
                  VectorXd::Constant(static_cast<Eigen::Index>(n), options.scale),
                  {}};
    for (size_t i = 0; i < options.scales.size(); ++i)
        search.scale[static_cast<Eigen::Index>(i)] = options.scales[i];
    search.best.cost = kInfinity;

    std::vector<VectorXd> from;
    for (const auto& start : starts) {
        from.emplace_back(Eigen::Map<const VectorXd>(start.data(), static_cast<Eigen::Index>(n)));
        search.into_box(from.back());
        if (search.left() > 0 && !search.stop_all()) search.evaluate(from.back().data());
    }
    const base::Random seeds(options.seed);
    size_t population = options.population != 0 ? options.population : default_population(n);
    const size_t runs = starts.size() + static_cast<size_t>(options.max_restarts);
    bool starved = false;
    for (size_t run = 0; run < runs && !search.stop_all(); ++run) {
        const bool given = run < starts.size();
        base::Random random = seeds.fork(run);
        if (!given) population = std::min(2 * population, kMaxPopulation);
        if (search.left() < population) {
            starved = true;
            break;
        }
        const VectorXd start = given ? from[run] : random_start(search, random);
        const size_t share = given ? search.left() / (starts.size() - run) : search.left();
        starved = !Run(search, start, population, random).go(share);
        ++search.best.runs;
    }
    if (starved && !search.stop_all()) search.best.stopped = Stopped::kBudget;
    return std::move(search.best);
}

}  // namespace rampart::numeric
