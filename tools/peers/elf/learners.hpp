#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/peers/elf/population.hpp"

namespace rampart::peer_elf {

/// Decisions of a learner's solution on the judge's people; nullopt: no solution found.
using Decisions = std::optional<std::vector<double>>;

/// Effort of the searches.
struct Effort {
    size_t evaluations = 150;      // evaluations of the objective per search
    size_t selection_rows = 1536;  // rows of the development set used by a search
    size_t paper_refine = 50;      // additional ones of the paper's search on all rows
    double power = 0.999;          // power that ours requires before accuracy counts
    size_t fairgbm_rows = 8192;    // rows of the sample that FairGBM uses
};

/// One sample, with everything that does not depend on alpha computed once.
class Trial {
  public:
    Trial(Draw draw, const Judge& judge, const Effort& effort, uint64_t seed);

    /// Runs ELF as published (Weber et al. 2022): t bound, accuracy floor of section 5.
    Decisions elf_paper(double alpha);
    /// Ours: selected for the betting bound, and tested by it; and the same candidate tested by t.
    struct Ours {
        Decisions betting, t;
    };
    Ours rampart(double alpha);
    Decisions logistic_regression() const;  // threshold 1/2, on the whole sample
    Decisions ramp() const;                 // on logistic regression's scores: rates within 0.02
    Decisions fairgbm() const;              // error rates within 0.05, threshold 1/2

  private:
    reference::ElfOptions options() const;
    std::vector<double> judged(const reference::ParametricPolicy& policy,
                               const std::vector<double>& theta, bool trust_region) const;

    Draw draw_;
    const Judge& judge_;
    const Effort& effort_;
    uint64_t seed_;
    std::optional<reference::LogisticPolicy> plain_, stepped_, judge_plain_, judge_stepped_;
    std::vector<std::vector<double>> paper_starts_;
    std::vector<double> regression_;  // theta on the whole sample
};

}  // namespace rampart::peer_elf
