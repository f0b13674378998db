#pragma once

#include <functional>
#include <span>

#include "duals.hpp"

namespace rampart::budro {

/// Who is sent where, and how much of a source's weight.
struct Flow {
    uint32_t source = 0;
    uint32_t row = 0;
    double share = 0;
    double squared_distance = 0;
};

struct EntropicAnswer {
    double eta = 0, dual = 0, cost = 0, primal = 0;
};

/// kEntropic: Π_ij in proportion to exp((L_i - η·d²_ij) / gamma), with η such that the budget is
/// spent (Algorithms 4, 5) or by stochastic steps (Algorithm 6). Exponents are taken relative to
/// the greatest of a person; what lies 45 gamma below it weighs less than rounding.
class EntropicDual {
  public:
    /// Is given the flows of some sources at a time, in the order of the sources.
    using Take = std::function<void(std::span<const Flow>)>;

    EntropicDual(const SupportPoints& points, uint64_t seed);
    /// losses: [classes x n], as people have them.
    EntropicAnswer solve(const Inner& inner, std::span<const double> losses, const Take& take);

  private:
    struct Round;
    double solve_eta(Round& round);
    double spent_eta(Round& round);

    std::vector<std::vector<uint32_t>> rows_of_point_;  // rows of points with more than one
    base::Random random_;
    double eta_ = -1;
};

}  // namespace rampart::budro
