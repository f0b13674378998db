#pragma once

#include <cstdint>
#include <vector>

#include "bracket.hpp"
#include "inner.hpp"
#include "rampart/base/random.hpp"

/// The methods. Each keeps what speeds up the next round.
namespace rampart::budro {

/// kExact, and kBisection: the first until the gap is closed, the second until η is known.
class BracketedDual {
  public:
    Plan exact(const Inner& inner);
    Plan bisection(const Inner& inner);

  private:
    /// The bracket about the minimum, opened around where it is expected.
    void open(const Inner& inner, Bracket& bracket) const;
    void remember(double eta, const Plan& plan);

    double eta_ = -1, before_ = -1, width_ = 0.1;
    std::vector<Choice> last_;
};

class SgdDual {
  public:
    explicit SgdDual(uint64_t seed) : random_(seed) {}
    Plan solve(const Inner& inner);

  private:
    base::Random random_;
    double eta_ = -1;
    std::vector<Choice> last_;
};

/// Draws sources in proportion to their weights.
class SourceSampler {
  public:
    explicit SourceSampler(const SupportPoints& points);
    uint32_t draw(base::Random& random) const;

  private:
    std::vector<double> up_to_;
};

/// Steps down the slope epsilon - cost(sources, η), of sources drawn by `random`.
template <class Cost>
double descend(const Inner& inner, double eta, base::Random& random, const Cost& cost) {
    const SgdParams& params = inner.params.sgd;
    const SourceSampler sampler(inner.points);
    std::vector<uint32_t> batch(static_cast<size_t>(params.batch));
    double velocity = 0;
    for (int step = 0; step < params.steps; ++step) {
        for (uint32_t& source : batch) source = sampler.draw(random);
        const double slope = inner.budget - cost(std::span<const uint32_t>(batch), eta);
        velocity = params.momentum * velocity - params.learning_rate * slope;
        const double moved = eta + velocity;
        eta = moved > 0 ? moved : 0;
    }
    return eta;
}

}  // namespace rampart::budro
