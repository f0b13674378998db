#pragma once

#include <optional>
#include <span>
#include <vector>

#include "quadratic_step.hpp"

namespace rampart::ramp {

/// What ramps q = clip((f - z·t) / gamma + offset, 0, 1) do to rows whose m features z every
/// constraint is a mean of: all that the dual needs.
class MomentOracle {
  public:
    struct Values {
        /// Mean of the largest (f - z·t)·q - gamma/2 (q - offset)^2: convex in t; its gradient is
        /// -moments.
        double value = 0;
        double product = 0;           // mean of f·q, f less the price where there is one
        std::vector<double> moments;  // [m] means of z·q
        std::vector<double> hessian;  // [m * m], of value; empty if not asked for
    };
    virtual ~MomentOracle() = default;
    virtual size_t size() const = 0;  // m
    virtual Values at(std::span<const double> t, double gamma, bool with_hessian) const = 0;
    /// Means of z_j²: by which steps are scaled.
    virtual std::vector<double> squares() const = 0;
    /// One with fewer rows to find a beginning with; nullptr: this one is as fast.
    virtual const MomentOracle* coarse() const { return nullptr; }
};

struct DualProblem {
    double gamma = 0.1, offset = 0.5;  // gamma > 0
    std::vector<Window> windows;       // [m]
    size_t families = 0;
};

struct DualSolution {
    std::vector<double> t;        // [m]; families' sums are 0
    MomentOracle::Values values;  // at t
    std::vector<double> centres;  // [families]
    double objective = 0,
           dual = 0;  // objective of the rule at t; a lower bound on that of every feasible rule
    double violation = 0;  // largest violation of windows and complementary slackness, by moments
};

struct DualFailure {
    /// No rule keeps the windows: how much wider they would have to be at least, and where the
    /// contradiction is largest. Else no solution was found in the steps allowed.
    bool infeasible = false;
    double relaxation = 0;
    size_t moment = 0;
    double violation = 0;
};

/// Maximises the dual, a concave piecewise quadratic function, by a damped Newton method whose
/// steps are quadratic_step's; from a large gamma down to the one asked for, since a small one's
/// dual is all but piecewise linear. On the right piece one step is exact.
class DualNewton {
  public:
    DualNewton(const MomentOracle& oracle, const DualProblem& problem);
    /// True: `solution` is one to rounding. False: `failure` says why not.
    bool solve();
    const DualSolution& solution() const { return solution_; }
    const DualFailure& failure() const { return failure_; }

  private:
    struct Point {
        std::vector<double> t;
        MomentOracle::Values values;
        double total = 0;  // what is minimised: value + supports
        double violation = 0;
    };
    enum class End { kSolved, kInfeasible, kStuck };
    Point point(const MomentOracle& oracle, std::vector<double> t, double gamma) const;
    std::vector<double> follow(const MomentOracle& oracle, double from, double to, bool careful,
                               std::vector<double> t) const;
    std::vector<double> begin(bool careful) const;
    End descend(const MomentOracle& oracle, double gamma, double tolerance, int most,
                Point& at) const;
    double largest_objective(double gamma) const;
    bool proves_infeasible(const MomentOracle& oracle, double gamma, const Point& at,
                           bool far_out) const;
    bool step(const MomentOracle& oracle, double gamma, Point& at) const;
    Point search(const MomentOracle& oracle, double gamma, const Point& at,
                 const std::vector<double>& direction, double slope, Point full) const;
    double slope(const Point& at, const std::vector<double>& direction) const;
    double violation(const std::vector<double>& t, const std::vector<double>& moments,
                     std::vector<double>* centres) const;
    void explain(const Point& at, double gamma);

    const MomentOracle& oracle_;
    const DualProblem& problem_;
    std::vector<double> squares_;
    DualSolution solution_;
    DualFailure failure_;
};

}  // namespace rampart::ramp
